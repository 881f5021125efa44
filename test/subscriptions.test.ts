import { setTimeout as sleep } from 'node:timers/promises'
import { createClient as createSseClient } from 'graphql-sse'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createClient } from '../src/clients/clients.ts'
import { type Ctx, platformCtx, type Scope } from '../src/ctx.ts'
import { inTransaction } from '../src/db.ts'
import { readEvents, readHead, recordEvents, wakeReaders } from '../src/events.ts'
import { apiAudienceOf } from '../src/oidc/keys/keys.ts'
import { issueAccessToken } from '../src/oidc/token/access-tokens.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { revokeSession, startSession } from '../src/sessions/sessions.ts'
import { createUser, deleteUser, lockUser, unlockUser } from '../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from './support/actors.ts'
import type { GraphqlBody } from './support/app.ts'
import { type GraphqlServer, serveGraphql } from './support/graphql-server.ts'
import { countStatements, recordStatements } from './support/statements.ts'
import { type EventReader, openEventStream, openSocket } from './support/streams.ts'

let server: GraphqlServer
let tenant: string
let token: string
let ctx: Ctx
let clientId: string

beforeAll(async () => {
  await openRuntime()
  server = await serveGraphql()
  tenant = await newTenant()
  token = await tokenFor(tenant)
  ctx = await ctxFor(tenant)
  const { client } = await createClient(platformCtx(tenant), {
    name: 'App',
    appType: 'web',
    type: 'login',
    scopes: ['sessions:read', 'users:read'],
  })
  clientId = client.id
})

const opened: { close: () => void }[] = []
afterEach(() => {
  for (const stream of opened.splice(0)) stream.close()
})
afterAll(async () => {
  await server.close()
  await closeRuntime()
})

const SESSIONS = `subscription ($userId: ID, $kinds: [SessionEventType!], $after: String) {
  sessionChanged(userId: $userId, kinds: $kinds, after: $after) {
    __typename
    ... on SessionEvent { kind reason sessionId userId position session { id } user { id locked } }
    ... on EventGap { position }
  }
}`
const LOCKS = `subscription ($userId: ID, $after: String) {
  userLockChanged(userId: $userId, after: $after) { ... on UserLockEvent { kind userId position user { locked } } }
}`
const EVENTS = `subscription ($types: [String!], $after: String) {
  events(types: $types, after: $after) { __typename id type position actor { clientId } ... on AuditEvent { subjectIds } }
}`

async function startApiSession(userId: string): Promise<string> {
  const expiresAt = new Date(Date.now() + 3_600_000)
  const { session } = await inTransaction((sql) =>
    startSession(sql, ctx, { userId, kind: 'api', clientId, expiresAt, refreshable: true, amr: ['otp'] }),
  )
  wakeReaders(tenant)
  return session.id
}

/** A person with a session, and the access token that depends on it. */
async function person(scopes: Scope[] = []): Promise<{ userId: string; sessionId: string; token: string }> {
  const { id: userId } = await createUser(ctx, { name: 'Ada' })
  const sessionId = await startApiSession(userId)
  const token = await issueAccessToken(tenant, {
    subject: userId,
    clientId,
    scopes,
    audience: [apiAudienceOf(tenant)],
    lifetimeSeconds: 600,
    sessionId,
  })
  return { userId, sessionId, token }
}

/** Entries stay hidden behind every older transaction of the database server, those of other files' databases too. What
 *  happened before a stream was opened would come to it when they end. */
const allVisible = (of = tenant) =>
  expect
    .poll(async () => readEvents(of, (await readHead(of)).head, 1), { timeout: 10_000, interval: 5 })
    .toEqual({ events: [], hidden: false })

