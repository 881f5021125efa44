import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { createClient } from '../src/clients/clients.ts'
import { newId } from '../src/crypto.ts'
import { type Ctx, platformCtx } from '../src/ctx.ts'
import { inTransaction, sql } from '../src/db.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { authenticateSession } from '../src/sessions/authenticate-session.ts'
import {
  endSession,
  findBrowserSession,
  getSession,
  listUserSessions,
  revokeSession,
  revokeUserSessions,
  type StartSession,
  startBrowserSession,
  startSession,
} from '../src/sessions/sessions.ts'
import { createUser, lockUser } from '../src/users/users.ts'
import { ctxFor, newTenant } from './support/actors.ts'
import { logOf } from './support/events.ts'
import { countStatements } from './support/statements.ts'

const isPostgres = inject('database').kind === 'postgres'
const MINUTE = 60_000
const INVALID = expect.objectContaining({
  name: 'InvalidCredential',
  status: 401,
  message: 'The session token is not valid.',
})

let ctx: Ctx
let userId: string

beforeAll(openRuntime)
afterAll(closeRuntime)
beforeEach(async () => {
  ctx = await ctxFor(await newTenant())
  userId = (await createUser(ctx, {})).id
})
afterEach(() => vi.useRealTimers())

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * MINUTE)
const start = (over: Partial<StartSession> = {}) =>
  inTransaction((sql) =>
    startSession(sql, ctx, {
      userId,
      kind: 'api',
      expiresAt: inMinutes(60),
      refreshable: true,
      amr: ['otp'],
      ...over,
    }),
  )
const newClientId = async () =>
  (await createClient(platformCtx(ctx.tenant), { name: 'App', appType: 'web', type: 'login' })).client.id
const eventsOf = async (type: string) => (await logOf(ctx.tenant)).filter((event) => event.type === type)
const rowOf = async (id: string) => {
  const [row] = await sql<Record<string, unknown>>(
    'SELECT * FROM "Session" WHERE "tenantId" = $1 AND "id" = $2',
    [ctx.tenant, id],
  )
  return row
}
const seenAtOfUser = async () => {
  const [row] = await sql<{ lastSeenAt: Date | null; updatedAt: Date }>(
    'SELECT "lastSeenAt", "updatedAt" FROM "User" WHERE "tenantId" = $1 AND "id" = $2',
    [ctx.tenant, userId],
  )
  return row
}
/** Only the clock: timers must go on for the database. */
const at = (time: number) => vi.useFakeTimers({ toFake: ['Date'], now: time })

async function newGrant(sessionId: string, offline: boolean): Promise<string> {
  const id = newId('grant')
  await sql(
    `INSERT INTO "Grant" ("tenantId", "id", "clientId", "userId", "sessionId", "scopes", "offline", "authenticatedAt", "idleExpiresAt", "expiresAt")
     VALUES ($1, $2, $3, $4, $5, '{openid}', $6, now(), now() + interval '1 day', now() + interval '1 day')`,
    [ctx.tenant, id, await newClientId(), userId, sessionId, offline],
  )
  return id
}
const isRevoked = async (grantId: string) => {
  const [row] = await sql<{ revoked: boolean }>(
    'SELECT "revokedAt" IS NOT NULL AS "revoked" FROM "Grant" WHERE "tenantId" = $1 AND "id" = $2',
    [ctx.tenant, grantId],
  )
  return row?.revoked
}

