import { Conflict, InvalidInput, NotFound } from '../core/errors.ts'
import type { Db, Tx } from '../database/handle.ts'
import type { AppRole } from '../generated/prisma/client.ts'
import type { AppRoleHolder } from './app-roles.fields.ts'

/** Whose role it is: that of an organization, or null for the tenant. */
export type Owner = Pick<AppRole, 'organizationId'>

/** The roles that may be held in an organization, or, given null, only in the tenant. */
export const inReachOf = (organizationId: string | null) => ({
  OR: [{ organizationId: null }, { organizationId }],
})

/**
 * Throws Conflict when a role of an organization would have the name of one of the tenant, or the other way round, in a
 * tenant that is locked: applications know roles by their names.
 */
export async function requireDistinctName(
  { prisma, tenant: tenantId }: Tx,
  { organizationId }: Owner,
  name: string,
) {
  const other = await prisma.appRole.findFirst({
    where: { tenantId, name, organizationId: organizationId === null ? { not: null } : null },
    select: { organizationId: true },
  })
  if (other)
    throw new Conflict([
      { field: 'name', description: `is taken by a role of ${other.organizationId ?? 'the tenant'}` },
    ])
}

/** Throws NotFound without such an organization. */
export async function requireOrganization({ prisma, tenant: tenantId }: Db, id: string): Promise<void> {
  if ((await prisma.organization.count({ where: { tenantId, id } })) === 0) throw new NotFound('organization')
}

/** Who may hold a role. Throws InvalidInput for a role of an organization that others than its members would hold. */
export function getAssignableTo(
  { organizationId }: Owner,
  given: AppRoleHolder[] | null | undefined,
): AppRoleHolder[] {
  if (organizationId === null) return given ?? ['user']
  if (given?.some((holder) => holder !== 'member'))
    throw new InvalidInput([
      { field: 'assignableTo', description: 'is member, of a role of an organization' },
    ])
  return ['member']
}
