import { randomToken } from '../../core/crypto.ts'
import { buildCookie, INTERACTION_COOKIE } from '../../pages/cookies.ts'
import { INTERACTION_LIFETIME_SECONDS } from './interactions.ts'

/**
 * The cookie that binds interactions to this browser. An existing key is kept, so that interactions of other
 * tabs stay bound.
 */
export function bindBrowser(tenant: string, existingKey: string | null): { key: string; cookie: string } {
  const key = existingKey ?? randomToken()
  return { key, cookie: buildCookie(tenant, INTERACTION_COOKIE, key, INTERACTION_LIFETIME_SECONDS) }
}
