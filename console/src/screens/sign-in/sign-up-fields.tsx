import { type ReactNode, useId, useState } from 'react'
import { CheckField, Field } from '../../parts/form.tsx'
import { MoveButtons, move } from '../../parts/setting-fields.tsx'
import { type Settings, useSetting } from '../../parts/settings-form.tsx'
import './sign-up-fields.css'
import { t } from '../../words/words.ts'

type SignUpField = Settings['signUpFields'][number]
type Schema = NonNullable<SignUpField['schema']>

const OWN_PREFIX = 'userMetadata.'

/** The fields of a user that a sign-up can ask for. */
const PROFILE_FIELDS: Readonly<Record<string, string>> = {
  name: t('Name'),
  givenName: t('First name'),
  familyName: t('Last name'),
  middleName: t('Middle name'),
  nickname: t('Nickname'),
  preferredUsername: t('User name'),
  website: t('Website'),
  gender: t('Gender'),
  birthdate: t('Date of birth'),
  zoneinfo: t('Time zone'),
  locale: t('Language'),
}

const isOwn = ({ field }: SignUpField): boolean => field.startsWith(OWN_PREFIX)
const withoutPrefix = ({ field }: SignUpField): string => field.slice(OWN_PREFIX.length)

const nameField = (field: SignUpField): string =>
  field.label || PROFILE_FIELDS[field.field] || withoutPrefix(field) || t('New field')

/** The values of a field of one's own, with the schema of each. */
const VALUE_TYPES = {
  text: { label: t('Text'), schema: { type: 'STRING' } },
  choice: { label: t('One of a list'), schema: { type: 'STRING', enum: [''] } },
  email: { label: t('E-mail address'), schema: { type: 'STRING', format: 'EMAIL' } },
  uri: { label: t('Web address'), schema: { type: 'STRING', format: 'URI' } },
  date: { label: t('Date'), schema: { type: 'STRING', format: 'DATE' } },
  integer: { label: t('Whole number'), schema: { type: 'INTEGER' } },
  number: { label: t('Number'), schema: { type: 'NUMBER' } },
  boolean: { label: t('Yes or no'), schema: { type: 'BOOLEAN' } },
} as const satisfies Record<string, { label: string; schema: object }>
type ValueType = keyof typeof VALUE_TYPES

const NO_LIMITS = {
  enum: null,
  format: null,
  minLength: null,
  maxLength: null,
  minimum: null,
  maximum: null,
} as const

function findType({ type, format, enum: values }: Schema): ValueType {
  if (type !== 'STRING') return type.toLowerCase() as ValueType
  return values ? 'choice' : format ? (format.toLowerCase() as ValueType) : 'text'
}

type LimitName = 'minLength' | 'maxLength' | 'minimum' | 'maximum'
const LENGTHS = { minLength: t('Least number of characters'), maxLength: t('Greatest number of characters') }
const RANGE = { minimum: t('Least value'), maximum: t('Greatest value') }
const LIMITS: Partial<Record<ValueType, Partial<Record<LimitName, string>>>> = {
  text: LENGTHS,
  integer: RANGE,
  number: RANGE,
}

