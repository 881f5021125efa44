import { GENERATED_CATALOGS } from '../generated/catalogs.ts'
import type { Catalog, CheckedCatalogs } from './messages.ts'

/** Every file in `catalogs` is a language. What differs from the English one does not compile. */
const CHECKED: CheckedCatalogs<typeof GENERATED_CATALOGS> = GENERATED_CATALOGS

/** The English messages, whose keys, arguments and tags are those of every language. */
export const EN: Catalog = CHECKED.en

/** The catalogs by language tag; English is the first. See docs/decisions/0084. */
export const CATALOGS: ReadonlyMap<string, Catalog> = new Map<string, Catalog>(Object.entries(CHECKED))

/** The languages of pages and messages, as tags (BCP 47). */
export const LANGUAGES: readonly string[] = [...CATALOGS.keys()]

/** The language tag that the server uses when nothing else is known. */
export const FALLBACK_LANGUAGE = 'en'
