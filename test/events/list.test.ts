import { describe, expect } from 'vitest'
import { createClient, getClient } from '../../src/clients/clients.ts'
import { type Ctx, createPlatformCtx } from '../../src/context/context.ts'
import { createEvent } from '../../src/events/create-event.ts'
import { listEvents } from '../../src/events/list.ts'
import { type LogEvent, recordEvents } from '../../src/events/log.ts'
import { verifySignInPasscode } from '../../src/passcodes/passcodes.ts'
import { sendSignInPasscode } from '../../src/passcodes/send-passcode.ts'
import { createUser } from '../../src/users/users.ts'
import { ctxFor, newTenant, TENANT_SCOPES } from '../support/actors.ts'
import { connectToDatabase, toTx } from '../support/connections.ts'
import { sql } from '../support/database.ts'
import { ADMIN_REQUEST_ID, LIST, test } from '../support/event-log.ts'
import { logOf } from '../support/events.ts'
import type { Json } from '../support/json.ts'
import { VISIT } from '../support/visit.ts'

describe('a listed event', () => {
  test('has type, actor, IP address, request id, time and changed fields', async ({
    world,
    graphqlEvents,
    restEvents,
  }) => {
    const [updated] = await restEvents('&types=user.updated')
    expect(updated).toEqual({
      id: expect.stringMatching(/^event_/),
      position: expect.any(String),
      type: 'user.updated',
      occurredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      actor: {
        userId: world.adminId,
        clientId: world.clientId,
        apiKeyId: null,
        tenantId: null,
        ip: '203.0.113.9',
      },
      requestId: ADMIN_REQUEST_ID,
      deviceId: null,
      userId: world.userId,
      sessionId: null,
      organizationId: null,
      subjectIds: [world.userId],
      changedFields: expect.arrayContaining(['email', 'nickname']),
      detail: null,
    })
    expect(JSON.stringify(updated)).not.toContain('Countess')
    const { nodes } = await graphqlEvents({ filter: { types: ['user.updated'] } })
    const { userId: _, sessionId: __, organizationId: ___, ...shared } = updated
    expect(nodes).toEqual([{ __typename: 'AuditEvent', ...shared }])
  })

  test('of a sign-in on the hosted pages has the user as actor and is found by actorId', async ({
    inbox,
    newLog,
  }) => {
    const other = await newLog()
    const address = `ada@${other.tenant}.example`
    const user = await createUser(other.ctx, { email: address, emailVerified: true })
    const visitor: Ctx = {
      ...createPlatformCtx(other.tenant),
      actor: { kind: 'anonymous' },
      ip: '198.51.100.8',
    }
    await sendSignInPasscode(visitor, address, VISIT)
    const code = await inbox.codeFor(address)
    const { client } = await createClient(createPlatformCtx(other.tenant), {
      name: 'App',
      appType: 'web',
      type: 'login',
    })
    await verifySignInPasscode(visitor, address, code, { ...VISIT, clientId: client.id })
    const actor = { userId: user.id, clientId: client.id, tenantId: null, ip: visitor.ip }
    for (const events of await other.read({ actorId: user.id }))
      expect(events).toMatchObject([{ type: 'session.started', actor }])
  })

  test('of an unknown actor has the IP address alone, and one of the platform has no actor', async ({
    newLog,
  }) => {
    const other = await newLog()
    const anonymous: Ctx = {
      ...createPlatformCtx(other.tenant),
      actor: { kind: 'anonymous' },
      ip: '198.51.100.7',
    }
    await anonymous.db.transaction((tx) =>
      recordEvents(tx, anonymous, [
        createEvent(
          'signin.failed',
          { clientId: null, addressHash: Buffer.alloc(32) },
          { method: 'passcode', channel: 'email', reason: 'unknown' },
        ),
      ]),
    )
    const unknown = { userId: null, clientId: null, apiKeyId: null, tenantId: null }
    for (const events of await other.read())
      expect(events.map(({ type, actor }) => [type, actor])).toEqual([
        ['tenant.created', null],
        ['client.created', null],
        ['signin.failed', { ...unknown, ip: '198.51.100.7' }],
      ])
  })
})

