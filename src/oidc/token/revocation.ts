import type { CachedClient } from '../../access/client-cache.ts'
import { revokeGrants } from '../../access/revocation/revocation.ts'
import type { Ctx } from '../../context/context.ts'
import { sha256 } from '../../core/crypto.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { throwTransient } from '../../core/transient-errors.ts'
import { verifyJwt } from '../../keys/keys.ts'
import { getTextClaim } from '../../keys/token-claims.ts'
import { requireParameter } from '../model/token-request.ts'
import { parseRefreshToken } from './refresh-tokens.ts'

/** The client and grant of a token; `secretHash` of refresh tokens only. */
type RevocableToken = { clientId: string | null; grantId: string; secretHash: Buffer | null }

/**
 * Parses a token of either kind; token_type_hint is ignored (RFC 7009, section 2.1). Null for a foreign
 * token. Throws OAuthError unsupported_token_type for tokens without a grant.
 */
async function parseRevocableToken(
  tenant: string,
  tokenKey: Buffer,
  token: string,
): Promise<RevocableToken | null> {
  const refresh = parseRefreshToken(tokenKey, token)
  if (refresh) return { clientId: null, grantId: refresh.grantId, secretHash: sha256(refresh.secret) }
  const payload = await verifyJwt(tenant, token, 'at+jwt', {}).catch((error) => {
    throwTransient(error)
    return null
  })
  if (!payload) return null
  const grantId = getTextClaim(payload, 'gid')
  if (!grantId)
    throw new OAuthError(
      'unsupported_token_type',
      'Tokens of client_credentials cannot be revoked; they expire.',
    )
  return { clientId: getTextClaim(payload, 'client_id'), grantId, secretHash: null }
}

/**
 * Revokes a token (RFC 7009) by revoking its grant, with all tokens of the grant; takes effect everywhere
 * within a second. Invalid and inactive tokens are no error (section 2.2). Throws OAuthError invalid_grant
 * for a token of another client, unsupported_token_type for a machine client's access token.
 */
export async function revokeToken(
  ctx: Ctx,
  { tokenKey }: { tokenKey: Buffer },
  client: CachedClient,
  form: Record<string, string>,
): Promise<void> {
  const token = await parseRevocableToken(ctx.tenant, tokenKey, requireParameter(form, 'token'))
  if (!token) return
  if (token.clientId !== null && token.clientId !== client.id)
    throw new OAuthError('invalid_grant', 'The token was issued to another client.')
  const scope = {
    kind: 'grant',
    grantId: token.grantId,
    clientId: client.id,
    secretHash: token.secretHash,
  } as const
  await revokeGrants(ctx.db, ctx, scope, 'revoked', new Date())
}
