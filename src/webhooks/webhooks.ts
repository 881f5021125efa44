import { isDeepStrictEqual } from 'node:util'
import type { Ctx } from '../context/context.ts'
import { newId, readIdPrefix } from '../core/crypto.ts'
import { Conflict, InvalidInput, NotFound } from '../core/errors.ts'
import { addSeconds } from '../core/time.ts'
import type { Db, Tx } from '../database/handle.ts'
import { announceInsertion } from '../database/insertions.ts'
import { listInOrder } from '../database/page-query.ts'
import { createEvent } from '../events/create-event.ts'
import { readEvents, readHead, recordEvents } from '../events/log.ts'
import type { Prisma, Webhook as Row } from '../generated/prisma/client.ts'
import { comparePositions, decodePosition, encodePosition } from '../model/event-position.ts'
import { moveForward } from '../schema/expected-updated-at.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { type ListArgs, type Page, parseListArgs } from '../schema/page.ts'
import { requireEventAccess, takeSending } from './webhook-access.ts'
import { createWebhookSecret, sealWebhookHeaders, sealWebhookSecret } from './webhook-secrets.ts'
import {
  WEBHOOK_FIELD_NAMES,
  WEBHOOK_FILTER,
  WebhookCreate,
  type WebhookHeader,
  WebhookPatch,
  WebhookReplay,
  WebhookRotation,
} from './webhooks.fields.ts'
import { lockTenantForWebhooks, lockWebhook, wakeMessages } from './webhooks.sql.ts'

/** Webhooks of a tenant itself, of one of its organizations, and of all its organizations. */
const MAX_WEBHOOKS = { tenant: 200, organization: 10, organizations: 800 }

const HIDDEN_COLUMNS = {
  tenantId: true,
  secret: true,
  previousSecret: true,
  headers: true,
  resumePosition: true,
} as const
/** A webhook, without its secrets. */
export type Webhook = Omit<Row, keyof typeof HIDDEN_COLUMNS>
export type NewWebhook = { webhook: Webhook; secret: string }

const toHeaderColumns = (ctx: Ctx, id: string, headers: readonly WebhookHeader[] | null) => ({
  headers: headers?.length ? sealWebhookHeaders(ctx.tenant, id, headers) : null,
  headerNames: headers?.map(({ name }) => name) ?? [],
})

/**
 * Creates a webhook, which gets the events from now on. The secret of its signatures is returned only here. Throws
 * InvalidInput, Forbidden without events:read, NotFound (the organization), and Conflict when the tenant has too many.
 */
export async function createWebhook(ctx: Ctx, input: unknown): Promise<NewWebhook> {
  const { headers, organizationId, ...fields } = parseInput(WebhookCreate, input)
  requireEventAccess(ctx, organizationId)
  const id = newId('webhook')
  const secret = createWebhookSecret()
  const { head } = await readHead(ctx.db)
  const webhook = await ctx.db.transaction(async (tx) => {
    await lockTenantForWebhooks(tx)
    if (organizationId) await requireOrganization(tx, organizationId)
    await requireRoom(tx, organizationId ?? null)
    announceFollower(tx)
    await recordEvents(tx, ctx, [createEvent('webhook.created', { webhookId: id, organizationId })])
    return tx.prisma.webhook.create({
      data: {
        ...fields,
        ...toHeaderColumns(ctx, id, headers ?? null),
        tenantId: ctx.tenant,
        id,
        organizationId: organizationId ?? null,
        secret: sealWebhookSecret(ctx.tenant, id, secret),
        position: encodePosition(head),
      } as Prisma.WebhookUncheckedCreateInput,
      omit: HIDDEN_COLUMNS,
    })
  })
  return { webhook, secret }
}

/** Lets this process follow the log for a webhook at once; others find it within seconds. */
const announceFollower = (tx: Tx): void =>
  tx.afterCommit('follow the log for a webhook', () => announceInsertion('Webhook', tx.tenant))

