import { randomToken, sha256 } from '../../crypto.ts'
import { sql } from '../../db.ts'
import { OAuthError, type Why } from '../../errors.ts'
import { toEventRow, wakeReaders } from '../../events.ts'
import { after } from '../../time.ts'
import { isPublic } from '../client-auth/auth-methods.ts'
import { DEVICE_APP_TYPES, DEVICE_CODE_GRANT } from '../device/device-clients.ts'
import { redeemDeviceCode } from '../device/device-grant.ts'
import { grantableScopes, toScopes } from '../scopes.ts'
import { GRANT_IDLE_SECONDS, redeem } from './codes.ts'
import { selectExplainedGrant } from './explain.sql.ts'
import { TOO_WIDE, whyRefresh, whyReplayed } from './explain-refresh.ts'
import { type PresentedToken, refreshGrant } from './grants.sql.ts'
import { issueToMachine } from './machine-tokens.ts'
import { answerNewGrant } from './new-grant.ts'
import { readRefreshToken, writeRefreshToken } from './refresh-tokens.ts'
import { checkResources, narrowedResources } from './token-resources.ts'
import { issueToPerson, required, type TokenRequest, type TokenResponse } from './token-response.ts'

type GrantType = (request: TokenRequest) => Promise<TokenResponse>

/** A new grant type is one line here. */
const GRANT_TYPES: Record<string, GrantType> = {
  authorization_code: exchangeCode,
  refresh_token: refresh,
  client_credentials: issueToMachine,
  [DEVICE_CODE_GRANT]: redeemDeviceCode,
}
export const GRANT_TYPE_NAMES = Object.keys(GRANT_TYPES)

/** Who may use a grant type, where that is not everybody who signs people in. */
const APP_TYPES: Record<string, readonly string[]> = {
  client_credentials: ['machine'],
  [DEVICE_CODE_GRANT]: DEVICE_APP_TYPES,
}
const SIGNING_IN = ['web', 'single-page', 'native']

/** Answers a token request by its grant_type (RFC 6749, section 3.2). Throws OAuthError. */
export async function answerTokenRequest(request: TokenRequest): Promise<TokenResponse> {
  const type = required(request.form, 'grant_type')
  if (!Object.hasOwn(GRANT_TYPES, type))
    throw new OAuthError('unsupported_grant_type', `Supported here: ${GRANT_TYPE_NAMES.join(', ')}.`, {
      why: { given: type },
    })
  const { appType } = request.client
  if (!(APP_TYPES[type] ?? SIGNING_IN).includes(appType))
    throw new OAuthError('unauthorized_client', 'The client may not use this grant_type.', {
      why: { app_type: appType },
    })
  return (GRANT_TYPES[type] as GrantType)(request)
}

/** A client that lost an answer asks again within this time, and gets the same answer. */
export const REFRESH_RETRY_SECONDS = 30

/** authorization_code (RFC 6749, section 4.1.3; RFC 7636, section 4.5). */
async function exchangeCode(request: TokenRequest): Promise<TokenResponse> {
  const { ctx, client, form, dpopJkt } = request
  const presented = {
    code: required(form, 'code'),
    redirectUri: required(form, 'redirect_uri'),
    codeVerifier: form.code_verifier ?? null,
    dpopJkt,
  }
  // Codes of public clients always have a challenge, so that a missing verifier cannot match (RFC 7636, section 4.6).
  if (isPublic(client)) required(form, 'code_verifier')
  await checkResources(request, { from: 'AuthorizationCode', codeHash: sha256(presented.code) })
  const secret = randomToken()
  return answerNewGrant(request, await redeem(ctx, client, presented, secret), secret)
}

const invalidRefreshToken = (why: Why) =>
  new OAuthError('invalid_grant', 'The refresh token is invalid, expired, or was used before.', { why })

/**
 * refresh_token (RFC 6749, section 6; RFC 9700, section 4.14.2). The token rotates with every use, by one statement.
 * A retry within 30 s gets the identical successor; an older token revokes the grant; one that is ahead of the stored
 * generation (of a database restored from a copy) is refused without revoking.
 */
async function refresh(request: TokenRequest): Promise<TokenResponse> {
  const { ctx, tenant, client, form, dpopJkt } = request
  const token = readRefreshToken(tenant.tokenKey, required(form, 'refresh_token'))
  if (!token)
    throw invalidRefreshToken({ reason: 'it is no refresh token of this tenant, or was cut or altered' })
  await checkResources(request, {
    from: 'Grant',
    grantId: token.grantId,
    secretHash: sha256(token.secret),
  })
  const now = new Date()
  const asked = form.scope === undefined ? null : toScopes(required(form, 'scope'))
  const presented = {
    grantId: token.grantId,
    generation: token.generation,
    secretHash: sha256(token.secret),
    clientId: client.id,
    scopes: asked,
    dpopJkt,
    now,
    retryFrom: after(now, -REFRESH_RETRY_SECONDS),
    idleExpiresAt: after(now, GRANT_IDLE_SECONDS),
  }
  const grant = await refreshGrant(sql, ctx.tenant, presented, toEventRow(ctx, { type: 'grant.refreshed' }))
  if (!grant) throw await refreshRefusal(ctx.tenant, presented)
  if (grant.outcome !== 'repeated') wakeReaders(ctx.tenant)
  if (grant.outcome === 'replayed') throw invalidRefreshToken(whyReplayed(presented, REFRESH_RETRY_SECONDS))
  const scopes = grantableScopes(asked ?? grant.scopes, client, grant.roles)
  const successor = writeRefreshToken(tenant.tokenKey, { ...token, generation: token.generation + 1 })
  const resources = narrowedResources(tenant, grant, request.resources)
  const reissued = { ...grant, grantId: token.grantId, scopes, resources, nonce: null }
  return issueToPerson(request, reissued, successor)
}

/** Tells a scope that is too wide from a token that is wrong: one statement, only after a refusal. */
async function refreshRefusal(tenant: string, presented: PresentedToken): Promise<OAuthError> {
  const row = await selectExplainedGrant(sql, tenant, presented)
  const why = whyRefresh(row, presented)
  if (why.reason !== TOO_WIDE) return invalidRefreshToken(why)
  return new OAuthError('invalid_scope', 'A refresh cannot ask for more than was granted.', { why })
}
