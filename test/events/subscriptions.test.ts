import { createClient as createSseClient } from 'graphql-sse'
import { describe, expect } from 'vitest'
import { bulkUpdateUsers, cancelBulkJob } from '../../src/bulk/bulk-jobs.ts'
import { createEvent } from '../../src/events/create-event.ts'
import { recordEvents } from '../../src/events/log.ts'
import { startBulkJobs } from '../../src/jobs/bulk-jobs.ts'
import { revokeSession } from '../../src/sessions/revoke-sessions.ts'
import { createUser, lockUser, unlockUser } from '../../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from '../support/actors.ts'
import { openEventStream } from '../support/streams.ts'
import { awaitVisible, EVENTS, LOCKS, SESSIONS, test } from '../support/subscriptions.ts'

describe('the events of a session and of a lock', () => {
  test('arrive as server-sent events: start, lock, end', async ({ ctx, startApiSession, follow }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const sessions = await follow(SESSIONS, { userId })
    const locks = await follow(LOCKS, { userId })
    expect(sessions.status).toBe(200)
    expect(sessions.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(sessions.headers.get('cache-control')).toBe('no-store')
    const sessionId = await startApiSession(userId)
    const started = await sessions.next()
    expect(started).toMatchObject({
      event: 'next',
      data: { data: { sessionChanged: { kind: 'STARTED', reason: null, sessionId, userId } } },
    })
    expect(started?.data?.data.sessionChanged.session).toEqual({ id: sessionId })
    expect(started?.id).toBe(started?.data?.data.sessionChanged.position)
    await lockUser(ctx, userId)
    expect((await locks.next())?.data).toMatchObject({
      data: { userLockChanged: { kind: 'LOCKED', userId, user: { locked: true } } },
    })
    expect((await sessions.next())?.data?.data.sessionChanged).toMatchObject({
      kind: 'ENDED',
      reason: 'LOCKED',
      sessionId,
      session: null,
      user: { id: userId, locked: true },
    })
    await unlockUser(ctx, userId)
    expect((await locks.next())?.data?.data.userLockChanged.kind).toBe('UNLOCKED')
  })

  test('arrive over a WebSocket: start, lock, end', async ({
    ctx,
    startApiSession,
    headPosition,
    followBySocket,
  }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const position = await headPosition()
    const sessions = followBySocket(SESSIONS, { userId, after: position })
    const sessionId = await startApiSession(userId)
    const started = await sessions.next()
    expect(started?.data.sessionChanged).toMatchObject({ kind: 'STARTED', sessionId, userId })
    expect(started?.extensions).toMatchObject({ position: started?.data.sessionChanged.position })
    await lockUser(ctx, userId)
    expect((await sessions.next())?.data.sessionChanged).toMatchObject({
      kind: 'ENDED',
      reason: 'LOCKED',
      session: null,
    })
  })

  test('arrive at the graphql-sse client', async ({
    tenant,
    token,
    ctx,
    server,
    startApiSession,
    headPosition,
    opened,
  }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const client = createSseClient({
      url: server.urlOf(tenant),
      headers: { authorization: `Bearer ${token}` },
      retryAttempts: 0,
    })
    opened.push({ close: () => client.dispose() })
    const position = await headPosition()
    const results = client.iterate({ query: SESSIONS, variables: { userId, after: position } })
    const sessionId = await startApiSession(userId)
    expect((await results.next()).value).toMatchObject({
      data: { sessionChanged: { kind: 'STARTED', sessionId } },
    })
  })

  test('are those of the selected kinds only', async ({ ctx, startApiSession, follow }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const ends = await follow(SESSIONS, { userId, kinds: ['ENDED'] })
    const sessionId = await startApiSession(userId)
    await revokeSession(ctx, sessionId)
    expect((await ends.next())?.data?.data.sessionChanged).toMatchObject({ kind: 'ENDED', reason: 'REVOKED' })
  })
})

describe('a subscription to the events of a subject', () => {
  test('delivers those that the list has: of a user, of a session, and of another object', async ({
    tenant,
    token,
    ctx,
    server,
    startApiSession,
    headPosition,
    follow,
  }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const { id: otherId } = await createUser(ctx, { name: 'Grace' })
    await awaitVisible(tenant)
    const after = await headPosition()
    const sessionId = await startApiSession(userId)
    await lockUser(ctx, otherId)
    const updated = (clientId: string) => createEvent('client.updated', { clientId, changedFields: ['name'] })
    await ctx.db.transaction((tx) => recordEvents(tx, ctx, [updated('client_2'), updated('client_1')]))
    await lockUser(ctx, userId)
    await awaitVisible(tenant)
    const list = `query ($subjectId: ID, $after: String) {
      events(filter: { subjectId: $subjectId }, after: $after) { nodes { id type } }
    }`
    for (const [subjectId, types] of [
      [userId, ['SESSION_STARTED', 'USER_LOCKED', 'SESSION_ENDED']],
      [sessionId, ['SESSION_STARTED', 'SESSION_ENDED']],
      ['client_1', ['CLIENT_UPDATED']],
    ] as const) {
      const { body } = await server.post(tenant, token, list, { subjectId, after })
      const listed: { id: string; type: string }[] = body.data.events.nodes
      expect(listed.map(({ type }) => type).sort()).toEqual([...types].sort())
      const reader = await follow(EVENTS, { subjectId, after })
      for (const { id } of listed) expect((await reader.next())?.data?.data.events.id).toBe(id)
    }
  })
})

describe('a subscription to the events of an IP address or of a network', () => {
  const FROM = [
    '203.0.113.7',
    '203.0.114.7',
    null,
    '2001:db8::7',
    '203.0.113.8',
    '203.0.113.7',
    '2001:db8::7',
  ]

  test.for(['203.0.113.7', '::FFFF:203.0.113.7', '203.0.113.0/24', '2001:db8::/32', '0.0.0.0/0'])(
    'by %s delivers the events that the list has',
    async (ip, { tenant, token, ctx, server, follow }) => {
      const types = ['CONSENT_GRANTED']
      const reader = await follow(EVENTS, { types, ip })
      for (const from of FROM)
        await ctx.db.transaction((tx) =>
          recordEvents(tx, { ...ctx, ip: from }, [
            { type: 'consent.granted', subjectIds: [ip], detail: { scope: 'openid' } },
          ]),
        )
      await awaitVisible(tenant)
      const list = `query ($filter: EventFilter) { events(filter: $filter) { nodes { id } } }`
      const { body } = await server.post(tenant, token, list, { filter: { types, ip, subjectId: ip } })
      const listed = body.data.events.nodes.map(({ id }: { id: string }) => id)
      expect(listed.length).toBeGreaterThan(1)
      const delivered: string[] = []
      while (delivered.length < listed.length) delivered.push((await reader.next())?.data?.data.events.id)
      expect(delivered).toEqual(listed)
    },
  )

  test('names the argument that is not an address or a network', async ({ tenant, token, server }) => {
    const { body } = await server.post(tenant, token, EVENTS, { ip: '203.0.113.0/33' })
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ field: 'ip' }] })
  })
})