describe('starting a session', () => {
  it('stores the hash of a token of 256 bits only, and writes session.started', async () => {
    const { session, token } = await start({ seenFrom: { ip: '192.0.2.1', userAgent: 'Phone' } })
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    expect(session).toEqual({
      tenantId: ctx.tenant,
      id: expect.stringMatching(/^session_/),
      userId,
      clientId: null,
      kind: 'api',
      parentId: null,
      grantId: null,
      rotatedAt: null,
      refreshable: true,
      authenticatedAt: expect.any(Date),
      amr: ['otp'],
      byManagement: false,
      lastSeenAt: expect.any(Date),
      lastSeenIp: '192.0.2.1',
      lastSeenLocation: null,
      userAgent: 'Phone',
      expiresAt: expect.any(Date),
      endedAt: null,
      endReason: null,
      updatedAt: expect.any(Date),
      createdAt: expect.any(Date),
    })
    expect(JSON.stringify(await rowOf(session.id))).not.toContain(token)
    expect(await eventsOf('session.started')).toEqual([
      expect.objectContaining({ userId, sessionId: session.id, detail: { kind: 'api' } }),
    ])
  })

  it('is refused for a locked user, an unknown one, one of another tenant, and below an ended session', async () => {
    const parent = await start({ kind: 'browser' })
    await endSession(ctx, parent.session.id, 'logout')
    await expect(start({ kind: 'oidc', parentId: parent.session.id })).rejects.toThrow(
      expect.objectContaining({ code: 'USER_LOCKED', status: 403 }),
    )
    await expect(start({ userId: newId('user') })).rejects.toThrow('locked')
    const other = await ctxFor(await newTenant())
    const stranger = await createUser(other, {})
    await expect(start({ userId: stranger.id })).rejects.toThrow('locked')
    await lockUser(ctx, userId)
    await expect(start()).rejects.toThrow('locked')
  })

  it('leaves no active session behind when the user is locked meanwhile', async () => {
    const starts = Array.from({ length: 20 }, () => start())
    const [, ...results] = await Promise.allSettled([lockUser(ctx, userId), ...starts])
    expect(results).toHaveLength(20)
    const rows = await sql<{ id: string }>(
      'SELECT "id" FROM "Session" WHERE "tenantId" = $1 AND "endedAt" IS NULL',
      [ctx.tenant],
    )
    expect(rows).toEqual([])
    const started = results.filter(({ status }) => status === 'fulfilled').length
    expect(await eventsOf('session.ended')).toHaveLength(started)
  })
})

