import type { H3 } from 'h3'
import { env } from '../../core/env.ts'
import { addReadRoute } from '../../http/read-routes.http.ts'
import { REGISTRATION_ORIGINS } from './relying-party.ts'

/**
 * The origins that may use passkeys of the RP ID besides its own (WebAuthn Level 3, section 5.11). Browsers
 * request it from the root of the RP ID. There is no such document without PASSKEY_ORIGINS.
 * See docs/decisions/0080.
 */
export function addRelatedOriginRoutes(app: H3): void {
  if (env.passkeyOrigins.length > 0)
    addReadRoute(app, '/.well-known/webauthn', () => Response.json({ origins: REGISTRATION_ORIGINS }))
}
