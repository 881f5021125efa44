import type { Ctx } from '../context/context.ts'
import type { Db, Tx } from '../database/handle.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { createGroup, requireFewGroups } from './groups.ts'

/** A group of the tenant (null) or of an organization. */
export type NamedGroup = { organizationId: string | null; name: string }

const toKey = ({ organizationId, name }: NamedGroup): string => `${organizationId ?? ''} ${name}`

/**
 * Adds a user to groups, which are created where they do not exist. False when the user is in all of them. Throws Conflict
 * for too many groups.
 */
export async function joinGroups(
  tx: Tx,
  ctx: Ctx,
  userId: string,
  wanted: readonly NamedGroup[],
): Promise<boolean> {
  if (wanted.length === 0) return false
  const { prisma, tenant: tenantId } = tx
  const organizationIds = [...new Set(wanted.map(({ organizationId }) => organizationId))]
  const known = await prisma.group.findMany({
    where: {
      tenantId,
      name: { in: [...new Set(wanted.map(({ name }) => name))] },
      OR: organizationIds.map((organizationId) => ({ organizationId })),
    },
    select: { id: true, organizationId: true, name: true },
  })
  const ids = new Map(known.map((group) => [toKey(group), group.id]))
  for (const group of wanted)
    if (!ids.has(toKey(group)))
      ids.set(toKey(group), (await createGroup({ ...ctx, db: tx.join() }, group)).id)
  const added = await prisma.groupMember.createManyAndReturn({
    data: wanted.map((group) => ({
      tenantId,
      groupId: ids.get(toKey(group)) ?? '',
      userId,
      organizationId: group.organizationId,
    })),
    skipDuplicates: true,
  })
  if (added.length === 0) return false
  await requireFewGroups(tx, [userId])
  await recordEvents(
    tx,
    ctx,
    added.map(({ groupId, organizationId }) =>
      createEvent('group.members_added', { groupId, organizationId, userIds: [userId] }, { users: 1 }),
    ),
  )
  return true
}

/** Adds a user to groups of the tenant by their names. */
export const importGroups = (tx: Tx, ctx: Ctx, userId: string, names: readonly string[]): Promise<boolean> =>
  joinGroups(
    tx,
    ctx,
    userId,
    names.map((name) => ({ organizationId: null, name })),
  )

/** The names of the groups of the tenant that users are in, for an export. */
export async function readGroupNames(
  { prisma, tenant }: Db,
  userIds: string[],
): Promise<ReadonlyMap<string, string[]>> {
  const rows = await prisma.groupMember.findMany({
    where: { tenantId: tenant, userId: { in: userIds }, organizationId: null },
    select: { userId: true, group: { select: { name: true } } },
    orderBy: { group: { name: 'asc' } },
  })
  const byUser = new Map<string, string[]>()
  for (const { userId, group } of rows) byUser.set(userId, [...(byUser.get(userId) ?? []), group.name])
  return byUser
}