describe('authenticating a session token', () => {
  it('answers session and user, and no token unless it was rotated', async () => {
    const { session, token } = await start()
    const answer = await authenticateSession(ctx, { sessionToken: token })
    expect(answer).toEqual({ session, sessionToken: null, user: expect.objectContaining({ id: userId }) })
    expect(answer.session).not.toHaveProperty('tokenHash')
    expect(await eventsOf('session.refreshed')).toEqual([])
  })

  it.each([
    ['wrong', (token: string) => `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`],
    ['truncated', (token: string) => token.slice(0, -1)],
    ['lengthened', (token: string) => `${token}A`],
    ['of the other case', (token: string) => token.toUpperCase()],
  ])('refuses a token that is %s', async (_what, change) => {
    const { token } = await start()
    await expect(authenticateSession(ctx, { sessionToken: change(token) })).rejects.toThrow(INVALID)
  })

  it('refuses the token of an ended or expired session, of a locked user and of another tenant, all alike', async () => {
    const ended = await start()
    await revokeSession(ctx, ended.session.id)
    await expect(authenticateSession(ctx, { sessionToken: ended.token })).rejects.toThrow(INVALID)
    const expired = await start({ expiresAt: inMinutes(-1) })
    await expect(authenticateSession(ctx, { sessionToken: expired.token })).rejects.toThrow(INVALID)
    const { token } = await start()
    const other = await ctxFor(await newTenant())
    await expect(authenticateSession(other, { sessionToken: token })).rejects.toThrow(INVALID)
    await sql('UPDATE "User" SET "locked" = true WHERE "tenantId" = $1', [ctx.tenant])
    await expect(authenticateSession(ctx, { sessionToken: token })).rejects.toThrow(INVALID)
  })

  it('moves the end of a refreshable session to so many minutes from now, with its event', async () => {
    const { session, token } = await start()
    const answer = await authenticateSession(ctx, { sessionToken: token, sessionExpirationMinutes: 129_600 })
    const minutes = (answer.session.expiresAt.getTime() - Date.now()) / MINUTE
    expect(minutes).toBeGreaterThan(129_599)
    expect(minutes).toBeLessThanOrEqual(129_600)
    expect(answer.session.updatedAt.getTime()).toBeGreaterThan(session.updatedAt.getTime())
    expect(answer.sessionToken).toBeNull()
    expect(await getSession(ctx, session.id)).toEqual(answer.session)
    expect(await eventsOf('session.refreshed')).toEqual([
      expect.objectContaining({ userId, sessionId: session.id, detail: { rotated: false } }),
    ])
  })

  it('does not move the end for 0 minutes, nor that of a session that is not refreshable', async () => {
    const { session, token } = await start()
    const zero = await authenticateSession(ctx, { sessionToken: token, sessionExpirationMinutes: 0 })
    expect(zero.session.expiresAt).toEqual(session.expiresAt)
    const fixed = await start({ refreshable: false })
    const answer = await authenticateSession(ctx, {
      sessionToken: fixed.token,
      sessionExpirationMinutes: 1000,
    })
    expect(answer.session).toEqual(fixed.session)
    expect(await eventsOf('session.refreshed')).toEqual([])
  })

  it('demands the client that a session was started through, and nothing else', async () => {
    const clientId = await newClientId()
    const { token } = await start({ kind: 'oidc', clientId })
    const wrong = [undefined, null, '', await newClientId()]
    for (const other of wrong)
      await expect(authenticateSession(ctx, { sessionToken: token, clientId: other })).rejects.toThrow(
        INVALID,
      )
    const answer = await authenticateSession(ctx, { sessionToken: token, clientId })
    expect(answer.session.clientId).toBe(clientId)
    const own = await start()
    await authenticateSession(ctx, { sessionToken: own.token, clientId })
  })

  it('writes lastSeenAt at most once a minute, without moving updatedAt', async () => {
    const began = Date.now()
    at(began)
    const { session, token } = await start()
    at(began + 59_000)
    await authenticateSession(ctx, { sessionToken: token, metadata: { ipAddress: '192.0.2.7' } })
    expect(await rowOf(session.id)).toMatchObject({ lastSeenAt: session.lastSeenAt, lastSeenIp: '127.0.0.1' })
    const before = await seenAtOfUser()
    at(began + 2 * MINUTE)
    const metadata = { deviceToken: 'd', userAgent: 'Phone', ipAddress: '2001:db8::1' }
    const answer = await authenticateSession(ctx, { sessionToken: token, metadata })
    expect(answer.session).toEqual({
      ...session,
      lastSeenAt: new Date(began + 2 * MINUTE),
      lastSeenIp: '2001:db8::1',
      userAgent: 'Phone',
    })
    const after = await seenAtOfUser()
    expect(after).toEqual({ lastSeenAt: new Date(began + 2 * MINUTE), updatedAt: before?.updatedAt })
    expect(await eventsOf('session.refreshed')).toEqual([])
  })

  it('names every faulty field at once', async () => {
    const attempt = authenticateSession(ctx, {
      sessionToken: '',
      sessionExpirationMinutes: 129_601,
      rotateSessionToken: 'yes',
      metadata: { ipAddress: '192.0.2.300', color: 'red' },
      extra: 1,
    })
    await expect(attempt).rejects.toThrow(
      expect.objectContaining({
        fields: [
          { field: 'sessionToken', description: 'must not be empty' },
          { field: 'sessionExpirationMinutes', description: 'must be a whole number from 0 to 129600' },
          { field: 'rotateSessionToken', description: 'must be true or false' },
          { field: 'metadata.ipAddress', description: 'must be an IPv4 or IPv6 address' },
          { field: 'metadata.color', description: 'is not a field of this request' },
          { field: 'extra', description: 'is not a field of this request' },
        ],
      }),
    )
  })

  it('answers parallel refreshes of one session', async () => {
    const { session, token } = await start()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        authenticateSession(ctx, { sessionToken: token, sessionExpirationMinutes: 5 }),
      ),
    )
    expect(answers.map((answer) => answer.session.id)).toEqual(Array(20).fill(session.id))
  })

  it.runIf(isPostgres)('is one statement, whatever is asked', async () => {
    const { token } = await start()
    expect(await countStatements(() => authenticateSession(ctx, { sessionToken: token }))).toBe(1)
    const all = { sessionToken: token, sessionExpirationMinutes: 5, rotateSessionToken: true }
    expect(await countStatements(() => authenticateSession(ctx, all))).toBe(1)
  })
})

