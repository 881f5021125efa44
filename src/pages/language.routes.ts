import { serialize } from 'cookie-es'
import type { H3 } from 'h3'
import type { TenantCall } from '../access/endpoint.http.ts'
import { InvalidInput } from '../core/errors.ts'
import { readForm } from '../http/request-body.http.ts'
import { LANGUAGE_COOKIE, SIGN_IN_LANGUAGE_COOKIE } from '../languages/request-language.ts'
import { findLanguage } from '../languages/select-language.ts'
import { isSecure } from './cookies.ts'
import { addPageRoute, redirectTo } from './responses.http.ts'

const YEAR_SECONDS = 365 * 86_400
/** Paths are resolved as a browser does. */
const BASE = 'http://page.invalid'

/** The menu of languages. Whatever site sends the form: the choice permits nothing. */
export function addLanguageRoute(app: H3): void {
  addPageRoute(app, '/:tenant/language', { POST: chooseLanguage })
}

const buildLanguageCookie = (name: string, language: string, path: string, maxAge?: number): string =>
  serialize(name, language, { path, maxAge, httpOnly: true, secure: isSecure, sameSite: 'lax' })

/** The path of a page of this tenant; the account pages for any other, so that the form leads to no other site. */
const readReturnPath = (tenant: string, given: string): string =>
  given.startsWith(`/${tenant}/`) &&
  URL.canParse(given, BASE) &&
  new URL(given, BASE).pathname.startsWith(`/${tenant}/`)
    ? given
    : `/${tenant}/account`

/** The path of a sign-in, whose pages are in the chosen language whatever its client asked for; null for other pages. */
const findSignInPath = (path: string): string | null => /^\/[^/]+\/signin\/[\w-]+/.exec(path)?.[0] ?? null

/** Stores the chosen language in the browser, and leads back to the page. */
async function chooseLanguage({ event, ctx }: TenantCall): Promise<Response> {
  const form = await readForm(event)
  const language = findLanguage(form.language ?? '')
  if (!language)
    throw new InvalidInput([{ field: 'language', description: 'is not a language of this server' }])
  const returnTo = readReturnPath(ctx.tenant, form.return_to ?? '')
  const signInPath = findSignInPath(returnTo)
  return redirectTo(returnTo, [
    buildLanguageCookie(LANGUAGE_COOKIE, language, `/${ctx.tenant}/`, YEAR_SECONDS),
    ...(signInPath ? [buildLanguageCookie(SIGN_IN_LANGUAGE_COOKIE, language, signInPath)] : []),
  ])
}
