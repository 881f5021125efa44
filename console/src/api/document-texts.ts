let texts: Promise<Readonly<Record<string, string>>> | undefined

function loadTexts(): Promise<Readonly<Record<string, string>>> {
  texts ??= import('../generated/documents.json').then(
    (module) => module.default,
    (error: unknown) => {
      texts = undefined
      throw error
    },
  )
  return texts
}

/** The text of a document of this build, which the server has by its id. */
export const loadDocumentText = async (id: string): Promise<string> => (await loadTexts())[id] ?? ''

const PRELOAD_MS = 5000
/** A server of another build does not have the file any more. */
export const preloadDocumentTexts = (): void =>
  void setTimeout(() => void loadTexts().catch(() => {}), PRELOAD_MS)
