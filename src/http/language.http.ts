import type { H3Event } from 'h3'
import type { LanguageSources } from '../model/language-sources.ts'

/** What a request says about the language of its answer: one object per request. */
export function getLanguageSources(event: H3Event): LanguageSources {
  const { context, req: request } = event
  context.language ??= { request, uiLocales: null, userLocale: null, tenantLocale: null, textOverrides: null }
  return context.language as LanguageSources
}
