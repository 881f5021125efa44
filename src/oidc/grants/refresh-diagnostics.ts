import type { Diagnostics } from '../../core/oauth-error.ts'
import type { GrantDiagnosticsRow } from '../token/token-diagnostics.sql.ts'
import type { PresentedToken } from './grants.sql.ts'

/** The only reason that the client learns, as invalid_scope (RFC 6749, section 6). */
export const SCOPE_EXCEEDED = 'the request names scopes that were not granted'

/** Explains the rejection of a refresh token by the row of its grant. Pure. */
export function diagnoseRefresh(row: GrantDiagnosticsRow | null, token: PresentedToken): Diagnostics {
  if (!row) return { reason: 'the grant is unknown: it ended long ago, or its client or user was deleted' }
  if (row.clientId !== token.clientId)
    return { reason: 'the refresh token was issued to another client', issued_to: row.clientId }
  if (row.revokedAt)
    return { reason: 'the grant was revoked', revoked_at: row.revokedAt.toISOString(), grant: token.grantId }
  if (row.expiresAt <= token.now)
    return { reason: 'the grant has expired', expired_at: row.expiresAt.toISOString() }
  if (row.idleExpiresAt <= token.now)
    return {
      reason: 'the refresh token was unused for too long',
      expired_at: row.idleExpiresAt.toISOString(),
    }
  if (row.locked) return { reason: 'the user is locked' }
  if (row.dpopJkt !== null && row.dpopJkt !== token.dpopJkt)
    return {
      reason: 'the refresh token is bound to another DPoP key',
      expected_jkt: row.dpopJkt,
      jkt: token.dpopJkt,
    }
  if (row.dpopJkt === null && token.mustBeBound)
    return { reason: 'an unbound refresh token of a client that must use DPoP' }
  if (row.generation < token.generation)
    return {
      reason: 'the refresh token is newer than the database, which may have been restored from a backup',
      generation: token.generation,
      current: row.generation,
    }
  return { reason: SCOPE_EXCEEDED, granted: row.scopes.join(' '), requested: (token.scopes ?? []).join(' ') }
}

/** Explains why an older token revoked its grant. */
export const diagnoseReplay = (token: PresentedToken, retrySeconds: number): Diagnostics => ({
  reason: `an older refresh token was used more than ${retrySeconds} s after it was replaced: the grant was revoked`,
  grant: token.grantId,
  generation: token.generation,
})
