import { isClientId } from '../access/client-ids.ts'
import type { Ctx } from '../context/context.ts'
import { readIdPrefix } from '../core/crypto.ts'
import { Conflict, InvalidInput, NotFound } from '../core/errors.ts'
import type { Db, Tx } from '../database/handle.ts'
import { declareRowLock } from '../database/row-locks.sql.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { type AppRoleHolder, AppRoleSet } from './app-roles.fields.ts'
import { type AppRole, WITH_PERMISSIONS } from './app-roles.ts'

const LOCK_USER = declareRowLock('User', ['id'])
const LOCK_CLIENT = declareRowLock('Client', ['id', 'appType'])

/** Throws NotFound that names each id of no role of the tenant, and InvalidInput for each role that is not for `holder`. */
export async function requireAssignable(
  tx: Tx,
  ids: readonly string[],
  holder: AppRoleHolder,
): Promise<void> {
  const known = await tx.prisma.appRole.findMany({
    where: { tenantId: tx.tenant, id: { in: [...ids] } },
    select: { id: true, assignableTo: true },
  })
  const holders = new Map(known.map(({ id, assignableTo }) => [id, assignableTo]))
  const name = (isMeant: (id: string) => boolean, description: string) =>
    ids.flatMap((id, index) => (isMeant(id) ? [{ field: `appRoleIds.${index}`, description }] : []))
  const missing = name((id) => !holders.has(id), 'is not a role of this tenant')
  if (missing.length > 0) throw new NotFound('role', missing)
  const others = name((id) => holders.get(id)?.includes(holder) === false, `is not a role for a ${holder}`)
  if (others.length > 0) throw new InvalidInput(others)
}

/** What changes when those who hold `held` hold `wanted` from then on. */
export function compareRoles(held: readonly AppRole[], wanted: readonly string[]) {
  const heldIds = held.map(({ id }) => id)
  return {
    added: [...new Set(wanted)].filter((id) => !heldIds.includes(id)),
    removed: heldIds.filter((id) => !wanted.includes(id)),
  }
}

/** The names of roles, separated by spaces. */
export const toNames = (roles: readonly AppRole[], ids: readonly string[]): string =>
  roles
    .filter(({ id }) => ids.includes(id))
    .map(({ name }) => name)
    .join(' ')

/** The roles that a user holds directly, by name. Throws NotFound. */
export async function getUserAppRoles(ctx: Ctx, userId: string): Promise<AppRole[]> {
  const where = { tenantId: ctx.tenant, id: userId }
  if (readIdPrefix(userId) !== 'user' || (await ctx.db.prisma.user.count({ where })) === 0)
    throw new NotFound('user')
  return listUserAppRoles(ctx.db, userId)
}

const listUserAppRoles = async (db: Db, userId: string): Promise<AppRole[]> =>
  (await findUserAppRoles(db, [userId]))[0]?.appRoles ?? []

/** The roles that users hold directly, by name. Users without roles are missing. */
export async function findUserAppRoles(
  { prisma, tenant }: Db,
  userIds: string[],
): Promise<{ id: string; appRoles: AppRole[] }[]> {
  const rows = await prisma.userAppRole.findMany({
    where: { tenantId: tenant, userId: { in: userIds } },
    select: { userId: true, role: { include: WITH_PERMISSIONS } },
    orderBy: { role: { name: 'asc' } },
  })
  return groupRoles(rows.map(({ userId: id, role }) => ({ id, role })))
}

function groupRoles(rows: readonly { id: string; role: AppRole }[]): { id: string; appRoles: AppRole[] }[] {
  const byHolder = new Map<string, AppRole[]>()
  for (const { id, role } of rows) byHolder.set(id, [...(byHolder.get(id) ?? []), role])
  return [...byHolder].map(([id, appRoles]) => ({ id, appRoles }))
}

/**
 * Gives a user exactly these roles, besides those that groups give. Roles that are held already change nothing. Throws
 * NotFound, also for a role, and InvalidInput for a role that is not for users.
 */
