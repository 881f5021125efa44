import { decodeJwt, type JWTPayload } from 'jose'
import { type Actor, type Ctx, createCtx } from '../context/context.ts'
import { sha256Hex } from '../core/crypto.ts'
import { Unauthenticated } from '../core/errors.ts'
import { apiAudienceOf, isOwnAudience, issuerOf } from '../core/issuer.ts'
import { OAuthError } from '../core/oauth-error.ts'
import {
  getRoleScopes,
  isClientScope,
  isScope,
  isUserScope,
  ORGANIZATION_SCOPE,
  parseScopeList,
  SCIM_SCOPE,
  type Scope,
  SYSTEM_SCOPES,
  SYSTEM_TENANT,
} from '../core/scopes.ts'
import { throwTransient } from '../core/transient-errors.ts'
import { Handle } from '../database/handle.ts'
import { verifyAccessToken } from '../keys/keys.ts'
import { getTextClaim } from '../keys/token-claims.ts'
import { isPublicClient } from '../model/public-clients.ts'
import { findApiKey, listKeyScopes } from './api-keys/find-api-key.ts'
import { hasKeyPrefix } from './api-keys/key-text.ts'
import { findClient } from './client-cache.ts'
import {
  assertClientBinding,
  buildChallenge,
  DPOP_CHALLENGE,
  type KeyProof,
  type PresentedAccessToken,
  parseAuthorization,
  type TokenBinding,
  UNBOUND,
  verifyBinding,
} from './dpop/dpop-binding.ts'
import { requireScope } from './require-scope.ts'
import { selectActiveUsers } from './token-status.sql.ts'

const createInvalidTokenError = (cause?: unknown) =>
  new OAuthError('invalid_token', 'The access token is invalid, expired or revoked.', { status: 401, cause })

/**
 * Returns the tenant whose issuer is the token's `iss`: the target or `system`. Throws OAuthError
 * invalid_token.
 */
function readIssuingTenant(target: string, token: string): string {
  let issuer: unknown
  try {
    issuer = decodeJwt(token).iss
  } catch (error) {
    throw createInvalidTokenError(error)
  }
  const tenant = [target, SYSTEM_TENANT].find((candidate) => issuerOf(candidate) === issuer)
  if (!tenant) throw createInvalidTokenError()
  return tenant
}

const readScopes = (payload: JWTPayload): string[] => parseScopeList(getTextClaim(payload, 'scope') ?? '')

/** The scopes of OIDC, and `account` and `organization` while they are assigned to the client. */
const readOidcScopes = (payload: JWTPayload, client: { scopes: readonly string[] }): ReadonlySet<string> =>
  new Set(
    readScopes(payload).filter(
      (scope) => !isScope(scope) && (!isUserScope(scope) || client.scopes.includes(scope)),
    ),
  )

/**
 * An authenticated call: its context, and the facts of the token that are checked again later; of an API key, its hash in
 * hexadecimal.
 */
export type AuthenticatedToken = {
  ctx: Ctx
  token: { expiresAt: Date; keyHash?: string }
  binding: TokenBinding
  /** The organization of an API key, which is accepted for SCIM alone. */
  organizationId?: string | null
}

type Target = Pick<Ctx, 'tenant' | 'requestId' | 'ip' | 'userAgent' | 'workload'>

/**
 * Authenticates a management or viewer call by an access token (RFC 6750; RFC 9068, section 4; RFC 9449, section 7) or an
 * API key. Checks signature, issuer, audience and lifetime, the DPoP proof if the token is bound to a key, and that the
 * token's basis is active: one statement for a user or an API key, a cached row for a client, and one more statement for
 * a proof. The scopes of the context are those of the token or key that the client, and the user's roles, permit now.
 * Throws Unauthenticated, with the same error for every invalid token, and RateLimited for guessed API keys.
 */
export async function authenticateToken(
  target: Target,
  authorization: string | null,
  keyProof: KeyProof = { provenJkt: null },
  isProvisioning = false,
): Promise<AuthenticatedToken> {
  if (authorization === null) throw new Unauthenticated(undefined, `Bearer, ${DPOP_CHALLENGE}`)
  const presented = parseAuthorization(authorization)
  try {
    if (!presented) throw createInvalidTokenError()
    return await (hasKeyPrefix(presented.token)
      ? authenticateKey(target, presented, isProvisioning)
      : authenticate(target, presented, keyProof))
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const challenge = buildChallenge(presented?.scheme ?? 'Bearer', error.error, error.message)
    throw new Unauthenticated(error.message, challenge, { cause: error, headers: error.headers })
  }
}

