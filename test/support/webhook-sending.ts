import type { Ctx } from '../../src/context/context.ts'
import { startWebhookDeliveries } from '../../src/webhooks/deliver.ts'
import { listWebhookDeliveries } from '../../src/webhooks/deliveries.ts'
import { startWebhookFollowing } from '../../src/webhooks/follow-log.ts'
import { sql } from './database.ts'
import { test as base } from './tenant-per-test.ts'
import { startWebhookReceiver } from './webhook-receiver.ts'

/** The messages of a webhook. */
export const listDeliveries = async (ctx: Ctx, webhookId: string) =>
  (await listWebhookDeliveries(ctx, webhookId, { first: 1000 })).rows

/** `test` with a receiver, and this process sending: `start` begins again what `stop` has ended. */
export const test = base
  .extend('receiver', async ({ app: _ }, { onCleanup }) => {
    const receiver = await startWebhookReceiver()
    onCleanup(receiver.close)
    return receiver
  })
  .extend('sending', { auto: true }, async ({ tenant }, { onCleanup }) => {
    // Other files of the process have webhooks, too.
    await sql('DELETE FROM "Webhook" WHERE "tenantId" <> $1', [tenant])
    let stops: (() => Promise<void>)[] = []
    const stop = async () => {
      await Promise.all(stops.map((each) => each()))
      stops = []
    }
    const start = (processes = 1) => {
      for (let n = 0; n < processes; n++) stops.push(startWebhookFollowing(), startWebhookDeliveries())
    }
    start()
    onCleanup(stop)
    return { start, stop }
  })
  .extend(
    'idsAt',
    ({ receiver }) =>
      (path: string) =>
        receiver.at(path).map(({ headers }) => headers['webhook-id'] as string),
  )
  /** The ids of the events since the first webhook was created, of some types if they are given. */
  .extend('listIds', ({ events }) => async (...types: string[]) => {
    const log = await events()
    return log
      .slice(log.findIndex(({ type }) => type === 'webhook.created'))
      .filter(({ type }) => types.length === 0 || types.includes(type))
      .map(({ id }) => id)
  })
