import type { Variables } from 'relay-runtime'

/** The document of a screen, as it was sent: the id of a document. */
export type ScreenDocument = { id: string; variables: Variables }

/** The names of the documents of screens, of which several have the form of settings. */
const SCREEN_QUERY = /^(\w+Screen|settingsForm)Query$/

/** Documents that are kept: those of the screens that Back and the cache show again. */
const MAX_KEPT = 50
const documents = new Map<string, ScreenDocument>()

/** Keeps the document of a screen. That of a list also loads further pages, which are not kept. */
export function keepScreenDocument(name: string, document: ScreenDocument): void {
  if (!SCREEN_QUERY.test(name) || document.variables.isFirst === false) return
  const { href } = location
  documents.set(href, document)
  if (documents.size > MAX_KEPT) documents.delete(documents.keys().next().value ?? '')
}

/** The document of the present screen; null for a screen without one. */
export const getScreenDocument = (): ScreenDocument | null => documents.get(location.href) ?? null