async function authenticate(
  target: Target,
  presented: PresentedAccessToken,
  keyProof: KeyProof,
): Promise<AuthenticatedToken> {
  const tenant = readIssuingTenant(target.tenant, presented.token)
  const audience = [apiAudienceOf(tenant), apiAudienceOf(target.tenant)]
  const payload = await verifyAccessToken(tenant, presented.token, audience).catch((error) => {
    throwTransient(error)
    throw createInvalidTokenError(error)
  })
  // A token for another API too could be used here by that API.
  if (![payload.aud ?? []].flat().every(isOwnAudience)) throw createInvalidTokenError()
  const binding = await verifyBinding(target.tenant, presented, payload, keyProof)
  const { actor, permitted } = await resolveActor(target, tenant, payload, binding)
  const tokenScopes = readScopes(payload).filter(isScope)
  const scopes = new Set(
    tokenScopes.filter(
      (scope) => permitted.has(scope) && (target.tenant === SYSTEM_TENANT || !SYSTEM_SCOPES.includes(scope)),
    ),
  )
  return {
    ctx: createCtx({ ...target, actor, scopes }),
    token: { expiresAt: new Date((payload.exp ?? 0) * 1000) },
    binding,
  }
}

/** A key acts in its own tenant only, at the management API unless it is for others or of an organization. It is not bound to a key of DPoP. */
async function authenticateKey(
  target: Target,
  { token, scheme }: PresentedAccessToken,
  isProvisioning: boolean,
): Promise<AuthenticatedToken> {
  const { tenant } = target
  const key = scheme === 'Bearer' ? await findApiKey(target, token) : null
  if (!key || key.resources.length > 0) throw createInvalidTokenError()
  const { id: apiKeyId, userId, organizationId, expiresAt } = key
  if (organizationId !== null && (!isProvisioning || userId !== null)) throw createInvalidTokenError()
  const actor: Actor =
    userId === null
      ? { kind: 'key', tenant, apiKeyId }
      : { kind: 'user', tenant, userId, clientId: null, sessionId: null, grantId: null, apiKeyId }
  return {
    ctx: createCtx({ ...target, actor, scopes: listKeyScopes(tenant, key) }),
    token: { expiresAt, keyHash: sha256Hex(token) },
    binding: UNBOUND,
    organizationId,
  }
}

/**
 * Whom a SCIM client provisions: the users of the tenant, or the members of an organization. `ownScopes` are those of the client
 * at the management API.
 */
export type Provisioner = { ctx: Ctx; organizationId: string | null; ownScopes: ReadonlySet<Scope> }

/** What SCIM permits beyond the scopes of the caller: services check it where they give or take more than they declare. */
const TENANT_PROVISIONING: readonly Scope[] = ['users:read', 'users:write', 'roles:read', 'roles:write']
const ORGANIZATION_PROVISIONING: readonly Scope[] = ['users:read', 'users:write']

/**
 * Authenticates a call of SCIM as authenticateToken does, also by the key of an organization, which reaches this organization
 * alone. Throws Unauthenticated, RateLimited, and Forbidden without the scope.
 */
export async function authenticateProvisioner(
  target: Target,
  authorization: string | null,
  keyProof: KeyProof,
): Promise<Provisioner> {
  const { ctx, organizationId = null } = await authenticateToken(target, authorization, keyProof, true)
  requireScope(ctx, SCIM_SCOPE)
  const scopes = organizationId === null ? [...ctx.scopes, ...TENANT_PROVISIONING] : ORGANIZATION_PROVISIONING
  const provisioning = createCtx({ ...target, actor: ctx.actor, scopes: new Set(scopes) })
  return { ctx: provisioning, organizationId, ownScopes: ctx.scopes }
}

async function resolveActor(
  target: Target,
  tenant: string,
  payload: JWTPayload,
  binding: TokenBinding,
): Promise<{ actor: Actor; permitted: ReadonlySet<Scope> }> {
  const clientId = getTextClaim(payload, 'client_id') ?? ''
  const client = await findClient(tenant, clientId)
  if (!client || (tenant !== target.tenant && !client.allTenants)) throw createInvalidTokenError()
  assertClientBinding(binding, client)
  if (payload.sub === clientId)
    return {
      actor: {
        kind: 'client',
        tenant,
        clientId,
        clientScopes: new Set(
          readScopes(payload)
            .filter(isClientScope)
            .filter((scope) => client.scopes.includes(scope)),
        ),
      },
      permitted: new Set(client.scopes.filter(isScope)),
    }
  // Users act in their own tenant only.
  if (tenant !== target.tenant) throw createInvalidTokenError()
  const organizationId = getTextClaim(payload, 'org_id')
  const basis = {
    userId: payload.sub ?? '',
    grantId: getTextClaim(payload, 'gid'),
    sessionId: getTextClaim(payload, 'sid'),
    organizationId,
    deviceIp: organizationId && isPublicClient(client) ? target.ip : null,
  }
  const [user] = await selectActiveUsers(new Handle({ ...target, tenant }), [basis])
  if (!user) throw createInvalidTokenError()
  const roleScopes = getRoleScopes(user.roles)
  const oidcScopes = readOidcScopes(payload, client)
  return {
    actor: {
      kind: 'user',
      tenant,
      clientId,
      ...basis,
      administeredId:
        user.isAdministrator && oidcScopes.has(ORGANIZATION_SCOPE) ? basis.organizationId : null,
      oidcScopes,
    },
    permitted: new Set(
      client.scopes.filter((scope): scope is Scope => isScope(scope) && roleScopes.has(scope)),
    ),
  }
}