async function follow(
  query: string,
  variables: object = {},
  options: { token?: string; lastEventId?: string | null } = {},
): Promise<EventReader> {
  const headers: Record<string, string> = options.lastEventId ? { 'last-event-id': options.lastEventId } : {}
  if (!options.lastEventId && !('after' in variables)) await allVisible()
  const reader = await openEventStream(
    server.urlOf(tenant),
    options.token ?? token,
    query,
    variables,
    headers,
  )
  opened.push(reader)
  return reader
}

type SocketStream = {
  next: () => Promise<GraphqlBody | null>
  closed: Promise<{ code: number; reason: string }>
}

function followBySocket(query: string, variables: object = {}, as = token): SocketStream {
  const client = openSocket(server.socketUrlOf(tenant), as)
  opened.push({ close: () => void client.dispose() })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    client.on('closed', (event) => resolve(event as { code: number; reason: string }))
  })
  const results = client.iterate({ query, variables: variables as Record<string, unknown> })
  return { next: async () => ((await results.next()).value as GraphqlBody | undefined) ?? null, closed }
}

describe('the life of a session and a lock', () => {
  test('arrives as server-sent events: start, lock, end', async () => {
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

  test('arrives over a WebSocket: start, lock, end', async () => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const { position } = await headOf()
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

  test('is understood by the graphql-sse client', async () => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const client = createSseClient({
      url: server.urlOf(tenant),
      headers: { authorization: `Bearer ${token}` },
      retryAttempts: 0,
    })
    opened.push({ close: () => client.dispose() })
    const { position } = await headOf()
    const results = client.iterate({ query: SESSIONS, variables: { userId, after: position } })
    const sessionId = await startApiSession(userId)
    expect((await results.next()).value).toMatchObject({
      data: { sessionChanged: { kind: 'STARTED', sessionId } },
    })
  })

  test('is told of the kinds asked for only', async () => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const ends = await follow(SESSIONS, { userId, kinds: ['ENDED'] })
    const sessionId = await startApiSession(userId)
    await revokeSession(ctx, sessionId)
    expect((await ends.next())?.data?.data.sessionChanged).toMatchObject({ kind: 'ENDED', reason: 'REVOKED' })
  })
})

/** The position of the newest entry, by way of the API. */
async function headOf(): Promise<{ position: string }> {
  let after: string | null = null
  for (;;) {
    const query =
      'query ($after: String) { events(first: 1000, after: $after) { pageInfo { endCursor hasNextPage } } }'
    const { body } = await server.post(tenant, token, query, { after })
    const { endCursor, hasNextPage } = body.data.events.pageInfo
    after = endCursor ?? after
    if (!hasNextPage) return { position: after as unknown as string }
  }
}

/** Entries that only these tests write, numbered. */
async function note(...numbers: number[]): Promise<void> {
  for (const number of numbers)
    await inTransaction((sql) =>
      recordEvents(sql, ctx, [{ type: 'consent.granted', subjectIds: [String(number)] }]),
    )
  wakeReaders(tenant)
}
const NOTES = { types: ['consent.granted'] }
const numberOf = (body: GraphqlBody | null | undefined): number => Number(body?.data.events.subjectIds[0])

describe('a subscriber who comes back', () => {
  test('with `after` gets what was missed, then what is new, each once and in order', async () => {
    const first = await follow(EVENTS, NOTES)
    await note(1, 2)
    await first.next()
    const seen = await first.next()
    first.close()
    await note(3, 4, 5)
    const second = await follow(EVENTS, { ...NOTES, after: seen?.data?.data.events.position })
    await note(6)
    const numbers: number[] = []
    for (let index = 0; index < 4; index++) numbers.push(numberOf((await second.next())?.data))
    expect(numbers).toEqual([3, 4, 5, 6])
  })

  test('with Last-Event-ID goes on from there, also when nothing had come yet', async () => {
    const first = await follow(EVENTS, NOTES)
    await note(11)
    expect(numberOf((await first.next())?.data)).toBe(11)
    first.close()
    await note(12)
    const second = await follow(EVENTS, NOTES, { lastEventId: first.lastEventId() })
    expect(numberOf((await second.next())?.data)).toBe(12)
    second.close()
    const idle = await follow(EVENTS, NOTES)
    await sleep(50)
    idle.next().catch(() => null)
    await sleep(50)
    idle.close()
    await note(13)
    expect(idle.lastEventId()).toMatch(/^[\w-]+$/)
    const third = await follow(EVENTS, NOTES, { lastEventId: idle.lastEventId() })
    expect(numberOf((await third.next())?.data)).toBe(13)
  })

  test('goes on from Last-Event-ID when it reconnects with the `after` that it began with', async () => {
    await note(21)
    const begun = await follow(EVENTS, NOTES)
    await note(22)
    expect(numberOf((await begun.next())?.data)).toBe(22)
    const after = begun.lastEventId()
    await note(23)
    expect(numberOf((await begun.next())?.data)).toBe(23)
    const again = await follow(EVENTS, { ...NOTES, after }, { lastEventId: begun.lastEventId() })
    await note(24)
    expect(numberOf((await again.next())?.data)).toBe(24)
  })

  test('from before what retention kept is told of the gap first', async () => {
    const other = await newTenant()
    const otherCtx = await ctxFor(other)
    const otherToken = await tokenFor(other)
    const read = async () => {
      const query = '{ events(first: 1000) { nodes { position } } }'
      const { body } = await server.post(other, otherToken, query)
      return body.data.events.nodes.map((node: { position: string }) => node.position) as string[]
    }
    await createUser(otherCtx, { name: 'Ada' })
    await createUser(otherCtx, { name: 'Grace' })
    const positions = await read()
    await inTransaction((sql) =>
      sql('UPDATE "Tenant" SET "eventsTrimmedTo" = $2 WHERE "tenantId" = $1', [other, positions.at(-2)]),
    )
    const reader = await openEventStream(server.urlOf(other), otherToken, EVENTS, { after: positions[0] })
    opened.push(reader)
    expect((await reader.next())?.data?.data.events).toMatchObject({
      __typename: 'EventGap',
      type: 'gap',
      position: positions.at(-2),
    })
    expect((await reader.next())?.data?.data.events.position).toBe(positions.at(-1))
  })

  test.each([
    '',
    'x',
    'MS4yLjM=',
    Buffer.from('1.2.3.4').toString('base64url'),
    Buffer.from('1.99999999999999999999.1').toString('base64url'),
    Buffer.from('1.99999999999.1').toString('base64url'),
    Buffer.from('99.1.1').toString('base64url'),
  ])('with the forged position %j is refused', async (after) => {
    const { status, body } = await server.post(tenant, token, EVENTS, { after: after || '-' })
    expect(status).toBe(200)
    expect(body.errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: [{ field: 'after', description: 'is not a position of the event log' }],
    })
  })
})

