import type { CachedClient } from '../../clients/client-cache.ts'
import { newId, randomToken, sha256, sha256Base64url } from '../../crypto.ts'
import type { Ctx } from '../../ctx.ts'
import { sql } from '../../db.ts'
import { OAuthError } from '../../errors.ts'
import { toEventRow, wakeReaders } from '../../events.ts'
import { after } from '../../time.ts'
import type { AuthorizeRequest } from '../authorize/authorize.ts'
import { isPublic } from '../client-auth/auth-methods.ts'
import { type CodeTerms, insertCode, type RedeemedCode, redeemCode } from './codes.sql.ts'
import { explainCode } from './explain-code.ts'
import type { GrantTerms } from './new-grant.sql.ts'
import { revokeReplayed } from './revoke-grants.sql.ts'
import { lifetimeOf } from './token-response.ts'

/** A code travels through the browser once, at once. */
export const CODE_LIFETIME_SECONDS = 60
/** Refresh tokens end when unused for a month, and after three months in any case. */
export const GRANT_IDLE_SECONDS = 30 * 86_400
export const GRANT_LIFETIME_SECONDS = 90 * 86_400
/** Grants outlive their last access token a little, so that clocks need not agree to the second. */
const SLACK_SECONDS = 60

/** What a grant of the client's is made with; `secret` is that of its refresh tokens, `dpopJkt` the key that was proven. */
export const grantTerms = (
  client: CachedClient,
  dpopJkt: string | null,
  secret: string,
  now: Date,
): GrantTerms => ({
  // Who authenticates is bound by that; who cannot, by the key (RFC 9449, section 5).
  grantDpopJkt: isPublic(client) ? dpopJkt : null,
  secretHash: sha256(secret),
  now,
  onlineExpiresAt: after(now, lifetimeOf(client) + SLACK_SECONDS),
  idleExpiresAt: after(now, GRANT_IDLE_SECONDS),
  expiresAt: after(now, GRANT_LIFETIME_SECONDS),
})

/**
 * Issues an authorization code for the session's person (RFC 6749, section 4.1.2). The id of its grant is allocated
 * with it. Null when the user is locked, the session over, a consent that it needs taken back, or the interaction finished
 * already. One statement.
 */
export async function issueCode(
  ctx: Ctx,
  request: AuthorizeRequest,
  session: { id: string; userId: string },
  { scopes, ...terms }: CodeTerms & { scopes: string[] },
  now = new Date(),
): Promise<string | null> {
  const code = randomToken()
  const isIssued = await insertCode(
    sql,
    ctx.tenant,
    {
      codeHash: sha256(code),
      grantId: newId('grant'),
      clientId: request.clientId,
      userId: session.userId,
      sessionId: session.id,
      redirectUri: request.redirectUri,
      codeChallenge: request.codeChallenge,
      nonce: request.nonce,
      scopes,
      resources: request.resources,
      claims: request.claims,
      dpopJkt: request.dpopJkt,
      expiresAt: after(now, CODE_LIFETIME_SECONDS),
      now,
    },
    terms,
  )
  return isIssued ? code : null
}

export type PresentedCode = {
  code: string
  redirectUri: string
  codeVerifier: string | null
  /** Thumbprint of the key that the request proved to hold. */
  dpopJkt: string | null
}

/**
 * Redeems a code once (RFC 6749, section 4.1.3; RFC 7636, section 4.6): one statement. Throws OAuthError invalid_grant
 * when it is unknown, expired, another client's, for another redirect_uri, without its PKCE verifier, or used before;
 * the latter revokes what was issued for it. `refreshSecret` is the secret of the grant's refresh tokens.
 */
export async function redeem(
  ctx: Ctx,
  client: CachedClient,
  presented: PresentedCode,
  refreshSecret: string,
  now = new Date(),
): Promise<RedeemedCode> {
  const codeHash = sha256(presented.code)
  const computedChallenge = presented.codeVerifier === null ? null : sha256Base64url(presented.codeVerifier)
  const redeemed = await redeemCode(
    sql,
    ctx.tenant,
    {
      codeHash,
      clientId: client.id,
      redirectUri: presented.redirectUri,
      codeChallenge: computedChallenge,
      dpopJkt: presented.dpopJkt,
    },
    grantTerms(client, presented.dpopJkt, refreshSecret, now),
    toEventRow(ctx, { type: 'grant.created' }),
  )
  if (redeemed) {
    wakeReaders(ctx.tenant)
    return redeemed
  }
  const events = {
    revoked: toEventRow(ctx, { type: 'grant.revoked', detail: { reason: 'code replayed' } }),
    ended: toEventRow(ctx, { type: 'session.ended', detail: { reason: 'revoked' } }),
  }
  if (await revokeReplayed(sql, ctx.tenant, codeHash, events, now)) wakeReaders(ctx.tenant)
  const why = await explainCode(
    ctx.tenant,
    codeHash,
    { ...presented, clientId: client.id, computedChallenge },
    now,
  )
  throw new OAuthError('invalid_grant', 'The code is invalid, expired, or was used before.', { why })
}
