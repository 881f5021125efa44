import { isDeepStrictEqual } from 'node:util'
import type { Ctx } from '../context/context.ts'
import { newId, readIdPrefix } from '../core/crypto.ts'
import { Conflict, InvalidInput, NotFound } from '../core/errors.ts'
import type { Db, Tx } from '../database/handle.ts'
import { listInOrder } from '../database/page-query.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { Group, User } from '../generated/prisma/client.ts'
import { lockTenantRow } from '../keys/keys.sql.ts'
import { assertExpectedUpdatedAt, moveForward } from '../schema/expected-updated-at.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { type ListArgs, type Page, type PageArgs, parseListArgs } from '../schema/page.ts'
import { requireUnchanged } from '../schema/response-only.ts'
import { MAX_SUBJECTS } from './app-roles.ts'
import {
  GROUP_FIELDS,
  GROUP_FILTER,
  GROUP_SERVICE_FIELDS,
  GroupCreate,
  GroupMembers,
  GroupPatch,
} from './groups.fields.ts'
import { lockUsers } from './permissions.sql.ts'
import { requireOrganization } from './role-owners.ts'

export type { Group }

/** Groups of a tenant itself, and of each organization. */
const MAX_GROUPS = { tenant: 2000, organization: 200 }
/** Groups that one user is in, each of which a token asks for. */
const MAX_GROUPS_OF_USER = 100
/** A group in a group in a group. */
const MAX_DEPTH = 3

const requireGroupId = (id: string): void => {
  if (readIdPrefix(id) !== 'group') throw new NotFound('group')
}

async function readGroup({ prisma, tenant }: Db, id: string): Promise<Group> {
  const group = await prisma.group.findUnique({ where: { tenantId_id: { tenantId: tenant, id } } })
  if (!group) throw new NotFound('group')
  return group
}

/** The number of groups from a group up to the outermost one that it is nested in. */
async function countUpwards(tx: Tx, group: Group | null): Promise<number> {
  if (!group) return 0
  return 1 + (await countUpwards(tx, group.parentId === null ? null : await readGroup(tx, group.parentId)))
}

/** The ids of the groups that are nested in these, level by level. */
async function listNested(tx: Tx, ids: string[]): Promise<string[][]> {
  const where = { tenantId: tx.tenant, parentId: { in: ids } }
  const nested = (await tx.prisma.group.findMany({ where, select: { id: true } })).map(({ id }) => id)
  return nested.length === 0 ? [] : [nested, ...(await listNested(tx, nested))]
}

/**
 * Requires that a group may be nested in another one, in a tenant that is locked, so that two nestings cannot make a cycle
 * together. Throws NotFound, and InvalidInput.
 */
async function requireNesting(
  tx: Tx,
  group: { id: string; organizationId: string | null },
  parentId: string,
): Promise<void> {
  const reject = (description: string) => new InvalidInput([{ field: 'parentId', description }])
  const parent = readIdPrefix(parentId) === 'group' ? await readGroup(tx, parentId) : null
  if (!parent) throw new NotFound('group')
  if (parent.organizationId !== group.organizationId)
    throw reject('is a group of the tenant or of another organization')
  const nested = await listNested(tx, [group.id])
  if ([group.id, ...nested.flat()].includes(parentId)) throw reject('is the group itself, or nested in it')
  if ((await countUpwards(tx, parent)) + 1 + nested.length > MAX_DEPTH)
    throw reject(`would nest groups more than ${MAX_DEPTH} deep`)
}

/**
 * Creates a group, in the tenant or in an organization. Throws InvalidInput, NotFound (the organization or the parent),
 * and Conflict (the name is taken, or there are too many).
 */
export async function createGroup(ctx: Ctx, input: unknown): Promise<Group> {
  const { organizationId = null, parentId = null, description = null, name } = parseInput(GroupCreate, input)
  const tenantId = ctx.tenant
  const id = newId('group')
  return ctx.db.transaction(async (tx) => {
    await lockTenantRow(tx)
    const where = { tenantId, organizationId }
    const max = organizationId === null ? MAX_GROUPS.tenant : MAX_GROUPS.organization
    if ((await tx.prisma.group.count({ where })) >= max) throw new Conflict([], `There are ${max} groups.`)
    if (organizationId !== null) await requireOrganization(tx, organizationId)
    if (parentId !== null) await requireNesting(tx, { id, organizationId }, parentId)
    const group = await tx.prisma.group.create({
      data: { tenantId, id, name, description, organizationId, parentId },
    })
    await recordEvents(tx, ctx, [createEvent('group.created', { groupId: id, organizationId })])
    return group
  })
}