describe('the token behind a stream', () => {
  async function secondsUntilEnd(reader: EventReader, act: () => Promise<unknown>): Promise<number> {
    await act()
    const start = performance.now()
    for (;;) {
      const event = await reader.next()
      if (event?.data?.errors) {
        expect(event.data.errors[0]?.extensions.code).toBe('UNAUTHENTICATED')
        expect((await reader.next())?.event).toBe('complete')
        return (performance.now() - start) / 1000
      }
      if (!event) throw new Error('the stream ended without a word')
    }
  }

  test.each<[string, (who: { userId: string; sessionId: string }) => Promise<unknown>]>([
    ['its session is revoked', ({ sessionId }) => revokeSession(ctx, sessionId)],
    ['its user is locked', ({ userId }) => lockUser(ctx, userId)],
    ['its user is deleted', ({ userId }) => deleteUser(ctx, userId)],
  ])('no longer stands when %s: the stream ends within a second', async (_what, revoke) => {
    const who = await person()
    const reader = await follow(SESSIONS, { userId: who.userId, kinds: ['REFRESHED'] }, { token: who.token })
    expect(reader.status).toBe(200)
    expect(await secondsUntilEnd(reader, () => revoke(who))).toBeLessThan(1.2)
  })

  test('ends the stream even if nobody is woken and no event is written', async () => {
    const who = await person()
    const reader = await follow(SESSIONS, { userId: who.userId }, { token: who.token })
    const quietly = () =>
      inTransaction((sql) =>
        sql('UPDATE "Session" SET "endedAt" = now() WHERE "tenantId" = $1 AND "id" = $2', [
          tenant,
          who.sessionId,
        ]),
      )
    expect(await secondsUntilEnd(reader, quietly)).toBeLessThan(1.2)
  })

  const change = (text: string, ...values: unknown[]) =>
    inTransaction((sql) => sql(text, [tenant, ...values]))

  test('ends the stream when its person loses the role that the scope came from', async () => {
    const who = await person(['users:read'])
    const setRoles = (roles: string[]) =>
      change('UPDATE "User" SET "roles" = $3 WHERE "tenantId" = $1 AND "id" = $2', who.userId, roles)
    await setRoles(['auditor'])
    const reader = await follow(LOCKS, {}, { token: who.token })
    const { id: somebody } = await createUser(ctx, { name: 'Grace' })
    await lockUser(ctx, somebody)
    expect((await reader.next())?.data?.data.userLockChanged.userId).toBe(somebody)
    expect(await secondsUntilEnd(reader, () => setRoles([]))).toBeLessThan(1.2)
  })

  test('ends the stream when its client is deleted', async () => {
    const scopes: Scope[] = ['events:read']
    const { client } = await createClient(platformCtx(tenant), {
      name: 'Short-lived',
      appType: 'machine',
      type: 'login',
      scopes,
    })
    const audience = [apiAudienceOf(tenant)]
    const request = { subject: client.id, clientId: client.id, scopes, audience, lifetimeSeconds: 600 }
    const reader = await follow(EVENTS, NOTES, { token: await issueAccessToken(tenant, request) })
    const remove = () => change('DELETE FROM "Client" WHERE "tenantId" = $1 AND "id" = $2', client.id)
    expect(await secondsUntilEnd(reader, remove)).toBeLessThan(1.2)
  })

  test('ends the stream when it expires', async () => {
    const brief = await tokenFor(tenant, ['events:read'], 2)
    const reader = await follow(EVENTS, NOTES, { token: brief })
    const seconds = await secondsUntilEnd(reader, async () => undefined)
    expect(seconds).toBeGreaterThan(0.5)
    expect(seconds).toBeLessThan(2.5)
  })

  test('closes a WebSocket with 4403 within a second, so that clients return with a new token', async () => {
    const who = await person()
    const stream = followBySocket(SESSIONS, { userId: who.userId, kinds: ['REFRESHED'] }, who.token)
    const ended = stream.next().catch(() => null)
    await sleep(300)
    const start = performance.now()
    await lockUser(ctx, who.userId)
    expect((await ended)?.errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED')
    expect((await stream.closed).code).toBe(4403)
    expect(performance.now() - start).toBeLessThan(1200)
  })

  test('costs one statement a look, however many streams are open', async () => {
    const readers = await Promise.all(Array.from({ length: 20 }, () => follow(EVENTS, NOTES)))
    await sleep(100)
    const statements = await countStatements(() => sleep(2000))
    for (const reader of readers) reader.close()
    // Looks at the tokens every 0.8 s, and at the log every second.
    expect(statements).toBeGreaterThanOrEqual(3)
    expect(statements).toBeLessThanOrEqual(6)
  })
})

describe('who may subscribe', () => {
  test('a person without scopes follows their own sessions, and gets nobody else’s', async () => {
    const who = await person()
    const reader = await follow(SESSIONS, {}, { token: who.token })
    await startApiSession((await createUser(ctx, { name: 'Grace' })).id)
    const sessionId = await startApiSession(who.userId)
    expect((await reader.next())?.data?.data.sessionChanged).toMatchObject({
      userId: who.userId,
      sessionId,
      session: { id: sessionId },
    })
  })

  test.each([
    [
      'somebody else’s sessions',
      SESSIONS,
      async () => ({ userId: (await createUser(ctx, { name: 'Grace' })).id }),
    ],
    ['somebody else’s locks', LOCKS, async () => ({ userId: (await createUser(ctx, { name: 'Grace' })).id })],
    ['the log', EVENTS, async () => ({})],
  ])('a person without scopes does not follow %s', async (_what, query, variables) => {
    const who = await person()
    const { body } = await server.post(tenant, who.token, query, await variables())
    expect(body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    expect(body.errors?.[0]?.message).toMatch(/^Requires scope (sessions|users|events):read\.$/)
  })

  test('from where it was done is told to auditors alone', async () => {
    const query = 'subscription { sessionChanged { ... on SessionEvent { actor { clientId ip } } } }'
    const who = await person()
    const told = [
      { token: await tokenFor(tenant, ['sessions:read', 'events:read']), ip: ctx.ip },
      { token: await tokenFor(tenant, ['sessions:read']), ip: null },
      { token: who.token, ip: null }, // of whoever did it about them
    ]
    const readers = await Promise.all(told.map(({ token }) => follow(query, {}, { token })))
    await startApiSession(who.userId)
    for (const [i, reader] of readers.entries()) {
      const event = await reader.next()
      const actor = { clientId: expect.stringMatching(/^client_/), ip: told[i]?.ip }
      expect(event?.data?.data.sessionChanged).toMatchObject({ actor })
    }
  })

  test('without a token nobody follows anything', async () => {
    const { body } = await server.post(tenant, null, EVENTS)
    expect(body.errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED')
  })

  test('what a payload nests obeys its own scope', async () => {
    const reader = await follow(SESSIONS, {}, { token: await tokenFor(tenant, ['sessions:read']) })
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    await startApiSession(userId)
    const event = await reader.next()
    expect(event?.data?.data.sessionChanged).toMatchObject({ kind: 'STARTED', user: null, session: {} })
    expect(event?.data?.errors).toMatchObject([
      { path: ['sessionChanged', 'user'], extensions: { code: 'FORBIDDEN' } },
    ])
  })

  test('events of another tenant are not seen', async () => {
    const other = await newTenant()
    const bearer = await tokenFor(other)
    await allVisible(other)
    const reader = await openEventStream(server.urlOf(other), bearer, EVENTS)
    opened.push(reader)
    await note(21)
    await createUser(await ctxFor(other), { name: 'Mine' })
    expect((await reader.next())?.data?.data.events.type).toBe('user.created')
  })
})

describe('many subscribers', () => {
  test('share one read of the log and one read of each row', async () => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const readers = await Promise.all(Array.from({ length: 20 }, () => follow(SESSIONS, { userId })))
    await sleep(100)
    const statements = await recordStatements(async () => {
      await startApiSession(userId)
      await Promise.all(readers.map((reader) => reader.next()))
    })
    // How often the log is looked at while entries are hidden, and the tokens, is a matter of time, not of readers.
    const ofLog = statements.filter((text) => text.includes('pg_snapshot_xmin'))
    const ofTokens = statements.filter((text) => text.includes('unnest('))
    expect(ofLog.length).toBeLessThan(readers.length)
    expect(ofTokens.length).toBeLessThan(readers.length)
    // BEGIN, insert, COMMIT, session and user; tenant, client and keys where their second was over.
    expect(statements.length - ofLog.length - ofTokens.length).toBeLessThanOrEqual(8)
  })

  test('do not notice one who has stopped reading', async () => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const stalled = new WebSocket(server.socketUrlOf(tenant), 'graphql-transport-ws')
    opened.push({ close: () => stalled.terminate() })
    await new Promise((resolve) => stalled.once('open', resolve))
    stalled.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }))
    await new Promise((resolve) => stalled.once('message', resolve))
    stalled.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: EVENTS } }))
    stalled.pause()
    const stalledStream = await follow(EVENTS, {})
    const reader = await follow(SESSIONS, { userId, kinds: ['STARTED'] })
    const padding = 'x'.repeat(5000)
    await inTransaction(async (sql) => {
      for (let index = 0; index < 20; index++)
        await recordEvents(
          sql,
          ctx,
          Array.from({ length: 100 }, () => ({ type: 'consent.granted' as const, subjectIds: [padding] })),
        )
    })
    wakeReaders(tenant)
    const sessionId = await startApiSession(userId)
    // The stalled ones have not read a thing, and still do not: waiting for them would never end.
    expect((await reader.next())?.data?.data.sessionChanged.sessionId).toBe(sessionId)
    stalledStream.close()
  })
})

