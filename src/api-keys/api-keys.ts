import { isDeepStrictEqual } from 'node:util'
import { getKeyOwner } from '../access/api-keys/find-api-key.ts'
import { createKeyText, getKeyStart } from '../access/api-keys/key-text.ts'
import { listDeclaredResources } from '../access/declared-resources.ts'
import type { Ctx } from '../context/context.ts'
import { newId, readIdPrefix, sha256 } from '../core/crypto.ts'
import { InvalidInput, NotFound } from '../core/errors.ts'
import type { HeldRoles } from '../core/scopes.ts'
import { addSeconds } from '../core/time.ts'
import type { Db, Tx } from '../database/handle.ts'
import { listInOrder } from '../database/page-query.ts'
import { declareRowLock } from '../database/row-locks.sql.ts'
import type { RowOf } from '../database/statement.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { ApiKey as Row } from '../generated/prisma/client.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { type ListArgs, type Page, parseListArgs } from '../schema/page.ts'
import { lockUserRow } from '../users/lock-user.sql.ts'
import { API_KEY_FILTER, ApiKeyCreate, ApiKeyPatch, ApiKeyRotation } from './api-keys.fields.ts'
import {
  computeExpiry,
  findScopeIssues,
  issue,
  lockOwner,
  requireKeyScopes,
  requireRoom,
  requireUserControl,
} from './key-rules.ts'

const HIDDEN_COLUMNS = { tenantId: true, byManagement: true } as const
type ApiKeyRow = Omit<Row, keyof typeof HIDDEN_COLUMNS>
/** An API key, without the key itself. */
export type ApiKey = ApiKeyRow & { owner: ReturnType<typeof getKeyOwner> }
export type NewApiKey = { apiKey: ApiKey; key: string }

const LOCK_KEY = declareRowLock('ApiKey', [
  'name',
  'userId',
  'organizationId',
  'scopes',
  'resources',
  'allowedNetworks',
  'expiresAt',
  'createdAt',
  'rotatedAt',
])

const toApiKey = (row: ApiKeyRow): ApiKey => ({ ...row, owner: getKeyOwner(row) })

/** Stores the hash of a new key text, which is returned only here. */
async function addSecret({ prisma, tenant }: Tx, apiKeyId: string, key: string): Promise<void> {
  await prisma.apiKeySecret.create({ data: { tenantId: tenant, apiKeyId, secretHash: sha256(key) } })
}

/**
 * Creates an API key, of a user, an organization or the tenant. Throws InvalidInput, Forbidden (a scope that the caller lacks, or
 * a user whom the caller does not control), NotFound (the user), UserLocked, and Conflict when the owner has too many.
 */
export async function createApiKey(
  ctx: Ctx,
  input: unknown,
  { now = new Date(), byManagement = true }: { now?: Date; byManagement?: boolean } = {},
): Promise<NewApiKey> {
  const {
    userId: ofUser,
    organizationId: ofOrganization,
    scopes = [],
    resources = [],
    allowedNetworks = [],
    name,
    expiresInSeconds,
  } = parseInput(ApiKeyCreate, input)
  const owner = { userId: ofUser ?? null, organizationId: ofOrganization ?? null }
  requireKeyScopes(ctx, scopes, owner.organizationId)
  const declared = await listDeclaredResources(ctx.tenant)
  const unknown = resources.flatMap((resource, index) =>
    declared.includes(resource) ? [] : [issue(`resources.${index}`, 'is not an API of the tenant')],
  )
  const expiresAt = await computeExpiry(ctx, { seconds: expiresInSeconds, now })
  const key = createKeyText()
  const apiKey = await ctx.db.transaction(async (tx) => {
    const roles = await lockOwner(tx, owner)
    if (byManagement && roles) await requireUserControl(tx, ctx, { id: owner.userId ?? '', roles })
    await requireRoom(tx, owner)
    const issues = [...unknown, ...findScopeIssues(ctx.tenant, { scopes, resources, ...owner }, roles)]
    if (issues.length > 0) throw new InvalidInput(issues)
    const created = await tx.prisma.apiKey.create({
      data: {
        tenantId: ctx.tenant,
        id: newId('apikey'),
        name,
        ...owner,
        scopes,
        resources,
        allowedNetworks,
        start: getKeyStart(key),
        byManagement,
        expiresAt,
        createdAt: now,
      },
      omit: HIDDEN_COLUMNS,
    })
    await addSecret(tx, created.id, key)
    await recordEvents(tx, ctx, [
      createEvent(
        'api_key.created',
        { ...owner, apiKeyId: created.id },
        {
          scopes: scopes.join(' '),
          resources: resources.join(' '),
          allowed_networks: allowedNetworks.join(' '),
        },
      ),
    ])
    return created
  })
  return { apiKey: toApiKey(apiKey), key }
}

