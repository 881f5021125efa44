import { text } from './input-shapes.ts'
import { memoizeText } from './memoize-text.ts'

/** A language tag in its canonical form; null if it is not well-formed (BCP 47). `de_DE` is read as `de-DE`. */
export const canonicalizeLanguageTag = memoizeText((value) => {
  try {
    return Intl.getCanonicalLocales(value.replaceAll('_', '-'))[0] ?? null
  } catch {
    return null // RangeError: not well-formed
  }
})

export const languageTag = text(100)
  .refine((value) => canonicalizeLanguageTag(value) !== null, 'must be a BCP 47 language tag, such as de-AT')
  .transform((value) => canonicalizeLanguageTag(value) ?? value)
  .meta({ format: 'language-tag' })
