import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type CleanupReport, cleanUp, EVENT_RETENTION_MS, IP_RETENTION_MS } from '../src/cleanup.ts'
import { rotateClientSecret } from '../src/clients/client-changes.ts'
import { createClient } from '../src/clients/clients.ts'
import { platformCtx, SYSTEM_TENANT } from '../src/ctx.ts'
import { dbFor, sql } from '../src/db.ts'
import { followEvents } from '../src/event-tail.ts'
import { decodePosition, encodePosition } from '../src/events.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { deleteTenant, ensureTenant } from '../src/tenants/tenants.ts'
import { newTenant } from './support/actors.ts'
import { logOf } from './support/events.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const NOTHING: CleanupReport = {
  endedSessions: 0,
  events: 0,
  ips: 0,
  Interaction: 0,
  AuthorizationCode: 0,
  EnrollmentToken: 0,
  ClientSecret: 0,
  IdempotencyKey: 0,
  Client: 0,
  PushedRequest: 0,
  DeviceCode: 0,
  UsedProof: 0,
  RegistrationToken: 0,
  SigningKey: 0,
  Grant: 0,
  Session: 0,
  AddressChange: 0,
  Passcode: 0,
}
const START = { era: 0, xid: 0n, seq: 0n }

let now: Date
let tenant: string
const earlier = (ms: number) => new Date(now.getTime() - ms)
const later = (ms: number) => new Date(now.getTime() + ms)

beforeAll(async () => {
  await openRuntime()
  await ensureTenant(SYSTEM_TENANT)
})
afterAll(closeRuntime)
beforeEach(async () => {
  now = new Date()
  tenant = await newTenant()
})
afterEach(() => deleteTenant(platformCtx(SYSTEM_TENANT), tenant))

async function addUser(id = 'u') {
  await dbFor(tenant).user.create({ data: { tenantId: tenant, id } })
  return id
}
const addSession = (id: string, expiresAt: Date, rest: object = {}) =>
  dbFor(tenant).session.create({
    data: {
      tenantId: tenant,
      id,
      userId: 'u',
      kind: 'browser',
      tokenHash: Buffer.from(id),
      expiresAt,
      ...rest,
    },
  })
const addEvent = (id: string, occurredAt: Date, ip: string | null = '192.0.2.1') =>
  dbFor(tenant).event.create({ data: { tenantId: tenant, id, type: 'signin.failed', occurredAt, ip } })

