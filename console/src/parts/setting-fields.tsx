import { type ReactNode, useId, useState } from 'react'
import { t } from '../words/words.ts'
import { findUnit, UNIT_NAMES, UNITS, type Unit } from './durations.ts'
import { CheckField, Field, findFieldProblems, toggleChoice } from './form.tsx'
import { type SettingName, type Settings, useSetting } from './settings-form.tsx'

/** The settings whose value is of a type. */
type NamesOf<Type> = {
  [Name in SettingName]: NonNullable<Settings[Name]> extends Type ? Name : never
}[SettingName]

type Described<Name> = { name: Name; hint?: ReactNode }

/** A setting as the fields use it: the value of a name that is one of several has the type of none. */
const useValue = <Value,>(name: SettingName) =>
  useSetting(name) as unknown as Omit<ReturnType<typeof useSetting>, 'value' | 'change'> & {
    value: Value
    change: (value: Value) => void
  }

export function TextSetting({
  name,
  hint,
  type = 'text',
  placeholder,
}: Described<NamesOf<string>> & {
  type?: 'text' | 'url' | 'email' | 'password'
  placeholder?: string
}) {
  const { label, value, change, problem } = useValue<string | null>(name)
  return (
    <Field label={label} name={name} hint={hint} problem={problem}>
      {(props) => (
        <input
          {...props}
          type={type}
          placeholder={placeholder}
          autoComplete={type === 'password' ? 'new-password' : 'off'}
          spellCheck={false}
          value={value ?? ''}
          onChange={({ target }) => change(target.value || null)}
        />
      )}
    </Field>
  )
}

/** Nothing is sent as null, for which the server has a default. */
const readNumber = ({ valueAsNumber }: HTMLInputElement): number | null =>
  Number.isNaN(valueAsNumber) ? null : valueAsNumber

export function NumberSetting({ name, hint }: Described<NamesOf<number>>) {
  const { label, value, change, problem } = useValue<number | null>(name)
  return (
    <Field label={label} name={name} hint={hint} problem={problem}>
      {(props) => (
        <input
          {...props}
          type="number"
          step={1}
          value={value ?? ''}
          onChange={({ target }) => change(readNumber(target))}
        />
      )}
    </Field>
  )
}

