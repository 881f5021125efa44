import { AsyncLocalStorage } from 'node:async_hooks'
import { parse } from 'cookie-es'
import type { TextOverride } from '../core/text-override.ts'
import { FALLBACK_LANGUAGE } from './catalogs.ts'
import { parseAcceptLanguage, selectLanguage } from './select-language.ts'
import { getTenantWords } from './text-overrides.ts'
import type { Words } from './words.ts'

/** The cookie of the language that a person has chosen. It is not secret: it has a language tag. */
export const LANGUAGE_COOKIE = 'vst_lang'
/** The same choice for the pages of one sign-in only, where it wins over `ui_locales`. */
export const SIGN_IN_LANGUAGE_COOKIE = 'vst_lang_here'

/** What a request says about the language of its answer. */
type LanguageSources = {
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

const requests = new AsyncLocalStorage<LanguageSources>()

/** What pages need again of their query. Nothing else of a query is in a page. */
const KEPT_PARAMETERS: [path: RegExp, names: string[]][] = [
  [/^\/[^/]+\/(enroll|invitation)(\/|$)/, ['token', 'next_client']],
  [/^\/[^/]+\/oidc\/logout$/, ['client_id', 'post_logout_redirect_uri', 'state', 'id_token_hint']],
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

/** Answers a request, whose language `getRequestWords` finds. */
export const runWithLanguage = <Result>(request: LanguageSources['request'], answer: () => Result): Result =>
  requests.run(
    { request, uiLocales: null, userLocale: null, tenantLocale: null, textOverrides: null },
    answer,
  )

/** Adds what is found out about the language while a request is answered. */
export function noteLanguage(known: Partial<Pick<LanguageSources, 'uiLocales' | 'userLocale'>>): void {
  const sources = requests.getStore()
  if (sources) Object.assign(sources, known)
}

/** Adds the language of the tenant and its texts. */
export function noteTenantLanguage(tenant: { defaultLocale: string | null; textOverrides: unknown }): void {
  const sources = requests.getStore()
  if (sources)
    Object.assign(sources, {
      tenantLocale: tenant.defaultLocale,
      textOverrides: tenant.textOverrides as TextOverride[],
    })
}

/** `ui_locales` in the query (OIDC Core, section 3.1.2.1; RP-Initiated Logout 1.0, section 2). */
const readUiLocales = ({ request }: LanguageSources): string[] =>
  (parseTarget(request.url).searchParams.get('ui_locales') ?? '').split(' ', 10)

/** The tags of a request in the order of their rank. */
function* listTags(sources: LanguageSources): Generator<string> {
  const cookies = parse(sources.request.headers.get('cookie') ?? '')
  yield cookies[SIGN_IN_LANGUAGE_COOKIE] ?? ''
  yield* sources.uiLocales ?? readUiLocales(sources)
  yield cookies[LANGUAGE_COOKIE] ?? ''
  yield sources.userLocale ?? ''
  yield* parseAcceptLanguage(sources.request.headers.get('accept-language') ?? '')
  yield sources.tenantLocale ?? ''
}

/** The language of the page that is the answer to the current request; null outside of a request for a page. */
export function findPageLanguage(): string | null {
  const sources = requests.getStore()
  return sources ? (selectLanguage(listTags(sources)) ?? FALLBACK_LANGUAGE) : null
}

/** The words of the tenant for the person who reads the answer to the current request; English outside of a request. */
export const getRequestWords = (): Words =>
  getTenantWords(findPageLanguage() ?? FALLBACK_LANGUAGE, requests.getStore()?.textOverrides ?? null)

/**
 * Where the menu of languages leads back to: the path of the current request, with what its page needs of the query;
 * null outside of a request.
 */
export function getRequestPath(): string | null {
  const sources = requests.getStore()
  return sources ? selectReturnPath(parseTarget(sources.request.url)) : null
}

/** The Accept-Encoding header of the current request; null outside of a request. */
export const getAcceptedEncodings = (): string | null =>
  requests.getStore()?.request.headers.get('accept-encoding') ?? null
