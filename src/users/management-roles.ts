import { isDeepStrictEqual } from 'node:util'
import { requireNoEscalation } from '../access/require-scope.ts'
import { voidPreparedAccessOfHolders } from '../access/revocation/revocation.sql.ts'
import type { Ctx } from '../context/context.ts'
import { newId, readIdPrefix } from '../core/crypto.ts'
import { Conflict, InvalidInput, NotFound } from '../core/errors.ts'
import { isBuiltInRole, isScope, listManagementScopes } from '../core/scopes.ts'
import type { Db, Tx } from '../database/handle.ts'
import { listInOrder } from '../database/page-query.ts'
import { declareRowLock } from '../database/row-locks.sql.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { ManagementRole } from '../generated/prisma/client.ts'
import { lockTenantRow } from '../keys/keys.sql.ts'
import { assertExpectedUpdatedAt, moveForward } from '../schema/expected-updated-at.ts'
import { addStandards } from '../schema/fields.ts'
import { parseInput } from '../schema/input-shapes.ts'
import type { Page, PageArgs } from '../schema/page.ts'
import { requireUnchanged } from '../schema/response-only.ts'
import {
  MANAGEMENT_ROLE_FIELDS,
  MANAGEMENT_ROLE_SERVICE_FIELDS,
  ManagementRoleCreate,
  ManagementRolePatch,
} from './management-roles.fields.ts'
import { hasRoleHolder } from './users.sql.ts'

/** Roles that a tenant defines. */
export const MAX_MANAGEMENT_ROLES = 100

type RoleFields = Pick<ManagementRole, keyof typeof MANAGEMENT_ROLE_FIELDS>

/** Requires that the caller has the scopes. Throws InvalidInput for those of operators in another tenant than `system`, and Forbidden. */
function requireScopes(ctx: Ctx, scopes: readonly string[]): void {
  const available: readonly string[] = listManagementScopes(ctx.tenant)
  const issues = scopes
    .filter((scope) => !available.includes(scope))
    .map((scope) => ({ field: 'scopes', description: `${scope} belongs to tenant system` }))
  if (issues.length > 0) throw new InvalidInput(issues)
  requireNoEscalation(ctx, scopes.filter(isScope))
}

/**
 * Defines a role of the management API. Throws InvalidInput, Forbidden (it permits more than the caller's scopes), and Conflict
 * (the name is taken, or there are 100).
 */
export async function createManagementRole(ctx: Ctx, input: unknown): Promise<ManagementRole> {
  const { name, ...given } = parseInput(ManagementRoleCreate, input)
  const fields = addStandards(MANAGEMENT_ROLE_FIELDS, given) as RoleFields
  requireScopes(ctx, fields.scopes)
  if (isBuiltInRole(name))
    throw new Conflict([{ field: 'name', description: 'is the name of a built-in role' }])
  const id = newId('mgmtrole')
  return ctx.db.transaction(async (tx) => {
    await lockTenantRow(tx)
    const tenantId = ctx.tenant
    if ((await tx.prisma.managementRole.count({ where: { tenantId } })) >= MAX_MANAGEMENT_ROLES)
      throw new Conflict([], `A tenant has at most ${MAX_MANAGEMENT_ROLES} management roles.`)
    const role = await tx.prisma.managementRole.create({ data: { ...fields, name, tenantId, id } })
    await recordEvents(tx, ctx, [
      createEvent(
        'management_role.created',
        { managementRoleId: id },
        { name, scopes: role.scopes.join(' ') },
      ),
    ])
    return role
  })
}

/** Returns a role. Throws NotFound. */
export async function getManagementRole({ db, tenant }: Ctx, id: string): Promise<ManagementRole> {
  const where = { tenantId_id: { tenantId: tenant, id } }
  const role = readIdPrefix(id) === 'mgmtrole' && (await db.prisma.managementRole.findUnique({ where }))
  if (!role) throw new NotFound('management role')
  return role
}

/** The roles of the tenant with these ids, in any order. */
export const findManagementRoles = ({ prisma, tenant }: Db, ids: string[]): Promise<ManagementRole[]> =>
  prisma.managementRole.findMany({ where: { tenantId: tenant, id: { in: ids } } })

/** What cursors of the list of roles are bound to. */
export const toManagementRoleListName = (tenant: string): string => `${tenant}:management-roles`

