import { parse, serialize } from 'cookie-es'
import { env } from '../core/env.ts'

/** Whether pages are served over https. */
export const isSecure = env.baseUrl.startsWith('https:')

/**
 * With this prefix, browsers accept a cookie only from this host, over https and for all paths, so that no other host
 * of the same domain can set it (RFC 6265bis, section 4.1.3.2). Over http, on a developer's machine, they reject the
 * prefix and the attribute Secure.
 */
const PREFIX = isSecure ? '__Host-' : ''

/**
 * What a cookie has: `sid` the token of the browser session, `acc` that of an account of the browser, `ix` the key that
 * binds an interaction or a page to the browser, `to` the handle of the sign-in that the browser left for an identity
 * provider, which proves nothing, `out` the key of a logout at an identity provider, `kb` the mark of a known browser,
 * `os` the token of a visit that sets up an organization.
 */
export type CookieKind = 'sid' | 'acc' | 'ix' | 'to' | 'out' | 'kb' | 'os'

const toPrefix = (kind: CookieKind): string => `${PREFIX}vst_${kind}_`

/** The name of a cookie. All cookies share the path `/`, so the name separates the tenants, and has no other part. */
export const nameCookie = (kind: CookieKind, tenant: string, part?: string): string =>
  `${toPrefix(kind)}${tenant}${part === undefined ? '' : `_${part}`}`

/**
 * A Set-Cookie value; without a lifetime, the browser forgets the cookie when it is closed. SameSite=Lax keeps forms of
 * other sites from sending it.
 */
export const buildCookie = (name: string, value: string, maxAgeSeconds: number | null): string =>
  serialize(name, value, {
    path: '/',
    maxAge: maxAgeSeconds ?? undefined,
    httpOnly: true,
    secure: isSecure,
    sameSite: 'lax',
  })

export const buildExpiredCookie = (name: string): string => buildCookie(name, '', 0)

/** How many cookies of a kind a browser keeps for all tenants, so that they fit in a header together. */
const MAX_COOKIES: Partial<Record<CookieKind, number>> = { sid: 20, acc: 24, ix: 8, kb: 16 }
/** Set-Cookie values for this purpose in one answer: a header may name many cookies. */
const MAX_SURPLUS = 4

/**
 * Set-Cookie values that end the cookies of a kind that are too many, of any tenant, once one more is set. Browsers send
 * those that they got first before the others. Those in `kept` stay.
 */
export function buildSurplusCookies(
  header: string | null,
  kind: CookieKind,
  kept: readonly string[],
): string[] {
  const prefix = toPrefix(kind)
  const isOther = (name: string) => name.startsWith(prefix) && !kept.includes(name)
  const others = [...listCookies(header, isOther, MAX_OF_KIND).keys()]
  const surplus = others.length + kept.length - (MAX_COOKIES[kind] ?? 1)
  return others.slice(0, Math.min(MAX_SURPLUS, Math.max(0, surplus))).map(buildExpiredCookie)
}

/** The syntax of the tokens that this server issues in cookies. */
const ISSUED_VALUE = /^[A-Za-z0-9_-]{43}$/

/** Cookies of one kind that are read: a browser has fewer, and a sibling site can set thousands. */
const MAX_LISTED = 16
/** Cookies of one kind that are read, of all tenants. */
const MAX_OF_KIND = 64

/**
 * The cookies of a Cookie header whose names are accepted, each with its first value of the issued syntax, or null. One
 * pass over the header, however many cookies it has.
 */
export function listCookies(
  header: string | null,
  isAccepted: (name: string) => boolean,
  max = MAX_LISTED,
): Map<string, string | null> {
  const values = new Map<string, string | null>()
  let name = ''
  parse(header ?? '', {
    filter: (key) => {
      name = key
      return isAccepted(key) && (values.has(key) || values.size < max)
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

/** The token of the browser session. */
export const readSessionToken = (header: string | null, tenant: string): string | null =>
  readCookie(header, nameCookie('sid', tenant))