describe('a list of events', () => {
  test('has no events of another tenant', async ({ rest, log, world }) => {
    const other = await newTenant()
    await ctxFor(other)
    await logOf(other)
    const position = log.at(-1)?.position
    const newest = await rest('GET', '/events?direction=desc', undefined, { tenant: other })
    expect(newest.body.events.map(({ type }: LogEvent) => type)).toEqual(['client.created', 'tenant.created'])
    for (const query of [
      `subjectId=${world.userId}`,
      `actorId=${world.adminId}`,
      `before=${position}&types=user.created`,
    ])
      expect((await rest('GET', `/events?${query}`, undefined, { tenant: other })).body.events).toEqual([])
  })

  test('requires the scope events:read', async ({ rest, gql }) => {
    const scopes = TENANT_SCOPES.filter((scope) => scope !== 'events:read')
    expect((await rest('GET', '/events', undefined, { scopes })).status).toBe(403)
    expect((await gql(LIST, {}, { scopes })).body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
  })

  test('is filtered by a client as subject', async ({ ctx, rest, world }) => {
    const { clientId } = world
    const { body } = await rest('GET', `/events?subjectId=${clientId}&types=client.created`)
    expect(body.events[0].subjectIds).toEqual([(await getClient(ctx, clientId)).id])
  })

  test('omits newer events on every page while an older transaction is open, and has each event once afterwards', async ({
    tenant,
    ctx,
    log,
    world,
  }) => {
    const at = log.at(-1)?.position
    const late = await connectToDatabase()
    const toConsent = (name: string) => [
      { type: 'consent.granted' as const, subjectIds: [name], detail: { scope: 'openid' } },
    ]
    await late.query('BEGIN')
    await recordEvents(toTx(late, ctx.tenant), ctx, toConsent('late'))
    await ctx.db.transaction((tx) => recordEvents(tx, ctx, toConsent('early')))
    const newer = { filter: { types: ['consent.granted'] }, after: at }
    expect((await listEvents(ctx, newer)).rows).toEqual([])
    expect((await listEvents(ctx, { after: at })).rows).toEqual([])
    expect((await listEvents(ctx, { direction: 'desc', first: 1 })).rows[0]?.position).toBe(at)
    expect(
      (await listEvents(ctx, { last: 1, filter: { actorId: world.machineId } })).rows[0]?.subjectIds,
    ).not.toContain('early')
    await late.query('COMMIT')
    await logOf(tenant)
    const { rows } = await listEvents(ctx, newer)
    expect(rows.map(({ subjectIds }) => subjectIds)).toEqual([['late'], ['early']])
  })
})

describe('an event of a type of another version', () => {
  test('is listed without breaking the list, with its name', async ({ ctx, tenant, rest, gql }) => {
    const types = ['session.paused', 'user.renamed']
    for (const type of types) {
      await ctx.db.transaction((tx) => recordEvents(tx, ctx, [createEvent('device.denied', null)]))
      await sql(`UPDATE "Event" SET "type" = $2 WHERE "tenantId" = $1 AND "type" = 'device.denied'`, [
        tenant,
        type,
      ])
    }
    await logOf(tenant)
    const { body } = await gql('{ events(last: 2) { nodes { __typename type typeName } } }')
    expect(body).toMatchObject({
      data: {
        events: { nodes: types.map((typeName) => ({ __typename: 'AuditEvent', type: null, typeName })) },
      },
    })
    const answer = await rest('GET', '/events?direction=desc&pageSize=2')
    expect(answer.body.events.map(({ type }: Json) => type).reverse()).toEqual(types)
  })
})
