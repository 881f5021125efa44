/** The document of a screen, as it was sent. */
export type ScreenDocument = { text: string; variables: object }

/** Documents that are kept: those of the screens that Back and the cache show again. */
const MAX_KEPT = 50
const documents = new Map<string, ScreenDocument>()

/** Keeps the document of a screen. Pages of its lists, and what surrounds it, have other names. */
export function keepScreenDocument(name: string, document: ScreenDocument): void {
  if (!name.endsWith('ScreenQuery')) return
  const { href } = location
  documents.set(href, document)
  if (documents.size > MAX_KEPT) documents.delete(documents.keys().next().value ?? '')
}

/** The document of the present screen; null for a screen without one. */
export const getScreenDocument = (): ScreenDocument | null => documents.get(location.href) ?? null
