import './choice-box.css'
import { type KeyboardEvent, useState } from 'react'
import { t } from '../words/words.ts'
import { Dialog } from './dialog.tsx'

export type Choice = { key: string; name: string; detail: string; open: () => void }

/** A dialog in which one types to find a choice, and opens it by the keyboard or the pointer. */
export function ChoiceBox({
  title,
  label,
  placeholder,
  text,
  onType,
  choices,
  status,
  onClose,
}: {
  title: string
  label: string
  placeholder: string
  text: string
  onType: (text: string) => void
  choices: readonly Choice[]
  /** What is said while there is no choice. */
  status: string
  onClose: () => void
}) {
  const [active, setActive] = useState(0)
  const chosen = Math.min(active, choices.length - 1)
  const open = (choice: Choice | undefined) => {
    if (!choice) return
    onClose()
    choice.open()
  }
  const handleKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      const next = (chosen + step + choices.length) % Math.max(choices.length, 1)
      setActive(next)
      document.getElementById(`box-${next}`)?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter') {
      event.preventDefault()
      open(choices[chosen])
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="box">
        <input
          type="text"
          role="combobox"
          aria-label={label}
          aria-expanded={choices.length > 0}
          aria-controls="box-choices"
          aria-activedescendant={choices[chosen] && `box-${chosen}`}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={({ target }) => {
            onType(target.value)
            setActive(0)
          }}
          onKeyDown={handleKey}
        />
        <div role="listbox" id="box-choices" aria-label={t('Found')}>
          {choices.map((choice, index) => (
            <div
              key={choice.key}
              role="option"
              id={`box-${index}`}
              tabIndex={-1}
              aria-selected={index === chosen}
              onPointerMove={() => setActive(index)}
              onClick={() => open(choice)}
              onKeyDown={handleKey}
            >
              <span className="truncated">{choice.name}</span>
              <span className="truncated detail">{choice.detail}</span>
            </div>
          ))}
        </div>
        <p className="hint" role="status">
          {choices.length > 0 ? t('↑ ↓ choose, Enter opens') : status}
        </p>
      </div>
    </Dialog>
  )
}
