import type { TextOverride } from './text-override.ts'

/** What a request for a page says about the language of its answer. */
export type LanguageSources = {
  /** Its URL is computed when it is read. */
  request: { headers: Headers; url: string }
  /** The language tags that the client of a sign-in asks for; null for those in the query. */
  uiLocales: readonly string[] | null
  /** The `locale` of the user. */
  userLocale: string | null
  /** The default of the tenant. */
  tenantLocale: string | null
  /** The texts that the tenant replaces. */
  textOverrides: readonly TextOverride[] | null
}

/** The person who reads an answer, as far as its language depends on them. */
export type Reader = { language?: LanguageSources | undefined }