describe('rotating a session token', () => {
  it('answers a new token; the old one works 10 s longer', async () => {
    const began = Date.now()
    at(began)
    const { session, token } = await start()
    const { sessionToken } = await authenticateSession(ctx, { sessionToken: token, rotateSessionToken: true })
    expect(Buffer.from(sessionToken ?? '', 'base64url')).toHaveLength(32)
    expect(sessionToken).not.toBe(token)
    at(began + 9_900)
    const old = await authenticateSession(ctx, { sessionToken: token })
    expect(old).toMatchObject({ session: { id: session.id }, sessionToken: null })
    at(began + 10_100)
    await expect(authenticateSession(ctx, { sessionToken: token })).rejects.toThrow(INVALID)
    const current = await authenticateSession(ctx, { sessionToken: sessionToken ?? '' })
    expect(current.session.id).toBe(session.id)
    expect(await eventsOf('session.refreshed')).toEqual([
      expect.objectContaining({ sessionId: session.id, detail: { rotated: true } }),
    ])
  })

  it('answers a retry with the old token the same new one, so that a lost answer loses no session', async () => {
    const { token } = await start()
    const rotate = () => authenticateSession(ctx, { sessionToken: token, rotateSessionToken: true })
    const first = await rotate()
    const retries = await Promise.all([rotate(), rotate()])
    expect(retries.map(({ sessionToken }) => sessionToken)).toEqual([first.sessionToken, first.sessionToken])
    await authenticateSession(ctx, { sessionToken: first.sessionToken })
  })

  it('answers parallel rotations one and the same new token', async () => {
    const { token } = await start()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        authenticateSession(ctx, { sessionToken: token, rotateSessionToken: true }),
      ),
    )
    const tokens = new Set(answers.map(({ sessionToken }) => sessionToken))
    expect(tokens.size).toBe(1)
    const [successor] = tokens
    await authenticateSession(ctx, { sessionToken: successor })
  })

  it('never touches the token of a browser session, which is in the cookie', async () => {
    const { session, token } = await inTransaction((sql) =>
      startBrowserSession(sql, ctx, { userId, amr: ['otp'] }),
    )
    const answer = await authenticateSession(ctx, {
      sessionToken: token,
      rotateSessionToken: true,
      sessionExpirationMinutes: 60,
    })
    expect(answer).toMatchObject({
      session: { id: session.id, expiresAt: session.expiresAt },
      sessionToken: null,
    })
    expect(await findBrowserSession(ctx.tenant, token)).toMatchObject({ id: session.id })
  })
})

describe('the browser session behind a cookie', () => {
  const startBrowser = () => inTransaction((sql) => startBrowserSession(sql, ctx, { userId, amr: ['otp'] }))

  it('ends 12 h after its last use and 30 days after its start', async () => {
    const began = Date.now()
    const hours = (count: number) => new Date(began + count * 60 * MINUTE)
    at(began)
    const { session, token } = await startBrowser()
    expect(session.expiresAt).toEqual(hours(12))
    expect(await findBrowserSession(ctx.tenant, token, hours(11.9))).toEqual({
      id: session.id,
      userId,
      authenticatedAt: session.authenticatedAt,
      amr: ['otp'],
      expiresAt: hours(12),
    })
    expect(await findBrowserSession(ctx.tenant, token, hours(23.8))).not.toBeNull()
    expect(await findBrowserSession(ctx.tenant, token, hours(23.8 + 12.1))).toBeNull()
    const second = await startBrowser()
    for (let hour = 10; hour < 30 * 24; hour += 10)
      expect(await findBrowserSession(ctx.tenant, second.token, hours(hour))).not.toBeNull()
    expect(await findBrowserSession(ctx.tenant, second.token, hours(30 * 24 + 0.1))).toBeNull()
  })

  it('is null for other kinds, other tenants, ended sessions and locked users', async () => {
    const api = await start()
    expect(await findBrowserSession(ctx.tenant, api.token)).toBeNull()
    const { session, token } = await startBrowser()
    expect(await findBrowserSession(await newTenant(), token)).toBeNull()
    await sql('UPDATE "User" SET "locked" = true WHERE "tenantId" = $1', [ctx.tenant])
    expect(await findBrowserSession(ctx.tenant, token)).toBeNull()
    await sql('UPDATE "User" SET "locked" = false WHERE "tenantId" = $1', [ctx.tenant])
    await endSession(ctx, session.id, 'logout')
    expect(await findBrowserSession(ctx.tenant, token)).toBeNull()
  })

  it.runIf(isPostgres)('is found in one statement', async () => {
    const { token } = await startBrowser()
    expect(await countStatements(() => findBrowserSession(ctx.tenant, token, inMinutes(5)))).toBe(1)
  })
})

