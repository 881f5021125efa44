import { test as base, describe, expect } from 'vitest'
import { rotateClientSecret } from '../../src/clients/client-secrets.ts'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { Handle } from '../../src/database/handle.ts'
import { announceInsertion } from '../../src/database/insertions.ts'
import { readEvents } from '../../src/events/log.ts'
import { followEvents } from '../../src/events/tail.ts'
import { type EventType, REFUSED_EVENT_TYPES } from '../../src/events/types.ts'
import {
  type CleanupReport,
  IP_RETENTION_MS,
  REFUSED_EVENT_RETENTION_MS,
  runCleanup,
} from '../../src/jobs/cleanup.ts'
import { decodePosition, encodePosition, type Position } from '../../src/model/event-position.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { deleteTenant, ensureTenant } from '../../src/tenants/tenants.ts'
import { createUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { bindEvents } from '../support/calls.ts'
import { dbFor, sql } from '../support/database.ts'
import { openApp } from '../support/fixtures.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** The report of a run that changed nothing. */
const NOTHING: CleanupReport = {
  endedSessions: 0,
  events: 0,
  ips: 0,
  Interaction: 0,
  EnrollmentToken: 0,
  ApiKey: 0,
  ApiKeySecret: 0,
  ClientSecret: 0,
  IdempotencyKey: 0,
  Client: 0,
  PushedRequest: 0,
  DeviceCode: 0,
  UsedProof: 0,
  BulkJob: 0,
  Invitation: 0,
  RegistrationToken: 0,
  WebhookDelivery: 0,
  SignalToken: 0,
  SignalSubject: 0,
  FormerAddress: 0,
  SigningKey: 0,
  Grant: 0,
  Session: 0,
  AddressChange: 0,
  Passcode: 0,
  KnownDevice: 0,
  OldPassword: 0,
  DailyCount: 0,
  RowChange: 0,
  RefusedEvent: 0,
}

/** `test` with a tenant that is deleted after the test: a run cleans up every tenant of the database. */
const test = base
  .extend('app', { scope: 'worker' }, () => openApp())
  .extend('tenant', async ({ app: _ }, { onCleanup }) => {
    await ensureTenant(SYSTEM_TENANT)
    const tenant = await newTenant()
    onCleanup(() => deleteTenant(createPlatformCtx(SYSTEM_TENANT), tenant))
    return tenant
  })
  .extend('events', ({ tenant }) => bindEvents(tenant))
  .extend('now', async () => new Date())
  .extend(
    'earlier',
    ({ now }) =>
      (ms: number) =>
        new Date(now.getTime() - ms),
  )
  .extend(
    'later',
    ({ now }) =>
      (ms: number) =>
        new Date(now.getTime() + ms),
  )
  .extend('addUser', ({ tenant }) => async (id = 'u') => {
    await dbFor(tenant).user.create({ data: { tenantId: tenant, id } })
    return id
  })
  .extend(
    'addSession',
    ({ tenant }) =>
      (id: string, expiresAt: Date, rest: object = {}) =>
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
        }),
  )
  .extend(
    'addEvent',
    ({ tenant }) =>
      (id: string, occurredAt: Date, ip: string | null = '192.0.2.1', type: EventType = 'signin.failed') =>
        dbFor(tenant).event.create({ data: { tenantId: tenant, id, type, occurredAt, ip } }),
  )

const START = { era: 0, xid: 0n, seq: 0n }

