import { parse } from 'cookie-es'
import type { LanguageSources, Reader } from '../model/language-sources.ts'
import type { TextOverride } from '../model/text-override.ts'
import { FALLBACK_LANGUAGE } from './catalogs.ts'
import { parseAcceptLanguage, selectLanguage } from './select-language.ts'
import { getTenantWords } from './text-overrides.ts'
import type { Words } from './translations.ts'

/** The cookie of the language that a person has chosen. It is not secret: it has a language tag. */
export const LANGUAGE_COOKIE = 'vst_lang'
/** The cookie of the language of one sign-in, where it wins over `ui_locales`. */
export const SIGN_IN_LANGUAGE_COOKIE = 'vst_lang_here'

const isLanguageCookie = (name: string): boolean => [LANGUAGE_COOKIE, SIGN_IN_LANGUAGE_COOKIE].includes(name)

/** What pages need again of their query. Nothing else of a query is in a page. */
const KEPT_PARAMETERS: [path: RegExp, names: string[]][] = [
  [/^\/[^/]+\/(enroll|invitation)(\/|$)/, ['token', 'next', 'next_client']],
  [
    /^\/[^/]+\/oidc\/logout$/,
    ['client_id', 'post_logout_redirect_uri', 'state', 'id_token_hint', 'logout_hint'],
  ],
]

function selectReturnPath({ pathname, searchParams }: URL): string {
  const names = KEPT_PARAMETERS.find(([path]) => path.test(pathname))?.[1] ?? []
  const kept = names.flatMap((name) => searchParams.getAll(name).map((value) => [name, value]))
  return kept.length > 0 ? `${pathname}?${new URLSearchParams(kept)}` : pathname
}

/** The target of a request. The host in it may be none. */
const BASE = 'http://page.invalid'
const parseTarget = (url: string): URL => {
  const target = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '')
  return new URL(URL.canParse(target, BASE) ? target : '/', BASE)
}

/** Adds the language of the tenant and its texts. */
export function addTenantLanguage(
  sources: LanguageSources,
  tenant: { defaultLocale: string | null; textOverrides: unknown },
): void {
  sources.tenantLocale = tenant.defaultLocale
  sources.textOverrides = tenant.textOverrides as TextOverride[]
}

/** `ui_locales` in the query (OIDC Core, section 3.1.2.1; RP-Initiated Logout 1.0, section 2). */
const readUiLocales = ({ request }: LanguageSources): string[] =>
  (parseTarget(request.url).searchParams.get('ui_locales') ?? '').split(' ', 10)

/** The tags of a request in the order of their rank. */
function* listTags(sources: LanguageSources): Generator<string> {
  const cookies = parse(sources.request.headers.get('cookie') ?? '', { filter: isLanguageCookie })
  yield cookies[SIGN_IN_LANGUAGE_COOKIE] ?? ''
  yield* sources.uiLocales ?? readUiLocales(sources)
  yield cookies[LANGUAGE_COOKIE] ?? ''
  yield sources.userLocale ?? ''
  yield* parseAcceptLanguage(sources.request.headers.get('accept-language') ?? '')
  yield sources.tenantLocale ?? ''
}

/** The language of the page that answers the request; null for the APIs. */
export const findPageLanguage = ({ language }: Reader): string | null =>
  language ? (selectLanguage(listTags(language)) ?? FALLBACK_LANGUAGE) : null

/** The words of the tenant for the person who reads the answer; English for the APIs. */
export const getRequestWords = (reader: Reader): Words =>
  getTenantWords(findPageLanguage(reader) ?? FALLBACK_LANGUAGE, reader.language?.textOverrides ?? null)

/**
 * Where the menu of languages leads back to: the path of the request, with what its page needs of the query; null for
 * the APIs.
 */
export const getRequestPath = ({ language }: Reader): string | null =>
  language ? selectReturnPath(parseTarget(language.request.url)) : null

/** The Accept-Encoding header of the request; null for the APIs. */
export const getAcceptedEncodings = ({ language }: Reader): string | null =>
  language?.request.headers.get('accept-encoding') ?? null