/** Throws Conflict when there are too many webhooks: those of organizations leave the tenant its own. */
async function requireRoom({ prisma, tenant }: Tx, organizationId: string | null): Promise<void> {
  const count = (owner: string | null | { not: null }) =>
    prisma.webhook.count({ where: { tenantId: tenant, organizationId: owner } })
  if (organizationId === null) {
    if ((await count(null)) < MAX_WEBHOOKS.tenant) return
    throw new Conflict([], `A tenant has at most ${MAX_WEBHOOKS.tenant} webhooks of its own.`)
  }
  if ((await count(organizationId)) >= MAX_WEBHOOKS.organization)
    throw new Conflict([], `An organization has at most ${MAX_WEBHOOKS.organization} webhooks.`)
  if ((await count({ not: null })) >= MAX_WEBHOOKS.organizations)
    throw new Conflict(
      [],
      `The organizations of a tenant have at most ${MAX_WEBHOOKS.organizations} webhooks.`,
    )
}

async function requireOrganization({ prisma, tenant }: Tx, id: string): Promise<void> {
  const where = { tenantId_id: { tenantId: tenant, id } }
  if (!(await prisma.organization.findUnique({ where, select: { id: true } })))
    throw new NotFound('organization')
}

/** The webhooks of the tenant with these ids, in any order. */
export const findWebhooks = ({ prisma, tenant }: Db, ids: string[]): Promise<Webhook[]> =>
  prisma.webhook.findMany({ where: { tenantId: tenant, id: { in: ids } }, omit: HIDDEN_COLUMNS })

/** Returns a webhook. Throws NotFound. */
export async function getWebhook(ctx: Ctx, id: string): Promise<Webhook> {
  const [webhook] = readIdPrefix(id) === 'webhook' ? await findWebhooks(ctx.db, [id]) : []
  if (!webhook) throw new NotFound('webhook')
  return webhook
}

/** What cursors of the list of webhooks are bound to. */
export const toWebhookListName = (tenant: string, organizationId = ''): string =>
  `${tenant}:webhooks:${organizationId}`

/** The webhooks of the tenant, oldest first: one statement, and another for totalSize. Throws InvalidInput. */
export function listWebhooks(ctx: Ctx, args: ListArgs): Promise<Page<Webhook>> {
  const { organizationId } = parseListArgs(args, WEBHOOK_FILTER).filter
  const isListed = { tenantId: ctx.tenant, ...(organizationId !== undefined && { organizationId }) }
  const { webhook } = ctx.db.prisma
  return listInOrder(ctx, args, {
    name: toWebhookListName(ctx.tenant, organizationId),
    column: 'id',
    read: (page) =>
      webhook.findMany({ ...page, where: { ...isListed, ...page.where }, omit: HIDDEN_COLUMNS }),
    countAll: () => webhook.count({ where: isListed }),
  })
}

type LockedWebhook = NonNullable<Awaited<ReturnType<typeof lockWebhook>>>

/** Changes a webhook whose row is locked. Throws Forbidden without events:read, and NotFound. */
const changeWebhook = <Result>(
  ctx: Ctx,
  id: string,
  change: (tx: Tx, current: LockedWebhook) => Promise<Result>,
): Promise<Result> =>
  ctx.db.transaction(async (tx) => {
    const current = readIdPrefix(id) === 'webhook' ? await lockWebhook(tx, id) : null
    requireEventAccess(ctx, current?.organizationId)
    if (!current) throw new NotFound('webhook')
    return change(tx, current)
  })

const updateRow = (
  { prisma, tenant }: Tx,
  id: string,
  data: Prisma.WebhookUncheckedUpdateInput,
): Promise<Webhook> =>
  prisma.webhook.update({
    where: { tenantId_id: { tenantId: tenant, id } },
    data,
    omit: HIDDEN_COLUMNS,
  })

/** Requires headers with another URL: those that are stored would show the secrets of one receiver to another. Throws InvalidInput. */
function requireHeadersOfReceiver(
  current: LockedWebhook,
  { url, headers }: { url?: string | undefined; headers?: object | null | undefined },
): void {
  if (url === undefined || url === current.url || current.headers === null || headers !== undefined) return
  throw new InvalidInput([
    {
      field: 'headers',
      description: 'is required with another URL, whose receiver would get the stored ones',
    },
  ])
}

/**
 * Changes a webhook: omitted fields are unchanged. One that is enabled again sends what happened meanwhile. Throws
 * InvalidInput, also for another URL without the headers, Forbidden without events:read, and NotFound.
 */
