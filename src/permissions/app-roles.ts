import { isDeepStrictEqual } from 'node:util'
import type { Ctx } from '../context/context.ts'
import { newId, readIdPrefix } from '../core/crypto.ts'
import { Conflict, NotFound } from '../core/errors.ts'
import type { Db, Tx } from '../database/handle.ts'
import { listInOrder } from '../database/page-query.ts'
import { declareRowLock } from '../database/row-locks.sql.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { AppRole as AppRoleRow, Prisma } from '../generated/prisma/client.ts'
import { lockTenantRow } from '../keys/keys.sql.ts'
import { assertExpectedUpdatedAt, moveForward } from '../schema/expected-updated-at.ts'
import { addStandards } from '../schema/fields.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { type ListArgs, type Page, type PageArgs, parseListArgs } from '../schema/page.ts'
import { requireUnchanged } from '../schema/response-only.ts'
import {
  APP_ROLE_FIELDS,
  APP_ROLE_FILTER,
  APP_ROLE_SERVICE_FIELDS,
  AppRoleCreate,
  AppRolePatch,
} from './app-roles.fields.ts'
import { DELETE_FROM_MAPPINGS } from './permissions.sql.ts'
import { countRoleHolders, type RoleHolder, selectRoleHolders } from './role-holders.sql.ts'
import {
  getAssignableTo,
  inReachOf,
  type Owner,
  requireDistinctName,
  requireOrganization,
} from './role-owners.ts'

/** A permission of an API. */
export type Permission = { apiId: string; name: string }
/** A role with the permissions that it gives. */
export type AppRole = AppRoleRow & { permissions: Permission[] }

/** Roles of a tenant itself, and of each organization, and their permissions in sum, which a page may have all. */
const MAX_ROLES = { tenant: 2000, organization: 100 }
const MAX_PERMISSIONS_OF_ROLES = { tenant: 50_000, organization: 5000 }

/** Subjects of an event about many. */
export const MAX_SUBJECTS = 100

/** What Prisma reads with a role. */
export const WITH_PERMISSIONS = {
  permissions: { select: { apiId: true, name: true }, orderBy: [{ apiId: 'asc' }, { name: 'asc' }] },
} satisfies Prisma.AppRoleInclude

const getMax = (limits: typeof MAX_ROLES, { organizationId }: Owner): number =>
  organizationId === null ? limits.tenant : limits.organization

const toKey = ({ apiId, name }: Permission): string => `${apiId} ${name}`

/** Each permission once, in the order of responses. */
const sortPermissions = (permissions: readonly Permission[]): Permission[] =>
  [...new Map(permissions.map((permission) => [toKey(permission), permission])).values()].sort(
    (one, other) => (toKey(one) < toKey(other) ? -1 : 1),
  )

/** Throws NotFound that names each permission that no API of the tenant has, or that organizations may not use, in a tenant that is locked. */
async function requirePermissions(
  { prisma, tenant }: Tx,
  { organizationId }: Owner,
  given: readonly Permission[],
): Promise<void> {
  const known = await prisma.apiPermission.findMany({
    where: {
      tenantId: tenant,
      apiId: { in: [...new Set(given.map(({ apiId }) => apiId))] },
      ...(organizationId !== null && { isAllowedInOrganizations: true }),
    },
    select: { apiId: true, name: true },
  })
  const keys = new Set(known.map(toKey))
  const description =
    organizationId === null
      ? 'is not a permission of an API of this tenant'
      : 'is not a permission that roles of organizations may have'
  const issues = given.flatMap((permission, index) =>
    keys.has(toKey(permission)) ? [] : [{ field: `permissions.${index}`, description }],
  )
  if (issues.length > 0) throw new NotFound('permission', issues)
}

/** Adds permissions to a role in a tenant that is locked. Throws Conflict when the roles of the owner have too many. */
async function addPermissions(
  { prisma, tenant: tenantId }: Tx,
  { id: roleId, organizationId }: Owner & { id: string },
  added: readonly Permission[],
) {
  if (added.length === 0) return
  await prisma.appRolePermission.createMany({
    data: added.map(({ apiId, name }) => ({ tenantId, roleId, apiId, name })),
  })
  const max = getMax(MAX_PERMISSIONS_OF_ROLES, { organizationId })
  if ((await prisma.appRolePermission.count({ where: { tenantId, role: { organizationId } } })) > max)
    throw new Conflict([], `All roles together have at most ${max} permissions.`)
}

async function readAppRole({ prisma, tenant }: Db, id: string): Promise<AppRole> {
  const where = { tenantId_id: { tenantId: tenant, id } }
  const role = await prisma.appRole.findUnique({ where, include: WITH_PERMISSIONS })
  if (!role) throw new NotFound('role')
  return role
}