/** An instant as `<input type="datetime-local">` has it: in the time zone of the browser, to the minute. */
function toLocal(instant: string): string {
  const time = new Date(instant)
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** An instant. */
export function InstantSetting({ name, hint }: Described<NamesOf<string>>) {
  const { label, value, change, problem } = useValue<string | null>(name)
  return (
    <Field label={label} name={name} hint={hint} problem={problem}>
      {(props) => (
        <input
          {...props}
          type="datetime-local"
          value={value ? toLocal(value) : ''}
          onChange={({ target }) => change(target.value ? new Date(target.value).toISOString() : null)}
        />
      )}
    </Field>
  )
}

/** A number of seconds in the largest unit of which it is a multiple. */
export function DurationSetting({ name, hint }: Described<NamesOf<number>>) {
  const { label, value, change, problem } = useValue<number | null>(name)
  const [unit, setUnit] = useState(() => (value ? findUnit(value) : 'hours'))
  const size = UNITS[unit]
  return (
    <Field label={label} name={name} hint={hint} problem={problem}>
      {(props) => (
        <div className="amount">
          <input
            {...props}
            type="number"
            step="any"
            value={value === null ? '' : value / size}
            onChange={({ target }) => {
              const amount = readNumber(target)
              change(amount === null ? null : Math.round(amount * size))
            }}
          />
          <select
            aria-label={t('Unit of “{label}”', { label })}
            value={unit}
            onChange={({ target }) => {
              const chosen = target.value as Unit
              if (value !== null) change(Math.round((value / size) * UNITS[chosen]))
              setUnit(chosen)
            }}
          >
            {Object.entries(UNIT_NAMES).map(([each, name]) => (
              <option key={each} value={each}>
                {name}
              </option>
            ))}
          </select>
        </div>
      )}
    </Field>
  )
}

export function CheckSetting({ name, hint }: Described<NamesOf<boolean>>) {
  const { label, value, change, problem } = useValue<boolean>(name)
  return (
    <CheckField label={label} name={name} hint={hint} problem={problem} checked={value} onChange={change} />
  )
}

/** One of a few values, each with what it means. */
export function ChoiceSetting<Name extends NamesOf<string>>({
  name,
  hint,
  options,
}: Described<Name> & { options: Readonly<Record<string, string>> }) {
  const { label, value, change, problem } = useValue<string | null>(name)
  return (
    <Field label={label} name={name} hint={hint} problem={problem}>
      {(props) => (
        <select {...props} value={value ?? ''} onChange={({ target }) => change(target.value || null)}>
          {Object.entries(options).map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** Texts, one a line. */
export function LinesSetting({ name, hint }: Described<NamesOf<readonly string[]>>) {
  const { label, value, change, problem } = useValue<readonly string[]>(name)
  return (
    <Field label={label} name={name} hint={hint} problem={problem}>
      {(props) => (
        <textarea
          {...props}
          rows={3}
          spellCheck={false}
          value={value.join('\n')}
          onChange={({ target }) => change(target.value === '' ? [] : target.value.split('\n'))}
        />
      )}
    </Field>
  )
}

/** Moves an entry of a list by one place. */
export function move<Entry>(entries: readonly Entry[], index: number, by: -1 | 1): Entry[] {
  const moved = [...entries]
  moved.splice(index + by, 0, ...moved.splice(index, 1))
  return moved
}

/** The buttons that move an entry of a list, which keep the focus. */
export const MoveButtons = ({
  label,
  index,
  count,
  onMove,
}: {
  label: string
  index: number
  count: number
  onMove: (by: -1 | 1) => void
}) =>
  (['up', 'down'] as const).map((direction) => (
    <button
      key={direction}
      type="button"
      className="button quiet small"
      aria-label={direction === 'up' ? t('Move {label} up', { label }) : t('Move {label} down', { label })}
      disabled={index === (direction === 'up' ? 0 : count - 1)}
      onClick={({ currentTarget }) => {
        onMove(direction === 'up' ? -1 : 1)
        requestAnimationFrame(() => currentTarget.focus())
      }}
    >
      {direction === 'up' ? '↑' : '↓'}
    </button>
  ))

/** Any of a few values; with `isOrdered`, in an order that matters. */
export function SelectionSetting({
  name,
  hint,
  options,
  isOrdered = false,
}: Described<NamesOf<readonly string[]>> & {
  options: Readonly<Record<string, string>>
  isOrdered?: boolean
}) {
  const id = useId()
  const { label, value, change, problem } = useValue<readonly string[]>(name)
  const found = findFieldProblems(problem, name)
  const names = isOrdered
    ? [...value, ...Object.keys(options).filter((option) => !value.includes(option))]
    : Object.keys(options)
  return (
    <fieldset className="group" aria-describedby={`${id}-hint`}>
      <legend>{label}</legend>
      <ul className="ordered">
        {names.map((option) => {
          const index = value.indexOf(option)
          const text = options[option] ?? option
          return (
            <li key={option}>
              <CheckField
                label={text}
                checked={index >= 0}
                onChange={(isOn) => {
                  const chosen = toggleChoice(value, option, isOn)
                  change(isOrdered ? chosen : names.filter((each) => chosen.includes(each)))
                }}
              />
              {isOrdered && index >= 0 && (
                <MoveButtons
                  label={text}
                  index={index}
                  count={value.length}
                  onMove={(by) => change(move(value, index, by))}
                />
              )}
            </li>
          )
        })}
      </ul>
      {(hint || found.length > 0) && (
        <p id={`${id}-hint`} className={found.length > 0 ? 'field-problem' : 'hint'}>
          {found.length > 0 ? found.map(({ description }) => description).join(' ') : hint}
        </p>
      )}
    </fieldset>
  )
}
