import { requireAccountControl } from '../access/account-control.ts'
import { getKeyOwner } from '../access/api-keys/find-api-key.ts'
import { requireNoEscalation, requireScope } from '../access/require-scope.ts'
import { findTenant } from '../access/tenant-cache.ts'
import { isAdministered } from '../context/administered-organization.ts'
import type { Ctx } from '../context/context.ts'
import { Conflict, type FieldIssue, InvalidInput, NotFound, UserLocked } from '../core/errors.ts'
import { getRoleScopes, type HeldRoles, isScope, listManagementScopes, SCIM_SCOPE } from '../core/scopes.ts'
import { addSeconds } from '../core/time.ts'
import type { Tx } from '../database/handle.ts'
import { declareTenantLock } from '../database/row-locks.sql.ts'
import type { ApiKey } from '../generated/prisma/client.ts'
import { API_KEY_LIFETIME_SECONDS } from '../model/api-keys.ts'
import { lockOrganization } from '../organizations/organizations.sql.ts'
import { lockUserRow } from '../users/lock-user.sql.ts'

/** Keys of one owner. */
export const MAX_KEYS = { user: 50, organization: 100, tenant: 1000 } as const

const LOCK_TENANT = declareTenantLock(['tenantId'])

export const issue = (field: string, description: string): FieldIssue => ({ field, description })

/** The scopes that a key may have by its owner: null is the tenant. */
const listOwnerScopes = (tenant: string, roles: HeldRoles | null): ReadonlySet<string> =>
  roles === null ? new Set(listManagementScopes(tenant)) : getRoleScopes(roles)

/** Why a key cannot have the scopes: beyond those of its owner, for an organization, or together with other APIs. */
export function findScopeIssues(
  tenant: string,
  { scopes, resources, userId, organizationId }: ScopedKey,
  roles: HeldRoles | null,
): FieldIssue[] {
  // One API could use the key at another one.
  if (resources.length > 0 && scopes.length > 0)
    return [
      issue('scopes', 'must be empty of a key with resources: a key is for the management API or for others'),
    ]
  if (organizationId !== null && (userId !== null || scopes.some((scope) => scope !== SCIM_SCOPE)))
    return scopes.length === 0
      ? []
      : [
          issue(
            'scopes',
            `must be empty, or ${SCIM_SCOPE} of a key of an organization: others are about the whole tenant`,
          ),
        ]
  const permitted = listOwnerScopes(tenant, roles)
  return scopes.flatMap((scope, index) =>
    permitted.has(scope)
      ? []
      : [
          issue(
            `scopes.${index}`,
            roles === null ? 'belongs to tenant system' : 'is not permitted by the roles of the user',
          ),
        ],
  )
}

type ScopedKey = {
  scopes: readonly string[]
  resources: readonly string[]
  userId: string | null
  organizationId: string | null
}

/**
 * Requires the scopes that a key gets or has. An administrator of the organization may give its keys SCIM, which is about
 * this organization alone. Throws Forbidden.
 */
export const requireKeyScopes = (
  ctx: Ctx,
  scopes: readonly string[],
  organizationId: string | null | undefined,
): void =>
  requireNoEscalation(
    ctx,
    scopes.filter(isScope).filter((scope) => scope !== SCIM_SCOPE || !isAdministered(ctx, organizationId)),
  )

/** When a key expires. Throws InvalidInput for a lifetime beyond that of the tenant. */
export async function computeExpiry(
  ctx: Ctx,
  { seconds, standard, now }: { seconds: number | null | undefined; standard?: number; now: Date },
): Promise<Date> {
  const longest = (await findTenant(ctx.tenant))?.apiKeyLifetimeSeconds ?? API_KEY_LIFETIME_SECONDS.standard
  if (seconds != null && seconds > longest)
    throw new InvalidInput([
      issue('expiresInSeconds', `must be at most ${longest}, as the tenant has set it`),
    ])
  return addSeconds(now, seconds ?? Math.min(longest, standard ?? longest))
}

type Owner = Pick<ApiKey, 'userId' | 'organizationId'>

/**
 * Requires the right to act as the user: a key names its user to the APIs that it is for, whatever its scopes are. Throws
 * Forbidden.
 */
export async function requireUserControl(
  tx: Tx,
  ctx: Ctx,
  user: { id: string; roles: HeldRoles },
): Promise<void> {
  requireScope(ctx, 'users:write')
  await requireAccountControl(tx, ctx, user)
}

/** Locks the row of the owner, and returns the roles of a user. Throws NotFound and UserLocked. */
export async function lockOwner(tx: Tx, { userId, organizationId }: Owner): Promise<HeldRoles | null> {
  if (organizationId !== null && !(await lockOrganization(tx, organizationId)))
    throw new NotFound('organization')
  if (userId === null && organizationId === null) await tx.run(LOCK_TENANT)
  if (userId === null) return null
  const user = await lockUserRow(tx, userId)
  if (!user) throw new NotFound('user')
  if (user.locked) throw new UserLocked()
  const member = { tenantId: tx.tenant, organizationId: organizationId ?? '', userId }
  if (organizationId !== null && (await tx.prisma.membership.count({ where: member })) === 0)
    throw new NotFound('member of the organization')
  return user.roles
}

/** Throws Conflict at the limit of keys of an owner, whose row is locked. */
export async function requireRoom(tx: Tx, owner: Owner): Promise<void> {
  const most = MAX_KEYS[getKeyOwner(owner)]
  const { userId, organizationId } = owner
  const where = { tenantId: tx.tenant, userId, ...(userId === null && { organizationId }) }
  if ((await tx.prisma.apiKey.count({ where })) >= most)
    throw new Conflict([], `There are ${most} API keys, which is the maximum: revoke one.`)
}
