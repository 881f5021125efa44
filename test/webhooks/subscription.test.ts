import { describe, expect } from 'vitest'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { createUser } from '../../src/users/users.ts'
import { startWebhookDeliveries } from '../../src/webhooks/deliver.ts'
import { testWebhook } from '../../src/webhooks/deliveries.ts'
import { startWebhookFollowing } from '../../src/webhooks/follow-log.ts'
import { createWebhook } from '../../src/webhooks/webhooks.ts'
import { ctxFor, newTenant, tokenFor } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import { newAdministrator } from '../support/organization-administrators.ts'
import { type EventReader, openEventStream } from '../support/streams.ts'
import { test as base } from '../support/subscriptions.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

const DELIVERIES = `subscription ($webhookId: ID, $organizationId: ID, $after: String) {
  webhookDeliveryChanged(webhookId: $webhookId, organizationId: $organizationId, after: $after) {
    webhookId type status httpStatus attempts
  }
}`

/** Reads results until one matches; returns it with its position. */
async function readUntil(stream: EventReader, wanted: object) {
  for (;;) {
    const { id, data } = (await stream.next()) ?? {}
    const found = data?.data?.webhookDeliveryChanged
    if (!found) throw new Error(JSON.stringify(data))
    if (Object.entries(wanted).every(([name, value]) => found[name] === value)) return { id, found }
  }
}

const test = base.extend('receiver', async ({ tenant }, { onCleanup }) => {
  await sql('DELETE FROM "Webhook" WHERE "tenantId" <> $1', [tenant])
  const receiver = await startWebhookReceiver()
  const stops = [startWebhookFollowing(), startWebhookDeliveries(), receiver.close]
  onCleanup(async () => {
    for (const stop of stops) await stop()
  })
  return receiver
})

describe('a subscription to messages of webhooks', () => {
  test('has what becomes of them, of one webhook if it names one, and continues after a position', async ({
    ctx,
    receiver,
    follow,
  }) => {
    const make = (path: string) => createWebhook(ctx, { url: receiver.urlOf(path), types: ['user.created'] })
    const [one, other] = [await make('/one'), await make('/other')]
    const stream = await follow(DELIVERIES, { webhookId: one.webhook.id })
    const all = await follow(DELIVERIES)
    await createUser(ctx, {})
    const { id, found } = await readUntil(stream, { status: 'ACCEPTED' })
    expect(found).toEqual({
      webhookId: one.webhook.id,
      type: 'user.created',
      status: 'ACCEPTED',
      httpStatus: 204,
      attempts: 1,
    })
    await readUntil(all, { webhookId: other.webhook.id, status: 'ACCEPTED' })
    receiver.answers.set('/one', (response) => response.writeHead(500).end())
    await testWebhook(ctx, other.webhook.id, {})
    await testWebhook(ctx, one.webhook.id, {})
    for (const each of [stream, await follow(DELIVERIES, { webhookId: one.webhook.id, after: id })]) {
      const { found: failed } = await readUntil(each, { httpStatus: 500 })
      expect(failed).toMatchObject({ webhookId: one.webhook.id, type: 'webhook.test', status: 'PENDING' })
    }
  })

  test('needs the scope, and has those of the tenant, and for an administrator of an organization its own', async ({
    tenant,
    ctx,
    server,
    receiver,
    opened,
    follow,
  }) => {
    const foreign = await newTenant()
    const { id: organizationId } = await createOrganization(ctx, { slug: 'acme', name: 'Acme' })
    const { id: rivalId } = await createOrganization(ctx, { slug: 'rival', name: 'Rival' })
    const make = (organization?: string, by = ctx) =>
      createWebhook(by, { url: receiver.urlOf('/any'), organizationId: organization, enabled: false })
    const webhooks = [await make(), await make(rivalId), await make(organizationId)] as const
    const foreignCtx = await ctxFor(foreign)
    const { webhook: foreignWebhook } = await make(undefined, foreignCtx)
    const elsewhere = await openEventStream(
      server.urlOf(foreign),
      await tokenFor(foreign),
      DELIVERIES,
      {},
      {},
    )
    opened.push(elsewhere)
    const { token } = await newAdministrator(tenant, organizationId)
    const own = await follow(DELIVERIES, { organizationId }, { token })
    for (const { webhook } of webhooks) await testWebhook(ctx, webhook.id, {})
    await testWebhook(foreignCtx, foreignWebhook.id, {})
    expect((await readUntil(own, {})).found.webhookId).toBe(webhooks[2].webhook.id)
    expect((await readUntil(elsewhere, {})).found.webhookId).toBe(foreignWebhook.id)
    for (const variables of [{}, { organizationId: rivalId }, { webhookId: webhooks[0].webhook.id }]) {
      const refused = await server.post(tenant, token, DELIVERIES, variables)
      expect(JSON.stringify(refused.body)).toContain('FORBIDDEN')
    }
    const { body } = await server.post(tenant, await tokenFor(tenant, ['webhooks:read']), DELIVERIES)
    expect(JSON.stringify(body)).toContain('FORBIDDEN')
  })
})
