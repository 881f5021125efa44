import type { Ctx } from '../context/context.ts'
import { newId, readIdPrefix } from '../core/crypto.ts'
import { Conflict, NotFound } from '../core/errors.ts'
import { addSeconds } from '../core/time.ts'
import type { Db, Tx } from '../database/handle.ts'
import { announceInsertion } from '../database/insertions.ts'
import { listInOrder } from '../database/page-query.ts'
import { createEvent, type NewEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { WebhookDelivery as Row } from '../generated/prisma/client.ts'
import { parseInput } from '../schema/input-shapes.ts'
import type { Page, PageArgs } from '../schema/page.ts'
import { renewFailedMessages } from './deliveries.sql.ts'
import { requireEventAccess, takeSending } from './webhook-access.ts'
import {
  type WebhookDeliveryStatus,
  WebhookRangeRedelivery,
  WebhookRedelivery,
  WebhookTest,
} from './webhooks.fields.ts'
import { getWebhook } from './webhooks.ts'

const LIFETIME_SECONDS = 3 * 86_400
/** Messages for tests that wait, so that nobody fills the queue with them. */
const MAX_WAITING_TESTS = 10
const TEST_TYPE = 'webhook.test'

/** The columns of a message that callers see, and the organization of its webhook. */
const SHOWN = {
  omit: {
    tenantId: true,
    number: true,
    era: true,
    xid: true,
    subject: true,
    expiresAt: true,
  },
  include: { webhook: { select: { organizationId: true } } },
} as const
type ShownRow = Omit<Row, keyof typeof SHOWN.omit> & { webhook: { organizationId: string | null } }
/** A message of a webhook, and what became of it. */
export type WebhookDelivery = Omit<ShownRow, 'body' | 'accepted' | 'nextAt'> & {
  status: WebhookDeliveryStatus
  body: Record<string, unknown>
  nextAt: Date | null
}

const toDelivery = ({ body, accepted, nextAt, ...row }: ShownRow): WebhookDelivery => ({
  ...row,
  status: row.finishedAt === null ? 'pending' : accepted ? 'accepted' : 'failed',
  body: JSON.parse(body),
  nextAt: row.finishedAt === null ? nextAt : null,
})

/** The messages of the tenant with these ids, in any order. */
export const findWebhookDeliveries = async (
  { prisma, tenant }: Db,
  ids: string[],
): Promise<WebhookDelivery[]> =>
  (
    await prisma.webhookDelivery.findMany({
      where: { tenantId: tenant, id: { in: ids } },
      ...SHOWN,
    })
  ).map(toDelivery)

/** Returns a message. Throws NotFound. */
export async function getWebhookDelivery(ctx: Ctx, id: string): Promise<WebhookDelivery> {
  const [delivery] = readIdPrefix(id) === 'delivery' ? await findWebhookDeliveries(ctx.db, [id]) : []
  if (!delivery) throw new NotFound('message')
  return delivery
}

/** What cursors of the list of messages are bound to. */
export const toDeliveryListName = (tenant: string, webhookId: string): string =>
  `${tenant}:webhook-deliveries:${webhookId}`

/**
 * The messages of a webhook, oldest first, of which finished ones are kept for a week: one statement, and another for
 * totalSize. Throws NotFound and InvalidInput.
 */
export function listWebhookDeliveries(
  ctx: Ctx,
  webhookId: string,
  args: PageArgs,
): Promise<Page<WebhookDelivery>> {
  const { webhookDelivery } = ctx.db.prisma
  const isListed = { tenantId: ctx.tenant, webhookId }
  return listInOrder(ctx, args, {
    name: toDeliveryListName(ctx.tenant, webhookId),
    column: 'id',
    read: async (page) => {
      await getWebhook(ctx, webhookId)
      const rows = await webhookDelivery.findMany({
        ...page,
        where: { ...isListed, ...page.where },
        ...SHOWN,
      })
      return rows.map(toDelivery)
    },
    countAll: () => webhookDelivery.count({ where: isListed }),
  })
}

/** A message that is due at once. */
const createDueTimes = (now: Date) => ({ nextAt: now, expiresAt: addSeconds(now, LIFETIME_SECONDS) })

/** Writes a message with an event, and sends it after the commit. */
const writeMessage = (
  ctx: Ctx,
  event: NewEvent,
  write: (tx: Tx) => Promise<ShownRow>,
): Promise<WebhookDelivery> =>
  ctx.db.transaction(async (tx) => {
    await recordEvents(tx, ctx, [event])
    tx.afterCommit('send a message', () => announceInsertion('WebhookDelivery', ctx.tenant))
    return toDelivery(await write(tx))
  })

/**
 * Sends a message of the type `webhook.test`, besides the events. Throws InvalidInput, Forbidden without events:read,
 * NotFound, Conflict while too many tests wait, and RateLimited.
 */
export async function testWebhook(ctx: Ctx, webhookId: string, input: unknown): Promise<WebhookDelivery> {
  const { data } = parseInput(WebhookTest, input === undefined ? {} : input)
  const webhook = await getWebhook(ctx, webhookId)
  const { organizationId } = webhook
  requireEventAccess(ctx, organizationId)
  const waiting = { tenantId: ctx.tenant, webhookId, type: TEST_TYPE, finishedAt: null }
  if ((await ctx.db.prisma.webhookDelivery.count({ where: waiting })) >= MAX_WAITING_TESTS)
    throw new Conflict([], `At most ${MAX_WAITING_TESTS} tests of a webhook wait at a time.`)
  await takeSending(ctx, 'sendMessage', webhook)
  const now = new Date()
  const id = newId('delivery')
  const body = { type: TEST_TYPE, timestamp: now.toISOString(), data: data ?? { hello: 'world' } }
  return writeMessage(ctx, createEvent('webhook.tested', { webhookId, organizationId }), ({ prisma }) =>
    prisma.webhookDelivery.create({
      data: {
        tenantId: ctx.tenant,
        id,
        webhookId,
        messageId: id,
        type: TEST_TYPE,
        subject: id,
        body: JSON.stringify(body),
        ...createDueTimes(now),
      },
      ...SHOWN,
    }),
  )
}

/**
 * Sends a message again, with the id that it had; one that waits is due at once. Throws InvalidInput, Forbidden without events:read,
 * NotFound and RateLimited.
 */
export async function redeliverWebhookDelivery(
  ctx: Ctx,
  id: string,
  input: unknown = {},
): Promise<WebhookDelivery> {
  parseInput(WebhookRedelivery, input)
  const {
    webhookId,
    webhook: { organizationId },
  } = await getWebhookDelivery(ctx, id)
  requireEventAccess(ctx, organizationId)
  await takeSending(ctx, 'sendMessage', { id: webhookId, organizationId })
  const about = { webhookId, organizationId, webhookDeliveryId: id }
  return writeMessage(ctx, createEvent('webhook.redelivered', about), ({ prisma }) =>
    prisma.webhookDelivery.update({
      where: { tenantId_id: { tenantId: ctx.tenant, id } },
      data: { ...createDueTimes(new Date()), attempts: 0, finishedAt: null, accepted: false },
      ...SHOWN,
    }),
  )
}

/**
 * Sends messages of a webhook that were given up again, oldest first, up to 1,000 with those that wait. Throws InvalidInput,
 * Forbidden without events:read, NotFound and RateLimited.
 */
export async function redeliverWebhookDeliveries(
  ctx: Ctx,
  webhookId: string,
  input: unknown = {},
): Promise<{ redelivered: number; isComplete: boolean }> {
  const { createdAfter, createdBefore } = parseInput(WebhookRangeRedelivery, input)
  const webhook = await getWebhook(ctx, webhookId)
  const { organizationId } = webhook
  requireEventAccess(ctx, organizationId)
  await takeSending(ctx, 'repeatMessages', webhook)
  return ctx.db.transaction(async (tx) => {
    const range = { since: createdAfter ?? null, before: createdBefore ?? null }
    const { redelivered, isComplete } = await renewFailedMessages(tx, { webhookId, ...range })
    const detail = { messages: redelivered }
    await recordEvents(tx, ctx, [
      createEvent('webhook.failed_redelivered', { webhookId, organizationId }, detail),
    ])
    tx.afterCommit('send messages', () => announceInsertion('WebhookDelivery', ctx.tenant))
    return { redelivered, isComplete }
  })
}
