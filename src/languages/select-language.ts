import { LANGUAGES } from './catalogs.ts'

const LANGUAGES_BY_KEY = new Map(LANGUAGES.map((tag) => [tag.toLowerCase(), tag]))

/** Tags are longer only in attacks. */
const MAX_TAG_CHARACTERS = 100

/** Languages whose subtag was replaced (IANA language subtag registry), and Norwegian, which is written as Bokmål. */
const CURRENT_SUBTAGS: Readonly<Record<string, string>> = {
  in: 'id',
  iw: 'he',
  ji: 'yi',
  jw: 'jv',
  mo: 'ro',
  no: 'nb',
}

/** A tag in lower case as catalogs name languages, also if it is written as in POSIX (`de_DE`) or has an old subtag. */
const toLookupRange = (tag: string): string =>
  tag
    .slice(0, MAX_TAG_CHARACTERS)
    .replaceAll('_', '-')
    .toLowerCase()
    .replace(/^[a-z]{2}(?=-|$)/, (language) => CURRENT_SUBTAGS[language] ?? language)

/**
 * The language that serves a tag by lookup: "de-AT" is served by "de" (RFC 4647, section 3.4). Null for a language
 * without a catalog.
 */
export function findLanguage(tag: string): string | null {
  let range = toLookupRange(tag)
  while (range !== '') {
    const found = LANGUAGES_BY_KEY.get(range)
    if (found) return found
    range = range.slice(0, Math.max(0, range.lastIndexOf('-')))
  }
  return null
}

/** The first language of the tags that has a catalog; null for none. */
export function selectLanguage(tags: Iterable<string>): string | null {
  for (const tag of tags) {
    const found = findLanguage(tag)
    if (found) return found
  }
  return null
}

/** The tags of Accept-Language, the preferred first; those with weight 0 are left out (RFC 9110, section 12.5.4). */
export const parseAcceptLanguage = (header: string): string[] =>
  header
    .split(',', 50)
    .map((range) => {
      const [tag = '', ...parameters] = range.split(';').map((part) => part.trim())
      const weight = parameters.map((each) => /^q=([\d.]+)$/i.exec(each)?.[1]).find(Boolean)
      return { tag, weight: weight === undefined ? 1 : Number(weight) }
    })
    .filter(({ tag, weight }) => tag !== '' && weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag)