/** Returns a group. Throws NotFound. */
export async function getGroup(ctx: Ctx, id: string): Promise<Group> {
  requireGroupId(id)
  return readGroup(ctx.db, id)
}

/** The groups of the tenant with these ids, in any order. */
export const findGroups = ({ prisma, tenant }: Db, ids: string[]): Promise<Group[]> =>
  prisma.group.findMany({ where: { tenantId: tenant, id: { in: ids } } })

/** What cursors of the list of groups are bound to. */
export const toGroupListName = (tenant: string, filter: object = {}): string =>
  `${tenant}:groups:${JSON.stringify(filter)}`

/** The groups of the tenant and of all organizations, oldest first: one statement, and another for totalSize. Throws InvalidInput. */
export function listGroups(ctx: Ctx, args: ListArgs): Promise<Page<Group>> {
  const { filter } = parseListArgs(args, GROUP_FILTER)
  const { owner, ...where } = filter
  const { group } = ctx.db.prisma
  const ofOwner = owner && { organizationId: owner === 'tenant' ? null : { not: null } }
  const isListed = { tenantId: ctx.tenant, ...where, ...(ofOwner && { AND: ofOwner }) }
  return listInOrder(ctx, args, {
    name: toGroupListName(ctx.tenant, filter),
    column: 'id',
    read: (page) => group.findMany({ ...page, where: { ...isListed, ...page.where } }),
    countAll: () => group.count({ where: isListed }),
  })
}

/**
 * Changes a group: omitted fields are unchanged, null and, for text, '' unset. A change that changes nothing leaves
 * updatedAt and the log alone. Throws NotFound, also for the parent, InvalidInput (a cycle, or too deep), and Conflict
 * (`expectedUpdatedAt`, or the name is taken).
 */
export async function updateGroup(ctx: Ctx, id: string, input: unknown): Promise<Group> {
  const { expectedUpdatedAt: _, ...given } = parseInput(GroupPatch, input)
  requireGroupId(id)
  return ctx.db.transaction(async (tx) => {
    await lockTenantRow(tx)
    const before = await readGroup(tx, id)
    assertExpectedUpdatedAt(input, before.updatedAt)
    requireUnchanged(GROUP_SERVICE_FIELDS, given, before)
    const changedFields = (Object.keys(GROUP_FIELDS) as (keyof typeof GROUP_FIELDS)[]).filter(
      (name) => given[name] !== undefined && !isDeepStrictEqual(given[name], before[name]),
    )
    if (changedFields.length === 0) return before
    if (changedFields.includes('parentId') && given.parentId) await requireNesting(tx, before, given.parentId)
    const { organizationId } = before
    await recordEvents(tx, ctx, [
      createEvent('group.updated', { groupId: id, organizationId, changedFields }),
    ])
    return tx.prisma.group.update({
      where: { tenantId_id: { tenantId: ctx.tenant, id } },
      data: {
        ...Object.fromEntries(changedFields.map((name) => [name, given[name]])),
        updatedAt: moveForward(before.updatedAt),
      },
    })
  })
}

/** Deletes a group, whose members lose its roles. Throws NotFound, and Conflict while groups are nested in it. */
export async function deleteGroup(ctx: Ctx, id: string): Promise<{ deletedGroupId: string }> {
  requireGroupId(id)
  await ctx.db.transaction(async (tx) => {
    await lockTenantRow(tx)
    const { organizationId } = await readGroup(tx, id)
    if ((await listNested(tx, [id])).length > 0) throw new Conflict([], 'Groups are nested in this one.')
    await tx.prisma.group.deleteMany({ where: { tenantId: ctx.tenant, id } })
    await recordEvents(tx, ctx, [createEvent('group.deleted', { groupId: id, organizationId })])
  })
  return { deletedGroupId: id }
}

/** Throws NotFound that names each of the users who do not exist, or who are no members of the organization. */
async function requireUsers(tx: Tx, { organizationId }: Group, userIds: readonly string[]): Promise<void> {
  const { prisma, tenant: tenantId } = tx
  const ids = [...userIds]
  const found =
    organizationId === null
      ? (await prisma.user.findMany({ where: { tenantId, id: { in: ids } }, select: { id: true } })).map(
          (user) => user.id,
        )
      : (
          await prisma.membership.findMany({
            where: { tenantId, organizationId, userId: { in: ids } },
            select: { userId: true },
          })
        ).map(({ userId }) => userId)
  const known = new Set(found)
  const description = `is not a ${organizationId === null ? 'user of this tenant' : 'member of the organization'}`
  const issues = userIds.flatMap((id, index) =>
    known.has(id) ? [] : [{ field: `userIds.${index}`, description }],
  )
  if (issues.length > 0) throw new NotFound('user', issues)
}