/** The keys of the tenant with these ids, in any order. */
export const findApiKeys = async ({ prisma, tenant }: Db, ids: string[]): Promise<ApiKey[]> =>
  (await prisma.apiKey.findMany({ where: { tenantId: tenant, id: { in: ids } }, omit: HIDDEN_COLUMNS })).map(
    toApiKey,
  )

/** Returns a key. Throws NotFound. */
export async function getApiKey(ctx: Ctx, id: string): Promise<ApiKey> {
  const [apiKey] = readIdPrefix(id) === 'apikey' ? await findApiKeys(ctx.db, [id]) : []
  if (!apiKey) throw new NotFound('API key')
  return apiKey
}

/** What cursors of the list of keys are bound to. */
export const toApiKeyListName = (
  tenant: string,
  filter: { owner?: string; userId?: string; organizationId?: string } = {},
): string => `${tenant}:api-keys:${filter.owner ?? ''}:${filter.userId ?? ''}:${filter.organizationId ?? ''}`

/** Selects the keys of owners of a kind. */
const OF_OWNER = {
  tenant: { userId: null, organizationId: null },
  organization: { userId: null, organizationId: { not: null } },
  user: { userId: { not: null } },
} as const

/** The keys of the tenant, its organizations and its users, oldest first: one statement, and another for totalSize. Throws InvalidInput. */
export function listApiKeys(ctx: Ctx, args: ListArgs): Promise<Page<ApiKey>> {
  const { filter } = parseListArgs(args, API_KEY_FILTER)
  const { owner, userId, organizationId } = filter
  const { apiKey } = ctx.db.prisma
  const isListed = {
    tenantId: ctx.tenant,
    AND: [
      ...(userId === undefined ? [] : [{ userId }]),
      ...(organizationId === undefined ? [] : [{ organizationId }]),
      ...(owner === undefined ? [] : [OF_OWNER[owner]]),
    ],
  }
  return listInOrder(ctx, args, {
    name: toApiKeyListName(ctx.tenant, filter),
    column: 'id',
    read: async (page) =>
      (await apiKey.findMany({ ...page, where: { ...isListed, ...page.where }, omit: HIDDEN_COLUMNS })).map(
        toApiKey,
      ),
    countAll: () => apiKey.count({ where: isListed }),
  })
}

/** A key, and the roles of its user; null without one. */
type LockedKey = RowOf<typeof LOCK_KEY> & { roles: HeldRoles | null }

/** Locks the row of the key, after that of its user: changes of a user delete keys. Null without such a key. */
async function lockKey(tx: Tx, id: string): Promise<LockedKey | null> {
  if (readIdPrefix(id) !== 'apikey') return null
  const where = { tenantId_id: { tenantId: tx.tenant, id } }
  const found = await tx.prisma.apiKey.findUnique({ where, select: { userId: true } })
  const user = found?.userId ? await lockUserRow(tx, found.userId) : null
  const key = await tx.one(LOCK_KEY, { id })
  return key && { ...key, roles: user?.roles ?? null }
}

/**
 * Changes a key whose row is locked. Throws NotFound, also for the key of another user where `ownerId` names one, and
 * Forbidden for a key whose scopes the caller lacks, or whose user the caller does not control.
 */
const changeKey = <Result>(
  ctx: Ctx,
  id: string,
  ownerId: string | undefined,
  change: (tx: Tx, current: LockedKey, where: { tenantId: string; id: string }) => Promise<Result>,
): Promise<Result> =>
  ctx.db.transaction(async (tx) => {
    const current = await lockKey(tx, id)
    if (!current || (ownerId !== undefined && current.userId !== ownerId)) throw new NotFound('API key')
    if (ownerId === undefined) {
      requireKeyScopes(ctx, current.scopes, current.organizationId)
      const { userId, roles } = current
      if (userId !== null && roles) await requireUserControl(tx, ctx, { id: userId, roles })
    }
    return change(tx, current, { tenantId: ctx.tenant, id })
  })