describe('ending sessions', () => {
  it('ends the OIDC sessions, revokes the grants that are not offline and deletes unused codes with it', async () => {
    const { session } = await start({ kind: 'browser', refreshable: false })
    const child = await start({ kind: 'oidc', clientId: await newClientId(), parentId: session.id })
    const other = await start()
    const [online, offline] = [await newGrant(session.id, false), await newGrant(session.id, true)]
    for (const [code, usedAt] of [
      ['unused', null],
      ['used', new Date()],
    ] as const)
      await sql(
        `INSERT INTO "AuthorizationCode" ("tenantId", "codeHash", "grantId", "clientId", "userId", "sessionId", "redirectUri", "scopes", "authenticatedAt", "expiresAt", "usedAt")
         VALUES ($1, $2, 'g', 'c', $3, $4, 'https://a.test', '{}', now(), now() + interval '1 minute', $5)`,
        [ctx.tenant, Buffer.from(code), userId, session.id, usedAt],
      )
    expect(await revokeSession(ctx, session.id)).toEqual({ revokedSessionId: session.id })
    await expect(
      authenticateSession(ctx, { sessionToken: child.token, clientId: child.session.clientId }),
    ).rejects.toThrow(INVALID)
    expect([await isRevoked(online), await isRevoked(offline)]).toEqual([true, false])
    expect(
      await sql('SELECT "codeHash" FROM "AuthorizationCode" WHERE "tenantId" = $1', [ctx.tenant]),
    ).toEqual([{ codeHash: Buffer.from('used') }])
    const ended = (id: string, subjectIds: unknown[]) =>
      expect.objectContaining({ userId, sessionId: id, subjectIds, detail: { reason: 'revoked' } })
    expect(await eventsOf('session.ended')).toEqual([
      ended(session.id, []),
      ended(child.session.id, [child.session.clientId]),
    ])
    expect(await eventsOf('grant.revoked')).toEqual([ended(session.id, [online, expect.any(String)])])
    expect(await getSession(ctx, other.session.id)).toEqual(other.session)
  })

  it('answers NotFound for an ended, expired, foreign or unknown session', async () => {
    const notFound = expect.objectContaining({ status: 404 })
    const { session } = await start()
    const other = await ctxFor(await newTenant())
    await expect(revokeSession(other, session.id)).rejects.toThrow(notFound)
    await expect(getSession(other, session.id)).rejects.toThrow(notFound)
    await revokeSession(ctx, session.id)
    await expect(revokeSession(ctx, session.id)).rejects.toThrow(notFound)
    await expect(getSession(ctx, session.id)).rejects.toThrow(notFound)
    const expired = await start({ expiresAt: inMinutes(-1) })
    await expect(revokeSession(ctx, expired.session.id)).rejects.toThrow(notFound)
    await expect(getSession(ctx, expired.session.id)).rejects.toThrow(notFound)
    await expect(revokeSession(ctx, newId('session'))).rejects.toThrow(notFound)
    expect(await endSession(ctx, session.id, 'logout')).toBe(false)
  })

  it('takes effect once, however often it is asked at the same time', async () => {
    const { session } = await start()
    const results = await Promise.all(Array.from({ length: 10 }, () => endSession(ctx, session.id, 'logout')))
    expect(results.filter(Boolean)).toEqual([true])
    expect(await eventsOf('session.ended')).toHaveLength(1)
  })

  it('ends all sessions of a user and of nobody else', async () => {
    const mine = [(await start()).session.id, (await start()).session.id]
    const neighbour = await createUser(ctx, {})
    const theirs = await start({ userId: neighbour.id })
    expect(await revokeUserSessions(ctx, userId)).toEqual({ revokedSessionIds: mine })
    expect(await revokeUserSessions(ctx, userId)).toEqual({ revokedSessionIds: [] })
    expect(await getSession(ctx, theirs.session.id)).toEqual(theirs.session)
    await expect(revokeUserSessions(ctx, newId('user'))).rejects.toThrow('No such user.')
  })
})

