import { parse, serialize } from 'cookie-es'
import { env } from '../core/env.ts'

/** Whether pages are served over https. */
export const isSecure = env.baseUrl.startsWith('https:')

/**
 * The cookie of the browser session. Over http, on a developer's machine, browsers reject the prefix and the
 * attribute Secure.
 */
export const SESSION_COOKIE = isSecure ? '__Secure-vst_sid' : 'vst_sid'
/** The prefix of the cookies of the accounts of a browser: each has the token of its session. */
export const ACCOUNT_COOKIE = isSecure ? '__Secure-vst_acc' : 'vst_acc'
/** The cookie that binds interactions to a browser. */
export const INTERACTION_COOKIE = isSecure ? '__Secure-vst_ix' : 'vst_ix'
/** The cookie with the handle of the sign-in that the browser left for an identity provider; it proves nothing. */
export const PROVIDER_COOKIE = isSecure ? '__Secure-vst_pr' : 'vst_pr'
/** The cookie that binds a logout at an identity provider to a browser. */
export const LOGOUT_COOKIE = isSecure ? '__Secure-vst_out' : 'vst_out'
/** The prefix of the cookies that mark a browser in which an address signed in before. */
export const KNOWN_BROWSER_COOKIE = isSecure ? '__Secure-vst_kb' : 'vst_kb'

/**
 * A Set-Cookie value; without a lifetime, the browser forgets the cookie when it is closed. The path separates the cookies of tenants; SameSite=Lax keeps forms of other sites from
 * sending them.
 */
export const buildCookie = (
  tenant: string,
  name: string,
  value: string,
  maxAgeSeconds: number | null,
): string =>
  serialize(name, value, {
    path: `/${tenant}/`,
    maxAge: maxAgeSeconds ?? undefined,
    httpOnly: true,
    secure: isSecure,
    sameSite: 'lax',
  })

export const buildExpiredCookie = (tenant: string, name: string): string => buildCookie(tenant, name, '', 0)

/** The syntax of the tokens that this server issues in cookies. */
const ISSUED_VALUE = /^[A-Za-z0-9_-]{43}$/

/** Cookies of one kind that are read: a browser has fewer, and a sibling site can set thousands. */
const MAX_LISTED = 16

/**
 * The cookies of a Cookie header whose names are accepted, each with its first value of the issued syntax, or null. One
 * pass over the header, however many cookies it has.
 */
export function listCookies(
  header: string | null,
  isAccepted: (name: string) => boolean,
): Map<string, string | null> {
  const values = new Map<string, string | null>()
  let name = ''
  parse(header ?? '', {
    filter: (key) => {
      name = key
      return isAccepted(key) && (values.has(key) || values.size < MAX_LISTED)
    },
    decode: (value) => {
      const known = values.get(name) ?? null
      values.set(name, known ?? (ISSUED_VALUE.test(value) ? value : null))
      return value
    },
  })
  return values
}

/** The value of a cookie in a Cookie header; null without one of the issued syntax. */
export const readCookie = (header: string | null, name: string): string | null =>
  listCookies(header, (key) => key === name).get(name) ?? null
