import { randomToken } from '../core/crypto.ts'
import { buildCookie, nameCookie, readCookie } from './cookies.ts'

/** How long a form that no interaction has waits for its browser. */
const LIFETIME_SECONDS = 3600

/** The key that binds the forms of pages without an interaction to this browser; null in another one. */
export const readBrowserKey = (tenant: string, cookies: string | null): string | null =>
  readCookie(cookies, nameCookie('ix', tenant))

/** That key, or a new one, and the cookie that keeps it. */
export function bindBrowser(tenant: string, cookies: string | null): { key: string; cookie: string } {
  const key = readBrowserKey(tenant, cookies) ?? randomToken()
  return { key, cookie: buildCookie(nameCookie('ix', tenant), key, LIFETIME_SECONDS) }
}