/**
 * Creates a role, of the tenant or of an organization. Throws InvalidInput, NotFound (a permission, or the organization),
 * and Conflict (the name is taken, or there are too many).
 */
export async function createAppRole(ctx: Ctx, input: unknown): Promise<AppRole> {
  const { assignableTo: holders, organizationId = null, ...given } = parseInput(AppRoleCreate, input)
  const { permissions, ...fields } = addStandards(APP_ROLE_FIELDS, given) as Pick<
    AppRole,
    keyof typeof APP_ROLE_FIELDS
  >
  const role = { tenantId: ctx.tenant, id: newId('role'), organizationId }
  const assignableTo = getAssignableTo(role, holders)
  return ctx.db.transaction(async (tx) => {
    await lockTenantRow(tx)
    const max = getMax(MAX_ROLES, role)
    if ((await tx.prisma.appRole.count({ where: { tenantId: ctx.tenant, organizationId } })) >= max)
      throw new Conflict([], `There are ${max} roles.`)
    if (organizationId !== null) await requireOrganization(tx, organizationId)
    await requirePermissions(tx, role, permissions)
    await requireDistinctName(tx, role, fields.name)
    await tx.prisma.appRole.create({ data: { ...fields, ...role, assignableTo } })
    await addPermissions(tx, role, sortPermissions(permissions))
    await recordEvents(tx, ctx, [createEvent('app_role.created', { appRoleId: role.id, organizationId })])
    return readAppRole(tx, role.id)
  })
}

/** Returns a role. Throws NotFound. */
export async function getAppRole(ctx: Ctx, id: string): Promise<AppRole> {
  if (readIdPrefix(id) !== 'role') throw new NotFound('role')
  return readAppRole(ctx.db, id)
}

/** The roles of the tenant with these ids, in any order. */
export const findAppRoles = ({ prisma, tenant }: Db, ids: string[]): Promise<AppRole[]> =>
  prisma.appRole.findMany({ where: { tenantId: tenant, id: { in: ids } }, include: WITH_PERMISSIONS })

/** What cursors of the list of roles are bound to. */
export const toAppRoleListName = (tenant: string, filter: object = {}): string =>
  `${tenant}:app-roles:${JSON.stringify(filter)}`

/**
 * The roles of the tenant and of all organizations with their permissions, oldest first: one statement, and another for
 * totalSize. Throws InvalidInput.
 */
export function listAppRoles(ctx: Ctx, args: ListArgs): Promise<Page<AppRole>> {
  const { filter } = parseListArgs(args, APP_ROLE_FILTER)
  const { owner, ...where } = filter
  const { appRole } = ctx.db.prisma
  const ofOwner = owner && { organizationId: owner === 'tenant' ? null : { not: null } }
  const isListed = { tenantId: ctx.tenant, ...where, ...(ofOwner && { AND: ofOwner }) }
  return listInOrder(ctx, args, {
    name: toAppRoleListName(ctx.tenant, filter),
    column: 'id',
    read: (page) =>
      appRole.findMany({ ...page, where: { ...isListed, ...page.where }, include: WITH_PERMISSIONS }),
    countAll: () => appRole.count({ where: isListed }),
  })
}

/** Gives a role exactly these permissions; returns how many are new, and how many were taken. */
async function replacePermissions(tx: Tx, before: AppRole, wanted: readonly Permission[]) {
  const toKeys = (permissions: readonly Permission[]) => new Set(permissions.map(toKey))
  const [known, kept] = [toKeys(before.permissions), toKeys(wanted)]
  const added = wanted.filter((permission) => !known.has(toKey(permission)))
  const removed = before.permissions.filter((permission) => !kept.has(toKey(permission)))
  const ofRole = { tenantId: tx.tenant, roleId: before.id }
  if (removed.length > 0) await tx.prisma.appRolePermission.deleteMany({ where: { ...ofRole, OR: removed } })
  await addPermissions(tx, before, added)
  return { added: added.length, removed: removed.length }
}

/**
 * Changes a role: omitted fields are unchanged, null and, for text, '' unset; `permissions` are all that it gives from
 * then on. A change that changes nothing leaves updatedAt and the log alone. Throws NotFound, InvalidInput, and Conflict
 * (`expectedUpdatedAt`, or the name is taken).
 */
