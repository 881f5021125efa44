import { buildKnownCookies, findKnownBrowserId } from '../../../pages/known-browser-cookies.ts'
import { parseAddress } from '../../../passcodes/passcodes.fields.ts'

/** The id of this browser if the address has signed in in it; null otherwise. */
export function findKnownBrowser(tenant: string, to: string, cookies: string | null): string | null {
  const address = parseAddress(to)
  return address && findKnownBrowserId(tenant, address.key, cookies)
}

/** Set-Cookie values that mark the browser as known to the address that signed in; the oldest may end. */
export function buildKnownBrowserCookies(tenant: string, to: string, cookies: string | null): string[] {
  const address = parseAddress(to)
  return address ? buildKnownCookies(tenant, address.key, cookies) : []
}
