import type { CachedClient } from '../../clients/client-cache.ts'
import { sha256 } from '../../crypto.ts'
import type { Ctx } from '../../ctx.ts'
import { sql } from '../../db.ts'
import { OAuthError } from '../../errors.ts'
import { toEventRow, wakeReaders } from '../../events.ts'
import { verifyJwt } from '../keys/keys.ts'
import { readRefreshToken } from './refresh-tokens.ts'
import { revokeGrant } from './revoke-grants.sql.ts'
import { textClaim } from './text-claim.ts'
import { required } from './token-response.ts'

/** Whose token it says to be, and the grant that it lives by; `secretHash` of a refresh token alone. */
type RevocableToken = { clientId: string | null; grantId: string; secretHash: Buffer | null }

/** Reads either kind of token, whatever the hint says (RFC 7009, section 2.1); null for what is none of ours. */
async function readToken(tenant: string, tokenKey: Buffer, token: string): Promise<RevocableToken | null> {
  const refresh = readRefreshToken(tokenKey, token)
  if (refresh) return { clientId: null, grantId: refresh.grantId, secretHash: sha256(refresh.secret) }
  const payload = await verifyJwt(tenant, token, 'at+jwt', {}).catch(() => null)
  if (!payload) return null
  const grantId = textClaim(payload, 'gid')
  // A machine's token lives by nothing but its time.
  if (!grantId)
    throw new OAuthError('unsupported_token_type', 'Tokens of client_credentials end by themselves.')
  return { clientId: textClaim(payload, 'client_id'), grantId, secretHash: null }
}

/**
 * Revokes a token (RFC 7009): its grant, and with that every token of it, within the second in which this takes effect
 * everywhere. What is no token, or none any more, needs no revoking and is no error (section 2.2). Throws OAuthError
 * invalid_grant for a token of another client, unsupported_token_type for a machine's access token.
 */
export async function revokeToken(
  ctx: Ctx,
  { tokenKey }: { tokenKey: Buffer },
  client: CachedClient,
  form: Record<string, string>,
  now = new Date(),
): Promise<void> {
  const token = await readToken(ctx.tenant, tokenKey, required(form, 'token'))
  if (!token) return
  if (token.clientId !== null && token.clientId !== client.id)
    throw new OAuthError('invalid_grant', 'The token was issued to another client.')
  const isRevoked = await revokeGrant(
    sql,
    ctx.tenant,
    { id: token.grantId, clientId: client.id, secretHash: token.secretHash },
    {
      revoked: toEventRow(ctx, { type: 'grant.revoked', detail: { reason: 'revoked' } }),
      ended: toEventRow(ctx, { type: 'session.ended', detail: { reason: 'revoked' } }),
    },
    now,
  )
  if (isRevoked) wakeReaders(ctx.tenant)
}