/** The roles that the tenant has defined, oldest first: one statement, and another for totalSize. Throws InvalidInput. */
export function listManagementRoles(ctx: Ctx, args: PageArgs): Promise<Page<ManagementRole>> {
  const { managementRole } = ctx.db.prisma
  const tenantId = ctx.tenant
  return listInOrder(ctx, args, {
    name: toManagementRoleListName(tenantId),
    column: 'id',
    read: (page) => managementRole.findMany({ ...page, where: { tenantId, ...page.where } }),
    countAll: () => managementRole.count({ where: { tenantId } }),
  })
}

const LOCK_ROLE = declareRowLock('ManagementRole', ['id'], 'FOR UPDATE')

/**
 * Locks a role: nobody gives or takes it, and nobody changes accounts of its holders, until the transaction ends. Throws
 * NotFound, and Forbidden for a role that permits more than the caller's scopes.
 */
async function lockRole(tx: Tx, ctx: Ctx, id: string): Promise<ManagementRole> {
  await lockTenantRow(tx)
  if (readIdPrefix(id) !== 'mgmtrole' || !(await tx.one(LOCK_ROLE, { id })))
    throw new NotFound('management role')
  const role = await getManagementRole({ ...ctx, db: tx.join() }, id)
  requireNoEscalation(ctx, role.scopes.filter(isScope))
  return role
}

/**
 * Changes a role: omitted fields are unchanged, null and, for text, '' unset. Its holders have the scopes from the next call
 * on. A change that changes nothing leaves updatedAt and the log alone. Throws NotFound, InvalidInput, Forbidden (it permits, or
 * would permit, more than the caller's scopes), and Conflict (`expectedUpdatedAt`).
 */
export async function updateManagementRole(ctx: Ctx, id: string, input: unknown): Promise<ManagementRole> {
  const { expectedUpdatedAt: _, ...given } = parseInput(ManagementRolePatch, input)
  requireScopes(ctx, given.scopes ?? [])
  return ctx.db.transaction(async (tx) => {
    const before = await lockRole(tx, ctx, id)
    assertExpectedUpdatedAt(input, before.updatedAt)
    requireUnchanged(MANAGEMENT_ROLE_SERVICE_FIELDS, given, before)
    const patch = given as Partial<RoleFields>
    const changedFields = (Object.keys(MANAGEMENT_ROLE_FIELDS) as (keyof RoleFields)[]).filter(
      (name) => patch[name] !== undefined && !isDeepStrictEqual(patch[name], before[name]),
    )
    if (changedFields.length === 0) return before
    const after = await tx.prisma.managementRole.update({
      where: { tenantId_id: { tenantId: ctx.tenant, id } },
      data: {
        ...Object.fromEntries(changedFields.map((name) => [name, patch[name]])),
        updatedAt: moveForward(before.updatedAt),
      },
    })
    const [added, removed] = [
      after.scopes.filter((scope) => !before.scopes.includes(scope)),
      before.scopes.filter((scope) => !after.scopes.includes(scope)),
    ]
    if (added.length > 0) await voidPreparedAccessOfHolders(tx, before.name)
    await recordEvents(tx, ctx, [
      createEvent(
        'management_role.updated',
        { managementRoleId: id, changedFields },
        { name: before.name, added: added.join(' '), removed: removed.join(' ') },
      ),
    ])
    return after
  })
}

/** Why a role cannot be deleted; null when nothing refers to it. */
async function findUse(tx: Tx, name: string): Promise<string | null> {
  const tenantId = tx.tenant
  if (await hasRoleHolder(tx, name)) return 'Users hold this role. Take it from them first.'
  const invitations = { tenantId, acceptedAt: null, revoked: false, roles: { has: name } }
  if ((await tx.prisma.invitation.count({ where: invitations })) > 0)
    return 'Invitations give this role. Revoke them first.'
  const isRequired = { tenantId, secondFactorRoles: { has: name } }
  return (await tx.prisma.tenant.count({ where: isRequired })) > 0
    ? 'The setting secondFactorRoles names this role.'
    : null
}

/**
 * Deletes a role that nobody holds. Throws NotFound, Forbidden (it permits more than the caller's scopes), and Conflict while a user
 * holds it, or an open invitation or a setting names it.
 */
export async function deleteManagementRole(
  ctx: Ctx,
  id: string,
): Promise<{ deletedManagementRoleId: string }> {
  await ctx.db.transaction(async (tx) => {
    const { name } = await lockRole(tx, ctx, id)
    const use = await findUse(tx, name)
    if (use) throw new Conflict([], use)
    await tx.prisma.managementRole.deleteMany({ where: { tenantId: ctx.tenant, id } })
    await recordEvents(tx, ctx, [createEvent('management_role.deleted', { managementRoleId: id }, { name })])
  })
  return { deletedManagementRoleId: id }
}
