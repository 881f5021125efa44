import { decodeJwt } from 'jose'
import { dbFor } from '../../src/database/db.ts'
import type { Tokens } from './visitor.ts'
import { test as base } from './visitor.ts'

/** A registered post_logout_redirect_uri. */
export const AFTER = 'https://rp.example.com/signed-out?a=1'
export const ENDED = { isEnded: true, endReason: 'logout' }
export const ACTIVE = { isEnded: false, endReason: null }

/** What parameters of a logout request are made of. */
export type Own = { hint: { id_token_hint: string }; tokens: Tokens; client: { id: string } }

export const pathOf = (tenant: string, params: Record<string, string>): string =>
  `/${tenant}/oidc/logout?${new URLSearchParams(params)}`

/**
 * `test` with a signed-in user and the tokens of a client for each test, and the session that they belong to.
 */
export const test = base
  .extend('client', { scope: 'file' }, ({ newClient }) => newClient({ allowedLogoutUrls: [AFTER] }))
  .extend('visit', ({ ownVisitor }) => ownVisitor)
  .extend('tokens', ({ visit }) => visit.newTokens({ scope: 'openid offline_access' }))
  .extend('hint', ({ tokens }) => ({ id_token_hint: tokens.id_token }))
  .extend('readSession', { scope: 'file' }, ({ tenant }) => async ({ id_token: idToken }: Tokens) => {
    const { sid } = decodeJwt(idToken)
    const where = { tenantId_id: { tenantId: tenant, id: sid as string } }
    const { endedAt, endReason } = await dbFor(tenant).session.findUniqueOrThrow({ where })
    return { isEnded: endedAt !== null, endReason }
  })
  /** Users and clients that ended the session, by the event log. */
  .extend('listEnders', { scope: 'file' }, ({ events }) => async ({ id_token: idToken }: Tokens) => {
    const { sid } = decodeJwt(idToken)
    const ended = await events({ type: 'session.ended' })
    return ended
      .filter(({ sessionId }) => sessionId === sid)
      .map(({ actorUserId, actorClientId }) => [actorUserId, actorClientId])
  })
