import { findClient } from '../../access/client-cache.ts'
import { findDeclaredApis } from '../../access/declared-resources.ts'
import { selectUserAccess } from '../../access/effective-access.sql.ts'
import { requireScope } from '../../access/require-scope.ts'
import { type CachedTenant, findTenant } from '../../access/tenant-cache.ts'
import type { Ctx } from '../../context/context.ts'
import { type FieldIssue, InvalidInput } from '../../core/errors.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { parseScopeList } from '../../core/scopes.ts'
import { listApiMappings, listClientMappings, SCOPES_OF_SOURCES } from '../../model/claim-mappings.ts'
import { parseInput } from '../../schema/input-shapes.ts'
import { isGranted, listMappedClaims } from '../../users/mapped-claims.ts'
import { selectOrganizations } from '../authorize/sign-in-state.sql.ts'
import type { OwnOrganization } from '../model/authorize-request.ts'
import { requireAllowedResources } from '../model/requested-resources.ts'
import { selectGrantableScopes } from '../model/scopes.ts'
import { buildAccessTokenPayload } from '../token/access-tokens.ts'
import { listAllowedResources } from '../token/audience.ts'
import { findMappedMembers } from '../token/granted-user.sql.ts'
import { buildIdTokenPayload } from '../token/id-tokens.ts'
import { buildTokenContents } from '../token/token-response.ts'
import { buildUserinfoClaims } from '../token/user-claims.ts'
import { selectExplainedUser } from './explained-user.sql.ts'
import { PreviewInput, type TokenPreview } from './token-preview.fields.ts'

const require = <Value>(value: Value | null, field: string, description: string): Value => {
  if (value === null) throw new InvalidInput([{ field, description } satisfies FieldIssue])
  return value
}

async function findResources(tenant: CachedTenant, resource: string | null | undefined): Promise<string[]> {
  if (!resource) return []
  try {
    return requireAllowedResources([resource], await listAllowedResources(tenant, [resource]))
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    throw new InvalidInput([{ field: 'resource', description: 'is not known in this tenant' }])
  }
}

async function findOrganization(ctx: Ctx, userId: string, named: string): Promise<OwnOrganization> {
  const [organization] = (await selectOrganizations(ctx.db, userId, { named, mode: 'none' })) ?? []
  return require(organization ?? null, 'organization', 'is not an organization of the user')
}

/**
 * The claims of the tokens that a user would grant a client now, and of the userinfo response, as the functions of issuance
 * build them: with the consent of the user, after a sign-in by a code, without a session. Nothing is signed or written. Throws
 * InvalidInput and Forbidden.
 */
export async function previewToken(ctx: Ctx, input: unknown): Promise<TokenPreview> {
  const { userId, clientId, scope, organization: named, resource } = parseInput(PreviewInput, input)
  requireScope(ctx, 'users:read')
  requireScope(ctx, 'clients:read')
  if (named) requireScope(ctx, 'organizations:read')
  const tenant = (await findTenant(ctx.tenant)) as CachedTenant
  const client = require(await findClient(ctx.tenant, clientId), 'clientId', 'is not a client of this tenant')
  const found = require(await selectExplainedUser(
    ctx.db,
    userId,
    clientId,
  ), 'userId', 'is not a user of this tenant')
  const requested = scope ? parseScopeList(scope) : tenant.defaultScopes
  const scopes = selectGrantableScopes(requested, client, found.user.roles)
  const resources = await findResources(tenant, resource)
  const apis = await findDeclaredApis(
    ctx.tenant,
    resources.length > 0 ? resources : [tenant.defaultAudience ?? []].flat(),
  )
  const mappings = [...listClientMappings(client), ...apis.flatMap(listApiMappings)]
  for (const mapping of mappings)
    if (isGranted(mapping, scopes))
      for (const needed of SCOPES_OF_SOURCES[mapping.source]) requireScope(ctx, needed)
  const organization = named ? await findOrganization(ctx, userId, named) : null
  const user = {
    ...found.user,
    ...(await findMappedMembers(ctx, mappings, userId, organization?.id ?? null)),
    consentedClaims: listMappedClaims(mappings, scopes),
  }
  const { accessToken, idToken, omitted } = await buildTokenContents(
    { tenant, client, dpopJkt: null },
    {
      userId,
      scopes,
      resources,
      access: await selectUserAccess(ctx.db, userId, resources, organization?.id),
      ...{ grantId: '', sessionId: null, nonce: null, claims: null },
      ...{ defaultAudience: tenant.defaultAudience, authenticatedAt: new Date(), amr: ['otp'] },
      organization,
      claimsUser: { ...user, updatedAt: user.updatedAt.toISOString() },
    },
  )
  const userinfo = idToken && buildUserinfoClaims(client, user, { scopes, claims: null })
  return {
    scopes,
    accessToken: buildAccessTokenPayload(ctx.tenant, accessToken),
    idToken: idToken && buildIdTokenPayload(ctx.tenant, { ...idToken, accessToken: null }),
    userinfo: userinfo?.claims ?? null,
    omitted: [...omitted, ...(userinfo?.omitted ?? [])],
  }
}
