import { Suspense, useId, useState } from 'react'
import { graphql, useLazyLoadQuery } from 'react-relay/hooks'
import type { textOverridesQuery } from '../../generated/textOverridesQuery.graphql.ts'
import { Field } from '../../parts/form.tsx'
import { PAGE_LANGUAGES } from '../../parts/languages.ts'
import { type Settings, useSetting } from '../../parts/settings-form.tsx'
import { ListSkeleton } from '../../parts/skeleton.tsx'
import { t } from '../../words/words.ts'

type TextOverride = Settings['textOverrides'][number]

type Shown = TextOverride & { index: number }

/** The texts of a language, each below the one that it replaces. */
function TextsOfLanguage({ locale, shown }: { locale: string; shown: readonly Shown[] }) {
  const id = useId()
  const { value: texts, change, problem } = useSetting('textOverrides')
  const { messages } = useLazyLoadQuery<textOverridesQuery>(
    graphql`
      query textOverridesQuery($locale: LanguageTag!) {
        messages(locale: $locale) {
          key
          text
        }
      }
    `,
    { locale },
  )
  const replace = (index: number, text: Partial<TextOverride>) =>
    change(texts.map((other, place) => (place === index ? { ...other, ...text } : other)))
  const originals = new Map(messages?.map(({ key, text }) => [key, text]))
  return (
    <>
      <datalist id={id}>
        {messages?.map(({ key, text }) => (
          <option key={key} value={key} label={text} />
        ))}
      </datalist>
      {shown.map(({ index, key, text }) => (
        <div key={index} className="text-override">
          <Field
            label={t('Key')}
            name={`textOverrides.${index}.key`}
            problem={problem}
            hint={t('Type words of the text to find its key.')}
          >
            {(props) => (
              <input
                {...props}
                list={id}
                value={key}
                autoComplete="off"
                spellCheck={false}
                placeholder="signIn.title"
                onChange={({ target }) => replace(index, { key: target.value })}
              />
            )}
          </Field>
          <Field
            label={t('Text')}
            name={`textOverrides.${index}.text`}
            problem={problem}
            hint={originals.has(key) ? t('Instead of: {text}', { text: originals.get(key) }) : undefined}
          >
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
            aria-label={t('Remove {key}', { key: key || t('the text') })}
            onClick={() => change(texts.filter((_, place) => place !== index))}
          >
            {t('Remove')}
          </button>
        </div>
      ))}
    </>
  )
}

/** The texts that the tenant replaces, each in a language. */
export function TextOverrides() {
  const { value: texts, change, problem } = useSetting('textOverrides')
  const id = useId()
  const [locale, setLocale] = useState('en')
  const shown = texts.map((text, index) => ({ ...text, index })).filter((text) => text.locale === locale)
  const faulty = new Set(
    problem?.fields.flatMap(({ field }) => {
      const index = Number(/^textOverrides\.(\d+)/.exec(field)?.[1] ?? Number.NaN)
      return texts[index] ? [texts[index].locale] : []
    }),
  )
  /** Problems of all texts, which no field of one shows. */
  const found = problem?.fields.filter(({ field }) => field === 'textOverrides') ?? []
  const describe = (tag: string): string => {
    const number = texts.filter((text) => text.locale === tag).length
    return `${PAGE_LANGUAGES[tag] ?? tag}${number > 0 ? ` (${number})` : ''}${faulty.has(tag) ? t(' – not valid') : ''}`
  }
  return (
    <section className="card">
      <h2>{t('Texts')}</h2>
      <p className="hint">
        {t(
          'A text replaces that of a key of the catalogs, in one language. It has the placeholders of the original.',
        )}
      </p>
      <div className="field">
        <label htmlFor={id}>{t('Texts in')}</label>
        <select id={id} value={locale} onChange={({ target }) => setLocale(target.value)}>
          {Object.keys(PAGE_LANGUAGES).map((tag) => (
            <option key={tag} value={tag}>
              {describe(tag)}
            </option>
          ))}
        </select>
      </div>
      {shown.length > 0 && (
        <Suspense fallback={<ListSkeleton />}>
          <TextsOfLanguage locale={locale} shown={shown} />
        </Suspense>
      )}
      {found.map(({ description }) => (
        <p key={description} className="field-problem">
          {description}
        </p>
      ))}
      <div>
        <button
          type="button"
          className="button quiet"
          onClick={() => change([...texts, { locale, key: '', text: '' }])}
        >
          {t('Add a text')}
        </button>
      </div>
    </section>
  )
}
