import { AsyncLocalStorage } from 'node:async_hooks'
import { parse } from 'cookie-es'
import { FALLBACK_LANGUAGE } from './catalogs.ts'
import { parseAcceptLanguage, selectLanguage } from './select-language.ts'
import { getWords, type Words } from './words.ts'

/** The cookie of the language that a person has chosen. It is not secret: it has a language tag. */
export const LANGUAGE_COOKIE = 'vst_lang'
/** The same choice for the pages of one sign-in only, where it wins over `ui_locales`. */
export const SIGN_IN_LANGUAGE_COOKIE = 'vst_lang_here'

/** What a request says about the language of its answer. */
type LanguageSources = {
  headers: Headers
  /** Where the menu of languages leads back to: the path of the page, with what it needs of its query. */
  path: string
  /** The language tags that the client asks for (OIDC Core, section 3.1.2.1: ui_locales). */
  uiLocales: readonly string[]
  /** The `locale` of the user. */
  userLocale: string | null
  /** The default of the tenant. */
  tenantLocale: string | null
}

const requests = new AsyncLocalStorage<LanguageSources>()

/** What pages need again of their query. Nothing else of a query is in a page. */
const KEPT_PARAMETERS = [
  'token',
  'next_client',
  'client_id',
  'post_logout_redirect_uri',
  'state',
  'id_token_hint',
]

function selectReturnPath({ pathname, searchParams }: URL): string {
  const kept = KEPT_PARAMETERS.flatMap((name) => searchParams.getAll(name).map((value) => [name, value]))
  return kept.length > 0 ? `${pathname}?${new URLSearchParams(kept)}` : pathname
}

/** Answers a request, whose language `getRequestWords` finds. */
export function runWithLanguage<Result>(
  { headers, url }: { headers: Headers; url: string },
  answer: () => Result,
): Result {
  const target = new URL(url)
  const uiLocales = (target.searchParams.get('ui_locales') ?? '').split(' ', 10)
  return requests.run(
    { headers, path: selectReturnPath(target), uiLocales, userLocale: null, tenantLocale: null },
    answer,
  )
}

/** Adds what is found out about the language while a request is answered. */
export function noteLanguage(
  known: Partial<Pick<LanguageSources, 'uiLocales' | 'userLocale' | 'tenantLocale'>>,
): void {
  const sources = requests.getStore()
  if (sources) Object.assign(sources, known)
}

/** The tags of a request in the order of their rank. */
function* listTags(sources: LanguageSources): Generator<string> {
  const cookies = parse(sources.headers.get('cookie') ?? '')
  yield cookies[SIGN_IN_LANGUAGE_COOKIE] ?? ''
  yield* sources.uiLocales
  yield cookies[LANGUAGE_COOKIE] ?? ''
  yield sources.userLocale ?? ''
  yield* parseAcceptLanguage(sources.headers.get('accept-language') ?? '')
  yield sources.tenantLocale ?? ''
}

/** The words for the person who reads the answer to the current request; English outside of a request. */
export function getRequestWords(): Words {
  const sources = requests.getStore()
  return getWords((sources && selectLanguage(listTags(sources))) ?? FALLBACK_LANGUAGE)
}

/** The path and query of the current request; null outside of one. */
export const getRequestPath = (): string | null => requests.getStore()?.path ?? null
