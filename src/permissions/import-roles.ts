import type { Ctx } from '../context/context.ts'
import { InvalidInput } from '../core/errors.ts'
import type { Db, Tx } from '../database/handle.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { type AppRoleHolder, MAX_HELD } from './app-roles.fields.ts'
import { lockMemberships } from './permissions.sql.ts'

/** A name in the line of an import, where it is, and the organization in which the role is given. */
export type NamedField = { name: string; field: string; organizationId: string | null }

export const toNamedFields = (
  member: string,
  names: readonly string[] = [],
  organizationId: string | null = null,
): NamedField[] => names.map((name, index) => ({ name, field: `${member}.${index}`, organizationId }))

/**
 * Returns the id of the role of a name in an organization: of the tenant, or of the organization itself. Throws InvalidInput for each
 * name of no role for `holder`.
 */
async function findRoleIds({ prisma, tenant }: Tx, given: readonly NamedField[], holder: AppRoleHolder) {
  const roles = await prisma.appRole.findMany({
    where: {
      tenantId: tenant,
      name: { in: [...new Set(given.map(({ name }) => name))] },
      assignableTo: { has: holder },
      OR: [null, ...given.map(({ organizationId }) => organizationId)].map((organizationId) => ({
        organizationId,
      })),
    },
    select: { id: true, name: true, organizationId: true },
  })
  const find = (name: string, organizationId: string | null) =>
    roles.find((role) => role.name === name && [null, organizationId].includes(role.organizationId))?.id
  const issues = given.flatMap(({ name, field, organizationId }) =>
    find(name, organizationId)
      ? []
      : [{ field, description: `is not a role of this tenant for a ${holder}` }],
  )
  if (issues.length > 0) throw new InvalidInput(issues)
  return { find, names: new Map(roles.map(({ id, name }) => [id, name])) }
}

const rejectMany = (field: string) =>
  new InvalidInput([{ field, description: `would be more than ${MAX_HELD} roles with those of before` }])

/** Gives a user roles, besides those that are held. False when all are. Throws InvalidInput. */
export async function importUserAppRoles(
  tx: Tx,
  ctx: Ctx,
  userId: string,
  names: readonly string[],
): Promise<boolean> {
  const { find, names: namesById } = await findRoleIds(tx, toNamedFields('appRoles', names), 'user')
  const { prisma, tenant: tenantId } = tx
  const added = await prisma.userAppRole.createManyAndReturn({
    data: names.map((name) => ({ tenantId, userId, roleId: find(name, null) ?? '' })),
    skipDuplicates: true,
  })
  if (added.length === 0) return false
  if ((await prisma.userAppRole.count({ where: { tenantId, userId } })) > MAX_HELD)
    throw rejectMany('appRoles')
  const appRoleIds = added.map(({ roleId }) => roleId)
  await recordEvents(tx, ctx, [
    createEvent('user.app_roles_changed', { userId, appRoleIds }, toDetail(namesById, appRoleIds)),
  ])
  return true
}

const toDetail = (names: ReadonlyMap<string, string>, added: readonly string[]) => ({
  added: [...names].flatMap(([id, name]) => (added.includes(id) ? [name] : [])).join(' '),
  removed: '',
})

/** A membership, and the roles that its member gets. */
export type MemberRoles = {
  membershipId: string
  userId: string
  organizationId: string
  roles: NamedField[]
}

/** Gives members roles in their organizations, besides those that are held. False when all are. Throws InvalidInput. */
export async function importMemberAppRoles(tx: Tx, ctx: Ctx, members: MemberRoles[]): Promise<boolean> {
  const { find, names } = await findRoleIds(
    tx,
    members.flatMap(({ roles }) => roles),
    'member',
  )
  const { prisma, tenant: tenantId } = tx
  const data = members.flatMap(({ membershipId, roles }) =>
    roles.map(({ name, organizationId }) => ({
      tenantId,
      membershipId,
      roleId: find(name, organizationId) ?? '',
    })),
  )
  if (data.length === 0) return false
  const membershipIds = members.map(({ membershipId }) => membershipId)
  await lockMemberships(tx, membershipIds)
  const added = await prisma.membershipAppRole.createManyAndReturn({ data, skipDuplicates: true })
  if (added.length === 0) return false
  const counts = await prisma.membershipAppRole.groupBy({
    by: ['membershipId'],
    where: { tenantId, membershipId: { in: membershipIds } },
    _count: true,
  })
  const full = counts.find(({ _count: count }) => count > MAX_HELD)
  const index = members.findIndex(({ membershipId }) => membershipId === full?.membershipId)
  if (index >= 0) throw rejectMany(members[index]?.roles[0]?.field ?? 'organizations')
  const events = members.flatMap(({ roles: _, ...member }) => {
    const appRoleIds = added.flatMap(({ membershipId, roleId }) =>
      membershipId === member.membershipId ? [roleId] : [],
    )
    return appRoleIds.length === 0
      ? []
      : [createEvent('membership.app_roles_changed', { ...member, appRoleIds }, toDetail(names, appRoleIds))]
  })
  await recordEvents(tx, ctx, events)
  return true
}

/** The names of the roles of users, for an export. */
export async function readUserRoleNames(
  { prisma, tenant }: Db,
  userIds: string[],
): Promise<ReadonlyMap<string, string[]>> {
  const rows = await prisma.userAppRole.findMany({
    where: { tenantId: tenant, userId: { in: userIds } },
    select: { userId: true, role: { select: { name: true } } },
    orderBy: { role: { name: 'asc' } },
  })
  const byUser = new Map<string, string[]>()
  for (const { userId, role } of rows) byUser.set(userId, [...(byUser.get(userId) ?? []), role.name])
  return byUser
}