export async function updateAppRole(ctx: Ctx, id: string, input: unknown): Promise<AppRole> {
  const { permissions, expectedUpdatedAt: _, ...given } = parseInput(AppRolePatch, input)
  if (readIdPrefix(id) !== 'role') throw new NotFound('role')
  return ctx.db.transaction(async (tx) => {
    await lockTenantRow(tx)
    const before = await readAppRole(tx, id)
    assertExpectedUpdatedAt(input, before.updatedAt)
    requireUnchanged(APP_ROLE_SERVICE_FIELDS, given, before)
    const wanted = permissions && sortPermissions(permissions)
    const patch: Partial<AppRole> = { ...(given as Partial<AppRole>), ...(wanted && { permissions: wanted }) }
    const changedFields = (Object.keys(APP_ROLE_FIELDS) as (keyof typeof APP_ROLE_FIELDS)[]).filter(
      (name) => patch[name] !== undefined && !isDeepStrictEqual(patch[name], before[name]),
    )
    if (changedFields.length === 0) return before
    if (permissions) await requirePermissions(tx, before, permissions)
    if (patch.name !== undefined && patch.name !== before.name)
      await requireDistinctName(tx, before, patch.name)
    const counts = wanted ? await replacePermissions(tx, before, wanted) : { added: 0, removed: 0 }
    const columns = changedFields.filter((name) => name !== 'permissions')
    await tx.prisma.appRole.update({
      where: { tenantId_id: { tenantId: ctx.tenant, id } },
      data: {
        ...Object.fromEntries(columns.map((name) => [name, patch[name]])),
        updatedAt: moveForward(before.updatedAt),
      },
    })
    const { organizationId } = before
    await recordEvents(tx, ctx, [
      createEvent('app_role.updated', { appRoleId: id, organizationId, changedFields }, counts),
    ])
    return readAppRole(tx, id)
  })
}

const LOCK_ROLE = declareRowLock('AppRole', ['id', 'organizationId'], 'FOR UPDATE')

/** The event of the deletion of a role, with those who hold it. */
async function describeHolders(
  { prisma, tenant: tenantId }: Tx,
  { id: roleId, organizationId }: Owner & { id: string },
) {
  const where = { tenantId, roleId }
  const users = await prisma.userAppRole.findMany({
    where,
    select: { userId: true },
    orderBy: { userId: 'asc' },
    take: MAX_SUBJECTS,
  })
  return createEvent(
    'app_role.deleted',
    { appRoleId: roleId, organizationId, userIds: users.map(({ userId }) => userId) },
    {
      users: await prisma.userAppRole.count({ where }),
      clients: await prisma.clientAppRole.count({ where }),
      memberships: await prisma.membershipAppRole.count({ where }),
      groups: await prisma.groupAppRole.count({ where }),
    },
  )
}

/** Deletes a role, which all who held it lose. Throws NotFound. */
export async function deleteAppRole(ctx: Ctx, id: string): Promise<{ deletedAppRoleId: string }> {
  if (readIdPrefix(id) !== 'role') throw new NotFound('role')
  await ctx.db.transaction(async (tx) => {
    // Providers before their roles, as in a sign-in. The tenant's row holds back mappings that would name the role meanwhile.
    await lockTenantRow(tx)
    await tx.run(DELETE_FROM_MAPPINGS, { id })
    const role = await tx.one(LOCK_ROLE, { id })
    if (!role) throw new NotFound('role')
    const event = await describeHolders(tx, role)
    await tx.prisma.appRole.deleteMany({ where: { tenantId: ctx.tenant, id } })
    await recordEvents(tx, ctx, [event])
  })
  return { deletedAppRoleId: id }
}

/** The roles that members of an organization may hold, oldest first. Throws NotFound and InvalidInput. */
export function listOrganizationAppRoles(
  ctx: Ctx,
  organizationId: string,
  args: PageArgs,
): Promise<Page<AppRole>> {
  const { appRole } = ctx.db.prisma
  const isListed = { tenantId: ctx.tenant, assignableTo: { has: 'member' }, ...inReachOf(organizationId) }
  return listInOrder(ctx, args, {
    name: `${ctx.tenant}:member-roles:${organizationId}`,
    column: 'id',
    read: async (page) => {
      await requireOrganization(ctx.db, organizationId)
      return appRole.findMany({ ...page, where: { ...isListed, ...page.where }, include: WITH_PERMISSIONS })
    },
    countAll: () => appRole.count({ where: isListed }),
  })
}

export type { RoleHolder }

/** Who holds a role directly, by id: two statements, and one more for totalSize. Throws NotFound and InvalidInput. */
export const listRoleHolders = (ctx: Ctx, roleId: string, args: PageArgs): Promise<Page<RoleHolder>> =>
  listInOrder(ctx, args, {
    name: `${ctx.tenant}:role-holders:${roleId}`,
    column: 'holderId',
    read: async ({ where, orderBy, skip, take }) => {
      await getAppRole(ctx, roleId)
      const [after = null] = Object.values(where.holderId ?? {}) as string[]
      return selectRoleHolders(ctx.db, { roleId, after, limit: take, skip }, orderBy.holderId)
    },
    countAll: () => countRoleHolders(ctx.db, roleId),
  })
