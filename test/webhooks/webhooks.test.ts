import { Webhook as Verifier } from 'standardwebhooks'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import type { Scope } from '../../src/core/scopes.ts'
import { createMembership } from '../../src/organizations/memberships.ts'
import { createOrganization, updateOrganization } from '../../src/organizations/organizations.ts'
import { createManagementRole } from '../../src/users/management-roles.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { createUser, lockUser, unlockUser, updateUser } from '../../src/users/users.ts'
import {
  redeliverWebhookDeliveries,
  redeliverWebhookDelivery,
  testWebhook,
} from '../../src/webhooks/deliveries.ts'
import { takeSending } from '../../src/webhooks/webhook-access.ts'
import {
  createWebhook,
  getWebhook,
  replayWebhook,
  rotateWebhookSecret,
  updateWebhook,
} from '../../src/webhooks/webhooks.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { inbox } from '../support/calls.ts'
import { sql } from '../support/database.ts'
import { awaitVisible } from '../support/subscriptions.ts'
import { listDeliveries, test } from '../support/webhook-sending.ts'

describe('a webhook', () => {
  test('sends each event of its types once, in order, signed as Standard Webhooks says', async ({
    ctx,
    receiver,
    idsAt,
    listIds,
  }) => {
    const { webhook, secret } = await createWebhook(ctx, {
      url: receiver.urlOf('/all'),
      types: ['user.created', 'user.locked', 'user.unlocked'],
      headers: [{ name: 'Authorization', value: 'Bearer s3cret' }],
    })
    await awaitVisible(ctx.tenant)
    const thin = await createWebhook(ctx, { url: receiver.urlOf('/thin'), payload: 'thin' })
    const { id } = await createUser(ctx, { email: 'ada@example.com', name: 'Ada' })
    for (let n = 0; n < 5; n++) {
      await lockUser(ctx, id)
      await unlockUser(ctx, id)
    }
    const wanted = await listIds('user.created', 'user.locked', 'user.unlocked')
    expect(wanted).toHaveLength(11)
    await expect.poll(() => idsAt('/all')).toEqual(wanted)
    const [first] = receiver.at('/all')
    const { type, data, timestamp } = new Verifier(secret).verify(
      first?.body ?? '',
      first?.headers as Record<string, string>,
    ) as Record<string, unknown>
    expect({ type, data }).toMatchObject({ type: 'user.created', data: { id: wanted[0], userId: id } })
    expect(timestamp).toBe((data as { occurredAt: string }).occurredAt)
    expect(first?.headers.authorization).toBe('Bearer s3cret')
    expect(() => new Verifier(secret).verify(`${first?.body} `, first?.headers as never)).toThrow()
    await expect.poll(() => idsAt('/thin').sort()).toEqual((await listIds()).slice(1).sort())
    expect(Object.keys(JSON.parse(receiver.at('/thin')[0]?.body ?? '{}').data)).toEqual([
      'id',
      'position',
      'organizationId',
      'subjectIds',
    ])
    expect(await getWebhook(ctx, webhook.id)).toMatchObject({
      headerNames: ['Authorization'],
      failingSince: null,
    })
    expect(JSON.stringify([webhook, thin.webhook])).not.toContain('s3cret')
    const elsewhere = { url: receiver.urlOf('/elsewhere') }
    await expect(updateWebhook(ctx, webhook.id, elsewhere)).rejects.toMatchObject({
      fields: [{ field: 'headers' }],
    })
    expect(await updateWebhook(ctx, webhook.id, { ...elsewhere, headers: null })).toMatchObject(elsewhere)
  })

  test('of an organization sends the events about it only, without addresses, and has a limit of its own', async ({
    ctx,
    receiver,
    events,
    idsAt,
    listIds,
  }) => {
    const { id: organizationId } = await createOrganization(ctx, { slug: 'acme', name: 'Acme' })
    await createWebhook(ctx, { url: receiver.urlOf('/acme'), organizationId })
    await createUser(ctx, { email: 'other@example.com' })
    await createOrganization(ctx, { slug: 'beta', name: 'Beta' })
    await updateOrganization(ctx, organizationId, { name: 'Acme Inc.' })
    await expect.poll(() => idsAt('/acme').at(-1)).toBe((await listIds('organization.updated'))[0])
    const got = receiver.at('/acme').map(({ body }) => JSON.parse(body).data)
    expect(new Set(got.map((data) => data.organizationId))).toEqual(new Set([organizationId]))
    // The log has the address of the caller.
    expect((await events()).some(({ ip }) => ip !== null)).toBe(true)
    expect(got.filter(({ actor }) => actor?.ip)).toEqual([])
    const add = (id?: string) =>
      createWebhook(ctx, { url: 'https://a.example', organizationId: id, enabled: false })
    const added = await Promise.allSettled(Array.from({ length: 12 }, () => add(organizationId)))
    expect(added.filter(({ status }) => status === 'rejected')).toHaveLength(3)
    await add()
  })

  test('loses nothing and repeats only equal ids while the receiver is down and processes end', async ({
    ctx,
    receiver,
    sending,
    idsAt,
    listIds,
  }) => {
    const { webhook } = await createWebhook(ctx, { url: receiver.urlOf('/down') })
    let isDown = true
    receiver.answers.set('/down', (response) => response.writeHead(isDown ? 503 : 200).end())
    const users = await Promise.all(
      Array.from({ length: 20 }, (_, n) => createUser(ctx, { email: `p${n}@example.com` })),
    )
    await expect.poll(() => receiver.at('/down').length).toBeGreaterThan(0)
    await expect.poll(async () => (await listIds('webhook.failing')).length).toBe(1)
    await sending.stop()
    for (const { id } of users) await updateUser(ctx, id, { name: 'Changed' })
    isDown = false
    await sql(
      'UPDATE "WebhookDelivery" SET "nextAt" = now() WHERE "tenantId" = $1 AND "finishedAt" IS NULL',
      [ctx.tenant],
    )
    sending.start(3)
    await expect.poll(async () => (await listIds('webhook.recovered')).length).toBe(1)
    // Messages about its own failures would never end.
    const listSent = async () => {
      const echoes = await listIds('webhook.failing', 'webhook.recovered')
      return (await listIds()).filter((id) => !echoes.includes(id))
    }
    await expect
      .poll(async () => [...new Set(idsAt('/down'))].sort().join() === (await listSent()).sort().join())
      .toBe(true)
    await expect
      .poll(async () => (await listDeliveries(ctx, webhook.id)).filter(({ status }) => status === 'pending'))
      .toEqual([])
    const nodes = await listDeliveries(ctx, webhook.id)
    expect(nodes.every(({ status }) => status === 'accepted')).toBe(true)
    expect(new Set(nodes.map(({ messageId }) => messageId)).size).toBe(nodes.length)
  })

  test('that hangs is tried with one message at a time, and delays no other', async ({
    ctx,
    receiver,
    idsAt,
    listIds,
  }) => {
    receiver.answers.set('/hangs', () => {})
    receiver.answers.set('/large', (response) => response.writeHead(200).end('x'.repeat(10_000_000)))
    receiver.answers.set('/moved', (response) => response.writeHead(307, { location: '/large' }).end())
    const hanging = await createWebhook(ctx, { url: receiver.urlOf('/hangs'), types: ['user.created'] })
    const large = await createWebhook(ctx, { url: receiver.urlOf('/large') })
    const moved = await createWebhook(ctx, { url: receiver.urlOf('/moved') })
    await createWebhook(ctx, { url: receiver.urlOf('/fast'), types: ['user.created'] })
    await sql('UPDATE "Webhook" SET "failingSince" = now() WHERE "tenantId" = $1 AND "id" = $2', [
      ctx.tenant,
      hanging.webhook.id,
    ])
    for (let n = 0; n < 30; n++) await createUser(ctx, { email: `h${n}@example.com` })
    await expect.poll(() => idsAt('/fast').sort()).toEqual((await listIds('user.created')).sort())
    expect(receiver.at('/hangs').length).toBeLessThanOrEqual(1)
    const [accepted] = await listDeliveries(ctx, large.webhook.id)
    expect(accepted).toMatchObject({ status: 'accepted', httpStatus: 200, response: 'x'.repeat(1024) })
    const [refused] = await listDeliveries(ctx, moved.webhook.id)
    expect(refused).toMatchObject({ status: 'pending', httpStatus: null, fault: 'redirected' })
  })

  test('takes with others of its tenant half of the places that are left, and a share of what waits', async ({
    ctx,
    receiver,
    idsAt,
  }) => {
    const other = await ctxFor(await newTenant())
    await createWebhook(other, { url: receiver.urlOf('/other'), types: ['user.created'] })
    const paths = Array.from({ length: 5 }, (_, n) => `/held/${n}`)
    const ids: string[] = []
    for (const path of paths) {
      receiver.answers.set(path, () => {})
      const { webhook } = await createWebhook(ctx, { url: receiver.urlOf(path), types: ['user.created'] })
      ids.push(webhook.id)
    }
    await sql(
      `INSERT INTO "Webhook" ("tenantId", "id", "url", "secret", "position", "enabled")
       SELECT "tenantId", "id" || n, "url", "secret", "position", false FROM "Webhook", generate_series(1, 195) n
       WHERE "tenantId" = $1 AND "id" = $2`,
      [ctx.tenant, ids[0]],
    )
    const countHeld = () => paths.reduce((sum, path) => sum + receiver.at(path).length, 0)
    const addUsers = (count: number) => Promise.all(Array.from({ length: count }, () => createUser(ctx, {})))
    await addUsers(5)
    await expect.poll(countHeld).toBe(25)
    await addUsers(30)
    await expect.poll(async () => (await listDeliveries(ctx, ids[0] as string)).length).toBe(20)
    await createUser(other, {})
    await expect.poll(() => idsAt('/other').length).toBe(1)
    expect(countHeld()).toBe(32)
  })

  test('signs with both secrets while one is replaced', async ({ ctx, receiver }) => {
    const { webhook, secret } = await createWebhook(ctx, {
      url: receiver.urlOf('/two'),
      types: ['user.created'],
    })
    const next = await rotateWebhookSecret(ctx, webhook.id, { overlapSeconds: 60 })
    await testWebhook(ctx, webhook.id, { data: { hello: 'both' } })
    await expect.poll(() => receiver.at('/two').length).toBe(1)
    const [message] = receiver.at('/two')
    for (const each of [secret, next.secret])
      expect(new Verifier(each).verify(message?.body ?? '', message?.headers as never)).toMatchObject({
        type: 'webhook.test',
        data: { hello: 'both' },
      })
    const { secret: last } = await rotateWebhookSecret(ctx, webhook.id, { overlapSeconds: 0 })
    await testWebhook(ctx, webhook.id, {})
    await expect.poll(() => receiver.at('/two').length).toBe(2)
    const second = receiver.at('/two')[1]
    new Verifier(last).verify(second?.body ?? '', second?.headers as never)
    expect(() => new Verifier(next.secret).verify(second?.body ?? '', second?.headers as never)).toThrow()
  })

  test('is disabled after three days of failures, and sends what happened meanwhile when it is enabled', async ({
    ctx,
    receiver,
    idsAt,
    listIds,
  }) => {
    const { webhook } = await createWebhook(ctx, { url: receiver.urlOf('/late'), types: ['user.created'] })
    receiver.answers.set('/late', (response) => response.writeHead(500).end('no'))
    await createUser(ctx, { email: 'one@example.com' })
    await expect.poll(async () => (await getWebhook(ctx, webhook.id)).failingSince).not.toBeNull()
    await sql(
      `UPDATE "Webhook" SET "failingSince" = now() - interval '3 days' WHERE "tenantId" = $1 AND "id" = $2`,
      [ctx.tenant, webhook.id],
    )
    await sql(
      `UPDATE "WebhookDelivery" SET "nextAt" = now(), "expiresAt" = now() WHERE "tenantId" = $1 AND "webhookId" = $2`,
      [ctx.tenant, webhook.id],
    )
    await expect.poll(async () => (await getWebhook(ctx, webhook.id)).enabled).toBe(false)
    expect(await listIds('webhook.disabled')).toHaveLength(1)
    await createUser(ctx, { email: 'two@example.com' })
    receiver.answers.delete('/late')
    await updateWebhook(ctx, webhook.id, { enabled: true })
    const [lost, later] = await listIds('user.created')
    await expect.poll(() => idsAt('/late').includes(later as string)).toBe(true)
    const listStates = async () =>
      (await listDeliveries(ctx, webhook.id)).map(({ messageId, status }) => [messageId, status])
    await expect.poll(listStates).toEqual([
      [lost, 'failed'],
      [later, 'accepted'],
    ])
    const nodes = await listDeliveries(ctx, webhook.id)
    const before = idsAt('/late').length
    const since = { createdAfter: new Date().toISOString() }
    expect(await redeliverWebhookDeliveries(ctx, webhook.id, since)).toEqual({
      redelivered: 0,
      isComplete: true,
    })
    expect(await redeliverWebhookDeliveries(ctx, webhook.id)).toEqual({ redelivered: 1, isComplete: true })
    await expect.poll(() => idsAt('/late').slice(before)).toEqual([lost])
    await expect.poll(listStates).toEqual([
      [lost, 'accepted'],
      [later, 'accepted'],
    ])
    await redeliverWebhookDelivery(ctx, nodes[0]?.id as string)
    await expect.poll(() => idsAt('/late').slice(before)).toEqual([lost, lost])
  })

  test('that is disabled is announced by one mail to those who can mend it', async ({ ctx, receiver }) => {
    const { id: organizationId } = await createOrganization(ctx, { slug: 'acme', name: 'Acme' })
    const addressOf = (name: string) => `${name}@${ctx.tenant}.example`
    const add = async (
      name: string,
      { roles = ['admin'], ...fields }: { roles?: string[]; locale?: string; emailVerified?: boolean },
    ) => {
      const { id } = await createUser(ctx, { email: addressOf(name), emailVerified: true, ...fields })
      await setUserRoles(createPlatformCtx(ctx.tenant), id, { roles })
      return id
    }
    await add('admin', { locale: 'de' })
    await add('auditor', { roles: ['auditor'] })
    await createManagementRole(ctx, { name: 'mender', scopes: ['webhooks:write', 'events:read'] })
    await add('mender', { roles: ['mender'] })
    await add('unverified', { emailVerified: false })
    await lockUser(createPlatformCtx(ctx.tenant), await add('locked', {}))
    const userId = await add('customer', { roles: [] })
    await createMembership(ctx, organizationId, { userId, isAdministrator: true })
    const fail = async (organization?: string) => {
      const { webhook } = await createWebhook(ctx, {
        url: receiver.urlOf('/gone'),
        types: ['user.deleted'],
        organizationId: organization,
      })
      await testWebhook(ctx, webhook.id, {})
      return webhook
    }
    receiver.answers.set('/gone', (response) => response.writeHead(410).end())
    const failed = [await fail(), await fail(organizationId)]
    await expect.poll(() => receiver.at('/gone').length).toBe(2)
    await sql(`UPDATE "Webhook" SET "failingSince" = now() - interval '3 days' WHERE "tenantId" = $1`, [
      ctx.tenant,
    ])
    await sql(`UPDATE "WebhookDelivery" SET "nextAt" = now(), "expiresAt" = now() WHERE "tenantId" = $1`, [
      ctx.tenant,
    ])
    for (const { id } of failed)
      await expect.poll(async () => (await getWebhook(ctx, id)).enabled).toBe(false)
    const listSubjects = async () =>
      Promise.all(
        ['admin', 'mender', 'auditor', 'unverified', 'locked', 'customer'].map(async (name) =>
          (await inbox.list(addressOf(name))).map(({ subject }) => subject),
        ),
      )
    await expect
      .poll(listSubjects)
      .toEqual([
        [`Ein Webhook von ${ctx.tenant} wurde abgeschaltet`],
        [`A webhook of ${ctx.tenant} was disabled`],
        [],
        [],
        [],
        [`A webhook of ${ctx.tenant} was disabled`],
      ])
    const [mail] = await inbox.list(addressOf('admin'))
    expect(mail?.body).toContain(`Der Empfänger ${new URL(receiver.urlOf('/')).host} hat`)
    expect(mail?.body).toContain(`/${ctx.tenant}/console/webhooks/${failed[0]?.id}`)
  })

  test('continues from an earlier position, and names a gap that retention has left', async ({
    ctx,
    receiver,
    events,
    idsAt,
    listIds,
  }) => {
    const { webhook } = await createWebhook(ctx, { url: receiver.urlOf('/again'), types: ['user.created'] })
    for (let n = 0; n < 3; n++) await createUser(ctx, { email: `r${n}@example.com` })
    const [first, ...others] = await listIds('user.created')
    // Messages about different users may arrive in any order.
    await expect.poll(() => idsAt('/again').sort()).toEqual([first, ...others].sort())
    const position = (await events()).find(({ id }) => id === first)?.position as string
    await replayWebhook(ctx, webhook.id, { after: position })
    await expect.poll(() => idsAt('/again').sort()).toEqual([first, ...others, ...others].sort())
    const last = (await events()).find(({ id }) => id === others.at(-1))?.position as string
    await expect(replayWebhook(ctx, webhook.id, { after: last, until: position })).rejects.toMatchObject({
      fields: [{ field: 'until' }],
    })
    // A range: then it continues where it was.
    await replayWebhook(ctx, webhook.id, { after: position, until: last })
    await expect
      .poll(async () => (await getWebhook(ctx, webhook.id)).replayUntil, { timeout: 5000 })
      .toBeNull()
    expect((await getWebhook(ctx, webhook.id)).position > last).toBe(true)
    await createUser(ctx, { email: 'later@example.com' })
    const [later] = (await listIds('user.created')).slice(-1)
    await expect
      .poll(() => idsAt('/again').sort())
      .toEqual([first, ...others, ...others, ...others, later].sort())
    await expect(replayWebhook(ctx, webhook.id, { after: 'nonsense' })).rejects.toMatchObject({
      fields: [{ field: 'after' }],
    })
    await sql('UPDATE "Tenant" SET "eventsTrimmedTo" = $2 WHERE "tenantId" = $1', [ctx.tenant, position])
    await replayWebhook(ctx, webhook.id, { after: Buffer.from('0.0.0').toString('base64url') })
    await expect.poll(() => receiver.at('/again').length).toBe(12)
    const bodies = receiver.at('/again').map(({ body }) => JSON.parse(body))
    expect(bodies.filter(({ type }) => type === 'event.gap')).toMatchObject([{ data: { position } }])
  })

  test('sends again only as often as the budgets of it and of its owner permit', async ({ ctx }) => {
    const make = async (organizationId?: string) =>
      (await createWebhook(ctx, { url: 'https://a.example', organizationId, enabled: false })).webhook.id
    const after = Buffer.from('0.0.0').toString('base64url')
    const limited = { code: 'RATE_LIMITED' }
    const id = await make()
    for (let n = 0; n < 11; n++) await replayWebhook(ctx, id, { after })
    await redeliverWebhookDeliveries(ctx, id)
    await expect(replayWebhook(ctx, id, { after })).rejects.toMatchObject(limited)
    await expect(redeliverWebhookDeliveries(ctx, id)).rejects.toMatchObject(limited)
    // Webhooks that are created anew share the budget of the tenant; an organization has its own.
    for (let n = 0; n < 4; n++) {
      const next = await make()
      for (let m = 0; m < 11; m++) await replayWebhook(ctx, next, { after })
    }
    const others = Array.from({ length: 9 }, async () => replayWebhook(ctx, await make(), { after }))
    const answers = await Promise.allSettled(others)
    expect(answers.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0)
    const { id: organizationId } = await createOrganization(ctx, { slug: 'acme', name: 'Acme' })
    await replayWebhook(ctx, await make(organizationId), { after })
    const { id: messageId } = await testWebhook(ctx, id, {})
    await Promise.all(
      Array.from({ length: 599 }, () => takeSending(ctx, 'sendMessage', { id, organizationId })),
    )
    await expect(testWebhook(ctx, id, {})).rejects.toMatchObject(limited)
    await expect(redeliverWebhookDelivery(ctx, messageId)).rejects.toMatchObject(limited)
  })

  test('names every invalid field, and needs the scope events:read', async ({ ctx }) => {
    const given = {
      url: 'ftp://shop.example',
      types: ['user.exploded'],
      headers: [
        { name: 'Webhook-Signature', value: 'v1,x' },
        { name: 'X-A', value: 'a\r\nb: c' },
      ],
      organizationId: 'user_1',
    }
    await expect(createWebhook(ctx, given)).rejects.toMatchObject({
      fields: [
        { field: 'url' },
        { field: 'types.0' },
        { field: 'headers.0.name', description: 'is set by the server' },
        { field: 'headers.1.value' },
        { field: 'organizationId' },
      ],
    })
    const writer = { ...ctx, scopes: new Set<Scope>(['webhooks:read', 'webhooks:write']) }
    await expect(createWebhook(writer, { url: 'https://a.example' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
  })
})
