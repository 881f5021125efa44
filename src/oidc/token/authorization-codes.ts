import type { CachedClient } from '../../access/client-cache.ts'
import { revokeGrants } from '../../access/revocation/revocation.ts'
import type { CachedTenant } from '../../access/tenant-cache.ts'
import type { Ctx } from '../../context/context.ts'
import { takeGrant } from '../../coordination/person-budgets.ts'
import { newId, sha256, sha256Base64url } from '../../core/crypto.ts'
import { type Diagnostics, OAuthError } from '../../core/oauth-error.ts'
import { addSeconds } from '../../core/time.ts'
import type { Db } from '../../database/handle.ts'
import { createEvent } from '../../events/create-event.ts'
import { createEventRow } from '../../events/log.ts'
import { isPublicClient } from '../../model/public-clients.ts'
import type { Authentication } from '../model/authentication.ts'
import type { AuthorizeRequest } from '../model/authorize-request.ts'
import { redeemAuthorizationCode } from './authorization-codes.sql.ts'
import { diagnosePresentedCode, diagnoseRejectedCode, type PresentedCode } from './code-diagnostics.ts'
import { selectClaimsReading } from './granted-user.sql.ts'
import type { GrantTerms, NewGrant } from './new-grant.sql.ts'
import {
  CODE_LIFETIME_SECONDS,
  type CodeContents,
  listSealedCodes,
  sealCode,
  unsealCode,
} from './sealed-codes.ts'
import { selectCodeState } from './token-diagnostics.sql.ts'
import { getTokenLifetime } from './token-response.ts'

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
  { ip }: Pick<Ctx, 'ip'>,
  client: CachedClient,
  dpopJkt: string | null,
  secret: string,
  now: Date,
): GrantTerms => ({
  deviceIp: isPublicClient(client) ? ip : null,
  // Refresh tokens of public clients are bound to the key (RFC 9449, section 5).
  grantDpopJkt: isPublicClient(client) ? dpopJkt : null,
  secretHash: sha256(secret),
  now,
  onlineExpiresAt: addSeconds(now, getTokenLifetime(client) + REPLAY_SLACK_SECONDS),
  idleExpiresAt: addSeconds(now, GRANT_IDLE_SECONDS),
  expiresAt: addSeconds(now, GRANT_LIFETIME_SECONDS),
})

/** Whom a code is issued for: the session with its user, and the generation of their codes. */
export type CodeHolder = { id: string; userId: string; codeGeneration: number }

/** What is granted by a code, and the authentication that its ID token reports. */
export type GrantedCode = { scopes: string[]; organizationId: string | null; authentication: Authentication }

/**
 * Issues an authorization code for the user of a session (RFC 6749, section 4.1.2), and allocates the id of its grant. No
 * statement: whether the user, the session and the client's access still hold is checked when the code is redeemed.
 */
export function issueCode(
  { tokenKey, defaultAudience }: Pick<CachedTenant, 'tokenKey' | 'defaultAudience'>,
  { clientId, redirectUri, codeChallenge, nonce, resources, claims, dpopJkt }: AuthorizeRequest,
  { id: sessionId, userId, codeGeneration }: CodeHolder,
  { scopes, organizationId, authentication: { authenticatedAt, amr } }: GrantedCode,
  now = new Date(),
): string {
  return sealCode(tokenKey, {
    ...{ clientId, redirectUri, codeChallenge, nonce, resources, claims, dpopJkt },
    ...{ sessionId, userId, codeGeneration, scopes, organizationId, defaultAudience, authenticatedAt, amr },
    grantId: newId('grant'),
    expiresAt: addSeconds(now, CODE_LIFETIME_SECONDS),
  })
}

/** The contents of a code that a client presents; null when the code is not of this tenant. No statement. */
export const readCode = ({ tokenKey }: { tokenKey: Buffer }, { code }: PresentedCode): CodeContents | null =>
  unsealCode(tokenKey, code)

/** The contents of the code in a response to a browser; null when it has none of this tenant. No statement. */
export function findIssuedCode({ tokenKey }: { tokenKey: Buffer }, text: string): CodeContents | null {
  for (const code of listSealedCodes(text)) {
    const contents = unsealCode(tokenKey, code)
    if (contents) return contents
  }
  return null
}

/** Whether a code has expired or was redeemed. */
export const isCodeSpent = async (db: Db, contents: CodeContents): Promise<boolean> =>
  contents.expiresAt <= new Date() || (await selectCodeState(db, contents)).usedAt !== null

/**
 * Redeems a code once (RFC 6749, section 4.1.3; RFC 7636, section 4.6), in one statement. `contents` are those of the
 * code, null for an unknown one. Throws OAuthError invalid_grant when the code is unknown, expired, already used, issued
 * to another client or for another redirect_uri, or the PKCE verifier does not match. A second use revokes what the
 * first one issued. `refreshSecret` is the secret of the grant's refresh tokens,
 * `apis` those that tokens are for.
 */
export async function redeemCode(
  ctx: Ctx,
  client: CachedClient,
  contents: CodeContents | null,
  presented: PresentedCode,
  { refreshSecret, apis }: { refreshSecret: string; apis: string[] },
): Promise<NewGrant> {
  const now = new Date()
  if (!contents) throw createRejection({ reason: 'the code is unknown: it was not issued here' })
  const computedChallenge = presented.codeVerifier === null ? null : sha256Base64url(presented.codeVerifier)
  const mismatch = diagnosePresentedCode(
    contents,
    { ...presented, clientId: client.id, computedChallenge },
    now,
  )
  if (mismatch === null) takeGrant(ctx.tenant, contents.userId, client.id)
  const redeemed =
    mismatch === null &&
    (await redeemAuthorizationCode(
      ctx.db,
      contents,
      {
        ...buildGrantTerms(ctx, client, presented.dpopJkt, refreshSecret, now),
        appType: client.appType,
        apis,
        reading: selectClaimsReading(client, contents.claims !== null),
      },
      createEventRow(ctx, createEvent('grant.created', null)),
    ))
  if (redeemed) return { ...contents, ...redeemed, offline: contents.scopes.includes('offline_access') }
  const { grantId } = contents
  await revokeGrants(ctx.db, ctx, { kind: 'used code', grantId }, 'code replayed', now)
  throw createRejection(await diagnoseRejectedCode(ctx.db, contents, client.id, mismatch))
}

const createRejection = (diagnostics: Diagnostics): OAuthError =>
  new OAuthError('invalid_grant', 'The code is invalid, expired, or was used before.', { diagnostics })