describe('listing the sessions of a user', () => {
  it('pages by offset and by cursor through the active ones', async () => {
    const all: string[] = []
    for (let i = 0; i < 5; i++) all.push((await start()).session.id)
    await revokeSession(ctx, all[2] ?? '')
    await start({ expiresAt: inMinutes(-1) })
    const active = all.filter((_, index) => index !== 2)
    const ids = (page: { rows: { id: string }[] }) => page.rows.map(({ id }) => id)
    const first = await listUserSessions(ctx, userId, { pageSize: 3 })
    expect(ids(first)).toEqual(active.slice(0, 3))
    expect(first).toMatchObject({ page: 0, pageSize: 3, hasNextPage: true, hasPreviousPage: false })
    expect(await first.countAll()).toBe(4)
    expect(first.rows[0]).not.toHaveProperty('tokenHash')
    expect(ids(await listUserSessions(ctx, userId, { page: 1, pageSize: 3 }))).toEqual(active.slice(3))
    const [row] = first.rows
    const after = row && first.cursorOf(row)
    expect(ids(await listUserSessions(ctx, userId, { first: 2, after }))).toEqual(active.slice(1, 3))
    expect(ids(await listUserSessions(ctx, userId, { last: 2 }))).toEqual(active.slice(2))
    await expect(listUserSessions(ctx, newId('user'), {})).rejects.toThrow('No such user.')
  })

  it.runIf(isPostgres)('is one statement', async () => {
    expect(await countStatements(() => listUserSessions(ctx, userId, {}))).toBe(1)
    expect(await countStatements(() => listUserSessions(ctx, userId, { pageSize: 1000 }))).toBe(1)
  })
})

describe('everything at once', () => {
  it('uses, ends, revokes and locks the same sessions without a deadlock', async () => {
    const parents = await Promise.all(
      Array.from({ length: 4 }, () => start({ kind: 'browser', refreshable: false })),
    )
    const clientId = await newClientId()
    const started = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        start({ kind: 'oidc', clientId, parentId: parents[i % 4]?.session.id }),
      ),
    )
    // Stale, so that each use writes the session and the user.
    await sql(`UPDATE "Session" SET "lastSeenAt" = now() - interval '1 hour' WHERE "tenantId" = $1`, [
      ctx.tenant,
    ])
    const uses = () =>
      started.map(({ token }) =>
        authenticateSession(ctx, { sessionToken: token, clientId, sessionExpirationMinutes: 5 }),
      )
    const results = await Promise.allSettled([
      ...uses(),
      ...parents.slice(0, 2).map(({ session }) => endSession(ctx, session.id, 'logout')),
      ...parents.map(({ token }) => findBrowserSession(ctx.tenant, token)),
      ...uses(),
      revokeUserSessions(ctx, userId),
      ...uses(),
      lockUser(ctx, userId),
      ...uses(),
    ])
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'INVALID_CREDENTIAL' })
    expect(
      await sql('SELECT "id" FROM "Session" WHERE "tenantId" = $1 AND "endedAt" IS NULL', [ctx.tenant]),
    ).toEqual([])
    expect(await eventsOf('session.ended')).toHaveLength(16)
  })
})
