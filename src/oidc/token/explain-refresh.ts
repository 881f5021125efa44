import type { Why } from '../../errors.ts'
import type { ExplainedGrant } from './explain.sql.ts'
import type { PresentedToken } from './grants.sql.ts'

/** A refresh that asks for more than it was given is told so, unlike all others (RFC 6749, section 6). */
export const TOO_WIDE = 'the refresh asks for scopes that were not granted'

/** Why a refresh token was refused, by the row of its grant. Pure. */
export function whyRefresh(row: ExplainedGrant | null, token: PresentedToken): Why {
  if (!row) return { reason: 'there is no such grant: it ended long ago, or its client or user was deleted' }
  if (row.clientId !== token.clientId)
    return { reason: 'the refresh token was issued to another client', issued_to: row.clientId }
  if (row.revokedAt)
    return { reason: 'the grant was revoked', revoked_at: row.revokedAt.toISOString(), grant: token.grantId }
  if (row.expiresAt <= token.now)
    return { reason: 'the grant has reached its end', expired_at: row.expiresAt.toISOString() }
  if (row.idleExpiresAt <= token.now)
    return {
      reason: 'the refresh token was not used for too long',
      expired_at: row.idleExpiresAt.toISOString(),
    }
  if (row.locked) return { reason: 'the user is locked' }
  if (row.dpopJkt !== null && row.dpopJkt !== token.dpopJkt)
    return {
      reason: 'the refresh token is bound to another DPoP key',
      expected_jkt: row.dpopJkt,
      jkt: token.dpopJkt,
    }
  if (row.generation < token.generation)
    return {
      reason: 'the refresh token is newer than the database: was it restored from a copy?',
      generation: token.generation,
      current: row.generation,
    }
  return { reason: TOO_WIDE, granted: row.scopes.join(' '), asked: (token.scopes ?? []).join(' ') }
}

/** Why an older token ended its grant. */
export const whyReplayed = (token: PresentedToken, retrySeconds: number): Why => ({
  reason: `an older refresh token was used again, later than ${retrySeconds} s after its successor: the grant was revoked`,
  grant: token.grantId,
  generation: token.generation,
})
