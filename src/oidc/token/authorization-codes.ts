import type { CachedClient } from '../../access/client-cache.ts'
import { revokeGrants } from '../../access/revocation.ts'
import { isPublicClient } from '../../clients/auth-methods.ts'
import type { Ctx } from '../../core/context.ts'
import { newId, randomToken, sha256, sha256Base64url } from '../../core/crypto.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { addSeconds } from '../../core/time.ts'
import { sql } from '../../database/db.ts'
import { grantCreated } from '../../events/grant-events.ts'
import { createEventRow, wakeReaders } from '../../events/log.ts'
import type { Authentication } from '../model/authentication.ts'
import type { AuthorizeRequest } from '../model/authorize-request.ts'
import {
  type CodeTerms,
  insertAuthorizationCode,
  type NewCode,
  type RedeemedCode,
  type RequestedCode,
  redeemAuthorizationCode,
} from './authorization-codes.sql.ts'
import { diagnoseStoredCode, type PresentedCode } from './code-diagnostics.ts'
import type { GrantTerms } from './new-grant.sql.ts'
import { getTokenLifetime } from './token-response.ts'

/** The client redeems a code as soon as the browser delivers it. */
export const CODE_LIFETIME_SECONDS = 60
/** Refresh tokens expire after a month without use, and after three months in any case. */
export const GRANT_IDLE_SECONDS = 30 * 86_400
export const GRANT_LIFETIME_SECONDS = 90 * 86_400
/** Grants outlive their last access token slightly, to tolerate clock differences. */
const REPLAY_SLACK_SECONDS = 60

/**
 * The terms of a new grant. `secret` is the secret of its refresh tokens, `dpopJkt` the thumbprint of the key
 * of the verified DPoP proof.
 */
export const buildGrantTerms = (
  client: CachedClient,
  dpopJkt: string | null,
  secret: string,
  now: Date,
): GrantTerms => ({
  // Refresh tokens of public clients are bound to the key (RFC 9449, section 5).
  grantDpopJkt: isPublicClient(client) ? dpopJkt : null,
  secretHash: sha256(secret),
  now,
  onlineExpiresAt: addSeconds(now, getTokenLifetime(client) + REPLAY_SLACK_SECONDS),
  idleExpiresAt: addSeconds(now, GRANT_IDLE_SECONDS),
  expiresAt: addSeconds(now, GRANT_LIFETIME_SECONDS),
})

/** What is granted by a code, and the authentication that its ID token reports. */
export type CodeContents = { scopes: string[]; authentication: Authentication }

/** Prepares an authorization code for a request, before its user is known, and allocates the id of its grant. */
export function prepareRequestedCode(
  request: AuthorizeRequest,
  scopes: string[],
  now: Date,
): { code: string; values: RequestedCode } {
  const code = randomToken()
  const values = {
    codeHash: sha256(code),
    grantId: newId('grant'),
    clientId: request.clientId,
    redirectUri: request.redirectUri,
    codeChallenge: request.codeChallenge,
    nonce: request.nonce,
    scopes,
    resources: request.resources,
    claims: request.claims,
    dpopJkt: request.dpopJkt,
    expiresAt: addSeconds(now, CODE_LIFETIME_SECONDS),
    now,
  }
  return { code, values }
}

/** Prepares an authorization code for the user of a session, and allocates the id of its grant. */
export function prepareCode(
  request: AuthorizeRequest,
  { id: sessionId, userId }: { id: string; userId: string },
  { scopes, authentication }: CodeContents,
  now: Date,
): { code: string; values: NewCode } {
  const { code, values } = prepareRequestedCode(request, scopes, now)
  const { authenticatedAt, amr } = authentication
  return { code, values: { ...values, userId, sessionId, authenticatedAt, amr } }
}

/**
 * Issues an authorization code for the user of a session (RFC 6749, section 4.1.2). Null when the user is locked,
 * the session has ended, a required consent is missing, or the interaction has ended. One statement.
 */
export async function issueCode(
  ctx: Ctx,
  request: AuthorizeRequest,
  session: { id: string; userId: string },
  { scopes, authentication, ...terms }: CodeTerms & CodeContents,
  now = new Date(),
): Promise<string | null> {
  const { code, values } = prepareCode(request, session, { scopes, authentication }, now)
  return (await insertAuthorizationCode(sql, ctx.tenant, values, terms)) ? code : null
}

/**
 * Redeems a code once (RFC 6749, section 4.1.3; RFC 7636, section 4.6), in one statement. Throws OAuthError
 * invalid_grant when the code is unknown, expired, already used, issued to another client or for another
 * redirect_uri, or the PKCE verifier does not match. A second use revokes what the first one issued.
 * `refreshSecret` is the secret of the grant's refresh tokens.
 */
export async function redeemPresentedCode(
  ctx: Ctx,
  client: CachedClient,
  presented: PresentedCode,
  refreshSecret: string,
  now = new Date(),
): Promise<RedeemedCode> {
  const codeHash = sha256(presented.code)
  const computedChallenge = presented.codeVerifier === null ? null : sha256Base64url(presented.codeVerifier)
  const redeemed = await redeemAuthorizationCode(
    sql,
    ctx.tenant,
    {
      codeHash,
      clientId: client.id,
      redirectUri: presented.redirectUri,
      codeChallenge: computedChallenge,
      dpopJkt: presented.dpopJkt,
    },
    buildGrantTerms(client, presented.dpopJkt, refreshSecret, now),
    createEventRow(ctx, grantCreated()),
  )
  if (redeemed) {
    wakeReaders(ctx.tenant)
    return redeemed
  }
  const isReplay = await revokeGrants(sql, ctx, { kind: 'used code', codeHash }, 'code replayed', now)
  if (isReplay) wakeReaders(ctx.tenant)
  const diagnostics = await diagnoseStoredCode(
    ctx.tenant,
    codeHash,
    { ...presented, clientId: client.id, computedChallenge },
    now,
  )
  throw new OAuthError('invalid_grant', 'The code is invalid, expired, or was used before.', {
    diagnostics,
  })
}