/** What a person may enter in a field of one's own. */
function ValueFields({ schema, onChange }: { schema: Schema; onChange: (schema: Schema) => void }) {
  const type = findType(schema)
  return (
    <>
      <Field label={t('Value')} name="type">
        {(props) => (
          <select
            {...props}
            value={type}
            onChange={({ target }) =>
              onChange({ ...NO_LIMITS, ...VALUE_TYPES[target.value as ValueType].schema })
            }
          >
            {Object.entries(VALUE_TYPES).map(([name, { label }]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {type === 'choice' && (
        <Field label={t('Choices')} name="enum" hint={t('One a line.')}>
          {(props) => (
            <textarea
              {...props}
              rows={3}
              value={schema.enum?.join('\n')}
              onChange={({ target }) => onChange({ ...schema, enum: target.value.split('\n') })}
            />
          )}
        </Field>
      )}
      {Object.entries(LIMITS[type] ?? {}).map(([limit, label]) => (
        <Field key={limit} label={label} name={limit}>
          {(props) => (
            <input
              {...props}
              type="number"
              step={type === 'number' ? 'any' : 1}
              value={schema[limit as LimitName] ?? ''}
              onChange={({ target }) =>
                onChange({
                  ...schema,
                  [limit]: Number.isNaN(target.valueAsNumber) ? null : target.valueAsNumber,
                })
              }
            />
          )}
        </Field>
      ))}
    </>
  )
}

/** A field of the sign-up; its buttons are beside its name. */
function FieldEditor({
  field,
  index,
  onChange,
  children,
}: {
  field: SignUpField
  index: number
  onChange: (field: SignUpField) => void
  children: ReactNode
}) {
  const { problem } = useSetting('signUpFields')
  const path = `signUpFields.${index}`
  const own = isOwn(field) ? withoutPrefix(field) : null
  const [isOpen, setIsOpen] = useState(own === '')
  const isFaulty = problem?.fields.some((found) => `${found.field}.`.startsWith(`${path}.`)) ?? false
  return (
    <li>
      <details open={isOpen || isFaulty} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>
          <strong className="truncated">{nameField(field)}</strong>
          {field.required && <span className="badge">{t('required')}</span>}
        </summary>
        <div className="form">
          {own !== null && (
            <Field
              label={t('Name in userMetadata')}
              name={`${path}.field`}
              problem={problem}
              hint={t('Letters and digits, such as company.')}
            >
              {(props) => (
                <input
                  {...props}
                  value={own}
                  autoComplete="off"
                  onChange={({ target }) => onChange({ ...field, field: OWN_PREFIX + target.value })}
                />
              )}
            </Field>
          )}
          <Field label={t('Label on the page')} name={`${path}.label`} problem={problem}>
            {(props) => (
              <input
                {...props}
                value={field.label ?? ''}
                autoComplete="off"
                placeholder={own === null ? t('In the language of the page') : undefined}
                onChange={({ target }) => onChange({ ...field, label: target.value || null })}
              />
            )}
          </Field>
          <CheckField
            label={t('Required')}
            name={`${path}.required`}
            problem={problem}
            checked={field.required}
            onChange={(required) => onChange({ ...field, required })}
          />
          {field.schema && (
            <ValueFields schema={field.schema} onChange={(schema) => onChange({ ...field, schema })} />
          )}
          {problem?.fields
            .filter(({ field: name }) => name.startsWith(`${path}.schema`))
            .map(({ field: name, description }) => (
              <p key={name} className="field-problem">
                {name.replace(`${path}.schema.`, '')}: {description}
              </p>
            ))}
        </div>
      </details>
      {children}
    </li>
  )
}

/** The editor of the fields that a new user is asked for. */
export function SignUpFields() {
  const id = useId()
  const { label, value: fields, change, problem } = useSetting('signUpFields')
  // The place of a field changes, and so does its name while it is typed.
  const [keys, setKeys] = useState<readonly number[]>(() => fields.map((_, index) => index))
  const [nextKey, setNextKey] = useState(fields.length)
  const unused = Object.entries(PROFILE_FIELDS).filter(([name]) =>
    fields.every(({ field }) => field !== name),
  )
  const add = (field: string): void => {
    const schema = field === OWN_PREFIX ? { ...NO_LIMITS, ...VALUE_TYPES.text.schema } : null
    change([...fields, { field, label: null, required: false, schema }])
    setKeys([...keys.slice(0, fields.length), nextKey])
    setNextKey(nextKey + 1)
  }
  const arrange = (rearrange: <Entry>(entries: readonly Entry[]) => Entry[]): void => {
    change(rearrange(fields))
    setKeys(rearrange(keys))
  }
  return (
    <fieldset className="group">
      <legend>{label}</legend>
      <ol className="sign-up-fields">
        {fields.map((field, index) => (
          <FieldEditor
            key={keys[index] ?? field.field}
            field={field}
            index={index}
            onChange={(changed) => change(fields.map((other, place) => (place === index ? changed : other)))}
          >
            <span className="actions">
              <MoveButtons
                label={nameField(field)}
                index={index}
                count={fields.length}
                onMove={(by) => arrange((entries) => move(entries, index, by))}
              />
              <button
                type="button"
                className="button quiet small"
                aria-label={t('Remove {field}', { field: nameField(field) })}
                onClick={() => arrange((entries) => entries.filter((_, place) => place !== index))}
              >
                ✕
              </button>
            </span>
          </FieldEditor>
        ))}
      </ol>
      <label className="hidden" htmlFor={id}>
        {t('Add a field')}
      </label>
      <select id={id} value="" onChange={({ target }) => add(target.value)}>
        <option value="" disabled>
          {t('Add a field…')}
        </option>
        {unused.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
        <option value={OWN_PREFIX}>{t('A field of your own')}</option>
      </select>
      {problem?.fields
        .filter(({ field }) => field === 'signUpFields')
        .map(({ description }) => (
          <p key={description} className="field-problem">
            {description}
          </p>
        ))}
    </fieldset>
  )
}
