import { type DeclaredApi, findDeclaredApis } from '../../access/declared-resources.ts'
import type { EffectiveAccess } from '../../access/effective-access.sql.ts'
import { isOwnAudience } from '../../core/issuer.ts'
import { measureJson } from '../../core/json/json-size.ts'
import type { TokenRequest } from '../model/token-request.ts'
import { computeAudience, selectGrantAudience } from './audience.ts'
import type { GrantedAccess } from './granted-resources.sql.ts'
import { narrowResources } from './granted-resources.ts'
import type { UserClaims } from './user-claims.ts'

/** Servers reject requests with headers of more than 8 KB. */
const MAX_AUTHORIZATION_BYTES = 4096

/**
 * The API of an access token, whose roles, permissions and mapped claims it has: the only audience besides those of this deployment. Of several,
 * one could take the permissions of another for its own.
 */
export const selectTokenApi = (
  apis: readonly DeclaredApi[],
  audience: readonly string[],
): DeclaredApi | null => {
  const [api = null] = apis
  const others = audience.filter((each) => !isOwnAudience(each))
  return others.length === 1 ? api : null
}

/**
 * The claims `roles` and `permissions` of an access token (RFC 9068, section 2.2.3.1), and of one for an organization
 * `org_roles`, those of `roles` that are held in it alone. A list that does not fit is left out, so that the API permits
 * nothing.
 */
export function buildAuthorizationClaims(
  access: EffectiveAccess | null,
  api: DeclaredApi | null,
  isForOrganization = false,
): UserClaims {
  if (!api?.permissionsInTokens) return { claims: {}, omitted: [] }
  const given = {
    roles: access?.roles ?? [],
    permissions: access?.permissions[api.identifier] ?? [],
    ...(isForOrganization && { org_roles: access?.organizationRoles ?? [] }),
  }
  const entries = Object.entries(given)
  const large = entries
    .filter(([, names]) => measureJson(names) > MAX_AUTHORIZATION_BYTES)
    .map(([name]) => name)
  return {
    claims: Object.fromEntries(entries.filter(([name]) => !large.includes(name))),
    omitted: large.length > 0 ? [{ target: 'access_token', claims: large }] : [],
  }
}

/** The identifiers of the APIs that a token for a grant is for; no statement where it is for this deployment alone. */
export async function listTokenApis(request: TokenRequest, granted: GrantedAccess): Promise<string[]> {
  const { tenant, client } = request
  const audience = computeAudience(
    selectGrantAudience(tenant, client, granted),
    granted.scopes,
    narrowResources(request, granted),
  )
  return (await findDeclaredApis(tenant.tenantId, audience)).map(({ identifier }) => identifier)
}
