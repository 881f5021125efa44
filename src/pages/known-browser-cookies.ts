import { randomBytes } from 'node:crypto'
import { computeMac, computeMacs, equalsConstantTime } from '../core/crypto.ts'
import { buildCookie, buildSurplusCookies, nameCookie, readCookie } from './cookies.ts'

/**
 * A browser in which an address or a user signed in, or proved a second factor, keeps a cookie that proves it: a random
 * id, and a MAC over tenant, key and id. The cookie permits nothing; with it, guesses of others do not affect the sign-in
 * of the address and the second factor of the user, and the user gets no notice of a new browser.
 */
const PURPOSE = 'known-browser'
const ID_BYTES = 16
const LIFETIME_SECONDS = 180 * 86_400

const toMacInput = (tenant: string, key: string, id: Buffer): string =>
  [tenant, key, id.toString('base64url')].join('\n')

/** The cookie of one address or user: the name shows neither. */
const toCookieName = (tenant: string, key: string): string =>
  nameCookie('kb', tenant, computeMac(PURPOSE, `${tenant}\n${key}`).toString('hex').slice(0, 12))

/** The id of this browser if the owner of the key has signed in in it; null otherwise. */
export function findKnownBrowserId(tenant: string, key: string, cookies: string | null): string | null {
  const value = readCookie(cookies, toCookieName(tenant, key))
  if (!value) return null
  const bytes = Buffer.from(value, 'base64url')
  const [id, mac] = [bytes.subarray(0, ID_BYTES), bytes.subarray(ID_BYTES)]
  const isProven = computeMacs(PURPOSE, toMacInput(tenant, key, id))
    .map((expected) => equalsConstantTime(expected.subarray(0, ID_BYTES), mac))
    .includes(true)
  return isProven ? id.toString('base64url') : null
}

/** Set-Cookie values that mark the browser as known; the oldest may end. None when it is known. */
export function buildKnownCookies(tenant: string, key: string, cookies: string | null): string[] {
  if (findKnownBrowserId(tenant, key, cookies)) return []
  const id = randomBytes(ID_BYTES)
  const mac = computeMac(PURPOSE, toMacInput(tenant, key, id)).subarray(0, ID_BYTES)
  const value = Buffer.concat([id, mac]).toString('base64url')
  const name = toCookieName(tenant, key)
  return [buildCookie(name, value, LIFETIME_SECONDS), ...buildSurplusCookies(cookies, 'kb', [name])]
}