export async function setUserAppRoles(ctx: Ctx, userId: string, input: unknown): Promise<AppRole[]> {
  const { appRoleIds } = parseInput(AppRoleSet, input)
  if (readIdPrefix(userId) !== 'user') throw new NotFound('user')
  return ctx.db.transaction(async (tx) => {
    if (!(await tx.one(LOCK_USER, { id: userId }))) throw new NotFound('user')
    await requireAssignable(tx, appRoleIds, 'user')
    const before = await listUserAppRoles(tx, userId)
    const { added, removed } = compareRoles(before, appRoleIds)
    if (added.length + removed.length === 0) return before
    const ofUser = { tenantId: ctx.tenant, userId }
    await tx.prisma.userAppRole.deleteMany({ where: { ...ofUser, roleId: { in: removed } } })
    await tx.prisma.userAppRole.createMany({ data: added.map((roleId) => ({ ...ofUser, roleId })) })
    const after = await listUserAppRoles(tx, userId)
    await recordEvents(tx, ctx, [
      createEvent(
        'user.app_roles_changed',
        { userId, appRoleIds: [...added, ...removed] },
        { added: toNames(after, added), removed: toNames(before, removed) },
      ),
    ])
    return after
  })
}

/** The roles that clients hold, by name. Clients without roles are missing. */
export async function findClientAppRoles(
  { prisma, tenant }: Db,
  clientIds: string[],
): Promise<{ id: string; appRoles: AppRole[] }[]> {
  const rows = await prisma.clientAppRole.findMany({
    where: { tenantId: tenant, clientId: { in: clientIds } },
    select: { clientId: true, role: { include: WITH_PERMISSIONS } },
    orderBy: { role: { name: 'asc' } },
  })
  return groupRoles(rows.map(({ clientId: id, role }) => ({ id, role })))
}

const listClientAppRoles = async (db: Db, clientId: string): Promise<AppRole[]> =>
  (await findClientAppRoles(db, [clientId]))[0]?.appRoles ?? []

/** The roles that a client holds, by name. Throws NotFound. */
export async function getClientAppRoles(ctx: Ctx, clientId: string): Promise<AppRole[]> {
  const where = { tenantId: ctx.tenant, id: clientId }
  if (!isClientId(clientId) || (await ctx.db.prisma.client.count({ where })) === 0)
    throw new NotFound('client')
  return listClientAppRoles(ctx.db, clientId)
}

/**
 * Gives a machine client exactly these roles, for the tokens that it gets on its own behalf. Throws NotFound, also for a
 * role, InvalidInput for a role that is not for clients, and Conflict for another client.
 */
export async function setClientAppRoles(ctx: Ctx, clientId: string, input: unknown): Promise<AppRole[]> {
  const { appRoleIds } = parseInput(AppRoleSet, input)
  if (!isClientId(clientId)) throw new NotFound('client')
  return ctx.db.transaction(async (tx) => {
    const client = await tx.one(LOCK_CLIENT, { id: clientId })
    if (!client) throw new NotFound('client')
    if (client.appType !== 'machine' && appRoleIds.length > 0)
      throw new Conflict([], 'Only machine clients hold roles.')
    await requireAssignable(tx, appRoleIds, 'client')
    const before = await listClientAppRoles(tx, clientId)
    const { added, removed } = compareRoles(before, appRoleIds)
    if (added.length + removed.length === 0) return before
    const ofClient = { tenantId: ctx.tenant, clientId }
    await tx.prisma.clientAppRole.deleteMany({ where: { ...ofClient, roleId: { in: removed } } })
    await tx.prisma.clientAppRole.createMany({ data: added.map((roleId) => ({ ...ofClient, roleId })) })
    const after = await listClientAppRoles(tx, clientId)
    await recordEvents(tx, ctx, [
      createEvent(
        'client.app_roles_changed',
        { clientId, appRoleIds: [...added, ...removed] },
        { added: toNames(after, added), removed: toNames(before, removed) },
      ),
    ])
    return after
  })
}
