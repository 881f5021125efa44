import { randomBytes } from 'node:crypto'
import { parse } from 'cookie-es'
import { computeMac, computeMacs, equalsConstantTime } from '../../../core/crypto.ts'
import { buildCookie, buildExpiredCookie, KNOWN_BROWSER_COOKIE, readCookie } from '../../../pages/cookies.ts'
import { parseAddress } from '../../../passcodes/passcodes.fields.ts'

/**
 * A browser in which an address signed in keeps a cookie that proves it: a random id, and a MAC over tenant,
 * address and id. The cookie permits nothing; with it, guesses of others do not affect the sign-in.
 */
const PURPOSE = 'known-browser'
const ID_BYTES = 16
const LIFETIME_SECONDS = 180 * 86_400
/** Cookies of one browser, so that those of a shared machine do not exceed the size of a header. */
const MAX_COOKIES = 10

const toMacInput = (tenant: string, key: string, id: Buffer): string =>
  [tenant, key, id.toString('base64url')].join('\n')

/** The cookie of one address: the name does not show the address. */
const toCookieName = (tenant: string, key: string): string =>
  `${KNOWN_BROWSER_COOKIE}_${computeMac(PURPOSE, `${tenant}\n${key}`).toString('hex').slice(0, 12)}`

/** The id of this browser if the address has signed in in it; null otherwise. */
export function findKnownBrowser(tenant: string, to: string, cookies: string | null): string | null {
  const address = parseAddress(to)
  const value = address && readCookie(cookies, toCookieName(tenant, address.key))
  if (!value) return null
  const bytes = Buffer.from(value, 'base64url')
  const [id, mac] = [bytes.subarray(0, ID_BYTES), bytes.subarray(ID_BYTES)]
  const isProven = computeMacs(PURPOSE, toMacInput(tenant, address.key, id))
    .map((expected) => equalsConstantTime(expected.subarray(0, ID_BYTES), mac))
    .includes(true)
  return isProven ? id.toString('base64url') : null
}

/** Set-Cookie values that mark the browser as known to the address that signed in; the oldest may end. */
export function buildKnownBrowserCookies(tenant: string, to: string, cookies: string | null): string[] {
  const address = parseAddress(to)
  if (!address || findKnownBrowser(tenant, to, cookies)) return []
  const id = randomBytes(ID_BYTES)
  const mac = computeMac(PURPOSE, toMacInput(tenant, address.key, id)).subarray(0, ID_BYTES)
  const value = Buffer.concat([id, mac]).toString('base64url')
  const present = Object.keys(parse(cookies ?? '')).filter((name) => name.startsWith(KNOWN_BROWSER_COOKIE))
  const surplus = present.slice(0, Math.max(0, present.length + 1 - MAX_COOKIES))
  return [
    buildCookie(tenant, toCookieName(tenant, address.key), value, LIFETIME_SECONDS),
    ...surplus.map((name) => buildExpiredCookie(tenant, name)),
  ]
}
