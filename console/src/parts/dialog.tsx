import { type FormEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react'
import { t } from '../words/words.ts'
import { Field, ProblemText } from './form.tsx'
import type { Problem } from './result.ts'

/**
 * A modal dialog, open for as long as it is rendered. Escape, its button and a click beside it close it; with `isKept`,
 * its buttons only, because it shows what is shown once.
 */
export function Dialog({
  title,
  isKept = false,
  onClose,
  children,
}: {
  title: string
  isKept?: boolean
  onClose: () => void
  children: ReactNode
}) {
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  // A press in the dialog whose release is beside it selects text.
  const isPressedBeside = useRef(false)
  // The focus returns only while the dialog is in the document.
  useLayoutEffect(() => {
    const element = dialog.current
    element?.showModal()
    // The browser takes the button that closes; a form begins with its first field.
    element?.querySelector<HTMLElement>('input, select, textarea')?.focus()
    return () => element?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog already
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        if (!isKept) onClose()
      }}
      onPointerDown={({ target, currentTarget }) => {
        isPressedBeside.current = target === currentTarget
      }}
      onClick={({ target, currentTarget }) => {
        if (target === currentTarget && isPressedBeside.current && !isKept) onClose()
      }}
    >
      <div className="dialog-body">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" className="button quiet" onClick={onClose} aria-label={t('Close')}>
            ✕
          </button>
        </header>
        {children}
      </div>
    </dialog>
  )
}

const collapseSpaces = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')

/**
 * A button whose action is confirmed first, in a dialog that says what follows. With `name`, the person types it: for
 * actions that nothing brings back. It is red unless the action takes nothing away.
 */
export function ConfirmedButton({
  label,
  title,
  consequence,
  name,
  isDestructive = true,
  isRunning,
  problem,
  onConfirm,
}: {
  label: string
  title: string
  consequence: ReactNode
  name?: string
  isDestructive?: boolean
  isRunning: boolean
  problem: Problem | null
  /** Calls `close` when it is done. */
  onConfirm: (close: () => void) => void
}) {
  const [isOpen, setIsOpen] = useState(false)
  const [typed, setTyped] = useState('')
  // The mutation may have failed in another dialog.
  const [isSubmitted, setIsSubmitted] = useState(false)
  const close = () => {
    setIsOpen(false)
    setTyped('')
    setIsSubmitted(false)
  }
  const isConfirmed = name === undefined || collapseSpaces(typed) === collapseSpaces(name)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isConfirmed || isRunning) return
    setIsSubmitted(true)
    onConfirm(close)
  }
  return (
    <>
      <button
        type="button"
        className={isDestructive ? 'button danger' : 'button quiet'}
        onClick={() => setIsOpen(true)}
      >
        {label}
      </button>
      {isOpen && (
        <Dialog title={title} onClose={close}>
          <form onSubmit={submit}>
            <div>{consequence}</div>
            {name !== undefined && (
              <Field label={t('Type “{name}” to confirm', { name })} name="confirmation">
                {(props) => (
                  <input
                    {...props}
                    autoComplete="off"
                    value={typed}
                    onChange={({ target }) => setTyped(target.value)}
                  />
                )}
              </Field>
            )}
            {isSubmitted && <ProblemText problem={problem} />}
            <div className="actions">
              <button
                type="submit"
                className={isDestructive ? 'button danger' : 'button'}
                disabled={!isConfirmed || isRunning}
              >
                {label}
              </button>
              <button type="button" className="button quiet" onClick={close}>
                {t('Cancel')}
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  )
}