describe('the scopes of a subscription', () => {
  test('permit a user with scope account to follow their own sessions and no others', async ({
    ctx,
    startApiSession,
    newSubscriber,
    follow,
  }) => {
    const user = await newSubscriber()
    const reader = await follow(SESSIONS, {}, { token: user.token })
    await startApiSession((await createUser(ctx, { name: 'Grace' })).id)
    const sessionId = await startApiSession(user.userId)
    expect((await reader.next())?.data?.data.sessionChanged).toMatchObject({
      userId: user.userId,
      sessionId,
      session: { id: sessionId },
    })
  })

  test.for<[name: string, query: string, subject: 'other' | 'none']>([
    ['the sessions of another user', SESSIONS, 'other'],
    ['the locks of another user', LOCKS, 'other'],
    ['the event log', EVENTS, 'none'],
  ])(
    'do not permit a user without management scopes to follow %s',
    async ([_what, query, subject], { tenant, ctx, server, newSubscriber }) => {
      const user = await newSubscriber()
      const variables = subject === 'other' ? { userId: (await createUser(ctx, { name: 'Grace' })).id } : {}
      const { body } = await server.post(tenant, user.token, query, variables)
      expect(body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
      expect(body.errors?.[0]?.message).toMatch(/^Requires scope (sessions|users|events):read\.$/)
    },
  )

  test('include the IP address of the actor for callers with events:read only', async ({
    tenant,

    ctx,
    startApiSession,
    newSubscriber,
    follow,
  }) => {
    const query = 'subscription { sessionChanged { ... on SessionEvent { actor { clientId ip } } } }'
    const user = await newSubscriber()
    const callers = [
      { token: await tokenFor(tenant, ['sessions:read', 'events:read']), ip: ctx.ip },
      { token: await tokenFor(tenant, ['sessions:read']), ip: null },
      { token: user.token, ip: null },
    ]
    const readers = await Promise.all(callers.map(({ token }) => follow(query, {}, { token })))
    await startApiSession(user.userId)
    for (const [i, reader] of readers.entries()) {
      const event = await reader.next()
      const actor = { clientId: expect.stringMatching(/^client_/), ip: callers[i]?.ip }
      expect(event?.data?.data.sessionChanged).toMatchObject({ actor })
    }
  })

  test('are required: a request without a token is rejected', async ({ tenant, server }) => {
    const { body } = await server.post(tenant, null, EVENTS)
    expect(body.errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED')
  })

  test('are required for each nested field of a payload', async ({
    tenant,
    ctx,
    startApiSession,
    follow,
  }) => {
    const reader = await follow(SESSIONS, {}, { token: await tokenFor(tenant, ['sessions:read']) })
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    await startApiSession(userId)
    const event = await reader.next()
    expect(event?.data?.data.sessionChanged).toMatchObject({ kind: 'STARTED', user: null, session: {} })
    expect(event?.data?.errors).toMatchObject([
      { path: ['sessionChanged', 'user'], extensions: { code: 'FORBIDDEN' } },
    ])
  })

  test('never include events of another tenant', async ({ server, recordNumbers, opened }) => {
    const other = await newTenant()
    const bearer = await tokenFor(other)
    await awaitVisible(other)
    const reader = await openEventStream(server.urlOf(other), bearer, EVENTS)
    opened.push(reader)
    await recordNumbers(21)
    await createUser(await ctxFor(other), { name: 'Mine' })
    expect((await reader.next())?.data?.data.events.type).toBe('user.created')
  })
})

describe('the progress of a bulk job', () => {
  const JOBS = `subscription ($id: ID) { bulkJobChanged(bulkJobId: $id) {
    ... on BulkJobEvent { kind bulkJobId bulkJob { status total done failed } } } }`

  test('arrives from its start to its end, of one job or of all, and of no other tenant', async ({
    ctx,
    follow,
    onTestFinished,
  }) => {
    const users = await Promise.all(['Ada', 'Bea'].map((name) => createUser(ctx, { name })))
    const userIds = users.map(({ id }) => id)
    const all = await follow(JOBS)
    const next = async () => (await all.next())?.data?.data.bulkJobChanged
    const elsewhere = await ctxFor(await newTenant())
    await bulkUpdateUsers(elsewhere, { action: 'lock', userIds })
    const canceled = await bulkUpdateUsers(ctx, { action: 'lock', userIds })
    expect(await next()).toMatchObject({ kind: 'STARTED', bulkJobId: canceled.id, bulkJob: { total: 2 } })
    await cancelBulkJob(ctx, canceled.id)
    expect(await next()).toMatchObject({ kind: 'FINISHED', bulkJob: { status: 'CANCELED', done: 0 } })
    const { id } = await bulkUpdateUsers(ctx, { action: 'lock', userIds })
    expect(await next()).toMatchObject({ kind: 'STARTED', bulkJobId: id })
    const one = await follow(JOBS, { id })
    onTestFinished(startBulkJobs())
    expect(await next()).toMatchObject({ kind: 'PROGRESSED', bulkJobId: id })
    expect(await next()).toMatchObject({ kind: 'FINISHED', bulkJob: { status: 'COMPLETED', done: 2 } })
    const kinds = [await one.next(), await one.next()].map((event) => event?.data?.data.bulkJobChanged.kind)
    expect(kinds).toEqual(['PROGRESSED', 'FINISHED'])
  })

  test('requires the scope users:read, and the id of a job', async ({ tenant, follow }) => {
    const denied = await follow(JOBS, {}, { token: await tokenFor(tenant, ['sessions:read']) })
    expect((await denied.next())?.data?.errors?.[0]?.message).toContain('users:read')
    const other = await follow(JOBS, { id: 'user_01m7xeb1sbendby702xerkqv3p' })
    expect((await other.next())?.data?.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT' })
  })
})
