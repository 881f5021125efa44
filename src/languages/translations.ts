import { IntlMessageFormat } from 'intl-messageformat'
import { LRUCache } from 'lru-cache'
import { CATALOGS, EN, FALLBACK_LANGUAGE } from './catalogs.ts'
import type { ArgumentsOf, Catalog, MessageKey, TagsOf } from './messages.ts'

/**
 * Services state errors and the meaning of scopes as English sentences, because they know no language and the APIs
 * return the same sentences. Pages find the translation by the sentence: the English messages under this prefix are
 * what services say.
 */
const PREFIX = 'service.'

type FoundSentence = { key: MessageKey; values: Record<string, string> }

const ARGUMENT = /\\?\{(\w+)\\?\}/g

/** The pattern of a message whose arguments are plain: `must have at least {count} characters`. */
function toPattern(message: string): RegExp {
  const escaped = message.replace(/[.*+?^$()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replace(ARGUMENT, '(?<$1>.+)')}$`)
}

/** Finds the message and its arguments from which a service made a sentence; null for any other text. */
function createSentenceFinder(english: Catalog): (sentence: string) => FoundSentence | null {
  const keys = (Object.keys(english) as MessageKey[]).filter((key) => key.startsWith(PREFIX))
  const plain = new Map(keys.map((key) => [english[key], key]))
  const patterns = keys
    .filter((key) => english[key].includes('{'))
    .map((key) => ({ key, pattern: toPattern(english[key]) }))
  return (sentence) => {
    const key = plain.get(sentence)
    if (key) return { key, values: {} }
    for (const { key, pattern } of patterns) {
      const match = pattern.exec(sentence)
      if (match) return { key, values: { ...match.groups } }
    }
    return null
  }
}

type Text = string | number

/** The arguments of a message; none for a message without any. */
type TextValues<Key extends MessageKey> = [ArgumentsOf<Key> | TagsOf<Key>] extends [never]
  ? []
  : [values: Record<ArgumentsOf<Key>, Text> & Record<TagsOf<Key>, never>]

/** Arguments that may be elements of a page, and functions that wrap the text between tags in one. */
export type RichValues<Key extends MessageKey, Element> = Record<ArgumentsOf<Key>, Text | Element> &
  Record<TagsOf<Key>, (parts: (string | Element)[]) => Element>

/** The words of one language. */
export type Words = {
  /** A language tag (BCP 47). */
  language: string
  direction: 'ltr' | 'rtl'
  /** A message as text. */
  text: <Key extends MessageKey>(key: Key, ...values: TextValues<Key>) => string
  /** A message with elements of a page in it. */
  rich: <Element, Key extends MessageKey = MessageKey>(
    key: Key,
    values: RichValues<Key, Element>,
  ) => string | Element | (string | Element)[]
  /** The translation of an English sentence of a service, such as an error; the sentence itself if there is none. */
  translate: (sentence: string) => string
  formatTime: (time: Date, style: 'medium' | 'long', timeZone: string) => string
  /** How long ago a time was, such as "2 hours ago". */
  formatAgo: (time: Date, now?: Date) => string
}

const RIGHT_TO_LEFT = new Set(['Arab', 'Hebr', 'Thaa', 'Syrc', 'Nkoo', 'Adlm'])

/** The direction in which a language is written, by its most likely script. */
const findDirection = (language: string): 'ltr' | 'rtl' =>
  RIGHT_TO_LEFT.has(new Intl.Locale(language).maximize().script ?? '') ? 'rtl' : 'ltr'

/** A format takes 31 KB, and people choose among 600 time zones. */
const MAX_FORMATS = 40

/** Times in the format of a time zone, or of UTC for one that this runtime does not know. */
function createTimeFormatter(locale: string) {
  const formats = new LRUCache<string, Intl.DateTimeFormat>({ max: MAX_FORMATS })
  const create = (style: 'medium' | 'long', timeZone: string) =>
    new Intl.DateTimeFormat(locale, { dateStyle: style, timeStyle: 'short', timeZone })
  const getFormat = (style: 'medium' | 'long', timeZone: string): Intl.DateTimeFormat => {
    const key = `${style} ${timeZone}`
    const known = formats.get(key)
    if (known) return known
    let format: Intl.DateTimeFormat
    try {
      format = create(style, timeZone)
    } catch {
      format = create(style, 'UTC')
    }
    formats.set(key, format)
    return format
  }
  return (time: Date, style: 'medium' | 'long', timeZone: string) => getFormat(style, timeZone).format(time)
}

/** Seconds from which a duration is told in a unit. */
const AGO_UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

function createAgoFormatter(locale: string): Words['formatAgo'] {
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  return (time, now = new Date()) => {
    const seconds = Math.max(0, (now.getTime() - time.getTime()) / 1000)
    const [unit, size] =
      AGO_UNITS.find(([, size]) => seconds >= size) ?? (['minute', Number.POSITIVE_INFINITY] as const)
    return format.format(-Math.floor(seconds / size), unit)
  }
}

const findSentence = createSentenceFinder(EN)

/** Creates the words of a language from its catalog. Messages are compiled when they are first used. */
export function createWords(language: string, catalog: Catalog): Words {
  // Codes have Latin digits, so that all numbers have.
  const locale = `${language}-u-nu-latn`
  const compiled = new Map<MessageKey, IntlMessageFormat>()
  const compile = (key: MessageKey): IntlMessageFormat => {
    const known = compiled.get(key)
    if (known) return known
    const message = new IntlMessageFormat(catalog[key], locale)
    compiled.set(key, message)
    return message
  }
  const format = (key: MessageKey, values?: object) => compile(key).format(values as Record<string, string>)
  return {
    language,
    direction: findDirection(language),
    text: (key, ...[values]) => String(format(key, values)),
    rich: (key, values) => format(key, values) as never,
    translate: (sentence) => {
      const found = findSentence(sentence)
      return found ? String(format(found.key, found.values)) : sentence
    },
    formatTime: createTimeFormatter(locale),
    formatAgo: createAgoFormatter(locale),
  }
}

const wordsByLanguage = new Map([...CATALOGS].map(([tag, catalog]) => [tag, createWords(tag, catalog)]))

/** The words of a language; those of English for a language without a catalog. */
export const getWords = (language: string): Words =>
  (wordsByLanguage.get(language) ?? wordsByLanguage.get(FALLBACK_LANGUAGE)) as Words

/** What a language calls itself, such as "Deutsch". */
export const getLanguageName = (language: string): string => {
  const name = new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1)
}
