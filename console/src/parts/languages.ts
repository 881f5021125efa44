import { language } from '../words/words.ts'

const TAGS = ['ar', 'de', 'en', 'es', 'fr', 'he', 'it', 'ja', 'nl', 'pl', 'pt', 'tr', 'zh'] as const

const names = new Intl.DisplayNames(language, { type: 'language' })

/** The languages of pages and messages: their tags and English names. */
export const PAGE_LANGUAGES: Readonly<Record<string, string>> = Object.fromEntries(
  TAGS.map((tag) => [tag, names.of(tag) ?? tag]),
)
