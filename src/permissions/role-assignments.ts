import { isClientId } from '../access/client-ids.ts'
import type { Ctx } from '../context/context.ts'
import { readIdPrefix } from '../core/crypto.ts'
import { Conflict, InvalidInput, NotFound } from '../core/errors.ts'
import type { Db, Tx } from '../database/handle.ts'
import { declareRowLock } from '../database/row-locks.sql.ts'
import { createEvent, type NewEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { Membership } from '../generated/prisma/client.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { type AppRoleHolder, AppRoleSet, MAX_HELD } from './app-roles.fields.ts'
import { type AppRole, WITH_PERMISSIONS } from './app-roles.ts'
import { inReachOf } from './role-owners.ts'

const LOCK_USER = declareRowLock('User', ['id'])
const LOCK_CLIENT = declareRowLock('Client', ['id', 'appType'])
const LOCK_MEMBERSHIP = declareRowLock('Membership', ['id', 'userId', 'organizationId'])
const LOCK_GROUP = declareRowLock('Group', ['id', 'organizationId'])

type Change = { appRoleIds: string[]; detail: { added: string; removed: string } }

/** The kind of a holder, and the organization in which it holds roles. */
type LockedHolder = { kind: AppRoleHolder; organizationId: string | null }

/** What holds roles, and where they are stored. */
type Holder = {
  isId: (id: string) => boolean
  words: string
  read: (db: Db, ids: string[]) => Promise<{ id: string; roleId: string }[]>
  /** Locks a holder; null when it does not exist. The roles must be for it, and `toEvent` records their change. */
  lock: (tx: Tx, id: string) => Promise<(LockedHolder & { toEvent: (change: Change) => NewEvent }) | null>
  add: (tx: Tx, id: string, roleIds: string[]) => Promise<unknown>
  remove: (tx: Tx, id: string, roleIds: string[]) => Promise<unknown>
}

const USER: Holder = {
  isId: (id) => readIdPrefix(id) === 'user',
  words: 'user',
  read: async ({ prisma, tenant: tenantId }, ids) => {
    const rows = await prisma.userAppRole.findMany({ where: { tenantId, userId: { in: ids } } })
    return rows.map(({ userId: id, roleId }) => ({ id, roleId }))
  },
  lock: async (tx, userId) =>
    (await tx.one(LOCK_USER, { id: userId })) && {
      kind: 'user',
      organizationId: null,
      toEvent: ({ appRoleIds, detail }) =>
        createEvent('user.app_roles_changed', { userId, appRoleIds }, detail),
    },
  add: ({ prisma, tenant: tenantId }, userId, roleIds) =>
    prisma.userAppRole.createMany({ data: roleIds.map((roleId) => ({ tenantId, userId, roleId })) }),
  remove: ({ prisma, tenant: tenantId }, userId, roleIds) =>
    prisma.userAppRole.deleteMany({ where: { tenantId, userId, roleId: { in: roleIds } } }),
}

const CLIENT: Holder = {
  isId: isClientId,
  words: 'client',
  read: async ({ prisma, tenant: tenantId }, ids) => {
    const rows = await prisma.clientAppRole.findMany({ where: { tenantId, clientId: { in: ids } } })
    return rows.map(({ clientId: id, roleId }) => ({ id, roleId }))
  },
  lock: async (tx, clientId) => {
    const client = await tx.one(LOCK_CLIENT, { id: clientId })
    if (client && client.appType !== 'machine') throw new Conflict([], 'Only machine clients hold roles.')
    return (
      client && {
        kind: 'client',
        organizationId: null,
        toEvent: ({ appRoleIds, detail }) =>
          createEvent('client.app_roles_changed', { clientId, appRoleIds }, detail),
      }
    )
  },
  add: ({ prisma, tenant: tenantId }, clientId, roleIds) =>
    prisma.clientAppRole.createMany({ data: roleIds.map((roleId) => ({ tenantId, clientId, roleId })) }),
  remove: ({ prisma, tenant: tenantId }, clientId, roleIds) =>
    prisma.clientAppRole.deleteMany({ where: { tenantId, clientId, roleId: { in: roleIds } } }),
}

const MEMBERSHIP: Holder = {
  isId: (id) => readIdPrefix(id) === 'membership',
  words: 'membership',
  read: async ({ prisma, tenant: tenantId }, ids) => {
    const rows = await prisma.membershipAppRole.findMany({ where: { tenantId, membershipId: { in: ids } } })
    return rows.map(({ membershipId: id, roleId }) => ({ id, roleId }))
  },
  lock: async (tx, membershipId) => {
    const membership = await tx.one(LOCK_MEMBERSHIP, { id: membershipId })
    if (!membership) return null
    const { userId, organizationId } = membership
    return {
      kind: 'member',
      organizationId,
      toEvent: ({ appRoleIds, detail }) =>
        createEvent(
          'membership.app_roles_changed',
          { userId, organizationId, membershipId, appRoleIds },
          detail,
        ),
    }
  },
  add: ({ prisma, tenant: tenantId }, membershipId, roleIds) =>
    prisma.membershipAppRole.createMany({
      data: roleIds.map((roleId) => ({ tenantId, membershipId, roleId })),
    }),
  remove: ({ prisma, tenant: tenantId }, membershipId, roleIds) =>
    prisma.membershipAppRole.deleteMany({ where: { tenantId, membershipId, roleId: { in: roleIds } } }),
}

/** A group of the tenant has roles for users, one of an organization roles for members. */
const GROUP: Holder = {
  isId: (id) => readIdPrefix(id) === 'group',
  words: 'group',
  read: async ({ prisma, tenant: tenantId }, ids) => {
    const rows = await prisma.groupAppRole.findMany({ where: { tenantId, groupId: { in: ids } } })
    return rows.map(({ groupId: id, roleId }) => ({ id, roleId }))
  },
  lock: async (tx, groupId) => {
    const group = await tx.one(LOCK_GROUP, { id: groupId })
    return (
      group && {
        kind: group.organizationId === null ? 'user' : 'member',
        organizationId: group.organizationId,
        toEvent: ({ appRoleIds, detail }) =>
          createEvent(
            'group.app_roles_changed',
            { groupId, organizationId: group.organizationId, appRoleIds },
            detail,
          ),
      }
    )
  },
  add: ({ prisma, tenant: tenantId }, groupId, roleIds) =>
    prisma.groupAppRole.createMany({ data: roleIds.map((roleId) => ({ tenantId, groupId, roleId })) }),
  remove: ({ prisma, tenant: tenantId }, groupId, roleIds) =>
    prisma.groupAppRole.deleteMany({ where: { tenantId, groupId, roleId: { in: roleIds } } }),
}

/**
 * Throws NotFound that names each id of no role of the tenant or of the organization of the holder, and InvalidInput for
 * each role that is not for its kind.
 */
export async function requireAssignable(
  tx: Tx,
  ids: readonly string[],
  { kind, organizationId }: LockedHolder,
  nameField = (index: number) => `appRoleIds.${index}`,
): Promise<void> {
  const known = await tx.prisma.appRole.findMany({
    where: { tenantId: tx.tenant, id: { in: [...ids] }, ...inReachOf(organizationId) },
    select: { id: true, assignableTo: true },
  })
  const holders = new Map(known.map(({ id, assignableTo }) => [id, assignableTo]))
  const name = (isMeant: (id: string) => boolean, description: string) =>
    ids.flatMap((id, index) => (isMeant(id) ? [{ field: nameField(index), description }] : []))
  const missing = name((id) => !holders.has(id), 'is not a role of this tenant')
  if (missing.length > 0) throw new NotFound('role', missing)
  const others = name((id) => holders.get(id)?.includes(kind) === false, `is not a role for a ${kind}`)
  if (others.length > 0) throw new InvalidInput(others)
}

/** The names of roles, separated by spaces. */
const toNames = (roles: readonly AppRole[], ids: readonly string[]): string =>
  roles
    .filter(({ id }) => ids.includes(id))
    .map(({ name }) => name)
    .join(' ')

/** Reads the roles of holders, each with its roles by name. A role that several hold is read once. Those without roles are missing. */
async function readRoles(
  { read }: Holder,
  db: Db,
  ids: string[],
): Promise<{ id: string; appRoles: AppRole[] }[]> {
  const held = await read(db, ids)
  const where = { tenantId: db.tenant, id: { in: [...new Set(held.map(({ roleId }) => roleId))] } }
  const roles = await db.prisma.appRole.findMany({
    where,
    include: WITH_PERMISSIONS,
    orderBy: { name: 'asc' },
  })
  const byHolder = new Map<string, Set<string>>(held.map(({ id }) => [id, new Set()]))
  for (const { id, roleId } of held) byHolder.get(id)?.add(roleId)
  return [...byHolder].map(([id, roleIds]) => ({
    id,
    appRoles: roles.filter((role) => roleIds.has(role.id)),
  }))
}

const readOne = async (holder: Holder, db: Db, id: string): Promise<AppRole[]> =>
  (await readRoles(holder, db, [id]))[0]?.appRoles ?? []

/**
 * Gives exactly these roles, besides those that groups give. Roles that are held already change nothing. Throws NotFound,
 * also for a role, and InvalidInput for a role that somebody else may hold.
 */
async function setRoles(holder: Holder, ctx: Ctx, id: string, input: unknown): Promise<AppRole[]> {
  const { appRoleIds: wanted } = parseInput(AppRoleSet, input)
  if (!holder.isId(id)) throw new NotFound(holder.words)
  return ctx.db.transaction(async (tx) => {
    const locked = await holder.lock(tx, id)
    if (!locked) throw new NotFound(holder.words)
    await requireAssignable(tx, wanted, locked)
    const before = await readOne(holder, tx, id)
    const heldIds = before.map((role) => role.id)
    const added = [...new Set(wanted)].filter((roleId) => !heldIds.includes(roleId))
    const removed = heldIds.filter((roleId) => !wanted.includes(roleId))
    if (added.length + removed.length === 0) return before
    await holder.remove(tx, id, removed)
    await holder.add(tx, id, added)
    const after = await readOne(holder, tx, id)
    const detail = { added: toNames(after, added), removed: toNames(before, removed) }
    await recordEvents(tx, ctx, [locked.toEvent({ appRoleIds: [...added, ...removed], detail })])
    return after
  })
}

export const setUserAppRoles = (ctx: Ctx, userId: string, input: unknown) =>
  setRoles(USER, ctx, userId, input)
/** For the tokens that a machine client gets on its own behalf. Throws Conflict for another client. */
export const setClientAppRoles = (ctx: Ctx, clientId: string, input: unknown) =>
  setRoles(CLIENT, ctx, clientId, input)
/** In the organization of the membership. */
export const setMembershipAppRoles = (ctx: Ctx, membershipId: string, input: unknown) =>
  setRoles(MEMBERSHIP, ctx, membershipId, input)

/**
 * Gives a member the roles that still exist for members, in the transaction of the caller, besides those that it holds, and
 * no more than it may hold.
 */
export async function giveMemberRoles(
  tx: Tx,
  ctx: Ctx,
  { id: membershipId, userId, organizationId }: Pick<Membership, 'id' | 'userId' | 'organizationId'>,
  roleIds: readonly string[],
): Promise<void> {
  const tenantId = ctx.tenant
  await tx.one(LOCK_MEMBERSHIP, { id: membershipId })
  const held = await tx.prisma.membershipAppRole.findMany({ where: { tenantId, membershipId } })
  const roles = await tx.prisma.appRole.findMany({
    where: {
      tenantId,
      id: { in: [...roleIds], notIn: held.map(({ roleId }) => roleId) },
      assignableTo: { has: 'member' },
      ...inReachOf(organizationId),
    },
    select: { id: true, name: true },
    orderBy: { id: 'asc' },
    take: MAX_HELD - held.length,
  })
  const given = await tx.prisma.membershipAppRole.createManyAndReturn({
    data: roles.map(({ id: roleId }) => ({ tenantId, membershipId, roleId })),
    select: { roleId: true },
  })
  const appRoleIds = given.map(({ roleId }) => roleId)
  if (appRoleIds.length === 0) return
  const names = roles.filter(({ id }) => appRoleIds.includes(id)).map(({ name }) => name)
  await recordEvents(tx, ctx, [
    createEvent(
      'membership.app_roles_changed',
      { userId, organizationId, membershipId, appRoleIds },
      { added: names.join(' '), removed: '' },
    ),
  ])
}

export const setGroupAppRoles = (ctx: Ctx, groupId: string, input: unknown) =>
  setRoles(GROUP, ctx, groupId, input)

/** The roles of one holder, by name. Throws NotFound. */
const createGetter =
  (holder: Holder, count: (db: Db, id: string) => Promise<number>) =>
  async (ctx: Ctx, id: string): Promise<AppRole[]> => {
    if (!holder.isId(id) || (await count(ctx.db, id)) === 0) throw new NotFound(holder.words)
    return readOne(holder, ctx.db, id)
  }

export const getUserAppRoles = createGetter(USER, ({ prisma, tenant: tenantId }, id) =>
  prisma.user.count({ where: { tenantId, id } }),
)
export const getClientAppRoles = createGetter(CLIENT, ({ prisma, tenant: tenantId }, id) =>
  prisma.client.count({ where: { tenantId, id } }),
)
export const getMembershipAppRoles = createGetter(MEMBERSHIP, ({ prisma, tenant: tenantId }, id) =>
  prisma.membership.count({ where: { tenantId, id } }),
)
export const getGroupAppRoles = createGetter(GROUP, ({ prisma, tenant: tenantId }, id) =>
  prisma.group.count({ where: { tenantId, id } }),
)

/** For a loader. */
const createReader = (holder: Holder) => (db: Db, ids: string[]) => readRoles(holder, db, ids)

export const findUserAppRoles = createReader(USER)
export const findClientAppRoles = createReader(CLIENT)
export const findMembershipAppRoles = createReader(MEMBERSHIP)
export const findGroupAppRoles = createReader(GROUP)