/** Changes the name, scopes and networks of a key. Throws InvalidInput, NotFound and Forbidden. */
export async function updateApiKey(ctx: Ctx, id: string, input: unknown): Promise<ApiKey> {
  const given = parseInput(ApiKeyPatch, input)
  const { name, scopes, allowedNetworks } = given
  return changeKey(ctx, id, undefined, async (tx, current, where) => {
    const { userId, organizationId, resources, roles } = current
    requireKeyScopes(ctx, scopes ?? [], organizationId)
    const key = { scopes: scopes ?? [], resources, userId, organizationId }
    const issues = scopes ? findScopeIssues(ctx.tenant, key, roles) : []
    if (issues.length > 0) throw new InvalidInput(issues)
    const row = await tx.prisma.apiKey.update({
      where: { tenantId_id: where },
      data: {
        ...(name !== undefined && { name }),
        ...(scopes && { scopes }),
        ...(allowedNetworks && { allowedNetworks }),
      },
      omit: HIDDEN_COLUMNS,
    })
    const changedFields = (Object.keys(given) as (keyof typeof given)[]).filter(
      (field) => given[field] !== undefined && !isDeepStrictEqual(given[field], current[field]),
    )
    if (changedFields.length > 0)
      await recordEvents(tx, ctx, [
        createEvent('api_key.updated', { userId, organizationId, apiKeyId: id, changedFields }),
      ])
    return toApiKey(row)
  })
}

/**
 * Replaces a key. The current one is accepted for `overlapSeconds` (0 to 30 days, by default one day); an older one is
 * deleted, so that at most two are. Of `ownerId`, only keys of this user. Throws InvalidInput, NotFound and Forbidden.
 */
export async function rotateApiKey(
  ctx: Ctx,
  id: string,
  input: unknown,
  { now = new Date(), ownerId }: { now?: Date; ownerId?: string } = {},
): Promise<NewApiKey & { previousExpiresAt: Date | null }> {
  const { overlapSeconds, expiresInSeconds } = parseInput(ApiKeyRotation, input === undefined ? {} : input)
  const key = createKeyText()
  return changeKey(ctx, id, ownerId, async (tx, current, where) => {
    const { userId, organizationId, rotatedAt, createdAt, expiresAt } = current
    const standard = Math.round((expiresAt.getTime() - (rotatedAt ?? createdAt).getTime()) / 1000)
    const renewedUntil = await computeExpiry(ctx, { seconds: expiresInSeconds, standard, now })
    // The former key does not outlive its own expiry.
    const end = addSeconds(now, overlapSeconds)
    const previousEnd = new Date(Math.min(end.getTime(), expiresAt.getTime()))
    const previousExpiresAt = previousEnd > now ? previousEnd : null
    const ofKey = { tenantId: ctx.tenant, apiKeyId: id }
    await tx.prisma.apiKeySecret.deleteMany({
      where: { ...ofKey, ...(previousExpiresAt && { expiresAt: { not: null } }) },
    })
    await tx.prisma.apiKeySecret.updateMany({
      where: { ...ofKey, expiresAt: null },
      data: { expiresAt: previousExpiresAt },
    })
    await addSecret(tx, id, key)
    const row = await tx.prisma.apiKey.update({
      where: { tenantId_id: where },
      data: { start: getKeyStart(key), rotatedAt: now, expiresAt: renewedUntil },
      omit: HIDDEN_COLUMNS,
    })
    await recordEvents(tx, ctx, [
      createEvent(
        'api_key.rotated',
        { userId, organizationId, apiKeyId: id },
        { previous_expires_at: previousExpiresAt?.toISOString() ?? null },
      ),
    ])
    return { apiKey: toApiKey(row), key, previousExpiresAt }
  })
}

/** Revokes a key: deletes it. Of `ownerId`, only keys of this user. Throws NotFound and Forbidden. */
export async function revokeApiKey(
  ctx: Ctx,
  id: string,
  { ownerId }: { ownerId?: string } = {},
): Promise<{ revokedApiKeyId: string }> {
  await changeKey(ctx, id, ownerId, async (tx, { userId, organizationId }, where) => {
    await tx.prisma.apiKey.delete({ where: { tenantId_id: where } })
    await recordEvents(tx, ctx, [createEvent('api_key.revoked', { userId, organizationId, apiKeyId: id })])
  })
  return { revokedApiKeyId: id }
}
