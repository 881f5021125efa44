import { CheckField, Field } from '../../parts/form.tsx'
import type { Problem } from '../../parts/result.ts'
import { t } from '../../words/words.ts'

/** Texts by the name of the field; the name of a member of an address has a dot. */
export type Values = Readonly<Record<string, string>>

export type ProfileField = {
  name: string
  label: string
  hint?: string
  kind?: 'flag' | 'json' | 'lines' | 'email' | 'tel' | 'url'
}

/** The members of UpdateUserInput, except `locked`, for which the screen has a button. */
export const GROUPS: readonly { title: string; fields: readonly ProfileField[] }[] = [
  {
    title: t('Name'),
    fields: [
      { name: 'name', label: t('Display name') },
      { name: 'givenName', label: t('Given name') },
      { name: 'middleName', label: t('Middle name') },
      { name: 'familyName', label: t('Family name') },
      { name: 'nickname', label: t('Nickname') },
      { name: 'preferredUsername', label: t('Preferred username') },
    ],
  },
  {
    title: t('Addresses'),
    fields: [
      { name: 'email', label: t('Email address'), kind: 'email', hint: t('A new one is not verified.') },
      { name: 'emailVerified', label: t('Email address is verified'), kind: 'flag' },
      { name: 'phoneNumber', label: t('Phone number'), kind: 'tel', hint: t('With the country code.') },
      { name: 'phoneNumberVerified', label: t('Phone number is verified'), kind: 'flag' },
    ],
  },
  {
    title: t('About the person'),
    fields: [
      { name: 'locale', label: t('Language'), hint: t('Such as de-AT.') },
      { name: 'zoneinfo', label: t('Time zone'), hint: t('Such as Europe/Berlin.') },
      { name: 'birthdate', label: t('Date of birth'), hint: t('YYYY-MM-DD, 0000-MM-DD or YYYY.') },
      { name: 'gender', label: t('Gender') },
      { name: 'picture', label: t('Picture'), kind: 'url' },
      { name: 'profile', label: t('Profile page'), kind: 'url' },
      { name: 'website', label: t('Website'), kind: 'url' },
    ],
  },
  {
    title: t('Postal address'),
    fields: [
      { name: 'address.streetAddress', label: t('Street'), kind: 'lines' },
      { name: 'address.postalCode', label: t('Postal code') },
      { name: 'address.locality', label: t('City') },
      { name: 'address.region', label: t('Region') },
      { name: 'address.country', label: t('Country') },
      { name: 'address.formatted', label: t('Whole address'), kind: 'lines' },
    ],
  },
  {
    title: t('Metadata'),
    fields: [
      { name: 'userMetadata', label: t("User metadata: the user's own"), kind: 'json' },
      { name: 'appMetadata', label: t("App metadata: the applications'"), kind: 'json' },
    ],
  },
]

export const FIELDS = GROUPS.flatMap(({ fields }) => fields)
/** The fields that show their problem; a checkbox does not. */
export const SHOWN_BY_FIELDS = FIELDS.flatMap(({ name, kind }) =>
  kind === 'flag' ? [] : (name.split('.')[0] ?? ''),
)

/** The input for changed fields; an empty text unsets a field. */
export function toInput(values: Values): Record<string, unknown> {
  const input: Record<string, unknown> = {}
  for (const { name, kind } of FIELDS) {
    const text = values[name]
    if (text === undefined) continue
    const value =
      kind === 'json'
        ? JSON.parse(text)
        : kind === 'flag'
          ? text === 'true'
          : text.trim() === ''
            ? null
            : text.trim()
    const [member = '', part] = name.split('.')
    input[member] = part ? { ...(input[member] as object), [part]: value } : value
  }
  return input
}

/** What is wrong with a JSON object, with the line where the browser says it; null for one that is right. */
export function findJsonProblem(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? null
      : t('is not an object, such as {"plan": "pro"}.')
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    const position = /position (\d+)/.exec(message)?.[1]
    const line =
      /line (\d+)/.exec(message)?.[1] ??
      text.slice(0, position === undefined ? undefined : Number(position)).split('\n').length
    return t('Line {line}: {message}.', {
      line,
      message: message.replace(/ in JSON at position.*| \(line.*/, ''),
    })
  }
}

/** The metadata among the entered texts that is not JSON; null when all is. */
export function findJsonProblems(entered: Values): Problem | null {
  const fields = FIELDS.flatMap(({ name, kind }) => {
    const text = entered[name]
    const description = kind === 'json' && text !== undefined ? findJsonProblem(text) : null
    return description ? [{ field: name, description }] : []
  })
  return fields.length > 0 ? { message: t('The metadata cannot be saved.'), fields } : null
}

/** The groups of fields, whose texts the form has. */
export const ProfileFields = ({
  groups,
  values,
  problem,
  onChange,
}: {
  groups: typeof GROUPS
  values: Values
  problem: Problem | null
  onChange: (name: string, text: string) => void
}) =>
  groups.map(({ title, fields }) => (
    <section key={title} className="group" aria-label={title}>
      <h2>{title}</h2>
      <div className={fields.some(({ kind }) => kind === 'flag') ? 'fields pairs' : 'fields'}>
        {fields.map(({ name, label, hint, kind }) =>
          kind === 'flag' ? (
            <CheckField
              key={name}
              label={label}
              name={name}
              checked={values[name] === 'true'}
              onChange={(isOn) => onChange(name, String(isOn))}
            />
          ) : (
            <Field key={name} label={label} name={name} hint={hint} problem={problem}>
              {(props) => {
                const shown = {
                  ...props,
                  value: values[name] ?? '',
                  autoComplete: 'off',
                  onChange: ({ target }: { target: { value: string } }) => onChange(name, target.value),
                }
                if (kind === 'json')
                  return <textarea {...shown} rows={8} spellCheck={false} className="code" />
                if (kind === 'lines') return <textarea {...shown} rows={2} />
                return <input {...shown} type={kind ?? 'text'} />
              }}
            </Field>
          ),
        )}
      </div>
    </section>
  ))
