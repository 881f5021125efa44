import { EN } from '../../src/languages/catalogs.ts'
import type { Catalog } from '../../src/languages/messages.ts'
import { createWords } from '../../src/languages/translations.ts'

/** Every English message between brackets, so that a text without them comes from no catalog. */
const PSEUDO_CATALOG = Object.fromEntries(
  Object.entries(EN).map(([key, message]) => [key, key.startsWith('service.') ? message : `⟦${message}⟧`]),
) as Catalog

/** The words of the pseudo-language. Sentences of services are English. */
export const PSEUDO_WORDS = createWords('en', PSEUDO_CATALOG)
