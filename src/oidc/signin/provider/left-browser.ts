import { buildCookie, nameCookie, readCookie } from '../../../pages/cookies.ts'
import { INTERACTION_LIFETIME_SECONDS } from '../../interactions/interactions.ts'

/** The cookie with the handle of the interaction that the browser leaves for a provider. */
export const buildLeftCookie = (tenant: string, handle: string): string =>
  buildCookie(nameCookie('to', tenant), handle, INTERACTION_LIFETIME_SECONDS)

/** The handle of the interaction that the browser has left for a provider. */
export const readLeftHandle = (tenant: string, cookies: string | null): string | null =>
  readCookie(cookies, nameCookie('to', tenant))