describe('a server that stops', () => {
  test('closes sockets with 1001 and tells event streams to come back', async () => {
    const stopping = await serveGraphql()
    const client = openSocket(stopping.socketUrlOf(tenant), token)
    const closed = new Promise<{ code: number }>((resolve) =>
      client.on('closed', (event) => resolve(event as { code: number })),
    )
    await new Promise((resolve) => client.on('connected', resolve))
    const reader = await openEventStream(stopping.urlOf(tenant), token, EVENTS, NOTES)
    const last = reader.next()
    await stopping.close()
    expect((await closed).code).toBe(1001)
    expect((await last)?.data?.errors?.[0]?.extensions.code).toBe('UNAVAILABLE')
  })
})

describe('a WebSocket', () => {
  const raw = async (path: string, headers: Record<string, string> = {}) => {
    const socket = new WebSocket(path, 'graphql-transport-ws', { headers })
    opened.push({ close: () => socket.terminate() })
    socket.on('error', () => undefined) // a refused one is terminated before it was open
    const closed = new Promise<number>((resolve) => socket.once('close', (code) => resolve(code)))
    const refused = new Promise<number>((resolve) => {
      socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
    })
    const openedOrNot = await Promise.race([
      new Promise<'open'>((resolve) => socket.once('open', () => resolve('open'))),
      refused,
    ])
    return { socket, closed, outcome: openedOrNot }
  }

  test('that does not introduce itself within three seconds is closed with 4408', async () => {
    const { closed } = await raw(server.socketUrlOf(tenant))
    expect(await closed).toBe(4408)
  })

  test.each([
    ['no token', {}, 4401],
    ['a bad token', { authorization: 'Bearer nonsense' }, 4403],
    ['a token that is no string', { authorization: 7 }, 4401],
  ])('that introduces itself with %s is closed', async (_what, payload, code) => {
    const { socket, closed } = await raw(server.socketUrlOf(tenant))
    socket.send(JSON.stringify({ type: 'connection_init', payload }))
    expect(await closed).toBe(code)
  })

  test('of a page of another origin is refused, and one of our own is not', async () => {
    const url = server.socketUrlOf(tenant)
    expect((await raw(url, { origin: 'https://evil.example' })).outcome).toBe(403)
    expect((await raw(url, { origin: 'null' })).outcome).toBe(403)
    expect((await raw(url, { origin: 'http://localhost:3000' })).outcome).toBe('open')
  })

  test("of an admin frontend's page is served with its own client's token, and with no other's", async () => {
    const origin = 'https://admin.example.com'
    const { client } = await createClient(platformCtx(tenant), {
      name: 'Admin frontend',
      appType: 'single-page',
      type: 'login',
      allowedOrigins: [origin],
      scopes: ['users:read'],
    })
    const subject = await person(['users:read'])
    const request = { subject: subject.userId, scopes: ['users:read'], audience: [apiAudienceOf(tenant)] }
    const own = await issueAccessToken(tenant, {
      ...request,
      clientId: client.id,
      lifetimeSeconds: 60,
      sessionId: subject.sessionId,
    })
    const url = server.socketUrlOf(tenant)
    // Headers are written either way, and so are connection parameters.
    const introduce = async (token: string) => {
      const { socket, closed } = await raw(url, { origin })
      const answered = new Promise<string>((resolve) =>
        socket.once('message', (text) => resolve(JSON.parse(String(text)).type)),
      )
      socket.send(JSON.stringify({ type: 'connection_init', payload: { Authorization: `Bearer ${token}` } }))
      return Promise.race([answered, closed])
    }
    expect(await introduce(own)).toBe('connection_ack')
    expect(await introduce(subject.token)).toBe(4403)
  })

  test('to a tenant that does not exist is refused', async () => {
    expect((await raw(server.socketUrlOf('nobody-here'))).outcome).toBe(404)
  })

  test('with another subprotocol is closed with 4406', async () => {
    const socket = new WebSocket(server.socketUrlOf(tenant))
    expect(await new Promise((resolve) => socket.once('close', resolve))).toBe(4406)
  })

  test('is closed with 4403 when its token expires, also while idle', async () => {
    const client = openSocket(server.socketUrlOf(tenant), await tokenFor(tenant, ['users:read'], 2))
    opened.push({ close: () => void client.dispose() })
    const closed = new Promise<{ code: number }>((resolve) =>
      client.on('closed', (event) => resolve(event as { code: number })),
    )
    expect((await closed).code).toBe(4403)
  })

  test('runs queries under the same limits and with the same errors as HTTP', async () => {
    const client = openSocket(server.socketUrlOf(tenant), await tokenFor(tenant, ['users:read']))
    opened.push({ close: () => void client.dispose() })
    const run = (query: string, variables?: Record<string, unknown>) =>
      new Promise<GraphqlBody>((resolve) => {
        client.subscribe(
          { query, variables },
          {
            next: (result) => resolve(result as GraphqlBody),
            error: (errors) => resolve({ errors: errors as GraphqlBody['errors'] }),
            complete: () => undefined,
          },
        )
      })
    expect((await run('{ users { totalSize } }')).data).toEqual({ users: { totalSize: expect.any(Number) } })
    expect((await run('{ tenant { id } }')).errors?.[0]).toMatchObject({
      message: 'Requires scope tenant:read.',
      extensions: { code: 'FORBIDDEN', requestId: expect.any(String) },
    })
    const aliases = Array.from({ length: 31 }, (_, index) => `a${index}: viewer { scopes }`).join(' ')
    expect((await run(`{ ${aliases} }`)).errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX')
    const costly =
      'query ($n: Int) { users(pageSize: $n) { nodes { sessions(first: $n) { nodes { id } } } } }'
    expect((await run(costly, { n: 1000 })).errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX')
    expect(
      (await run('query A { viewer { scopes } } query B { viewer { scopes } }')).errors?.[0]?.extensions.code,
    ).toBe('QUERY_TOO_COMPLEX')
    expect((await run('{ nonsense }')).errors?.[0]?.extensions).toMatchObject({
      code: 'GRAPHQL_VALIDATION_FAILED',
      requestId: expect.any(String),
    })
    expect((await run('{')).errors?.[0]?.extensions.requestId).toEqual(expect.any(String))
  })
})

test('a person without scopes sees themselves, their session and the client of their token, and no other client', async () => {
  const { userId, sessionId, token: own } = await person()
  const query = '{ viewer { user { id } session { id } client { id name } scopes } clients { totalSize } }'
  const { body } = await server.post(tenant, own, query)
  expect(body.data).toEqual({
    viewer: {
      user: { id: userId },
      session: { id: sessionId },
      client: { id: clientId, name: 'App' },
      scopes: [],
    },
    clients: null,
  })
})
