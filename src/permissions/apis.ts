import { isDeepStrictEqual } from 'node:util'
import { invalidateDeclaredResources } from '../access/declared-resources.ts'
import { requireNoEscalation } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { newId, readIdPrefix } from '../core/crypto.ts'
import { Conflict, NotFound } from '../core/errors.ts'
import type { Db, Tx } from '../database/handle.ts'
import { listInOrder } from '../database/page-query.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { Api as ApiRow, Prisma } from '../generated/prisma/client.ts'
import { lockTenantRow } from '../keys/keys.sql.ts'
import { type ClaimMapping, listApiMappings, SCOPES_OF_SOURCES } from '../model/claim-mappings.ts'
import { assertExpectedUpdatedAt, moveForward } from '../schema/expected-updated-at.ts'
import { addStandards } from '../schema/fields.ts'
import { parseInput } from '../schema/input-shapes.ts'
import type { Page, PageArgs } from '../schema/page.ts'
import { requireUnchanged } from '../schema/response-only.ts'
import { API_FIELDS, API_SERVICE_FIELDS, ApiCreate, ApiPatch } from './apis.fields.ts'
import { MAX_SUBJECTS } from './app-roles.ts'
import { writePermissions } from './permissions.sql.ts'
import { requireOrganization } from './role-owners.ts'

/** A permission of an API. */
type Permission = {
  name: string
  description: string | null
  translations: Prisma.JsonValue
  isAllowedInOrganizations: boolean
}
/** An API with its permissions, by name. */
export type Api = ApiRow & { permissions: Permission[] }

/** APIs of a tenant, and their permissions in sum, which a page may have all. */
const MAX_APIS = 500
const MAX_PERMISSIONS_OF_APIS = 20_000

const WITH_PERMISSIONS = {
  permissions: {
    select: { name: true, description: true, translations: true, isAllowedInOrganizations: true },
    orderBy: { name: 'asc' },
  },
} as const

type ApiFields = Pick<Api, keyof typeof API_FIELDS>
type GivenPermission = Pick<Permission, 'name'> & {
  [Name in Exclude<keyof Permission, 'name'>]?: Permission[Name] | null
}

