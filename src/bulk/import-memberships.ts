import type { Ctx } from '../context/context.ts'
import { InvalidInput } from '../core/errors.ts'
import type { Db, Tx } from '../database/handle.ts'
import {
  addMembers,
  getCallerId,
  prepareAdministrator,
  setAdministrator,
} from '../organizations/memberships.ts'
import { createOrganization } from '../organizations/organizations.ts'
import { joinGroups } from '../permissions/import-groups.ts'
import { importMemberAppRoles, toNamedFields } from '../permissions/import-roles.ts'

/** An organization in the line of an import. */
type ImportedOrganization = {
  slug?: string | null | undefined
  externalId?: string | null | undefined
  name?: string | null | undefined
  isAdministrator?: boolean | null | undefined
  appRoles?: string[] | undefined
  groups?: string[] | undefined
}

/** The ids of organizations, which are created where they do not exist. Throws InvalidInput and Conflict. */
async function resolveOrganizations(
  tx: Tx,
  ctx: Ctx,
  given: readonly ImportedOrganization[],
): Promise<string[]> {
  const { prisma, tenant: tenantId } = tx
  const known = await prisma.organization.findMany({
    where: {
      tenantId,
      OR: [
        { slug: { in: given.flatMap(({ slug }) => slug ?? []) } },
        { externalId: { in: given.flatMap(({ externalId }) => externalId ?? []) } },
      ],
    },
    select: { id: true, slug: true, externalId: true },
  })
  const missing = given.flatMap(({ slug, externalId }, index) =>
    slug || known.some((organization) => organization.externalId === externalId)
      ? []
      : [
          {
            field: `organizations.${index}.slug`,
            description: 'is required, because no organization has the externalId',
          },
        ],
  )
  if (missing.length > 0) throw new InvalidInput(missing)
  const ids: string[] = []
  for (const { slug, externalId, name } of given) {
    const found =
      known.find((organization) => externalId && organization.externalId === externalId) ??
      known.find((organization) => organization.slug === slug)
    const organization =
      found ?? (await createOrganization({ ...ctx, db: tx.join() }, { slug, name: name ?? slug, externalId }))
    if (!found) known.push(organization)
    ids.push(organization.id)
  }
  return ids
}

/**
 * Makes a user a member of organizations, with roles and groups in them, besides those that the user has. False when
 * nothing changed. Throws InvalidInput, and Conflict.
 */
export async function importMemberships(
  tx: Tx,
  ctx: Ctx,
  userId: string,
  given: readonly ImportedOrganization[],
): Promise<boolean> {
  const { prisma, tenant: tenantId } = tx
  const ids = await resolveOrganizations(tx, ctx, given)
  const addedBy = getCallerId(ctx)
  const added = await addMembers(
    tx,
    ctx,
    [...new Set(ids)].map((organizationId) => ({ organizationId, userId, joinedVia: 'import', addedBy })),
  )
  const memberships = await prisma.membership.findMany({
    where: { tenantId, userId, organizationId: { in: ids } },
    select: { id: true, organizationId: true, isAdministrator: true },
  })
  const administered = ids.filter((_, index) => given[index]?.isAdministrator)
  const promoted = memberships.filter(
    ({ organizationId, isAdministrator }) => !isAdministrator && administered.includes(organizationId),
  )
  if (promoted.length > 0) await prepareAdministrator(tx, userId)
  for (const { id } of promoted) await setAdministrator(tx, ctx, id, true)
  const byOrganization = new Map(memberships.map(({ id, organizationId }) => [organizationId, id]))
  const members = ids.map((organizationId, index) => ({
    membershipId: byOrganization.get(organizationId) ?? '',
    userId,
    organizationId,
    roles: toNamedFields(`organizations.${index}.appRoles`, given[index]?.appRoles, organizationId),
  }))
  const hasRoles = await importMemberAppRoles(tx, ctx, members)
  const hasGroups = await joinGroups(
    tx,
    ctx,
    userId,
    ids.flatMap((organizationId, index) =>
      (given[index]?.groups ?? []).map((name) => ({ organizationId, name })),
    ),
  )
  return added.length + promoted.length > 0 || hasRoles || hasGroups
}

/** The organizations of users with their roles and groups in them, for an export. */
export async function readMemberships(
  { prisma, tenant }: Db,
  userIds: string[],
): Promise<ReadonlyMap<string, object[]>> {
  const rows = await prisma.membership.findMany({
    where: { tenantId: tenant, userId: { in: userIds } },
    select: {
      userId: true,
      isAdministrator: true,
      organization: { select: { slug: true, externalId: true, name: true } },
      // A sign-in gives those of a provider again, which would stay for ever if an import gave them.
      appRoles: {
        where: { idpId: null },
        select: { role: { select: { name: true } } },
        orderBy: { role: { name: 'asc' } },
      },
      groups: { select: { group: { select: { name: true } } }, orderBy: { group: { name: 'asc' } } },
    },
    orderBy: { id: 'asc' },
  })
  const byUser = new Map<string, object[]>()
  for (const { userId, isAdministrator, organization, appRoles, groups } of rows) {
    const entry = {
      ...organization,
      isAdministrator,
      appRoles: appRoles.map(({ role }) => role.name),
      groups: groups.map(({ group }) => group.name),
    }
    byUser.set(userId, [...(byUser.get(userId) ?? []), entry])
  }
  return byUser
}
