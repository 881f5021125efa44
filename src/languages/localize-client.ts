import { CLIENT_TEXTS, type ClientTranslation } from '../model/client-translation.ts'

const getBaseLanguage = (tag: string): string => tag.split('-', 1)[0] ?? ''

/**
 * The translation for readers of a language: that of the language, of a tag that it is looked up as (RFC 4647, section
 * 3.4), or the first of its regions and scripts, such as `de-CH` for `de`. Undefined if there is none.
 */
function findTranslation(
  translations: readonly ClientTranslation[],
  language: string,
): ClientTranslation | undefined {
  for (let tag = language; tag !== ''; tag = tag.slice(0, Math.max(0, tag.lastIndexOf('-')))) {
    const found = translations.find(({ locale }) => locale === tag)
    if (found) return found
  }
  return translations.find(({ locale }) => getBaseLanguage(locale) === getBaseLanguage(language))
}

/**
 * The client with its name, logo and links in a language. What is not translated stays as it is. `translations` is the
 * column, or omitted for what is not a client of the database.
 */
export function localizeClient<Client extends { translations?: unknown }>(
  client: Client,
  language: string,
): Client {
  const translation = findTranslation((client.translations ?? []) as ClientTranslation[], language)
  if (!translation) return client
  const texts = CLIENT_TEXTS.flatMap((name) =>
    translation[name] === null ? [] : [[name, translation[name]]],
  )
  return { ...client, ...Object.fromEntries(texts) }
}