const toPermissions = (given: readonly GivenPermission[]): Permission[] =>
  given
    .map(({ name, description = null, translations, isAllowedInOrganizations }) => ({
      name,
      description,
      translations: translations ?? [],
      isAllowedInOrganizations: isAllowedInOrganizations ?? false,
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))

/** Writes permissions of an API in a tenant that is locked. Throws Conflict when the APIs have too many. */
async function storePermissions(tx: Tx, apiId: string, permissions: readonly Permission[]): Promise<void> {
  if (permissions.length === 0) return
  await writePermissions(tx, apiId, permissions)
  if ((await tx.prisma.apiPermission.count({ where: { tenantId: tx.tenant } })) > MAX_PERMISSIONS_OF_APIS)
    throw new Conflict([], `The APIs of a tenant have at most ${MAX_PERMISSIONS_OF_APIS} permissions.`)
}

/** An API with its permissions, in a transaction that may have changed it. */
async function readApi({ prisma, tenant }: Db, id: string): Promise<Api> {
  const where = { tenantId_id: { tenantId: tenant, id } }
  const api = await prisma.api.findUnique({ where, include: WITH_PERMISSIONS })
  if (!api) throw new NotFound('API')
  return api
}

/**
 * Throws Forbidden unless the caller may read what the tokens of the API have of users.
 */
const requireReadable = (ctx: Ctx, api: Pick<Api, 'claimMappings' | 'groupsInTokens'>): void =>
  requireNoEscalation(
    ctx,
    listApiMappings({ ...api, claimMappings: api.claimMappings as ClaimMapping[] }).flatMap(
      ({ source }) => SCOPES_OF_SOURCES[source],
    ),
  )

/** Fields with which the tokens of an API have other data of users, or others get them. */
const CLAIM_FIELDS: readonly string[] = ['identifier', 'groupsInTokens', 'claimMappings']

/** Creates an API with its permissions. Throws InvalidInput, Forbidden, and Conflict (the identifier is taken, or there are 500). */
export async function createApi(ctx: Ctx, input: unknown): Promise<Api> {
  const { permissions, ...fields } = addStandards(API_FIELDS, parseInput(ApiCreate, input)) as ApiFields
  requireReadable(ctx, fields)
  const id = newId('api')
  return ctx.db.transaction(async (tx) => {
    await lockTenantRow(tx)
    if ((await tx.prisma.api.count({ where: { tenantId: ctx.tenant } })) >= MAX_APIS)
      throw new Conflict([], `A tenant has at most ${MAX_APIS} APIs.`)
    await tx.prisma.api.create({
      data: { ...(fields as Prisma.ApiUncheckedCreateInput), tenantId: ctx.tenant, id },
    })
    await storePermissions(tx, id, toPermissions(permissions))
    invalidateDeclaredResources(tx)
    await recordEvents(tx, ctx, [createEvent('api.created', { apiId: id })])
    return readApi(tx, id)
  })
}

/** Returns an API. Throws NotFound. */
export async function getApi(ctx: Ctx, id: string): Promise<Api> {
  if (readIdPrefix(id) !== 'api') throw new NotFound('API')
  return readApi(ctx.db, id)
}

/** The APIs of the tenant with these ids, in any order. */
export const findApis = ({ prisma, tenant }: Db, ids: string[]): Promise<Api[]> =>
  prisma.api.findMany({ where: { tenantId: tenant, id: { in: ids } }, include: WITH_PERMISSIONS })

/** What cursors of the list of APIs are bound to. */
export const toApiListName = (tenant: string): string => `${tenant}:apis`

/** The APIs with their permissions, oldest first: one statement, and another for totalSize. Throws InvalidInput. */
export function listApis(ctx: Ctx, args: PageArgs): Promise<Page<Api>> {
  const { api } = ctx.db.prisma
  const tenantId = ctx.tenant
  return listInOrder(ctx, args, {
    name: toApiListName(ctx.tenant),
    column: 'id',
    read: (page) => api.findMany({ ...page, where: { tenantId, ...page.where }, include: WITH_PERMISSIONS }),
    countAll: () => api.count({ where: { tenantId } }),
  })
}

/** An API with the permissions that organizations may put into roles of their own. */
export type PermittedApi = Pick<Api, 'identifier' | 'name' | 'translations' | 'permissions'> & {
  apiId: string
}

/**
 * The APIs with permissions for roles of organizations, oldest first: one statement besides that of the organization, and
 * another for totalSize. Throws NotFound and InvalidInput.
 */
export function listPermittedApis(
  ctx: Ctx,
  organizationId: string,
  args: PageArgs,
): Promise<Page<PermittedApi>> {
  const { api } = ctx.db.prisma
  const isAllowed = { isAllowedInOrganizations: true }
  const isListed = { tenantId: ctx.tenant, permissions: { some: isAllowed } }
  return listInOrder(ctx, args, {
    name: `${ctx.tenant}:permitted-apis:${organizationId}`,
    column: 'apiId',
    read: async ({ where, orderBy, ...page }): Promise<PermittedApi[]> => {
      await requireOrganization(ctx.db, organizationId)
      const rows = await api.findMany({
        ...page,
        where: { ...isListed, ...(where.apiId && { id: where.apiId }) },
        orderBy: { id: orderBy.apiId },
        include: { permissions: { ...WITH_PERMISSIONS.permissions, where: isAllowed } },
      })
      return rows.map(({ id: apiId, ...row }) => ({ ...row, apiId }))
    },
    countAll: () => api.count({ where: isListed }),
  })
}

/** The roles that give permissions of an API, those of `lost` if given: the first hundred, and how many there are. */
async function readRolesOf(
  { prisma, tenant: tenantId }: Tx,
  apiId: string,
  lost: Prisma.AppRolePermissionWhereInput = {},
) {
  const roles = await prisma.appRolePermission.groupBy({
    by: ['roleId'],
    where: { tenantId, apiId, ...lost },
    orderBy: { roleId: 'asc' },
  })
  return { appRoleIds: roles.slice(0, MAX_SUBJECTS).map(({ roleId }) => roleId), roles: roles.length }
}

/**
 * Gives an API exactly these permissions; returns how many are new, how many were deleted, and the roles that lost one.
 * Roles of organizations lose those that they may no longer have.
 */
async function replacePermissions(tx: Tx, before: Api, wanted: readonly Permission[]) {
  const toNames = (permissions: readonly Permission[]) => new Set(permissions.map(({ name }) => name))
  const toAllowed = (permissions: readonly Permission[]) =>
    toNames(permissions.filter(({ isAllowedInOrganizations }) => isAllowedInOrganizations))
  const [known, kept, allowed] = [toNames(before.permissions), toNames(wanted), toAllowed(wanted)]
  const removed = [...known].filter((name) => !kept.has(name))
  const disallowed = [...toAllowed(before.permissions)].filter((name) => !allowed.has(name))
  const taken = { name: { in: disallowed }, role: { organizationId: { not: null } } }
  const isLost = { OR: [{ name: { in: removed } }, taken] }
  const hasLost = removed.length + disallowed.length > 0
  const lost = hasLost ? await readRolesOf(tx, before.id, isLost) : { appRoleIds: [], roles: 0 }
  const ofApi = { tenantId: tx.tenant, apiId: before.id }
  if (disallowed.length > 0) await tx.prisma.appRolePermission.deleteMany({ where: { ...ofApi, ...taken } })
  if (removed.length > 0)
    await tx.prisma.apiPermission.deleteMany({ where: { ...ofApi, name: { in: removed } } })
  await storePermissions(tx, before.id, wanted)
  const added = wanted.filter(({ name }) => !known.has(name)).length
  return { appRoleIds: lost.appRoleIds, counts: { added, removed: removed.length, roles: lost.roles } }
}

/**
 * Changes an API: omitted fields are unchanged, null and, for text, '' unset. `permissions` are all that it has from then
 * on: others are deleted, and taken from every role. A change that changes nothing leaves updatedAt and the log alone.
 * Throws NotFound, InvalidInput, Forbidden (claims that the caller may not read), and Conflict (`expectedUpdatedAt`, or the identifier is taken).
 */
export async function updateApi(ctx: Ctx, id: string, input: unknown): Promise<Api> {
  const { expectedUpdatedAt: _, ...given } = parseInput(ApiPatch, input)
  if (readIdPrefix(id) !== 'api') throw new NotFound('API')
  return ctx.db.transaction(async (tx) => {
    await lockTenantRow(tx)
    const before = await readApi(tx, id)
    assertExpectedUpdatedAt(input, before.updatedAt)
    requireUnchanged(API_SERVICE_FIELDS, given, before)
    const patch = {
      ...given,
      ...(given.permissions && { permissions: toPermissions(given.permissions) }),
    } as Partial<ApiFields>
    const changedFields = (Object.keys(API_FIELDS) as (keyof ApiFields)[]).filter(
      (name) => patch[name] !== undefined && !isDeepStrictEqual(patch[name], before[name]),
    )
    if (changedFields.length === 0) return before
    if (changedFields.some((name) => CLAIM_FIELDS.includes(name)))
      requireReadable(ctx, { ...before, ...patch })
    const { appRoleIds, counts } =
      patch.permissions && changedFields.includes('permissions')
        ? await replacePermissions(tx, before, patch.permissions)
        : { appRoleIds: [], counts: { added: 0, removed: 0, roles: 0 } }
    const columns = changedFields.filter((name) => name !== 'permissions')
    await tx.prisma.api.update({
      where: { tenantId_id: { tenantId: ctx.tenant, id } },
      data: {
        ...Object.fromEntries(columns.map((name) => [name, patch[name]])),
        updatedAt: moveForward(before.updatedAt),
      },
    })
    invalidateDeclaredResources(tx)
    await recordEvents(tx, ctx, [
      createEvent('api.updated', { apiId: id, appRoleIds, changedFields }, counts),
    ])
    return readApi(tx, id)
  })
}

/**
 * Deletes an API with its permissions, which every role loses. Tokens that were issued for it stay valid until they
 * expire. Throws NotFound.
 */
export async function deleteApi(ctx: Ctx, id: string): Promise<{ deletedApiId: string }> {
  if (readIdPrefix(id) !== 'api') throw new NotFound('API')
  await ctx.db.transaction(async (tx) => {
    await lockTenantRow(tx)
    const { appRoleIds, roles } = await readRolesOf(tx, id)
    const { count } = await tx.prisma.api.deleteMany({ where: { tenantId: ctx.tenant, id } })
    if (count === 0) throw new NotFound('API')
    invalidateDeclaredResources(tx)
    await recordEvents(tx, ctx, [createEvent('api.deleted', { apiId: id, appRoleIds }, { roles })])
  })
  return { deletedApiId: id }
}
