import { readdirSync } from 'node:fs'
import { EN } from './catalogs/en.ts'
import type { Catalog } from './messages.ts'

/** A language tag (BCP 47) that names a catalog, such as "de" or "pt-BR". */
const CATALOG_FILE = /^([a-z]{2,3}(?:-[A-Za-z0-9]+)*)\.[jt]s$/

/** Every file in `catalogs` is a language, so that a new language is one file. */
async function loadCatalogs(): Promise<Map<string, Catalog>> {
  const folder = new URL('./catalogs/', import.meta.url)
  const files = readdirSync(folder).flatMap((file) => {
    const tag = CATALOG_FILE.exec(file)?.[1]
    return tag && tag !== 'en' ? [{ tag, url: new URL(file, folder) }] : []
  })
  const others = await Promise.all(
    files.map(async ({ tag, url }) => [tag, (await import(url.href)).CATALOG as Catalog] as const),
  )
  return new Map<string, Catalog>([['en', EN], ...others.sort(([one], [other]) => (one < other ? -1 : 1))])
}

/** The catalogs by language tag; English is the first. */
export const CATALOGS: ReadonlyMap<string, Catalog> = await loadCatalogs()

/** The languages of pages and messages, as tags (BCP 47). */
export const LANGUAGES: readonly string[] = [...CATALOGS.keys()]

/** The language tag that the server uses when nothing else is known. */
export const FALLBACK_LANGUAGE = 'en'