describe('clean-up', () => {
  it('removes clients of metadata documents that nobody uses, 30 days after they were fresh', async () => {
    await addUser()
    const ids = ['used', 'agreed', 'unused', 'fresh'].map((name) => `https://${name}.example/client.json`)
    const base = { tenantId: tenant, name: 'App', appType: 'web', type: 'login' }
    const documentFreshUntil = earlier(30 * DAY_MS + MINUTE_MS)
    await dbFor(tenant).client.createMany({
      data: [
        ...ids.map((id) => ({ ...base, id, registeredBy: 'document', documentFreshUntil })),
        { ...base, id: 'client_of-an-administrator', documentFreshUntil },
      ],
    })
    const [used = '', agreed = '', , fresh = ''] = ids
    await sql(`UPDATE "Client" SET "documentFreshUntil" = $3 WHERE "tenantId" = $1 AND "id" = $2`, [
      tenant,
      fresh,
      earlier(29 * DAY_MS),
    ])
    const times = { authenticatedAt: now, idleExpiresAt: later(DAY_MS), expiresAt: later(DAY_MS) }
    await dbFor(tenant).grant.create({
      data: { tenantId: tenant, id: 'g', clientId: used, userId: 'u', scopes: [], ...times },
    })
    await dbFor(tenant).consent.create({
      data: { tenantId: tenant, userId: 'u', clientId: agreed, scopes: [] },
    })
    expect(await cleanUp(now)).toEqual({ ...NOTHING, Client: 1 })
    const left = await dbFor(tenant).client.findMany({ where: { tenantId: tenant }, orderBy: { id: 'asc' } })
    expect(left.map(({ id }) => id)).toEqual(['client_of-an-administrator', agreed, fresh, used].sort())
  })

  it('ends expired sessions, tells of it, and removes them a day later', async () => {
    await addUser()
    const { client } = await createClient(platformCtx(tenant), { name: 'App', appType: 'web', type: 'login' })
    await addSession('expired', earlier(1))
    await addSession('active', later(HOUR_MS))
    await addSession('logged-out', earlier(1), { endedAt: earlier(HOUR_MS), endReason: 'logout' })
    await addSession('child', later(HOUR_MS), { parentId: 'expired', kind: 'oidc', clientId: client.id })
    const grant = { tenantId: tenant, clientId: client.id, userId: 'u', sessionId: 'expired', scopes: [] }
    const times = { authenticatedAt: now, idleExpiresAt: later(DAY_MS), expiresAt: later(DAY_MS) }
    await dbFor(tenant).grant.createMany({
      data: [
        { ...grant, ...times, id: 'online' },
        { ...grant, ...times, id: 'offline', offline: true },
      ],
    })

    expect(await cleanUp(now)).toEqual({ ...NOTHING, endedSessions: 1 })
    const sessions = await dbFor(tenant).session.findMany({
      where: { tenantId: tenant },
      orderBy: { id: 'asc' },
    })
    expect(sessions.map(({ id, endReason }) => [id, endReason])).toEqual([
      ['active', null],
      ['child', 'expired'],
      ['expired', 'expired'],
      ['logged-out', 'logout'],
    ])
    const grants = await dbFor(tenant).grant.findMany({ where: { tenantId: tenant, revokedAt: null } })
    expect(grants.map(({ id }) => id)).toEqual(['offline'])
    const told = (await logOf(tenant)).filter(({ type }) => type === 'session.ended')
    expect(told.map(({ sessionId, userId, detail }) => ({ sessionId, userId, detail }))).toEqual([
      { sessionId: 'expired', userId: 'u', detail: { reason: 'expired' } },
      { sessionId: 'child', userId: 'u', detail: { reason: 'expired' } },
    ])

    expect(await cleanUp(now)).toEqual(NOTHING)
    expect((await cleanUp(later(23 * HOUR_MS))).Session).toBe(0)
    expect((await cleanUp(later(24 * HOUR_MS + MINUTE_MS))).Session).toBe(2)
    expect(await cleanUp(later(3 * DAY_MS))).toEqual({ ...NOTHING, Session: 2, Grant: 2 })
    expect((await logOf(tenant)).filter(({ type }) => type === 'session.ended')).toHaveLength(3)
  })

  it('removes expired interactions, codes, enrolment tokens and counters, and no others', async () => {
    const userId = await addUser()
    const db = dbFor(tenant)
    const hash = (text: string) => Buffer.from(text)
    for (const [name, expiresAt] of [
      ['old', earlier(2 * DAY_MS)],
      ['live', later(MINUTE_MS)],
    ] as const) {
      const own = { tenantId: tenant, expiresAt }
      await db.interaction.create({
        data: { ...own, handleHash: hash(name), browserHash: hash(name), clientId: 'c', request: {} },
      })
      await db.authorizationCode.create({
        data: {
          ...own,
          codeHash: hash(name),
          grantId: 'g',
          clientId: 'c',
          userId,
          sessionId: 's',
          redirectUri: 'https://a.example',
          scopes: [],
          authenticatedAt: now,
        },
      })
      await db.enrollmentToken.create({ data: { ...own, tokenHash: hash(name), userId } })
      await db.idempotencyKey.create({ data: { ...own, keyHash: hash(name), requestHash: hash('') } })
      await db.passcode.create({
        data: {
          ...own,
          address: name,
          channel: 'email',
          sentAt: expiresAt,
          failureWindowAt: expiresAt,
          sendWindowAt: expiresAt,
        },
      })
    }
    // Two of one person: each goes by itself.
    const change = { tenantId: tenant, userId, address: 'a', shown: 'a', sentAt: earlier(HOUR_MS) }
    await db.addressChange.create({ data: { ...change, channel: 'email', expiresAt: earlier(HOUR_MS + 1) } })
    await db.addressChange.create({ data: { ...change, channel: 'sms', expiresAt: earlier(HOUR_MS - 1) } })
    // Its code is long over, its failures still count.
    await db.passcode.create({
      data: {
        tenantId: tenant,
        address: 'counting',
        channel: 'email',
        sentAt: earlier(3 * HOUR_MS),
        expiresAt: earlier(2 * HOUR_MS),
        failureWindowAt: earlier(3 * HOUR_MS),
        sendWindowAt: earlier(3 * HOUR_MS),
      },
    })
    expect(await cleanUp(now)).toEqual({
      ...NOTHING,
      Interaction: 1,
      AuthorizationCode: 1,
      EnrollmentToken: 1,
      IdempotencyKey: 1,
      AddressChange: 1,
      Passcode: 1,
    })
    const where = { tenantId: tenant }
    expect(await db.interaction.count({ where })).toBe(1)
    expect(await db.authorizationCode.count({ where })).toBe(1)
    expect(await db.enrollmentToken.count({ where })).toBe(1)
    expect(await db.idempotencyKey.count({ where })).toBe(1)
    expect(await db.addressChange.findMany({ where })).toMatchObject([{ channel: 'sms' }])
    expect((await db.passcode.findMany({ where })).map(({ address }) => address).sort()).toEqual([
      'counting',
      'live',
    ])
  })

  it('removes secrets of clients that were replaced once they have expired, and never a current one', async () => {
    const ctx = platformCtx(tenant)
    const { client } = await createClient(ctx, { name: 'App', appType: 'web', type: 'login' })
    await rotateClientSecret(ctx, client.id, { overlapSeconds: 3600 }, now)
    expect(await cleanUp(later(HOUR_MS))).toEqual(NOTHING)
    expect(await cleanUp(later(HOUR_MS + 1))).toEqual({ ...NOTHING, ClientSecret: 1 })
    const left = await dbFor(tenant).clientSecret.findMany({ where: { tenantId: tenant } })
    expect(left.map(({ expiresAt }) => expiresAt)).toEqual([null])
    expect(await cleanUp(later(365 * DAY_MS))).toMatchObject({ ClientSecret: 0 })
  })

  it('keeps a used code for an hour, so that its replay is known for one', async () => {
    await dbFor(tenant).authorizationCode.create({
      data: {
        tenantId: tenant,
        codeHash: Buffer.from('code'),
        grantId: 'g',
        clientId: 'c',
        userId: 'u',
        sessionId: 's',
        redirectUri: 'https://a.example',
        scopes: [],
        authenticatedAt: now,
        usedAt: now,
        expiresAt: earlier(1),
      },
    })
    expect((await cleanUp(later(59 * MINUTE_MS))).AuthorizationCode).toBe(0)
    expect((await cleanUp(later(61 * MINUTE_MS))).AuthorizationCode).toBe(1)
  })

  it('takes the ip out of entries after 30 days and the entries after 90', async () => {
    await addEvent('event_a', earlier(EVENT_RETENTION_MS + DAY_MS))
    await addEvent('event_b', earlier(EVENT_RETENTION_MS + MINUTE_MS))
    await addEvent('event_c', earlier(IP_RETENTION_MS + MINUTE_MS))
    await addEvent('event_d', earlier(IP_RETENTION_MS - MINUTE_MS))
    const second = (await logOf(tenant)).find(({ id }) => id === 'event_b')?.position
    const report = await cleanUp(now)
    expect(report).toEqual({ ...NOTHING, events: 2, ips: 1 })
    const left = (await logOf(tenant)).filter(({ type }) => type === 'signin.failed')
    expect(left.map(({ id, ip }) => [id, ip])).toEqual([
      ['event_c', null],
      ['event_d', '192.0.2.1'],
    ])
    const row = await dbFor(tenant).tenant.findUnique({ where: { tenantId: tenant } })
    expect(row?.eventsTrimmedTo).toBe(second)
    expect(await cleanUp(now)).toEqual(NOTHING)
    expect((await cleanUp(later(2 * MINUTE_MS))).ips).toBe(1)
  })

  it('leaves a gap that readers from before are told of', async () => {
    await addEvent('event_old', earlier(EVENT_RETENTION_MS + DAY_MS))
    await cleanUp(now)
    const stop = new AbortController()
    const seen: string[] = []
    for await (const followed of followEvents(tenant, decodePosition(encodePosition(START)), stop.signal)) {
      seen.push(followed.kind)
      if (followed.kind === 'gap') stop.abort()
    }
    expect(seen).toEqual(['gap'])
  })

  it('works through more than a batch, beside other processes that do the same', async () => {
    await addUser()
    await sql(
      `INSERT INTO "Session" ("tenantId", "id", "userId", "kind", "tokenHash", "expiresAt")
       SELECT $1, 's' || n, 'u', 'browser', decode(lpad(to_hex(n), 8, '0'), 'hex'), now() - interval '1 second'
       FROM generate_series(1, 1200) n`,
      [tenant],
    )
    await sql(
      `INSERT INTO "Event" ("tenantId", "id", "type", "occurredAt")
       SELECT $1, 'event_' || n, 'signin.failed', now() - interval '91 days' FROM generate_series(1, 1200) n`,
      [tenant],
    )
    const reports = await Promise.all([1, 2, 3].map(() => cleanUp(later(1000))))
    const sum = (name: 'endedSessions' | 'events') =>
      reports.reduce((total, report) => total + report[name], 0)
    // What one of them held, the others left: a further run finds the rest.
    const rest = await cleanUp(later(1000))
    expect(sum('endedSessions') + rest.endedSessions).toBe(1200)
    expect(sum('events') + rest.events).toBe(1200)
    const [told] = await sql<{ n: number; sessions: number }>(
      `SELECT count(*)::int AS n, count(DISTINCT "sessionId")::int AS sessions FROM "Event"
       WHERE "tenantId" = $1 AND "type" = 'session.ended'`,
      [tenant],
    )
    expect(told).toEqual({ n: 1200, sessions: 1200 })
    const row = await dbFor(tenant).tenant.findUnique({ where: { tenantId: tenant } })
    const created = (await logOf(tenant)).find(({ type }) => type === 'tenant.created')
    expect(row?.eventsTrimmedTo).toEqual(expect.any(String))
    expect(created).toBeDefined()
  })
})