/** Throws Conflict when one of the users is in too many groups. */
export async function requireFewGroups({ prisma, tenant: tenantId }: Tx, userIds: string[]): Promise<void> {
  const counts = await prisma.groupMember.groupBy({
    by: ['userId'],
    where: { tenantId, userId: { in: userIds } },
    _count: true,
  })
  if (counts.some(({ _count: count }) => count > MAX_GROUPS_OF_USER))
    throw new Conflict([], `A user is in at most ${MAX_GROUPS_OF_USER} groups.`)
}

/**
 * Adds up to 1000 users to a group, all of them or none; those who are in it already stay. Throws InvalidInput, NotFound
 * (the group, or a user who does not belong to its organization), and Conflict (too many groups of a user).
 */
export async function addGroupMembers(ctx: Ctx, groupId: string, input: unknown): Promise<Group> {
  const { userIds } = parseInput(GroupMembers, input)
  requireGroupId(groupId)
  const tenantId = ctx.tenant
  return ctx.db.transaction(async (tx) => {
    const group = await readGroup(tx, groupId)
    await lockUsers(tx, userIds)
    await requireUsers(tx, group, userIds)
    const added = await tx.prisma.groupMember.createManyAndReturn({
      data: [...new Set(userIds)].sort().map((userId) => ({
        tenantId,
        groupId,
        userId,
        organizationId: group.organizationId,
      })),
      skipDuplicates: true,
    })
    const ids = added.map(({ userId }) => userId)
    if (ids.length === 0) return group
    await requireFewGroups(tx, ids)
    await recordEvents(tx, ctx, [
      createEvent(
        'group.members_added',
        { groupId, organizationId: group.organizationId, userIds: ids.slice(0, MAX_SUBJECTS) },
        { users: ids.length },
      ),
    ])
    return group
  })
}

/** Removes up to 1000 users from a group; those who are not in it change nothing. Throws InvalidInput and NotFound. */
export async function deleteGroupMembers(ctx: Ctx, groupId: string, input: unknown): Promise<Group> {
  const { userIds } = parseInput(GroupMembers, input)
  requireGroupId(groupId)
  return ctx.db.transaction(async (tx) => {
    const group = await readGroup(tx, groupId)
    const where = { tenantId: ctx.tenant, groupId, userId: { in: userIds } }
    const present = await tx.prisma.groupMember.findMany({ where, select: { userId: true } })
    const { count } = await tx.prisma.groupMember.deleteMany({ where })
    if (count > 0)
      await recordEvents(tx, ctx, [
        createEvent(
          'group.members_removed',
          {
            groupId,
            organizationId: group.organizationId,
            userIds: present.slice(0, MAX_SUBJECTS).map(({ userId }) => userId),
          },
          { users: count },
        ),
      ])
    return group
  })
}

/** The members of a group itself, in order of their creation: one statement, and one more for totalSize. Throws NotFound and InvalidInput. */
export const listGroupMembers = (ctx: Ctx, groupId: string, args: PageArgs): Promise<Page<User>> =>
  listInOrder(ctx, args, {
    name: `${ctx.tenant}:group-members:${groupId}`,
    column: 'id',
    read: async ({ where, orderBy, skip, take }) => {
      requireGroupId(groupId)
      const group = await ctx.db.prisma.group.findUnique({
        where: { tenantId_id: { tenantId: ctx.tenant, id: groupId } },
        select: {
          members: {
            where: where.id ? { userId: where.id } : {},
            orderBy: { userId: orderBy.id },
            skip,
            take,
            select: { user: true },
          },
        },
      })
      if (!group) throw new NotFound('group')
      return group.members.map(({ user }) => user)
    },
    countAll: () => ctx.db.prisma.groupMember.count({ where: { tenantId: ctx.tenant, groupId } }),
  })

/** The groups that users are in themselves, by name, for a loader. */
export async function findUserGroups(
  { prisma, tenant }: Db,
  userIds: string[],
): Promise<{ id: string; groups: Group[] }[]> {
  const rows = await prisma.groupMember.findMany({
    where: { tenantId: tenant, userId: { in: userIds } },
    select: { userId: true, group: true },
    orderBy: { group: { name: 'asc' } },
  })
  const byUser = new Map<string, Group[]>()
  for (const { userId, group } of rows) byUser.set(userId, [...(byUser.get(userId) ?? []), group])
  return [...byUser].map(([id, groups]) => ({ id, groups }))
}
