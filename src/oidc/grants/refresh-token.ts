import { revokeGrants } from '../../access/revocation/revocation.ts'
import type { Ctx } from '../../context/context.ts'
import { sha256 } from '../../core/crypto.ts'
import { type Diagnostics, OAuthError } from '../../core/oauth-error.ts'
import { parseScopeList } from '../../core/scopes.ts'
import { addSeconds } from '../../core/time.ts'
import { createEvent } from '../../events/create-event.ts'
import { createEventRow } from '../../events/log.ts'
import type { PolicyRule } from '../../model/organization-policy.ts'
import { isPublicClient } from '../../model/public-clients.ts'
import { selectGrantableScopes } from '../model/scopes.ts'
import { requireParameter, type TokenRequest, type TokenResponse } from '../model/token-request.ts'
import { GRANT_IDLE_SECONDS } from '../token/authorization-codes.ts'
import { narrowResources, requireGrantedResources } from '../token/granted-resources.ts'
import { selectClaimsReading } from '../token/granted-user.sql.ts'
import { formatRefreshToken, parseRefreshToken } from '../token/refresh-tokens.ts'
import { selectGrantDiagnostics } from '../token/token-diagnostics.sql.ts'
import { issueUserTokens } from '../token/token-response.ts'
import { type PresentedToken, type RefreshedGrant, refreshGrant } from './grants.sql.ts'
import { diagnoseRefresh, diagnoseReplay, SCOPE_EXCEEDED } from './refresh-diagnostics.ts'

/** A client that lost a response can repeat its request within this time and gets the same refresh token. */
export const REFRESH_RETRY_SECONDS = 30

const createInvalidRefreshTokenError = (diagnostics: Diagnostics) =>
  new OAuthError('invalid_grant', 'The refresh token is invalid, expired, or was used before.', {
    diagnostics,
  })

/** Also for an organization that does not exist. The refresh token was not used: it works for another organization. */
function createOrganizationError({ organizationId, organization }: RefreshedGrant): OAuthError {
  const unmet = organization?.unmet
  const description =
    organizationId === null
      ? 'The client requires an organization, and the grant has none.'
      : unmet
        ? UNMET_RULES[unmet]
        : 'The user is not, or no longer, a member of the organization.'
  const diagnostics = { organization: organizationId, ...(unmet && { rule: unmet }) }
  return new OAuthError('invalid_grant', description, { diagnostics })
}

/** The `error_description` for a rule of the organization that the sign-in does not satisfy. */
const UNMET_RULES: Record<PolicyRule, string> = {
  sessionLifetimeSeconds: 'The sign-in is too old for the organization. The user must sign in again.',
  requireSecondFactor: 'The organization requires two factors. The user must sign in again.',
  signInMethods: 'The organization does not permit the method of the sign-in. The user must sign in again.',
  allowedNetworks: 'The organization does not permit this network.',
}

/**
 * The refresh_token grant (RFC 6749, section 6; RFC 9700, section 4.14.2). The token rotates with every use, unless the
 * client keeps it (FAPI 2.0 Security Profile, section 5.3.2.1), in one statement. A retry within 30 s returns the same successor. An older token revokes the grant with all
 * that was issued for it: two statements. A token ahead of the stored generation, after a restore of the
 * database, is rejected without revoking. Throws OAuthError.
 */
export async function refreshTokens(request: TokenRequest): Promise<TokenResponse> {
  const { ctx, tenant, client, form, dpopJkt } = request
  const token = parseRefreshToken(tenant.tokenKey, requireParameter(form, 'refresh_token'))
  if (!token)
    throw createInvalidRefreshTokenError({
      reason: 'it is not a refresh token of this tenant, or was truncated or altered',
    })
  const identity = { grantId: token.grantId, clientId: client.id, secretHash: sha256(token.secret) }
  const apis = await requireGrantedResources(request, { from: 'Grant', ...identity })
  const now = new Date()
  const requestedScopes = form.scope === undefined ? null : parseScopeList(requireParameter(form, 'scope'))
  const presented = {
    ...identity,
    generation: token.generation,
    scopes: requestedScopes,
    organization: form.organization === undefined ? null : requireParameter(form, 'organization'),
    // The user has consented to that of the grant.
    keepsOrganization: client.requireConsent,
    requiresOrganization: client.organization === 'required',
    deviceIp: isPublicClient(client) ? ctx.ip : null,
    dpopJkt,
    now,
    retryFrom: addSeconds(now, -REFRESH_RETRY_SECONDS),
    idleExpiresAt: addSeconds(now, GRANT_IDLE_SECONDS),
    reading: selectClaimsReading(client),
    apis,
    defaultApi: tenant.defaultAudience,
    rotates: client.rotateRefreshTokens,
    // A token from before the setting is not bound, so that any key would be accepted (RFC 9449, section 5).
    mustBeBound: isPublicClient(client) && client.dpopBoundAccessTokens,
  }
  const event = createEventRow(ctx, createEvent('grant.refreshed', null))
  const grant = await refreshGrant(ctx.db, presented, event)
  if (!grant) throw await createRefreshError(ctx, presented)
  if (grant.outcome === 'replayed') {
    await revokeGrants(ctx.db, ctx, { kind: 'grant', ...identity }, 'refresh token replayed', now)
    throw createInvalidRefreshTokenError(diagnoseReplay(presented, REFRESH_RETRY_SECONDS))
  }
  if (!grant.isPermitted) throw createOrganizationError(grant)
  const scopes = selectGrantableScopes(requestedScopes ?? grant.scopes, client, grant.roles)
  const generation = grant.outcome === 'kept' ? token.generation : token.generation + 1
  const successor = formatRefreshToken(tenant.tokenKey, { ...token, generation })
  const resources = narrowResources(request, grant)
  const reissued = { ...grant, grantId: token.grantId, scopes, resources, nonce: null }
  return issueUserTokens(request, reissued, successor)
}

/** Distinguishes a scope that is too wide from an invalid token. One statement, only after a rejection. */
async function createRefreshError(ctx: Ctx, presented: PresentedToken): Promise<OAuthError> {
  const row = await selectGrantDiagnostics(ctx.db, presented)
  const diagnostics = diagnoseRefresh(row, presented)
  if (diagnostics.reason !== SCOPE_EXCEEDED) return createInvalidRefreshTokenError(diagnostics)
  return new OAuthError('invalid_scope', 'A refresh request cannot exceed the granted scope.', {
    diagnostics,
  })
}