describe('runCleanup', () => {
  test('deletes the counts of a day after 400 days', async ({ tenant, now, earlier }) => {
    const toDay = (days: number) =>
      earlier(days * DAY_MS)
        .toISOString()
        .slice(0, 10)
    for (const days of [0, 400, 401])
      await sql(
        `INSERT INTO "DailyCount" ("tenantId", "day", "kind", "method", "count") VALUES ($1, $2::date, 'sign-in', 'passkey', 1)`,
        [tenant, toDay(days)],
      )
    expect(await runCleanup(now)).toEqual({ ...NOTHING, DailyCount: 1 })
    expect(
      await sql(`SELECT "day"::text AS "day" FROM "DailyCount" WHERE "tenantId" = $1 ORDER BY 1`, [tenant]),
    ).toEqual([{ day: toDay(400) }, { day: toDay(0) }])
  })

  test('deletes unused clients of metadata documents 30 days after their document expired', async ({
    tenant,
    now,
    earlier,
    later,
    addUser,
  }) => {
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
    expect(await runCleanup(now)).toEqual({ ...NOTHING, Client: 1 })
    const left = await dbFor(tenant).client.findMany({ where: { tenantId: tenant }, orderBy: { id: 'asc' } })
    expect(left.map(({ id }) => id)).toEqual(['client_of-an-administrator', agreed, fresh, used].sort())
  })

  test('ends expired sessions, records their end, and deletes them a day later', async ({
    tenant,
    events,
    now,
    earlier,
    later,
    addUser,
    addSession,
  }) => {
    await addUser()
    const { client } = await createClient(createPlatformCtx(tenant), {
      name: 'App',
      appType: 'web',
      type: 'login',
    })
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

    expect(await runCleanup(now)).toEqual({ ...NOTHING, endedSessions: 1 })
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
    const recorded = (await events()).filter(({ type }) => type === 'session.ended')
    expect(recorded.map(({ sessionId, userId, detail }) => ({ sessionId, userId, detail }))).toEqual([
      { sessionId: 'expired', userId: 'u', detail: { reason: 'expired' } },
      { sessionId: 'child', userId: 'u', detail: { reason: 'expired' } },
    ])

    expect(await runCleanup(now)).toEqual(NOTHING)
    expect((await runCleanup(later(23 * HOUR_MS))).Session).toBe(0)
    expect((await runCleanup(later(24 * HOUR_MS + MINUTE_MS))).Session).toBe(2)
    expect(await runCleanup(later(3 * DAY_MS))).toEqual({ ...NOTHING, Session: 2, Grant: 2 })
    expect((await events()).filter(({ type }) => type === 'session.ended')).toHaveLength(3)
  })

  test('deletes expired interactions, enrollment tokens and counters, and keeps the others', async ({
    tenant,
    now,
    earlier,
    later,
    addUser,
  }) => {
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
    // Two address changes of one user expire independently.
    const change = { tenantId: tenant, userId, address: 'a', shown: 'a', sentAt: earlier(HOUR_MS) }
    await db.addressChange.create({ data: { ...change, channel: 'email', expiresAt: earlier(HOUR_MS + 1) } })
    await db.addressChange.create({ data: { ...change, channel: 'sms', expiresAt: earlier(HOUR_MS - 1) } })
    // An address has a code and counters for each origin, which expire independently.
    await db.passcode.create({
      data: {
        tenantId: tenant,
        address: 'live',
        origin: 'ended',
        channel: 'email',
        sentAt: earlier(2 * DAY_MS),
        expiresAt: earlier(2 * DAY_MS),
        failureWindowAt: earlier(2 * DAY_MS),
        sendWindowAt: earlier(2 * DAY_MS),
      },
    })
    // The code has expired; its failures still count.
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
    expect(await runCleanup(now)).toEqual({
      ...NOTHING,
      Interaction: 1,
      EnrollmentToken: 1,
      IdempotencyKey: 1,
      AddressChange: 1,
      Passcode: 2,
    })
    const where = { tenantId: tenant }
    expect(await db.interaction.count({ where })).toBe(1)
    expect(await db.enrollmentToken.count({ where })).toBe(1)
    expect(await db.idempotencyKey.count({ where })).toBe(1)
    expect(await db.addressChange.findMany({ where })).toMatchObject([{ channel: 'sms' }])
    const passcodes = await db.passcode.findMany({ where, orderBy: { address: 'asc' } })
    expect(passcodes.map(({ address, origin }) => [address, origin])).toEqual([
      ['counting', ''],
      ['live', ''],
    ])
  })

  test('forgets a device 180 days after the last code was entered there', async ({ tenant, now, later }) => {
    const { id } = await createUser(createPlatformCtx(tenant), {})
    const device = { tenantId: tenant, address: 'ada@example.com', deviceId: 'h', userId: id }
    await dbFor(tenant).knownDevice.create({ data: { ...device, provenAt: now } })
    expect(await runCleanup(later(180 * DAY_MS))).toMatchObject({ KnownDevice: 0 })
    expect(await runCleanup(later(180 * DAY_MS + 1))).toMatchObject({ KnownDevice: 1 })
  })

  test('deletes replaced client secrets once they have expired, and never a current one', async ({
    tenant,
    now,
    later,
  }) => {
    const ctx = createPlatformCtx(tenant)
    const { client } = await createClient(ctx, { name: 'App', appType: 'web', type: 'login' })
    await rotateClientSecret(ctx, client.id, { overlapSeconds: 3600 }, now)
    expect(await runCleanup(later(HOUR_MS))).toEqual(NOTHING)
    expect(await runCleanup(later(HOUR_MS + 1))).toEqual({ ...NOTHING, ClientSecret: 1 })
    const left = await dbFor(tenant).clientSecret.findMany({ where: { tenantId: tenant } })
    expect(left.map(({ expiresAt }) => expiresAt)).toEqual([null])
    expect(await runCleanup(later(365 * DAY_MS))).toMatchObject({ ClientSecret: 0 })
  })

  test('deletes changes of cached rows after a day', async ({ tenant, now, earlier }) => {
    for (const age of [DAY_MS + MINUTE_MS, DAY_MS - MINUTE_MS])
      await sql(
        `INSERT INTO "RowChange" ("tenantId", "cache", "key", "changedAt") VALUES ($1, 'aged', '', $2)`,
        [tenant, earlier(age)],
      )
    expect(await runCleanup(now)).toEqual({ ...NOTHING, RowChange: 1 })
    const left = await sql(`SELECT "changedAt" FROM "RowChange" WHERE "tenantId" = $1 AND "cache" = 'aged'`, [
      tenant,
    ])
    expect(left).toEqual([{ changedAt: earlier(DAY_MS - MINUTE_MS) }])
  })

  test('deletes the IP address of an event after 30 days, and the event after 90 days', async ({
    tenant,
    events,
    now,
    earlier,
    later,
    addEvent,
  }) => {
    await addEvent('event_a', earlier(90 * DAY_MS + DAY_MS))
    await addEvent('event_b', earlier(90 * DAY_MS + MINUTE_MS))
    await addEvent('event_c', earlier(IP_RETENTION_MS + MINUTE_MS))
    await addEvent('event_d', earlier(IP_RETENTION_MS - MINUTE_MS))
    const second = (await events()).find(({ id }) => id === 'event_b')?.position
    const report = await runCleanup(now)
    expect(report).toEqual({ ...NOTHING, events: 2, ips: 1 })
    const left = (await events()).filter(({ type }) => type === 'signin.failed')
    expect(left.map(({ id, ip }) => [id, ip])).toEqual([
      ['event_c', null],
      ['event_d', '192.0.2.1'],
    ])
    const row = await dbFor(tenant).tenant.findUnique({ where: { tenantId: tenant } })
    expect(row?.eventsTrimmedTo).toBe(second)
    expect(await runCleanup(now)).toEqual(NOTHING)
    expect((await runCleanup(later(2 * MINUTE_MS))).ips).toBe(1)
  })

  test('keeps events for as many days as the tenant sets', async ({
    tenant,
    events,
    now,
    earlier,
    addEvent,
  }) => {
    const other = await newTenant()
    await updateSettings(createPlatformCtx(tenant), { eventRetentionDays: 7 })
    await updateSettings(createPlatformCtx(other), { eventRetentionDays: 365 })
    await addEvent('event_week', earlier(7 * DAY_MS + MINUTE_MS), null)
    await addEvent('event_new', earlier(7 * DAY_MS - MINUTE_MS), null)
    await sql(
      `INSERT INTO "Event" ("tenantId", "id", "type", "requestId", "occurredAt") VALUES ($1, 'event_year', 'signin.failed', 'r', $2)`,
      [other, earlier(364 * DAY_MS)],
    )
    expect(await runCleanup(now)).toMatchObject({ events: 1 })
    expect((await events()).map(({ id }) => id)).not.toContain('event_week')
    expect((await events()).map(({ id }) => id)).toContain('event_new')
    const [kept] = await sql(`SELECT "id" FROM "Event" WHERE "tenantId" = $1 AND "id" = 'event_year'`, [
      other,
    ])
    expect(kept).toEqual({ id: 'event_year' })
  })

  test('deletes rejected requests after 7 days, and no other event', async ({
    tenant,
    events,
    now,
    earlier,
    addEvent,
  }) => {
    const old = earlier(REFUSED_EVENT_RETENTION_MS + MINUTE_MS)
    for (const type of REFUSED_EVENT_TYPES) {
      await addEvent(`event_old_${type}`, old, null, type)
      await addEvent(`event_new_${type}`, earlier(REFUSED_EVENT_RETENTION_MS - MINUTE_MS), null, type)
    }
    await addEvent('event_kept', old, null)
    expect(await runCleanup(now)).toEqual({ ...NOTHING, RefusedEvent: REFUSED_EVENT_TYPES.length })
    expect((await events()).filter(({ type }) => type !== 'tenant.created').map(({ id }) => id)).toEqual([
      ...REFUSED_EVENT_TYPES.map((type) => `event_new_${type}`),
      'event_kept',
    ])
    const row = await dbFor(tenant).tenant.findUnique({ where: { tenantId: tenant } })
    expect(row?.eventsTrimmedTo).toBeNull()
  })

  test('lets readers continue after deleted rejections without a gap', async ({
    tenant,
    events,
    now,
    earlier,
    addEvent,
  }) => {
    const old = earlier(REFUSED_EVENT_RETENTION_MS + MINUTE_MS)
    for (const id of ['a', 'b', 'c']) {
      await addEvent(`event_${id}`, old, null)
      await addEvent(`event_refused_${id}`, old, null, 'token.refused')
    }
    const positions = (await events()).map(({ position }) => decodePosition(position))
    await runCleanup(now)
    const stop = new AbortController()
    const readIds = async (after: Position, count: number) => {
      const ids: string[] = []
      if (count > 0)
        for await (const followed of followEvents(tenant, after, stop.signal)) {
          ids.push(followed.kind === 'event' ? followed.event.id : 'gap')
          if (ids.length === count) break
        }
      const { events: read } = await readEvents(new Handle({ tenant }), after, 10)
      expect(read.map(({ id }) => id)).toEqual(ids)
      return ids
    }
    // The positions of a deleted event, and of the last one, which is deleted too.
    expect(await readIds(positions.at(-5) as Position, 2)).toEqual(['event_b', 'event_c'])
    const waiting = followEvents(tenant, positions.at(-1) as Position, stop.signal).next()
    await addEvent('event_next', now, null)
    announceInsertion('Event', tenant)
    expect((await waiting).value).toMatchObject({ kind: 'event', event: { id: 'event_next' } })
    stop.abort()
  })

  test('reports a gap to a reader that starts before the deleted events', async ({
    tenant,
    now,
    earlier,
    addEvent,
  }) => {
    await addEvent('event_old', earlier(90 * DAY_MS + DAY_MS))
    await runCleanup(now)
    const stop = new AbortController()
    const seen: string[] = []
    for await (const followed of followEvents(tenant, decodePosition(encodePosition(START)), stop.signal)) {
      seen.push(followed.kind)
      if (followed.kind === 'gap') stop.abort()
    }
    expect(seen).toEqual(['gap'])
  })

  test('processes more than one batch while other processes run the cleanup', async ({
    tenant,
    events,
    later,
    addUser,
  }) => {
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
    const reports = await Promise.all([1, 2, 3].map(() => runCleanup(later(1000))))
    const sum = (name: 'endedSessions' | 'events') =>
      reports.reduce((total, report) => total + report[name], 0)
    // Rows that one run had locked were skipped by the others: a further run deletes the rest.
    const rest = await runCleanup(later(1000))
    expect(sum('endedSessions') + rest.endedSessions).toBe(1200)
    expect(sum('events') + rest.events).toBe(1200)
    const [recorded] = await sql<{ n: number; sessions: number }>(
      `SELECT count(*)::int AS n, count(DISTINCT "sessionId")::int AS sessions FROM "Event"
       WHERE "tenantId" = $1 AND "type" = 'session.ended'`,
      [tenant],
    )
    expect(recorded).toEqual({ n: 1200, sessions: 1200 })
    const row = await dbFor(tenant).tenant.findUnique({ where: { tenantId: tenant } })
    const created = (await events()).find(({ type }) => type === 'tenant.created')
    expect(row?.eventsTrimmedTo).toEqual(expect.any(String))
    expect(created).toBeDefined()
  })
})
