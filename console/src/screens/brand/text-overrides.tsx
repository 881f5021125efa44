import { useId, useState } from 'react'
import { Field } from '../../parts/form.tsx'
import { PAGE_LANGUAGES } from '../../parts/languages.ts'
import { type Settings, useSetting } from '../../parts/settings-form.tsx'

type TextOverride = Settings['textOverrides'][number]

/** Keys of the catalogs that tenants replace most. The server accepts every key. */
const SUGGESTED_KEYS = [
  'signIn.title',
  'signIn.createTitle',
  'address.hint',
  'address.signUpHint',
  'code.title',
  'signUp.submit',
  'terms.agree',
  'consent.lead',
  'passcode.signInTitle',
  'passcode.signInAside',
  'invitation.title',
]

/** The texts that the tenant replaces, each in a language. */
export function TextOverrides() {
  const { value: texts, change, problem } = useSetting('textOverrides')
  const id = useId()
  const [locale, setLocale] = useState('en')
  const replace = (index: number, text: Partial<TextOverride>) =>
    change(texts.map((other, place) => (place === index ? { ...other, ...text } : other)))
  const shown = texts.map((text, index) => ({ ...text, index })).filter((text) => text.locale === locale)
  const faulty = new Set(
    problem?.fields.flatMap(({ field }) => {
      const index = Number(/^textOverrides\.(\d+)/.exec(field)?.[1] ?? Number.NaN)
      return texts[index] ? [texts[index].locale] : []
    }),
  )
  const describe = (tag: string): string => {
    const number = texts.filter((text) => text.locale === tag).length
    return `${PAGE_LANGUAGES[tag] ?? tag}${number > 0 ? ` (${number})` : ''}${faulty.has(tag) ? ' – not valid' : ''}`
  }
  return (
    <section className="card">
      <h2>Texts</h2>
      <p className="hint">
        A text replaces that of a key of the catalogs, in one language. It has the placeholders of the
        original.
      </p>
      <div className="field">
        <label htmlFor={id}>Texts in</label>
        <select id={id} value={locale} onChange={({ target }) => setLocale(target.value)}>
          {Object.keys(PAGE_LANGUAGES).map((tag) => (
            <option key={tag} value={tag}>
              {describe(tag)}
            </option>
          ))}
        </select>
      </div>
      <datalist id={`${id}-keys`}>
        {SUGGESTED_KEYS.map((key) => (
          <option key={key} value={key} />
        ))}
      </datalist>
      {shown.map(({ index, key, text }) => (
        <div key={index} className="text-override">
          <Field label="Key" name={`textOverrides.${index}.key`} problem={problem}>
            {(props) => (
              <input
                {...props}
                list={`${id}-keys`}
                value={key}
                autoComplete="off"
                spellCheck={false}
                placeholder="signIn.title"
                onChange={({ target }) => replace(index, { key: target.value })}
              />
            )}
          </Field>
          <Field label="Text" name={`textOverrides.${index}.text`} problem={problem}>
            {(props) => (
              <textarea
                {...props}
                rows={2}
                lang={locale}
                dir="auto"
                value={text}
                onChange={({ target }) => replace(index, { text: target.value })}
              />
            )}
          </Field>
          <button
            type="button"
            className="button quiet small"
            aria-label={`Remove ${key || 'the text'}`}
            onClick={() => change(texts.filter((_, place) => place !== index))}
          >
            Remove
          </button>
        </div>
      ))}
      <div>
        <button
          type="button"
          className="button quiet"
          onClick={() => change([...texts, { locale, key: '', text: '' }])}
        >
          Add a text
        </button>
      </div>
    </section>
  )
}
