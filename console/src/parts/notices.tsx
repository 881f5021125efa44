import { useSyncExternalStore } from 'react'
import { t } from '../words/words.ts'

/** A message of an action that is done; `undo` takes it back for as long as the message is shown. */
type Notice = { id: number; text: string; undo?: (() => void) | undefined }

const SHOWN_MS = 8000
let notices: readonly Notice[] = []
let nextId = 0
const listeners = new Set<() => void>()

const setNotices = (next: readonly Notice[]): void => {
  notices = next
  for (const listener of listeners) listener()
}
const dismiss = (id: number): void => setNotices(notices.filter((notice) => notice.id !== id))

/** Shows a message for some seconds, and announces it. */
export function notify(text: string, undo?: () => void): void {
  const id = nextId++
  setNotices([...notices, { id, text, undo }])
  setTimeout(() => dismiss(id), SHOWN_MS)
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The messages of the last seconds. */
export function Notices() {
  const shown = useSyncExternalStore(subscribe, () => notices)
  return (
    <div className="notices" role="status">
      {shown.map(({ id, text, undo }) => (
        <p key={id}>
          {text}
          {undo && (
            <button
              type="button"
              className="button quiet"
              onClick={() => {
                dismiss(id)
                undo()
              }}
            >
              {t('Undo')}
            </button>
          )}
        </p>
      ))}
    </div>
  )
}
