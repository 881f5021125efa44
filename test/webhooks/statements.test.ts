import { describe, expect } from 'vitest'
import { createUser } from '../../src/users/users.ts'
import { createWebhook } from '../../src/webhooks/webhooks.ts'
import { sql } from '../support/database.ts'
import { captureStatements, captureTexts, isReadOfTail } from '../support/statements.ts'
import { listDeliveries, test } from '../support/webhook-sending.ts'

describe('the statements of webhooks', () => {
  test('read the log once for all that are at one position', async ({ ctx, receiver, sending, idsAt }) => {
    await sending.stop()
    for (let n = 0; n < 5; n++)
      await createWebhook(ctx, { url: receiver.urlOf(`/${n}`), types: ['user.created'] })
    await sql(
      'UPDATE "Webhook" SET "position" = (SELECT min("position") FROM "Webhook" WHERE "tenantId" = $1) WHERE "tenantId" = $1',
      [ctx.tenant],
    )
    await createUser(ctx, { email: 'once@example.com' })
    const statements = await captureTexts(async () => {
      sending.start()
      await expect.poll(() => idsAt('/4')).toHaveLength(1)
    })
    const reads = statements.filter(isReadOfTail).length
    expect(reads).toBeGreaterThan(0)
    expect(reads).toBeLessThan(5)
  })

  test('end what a receiver accepts at a time together, and are planned for what waits', async ({
    ctx,
    receiver,
    sending,
    idsAt,
  }) => {
    await sending.stop()
    const { webhook } = await createWebhook(ctx, { url: receiver.urlOf('/many'), types: ['user.created'] })
    await Promise.all(Array.from({ length: 40 }, () => createUser(ctx, {})))
    const sent = await captureStatements(async () => {
      sending.start()
      await expect
        .poll(async () =>
          (await listDeliveries(ctx, webhook.id)).filter(({ status }) => status === 'accepted'),
        )
        .toHaveLength(40)
    })
    expect(idsAt('/many')).toHaveLength(40)
    const ends = sent.filter(({ text }) => text.includes('WITH accepted AS'))
    expect(ends.length).toBeGreaterThan(0)
    expect(ends.length).toBeLessThan(20)
    const claims = sent.filter(
      ({ text }) => text.includes('WITH oldest AS') && text.includes('"WebhookDelivery"'),
    )
    expect(claims.length).toBeGreaterThan(0)
    // A prepared one keeps a plan for the empty table.
    expect(claims.filter(({ isPrepared }) => isPrepared)).toEqual([])
    expect(ends.every(({ isPrepared }) => isPrepared)).toBe(true)
  })
})