export async function updateWebhook(ctx: Ctx, id: string, input: unknown): Promise<Webhook> {
  const { headers, ...patch } = parseInput(WebhookPatch, input)
  return changeWebhook(ctx, id, async (tx, current) => {
    requireHeadersOfReceiver(current, { url: patch.url, headers })
    const changedFields: string[] = WEBHOOK_FIELD_NAMES.filter(
      (name) => patch[name] !== undefined && !isDeepStrictEqual(patch[name], current[name]),
    )
    const data = Object.fromEntries(
      changedFields.map((name) => [name, patch[name as keyof typeof patch]]),
    ) as Prisma.WebhookUncheckedUpdateInput
    if (headers !== undefined) {
      Object.assign(data, toHeaderColumns(ctx, id, headers))
      changedFields.push('headers')
    }
    if (changedFields.length === 0) return updateRow(tx, id, {})
    const { organizationId, updatedAt } = current
    await recordEvents(tx, ctx, [
      createEvent('webhook.updated', { webhookId: id, organizationId, changedFields }),
    ])
    // Another receiver, or one that was mended, is tried at once.
    const isTriedAnew = data.enabled === true || data.url !== undefined
    if (isTriedAnew) await wakeMessages(tx, id)
    announceFollower(tx)
    return updateRow(tx, id, {
      ...data,
      ...(isTriedAnew && { failingSince: null }),
      updatedAt: moveForward(updatedAt),
    })
  })
}

/**
 * Replaces the secret of a webhook, which is returned only here. Messages are signed with the current one too for
 * `overlapSeconds`. Throws InvalidInput, Forbidden without events:read, and NotFound.
 */
export async function rotateWebhookSecret(ctx: Ctx, id: string, input: unknown): Promise<NewWebhook> {
  const { overlapSeconds } = parseInput(WebhookRotation, input === undefined ? {} : input)
  const secret = createWebhookSecret()
  const webhook = await changeWebhook(ctx, id, async (tx, current) => {
    const previousSecretExpiresAt = overlapSeconds > 0 ? addSeconds(new Date(), overlapSeconds) : null
    await recordEvents(tx, ctx, [
      createEvent(
        'webhook.secret_rotated',
        { webhookId: id, organizationId: current.organizationId },
        { previous_expires_at: previousSecretExpiresAt?.toISOString() ?? null },
      ),
    ])
    return updateRow(tx, id, {
      secret: sealWebhookSecret(ctx.tenant, id, secret),
      previousSecret: previousSecretExpiresAt && current.secret,
      previousSecretExpiresAt,
      updatedAt: moveForward(current.updatedAt),
    })
  })
  return { webhook, secret }
}

/**
 * Lets a webhook continue after another position of the log: it sends the events that follow, again if they were sent
 * before; with `until`, those of the range, and then continues where it was. Throws InvalidInput, Forbidden without
 * events:read, NotFound and RateLimited.
 */
export async function replayWebhook(ctx: Ctx, id: string, input: unknown): Promise<Webhook> {
  const { after, until } = parseInput(WebhookReplay, input)
  if (until && comparePositions(decodePosition(until), decodePosition(after)) < 0)
    throw new InvalidInput([{ field: 'until', description: 'is before `after`' }])
  const webhook = await getWebhook(ctx, id)
  requireEventAccess(ctx, webhook.organizationId)
  await readEvents(ctx.db, decodePosition(after), 1)
  await takeSending(ctx, 'repeatMessages', webhook)
  return changeWebhook(ctx, id, async (tx, current) => {
    const { organizationId, updatedAt } = current
    const resumePosition = current.resumePosition ?? current.position
    // A range that reaches the webhook's own position has no end.
    const isRange = until && comparePositions(decodePosition(until), decodePosition(resumePosition)) < 0
    announceFollower(tx)
    await recordEvents(tx, ctx, [createEvent('webhook.replayed', { webhookId: id, organizationId })])
    return updateRow(tx, id, {
      position: after,
      replayUntil: isRange ? until : null,
      resumePosition: isRange ? resumePosition : null,
      updatedAt: moveForward(updatedAt),
    })
  })
}

/** Deletes a webhook with its messages. Throws Forbidden without events:read, and NotFound. */
export async function deleteWebhook(ctx: Ctx, id: string): Promise<{ deletedWebhookId: string }> {
  return changeWebhook(ctx, id, async (tx, { organizationId }) => {
    await tx.prisma.webhook.delete({ where: { tenantId_id: { tenantId: ctx.tenant, id } } })
    await recordEvents(tx, ctx, [createEvent('webhook.deleted', { webhookId: id, organizationId })])
    return { deletedWebhookId: id }
  })
}
