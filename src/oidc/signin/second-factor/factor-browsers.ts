import { buildKnownCookies, findKnownBrowserId } from '../../../pages/known-browser-cookies.ts'

/** Neither an address nor the id of a user, which mark browsers after a first proof. */
const toKey = (userId: string): string => `second-factor:${userId}`

/**
 * The id of this browser if a second factor of the user was proven in it; null otherwise. It has guesses of its own: somebody
 * who has the mailbox of the user cannot use them up.
 */
export const findFactorBrowser = (tenant: string, userId: string, cookies: string | null): string | null =>
  findKnownBrowserId(tenant, toKey(userId), cookies)

/** Set-Cookie values that mark the browser, only after the second factor of the user was proven in it. */
export const buildFactorBrowserCookies = (tenant: string, userId: string, cookies: string | null): string[] =>
  buildKnownCookies(tenant, toKey(userId), cookies)
