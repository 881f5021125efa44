import { describe, expect } from 'vitest'
import { authenticateSession } from '../../src/sessions/authenticate-session.ts'
import { revokeSession } from '../../src/sessions/revoke-sessions.ts'
import { getSession } from '../../src/sessions/sessions.ts'
import { createUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import { MINUTE, setClock } from '../support/passcodes.ts'
import { test as base, INVALID_SESSION_TOKEN, inMinutes } from '../support/sessions.ts'
import { countStatements } from '../support/statements.ts'

/** With when the user was last seen. */
const test = base.extend('findUserSeen', ({ ctx, userId }) => async () => {
  const [row] = await sql<{ lastSeenAt: Date | null; updatedAt: Date }>(
    'SELECT "lastSeenAt", "updatedAt" FROM "User" WHERE "tenantId" = $1 AND "id" = $2',
    [ctx.tenant, userId],
  )
  return row
})

describe('authenticateSession', () => {
  test('returns the session and the user, and no token when it was not rotated', async ({
    ctx,
    events,
    userId,
    start,
  }) => {
    const { session, token } = await start()
    const answer = await authenticateSession(ctx, { sessionToken: token })
    expect(answer).toEqual({ session, sessionToken: null, user: expect.objectContaining({ id: userId }) })
    expect(answer.session).not.toHaveProperty('tokenHash')
    expect(await events({ type: 'session.refreshed' })).toEqual([])
  })

  test('returns to each of many concurrent calls its own session and user, and rejects the others', async ({
    ctx,
    start,
  }) => {
    const started = await Promise.all(
      Array.from({ length: 40 }, async () => start({ userId: (await createUser(ctx, {})).id })),
    )
    const calls = started.flatMap(({ session, token }, index) => [
      authenticateSession(ctx, { sessionToken: token }).then(({ session: { id }, user }) => [id, user.id]),
      authenticateSession(ctx, { sessionToken: `unknown${index}`.padEnd(43, 'x') }).catch(() => session.id),
    ])
    expect(await Promise.all(calls)).toEqual(
      started.flatMap(({ session }) => [[session.id, session.userId], session.id]),
    )
  })

  test.for<[name: string, change: (token: string) => string]>([
    ['wrong', (token: string) => `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`],
    ['truncated', (token: string) => token.slice(0, -1)],
    ['lengthened', (token: string) => `${token}A`],
    ['of the other case', (token: string) => token.toUpperCase()],
  ])('rejects a token that is %s', async ([_what, change], { ctx, start }) => {
    const { token } = await start()
    await expect(authenticateSession(ctx, { sessionToken: change(token) })).rejects.toThrow(
      INVALID_SESSION_TOKEN,
    )
  })

  test('rejects the token of an ended or expired session, of a locked user and of another tenant with the same error', async ({
    ctx,
    start,
  }) => {
    const ended = await start()
    await revokeSession(ctx, ended.session.id)
    await expect(authenticateSession(ctx, { sessionToken: ended.token })).rejects.toThrow(
      INVALID_SESSION_TOKEN,
    )
    const expired = await start({ expiresAt: inMinutes(-1) })
    await expect(authenticateSession(ctx, { sessionToken: expired.token })).rejects.toThrow(
      INVALID_SESSION_TOKEN,
    )
    const { token } = await start()
    const other = await ctxFor(await newTenant())
    await expect(authenticateSession(other, { sessionToken: token })).rejects.toThrow(INVALID_SESSION_TOKEN)
    await sql('UPDATE "User" SET "locked" = true WHERE "tenantId" = $1', [ctx.tenant])
    await expect(authenticateSession(ctx, { sessionToken: token })).rejects.toThrow(INVALID_SESSION_TOKEN)
  })

  test('sets the expiry of a refreshable session to sessionExpirationMinutes from now and records session.refreshed', async ({
    ctx,
    events,
    userId,
    start,
  }) => {
    const { session, token } = await start()
    const now = new Date(session.updatedAt.getTime() + MINUTE)
    const input = { sessionToken: token, sessionExpirationMinutes: 129_600 }
    const answer = await authenticateSession(ctx, input, now)
    expect(answer.session.expiresAt).toEqual(new Date(now.getTime() + 129_600 * MINUTE))
    expect(answer.session.updatedAt).toEqual(now)
    expect(answer.sessionToken).toBeNull()
    expect(await getSession(ctx, session.id)).toEqual(answer.session)
    expect(await events({ type: 'session.refreshed' })).toEqual([
      expect.objectContaining({ userId, sessionId: session.id, detail: { rotated: false } }),
    ])
  })

  test('leaves the expiry unchanged for 0 minutes and for a session that is not refreshable', async ({
    ctx,
    events,
    start,
  }) => {
    const { session, token } = await start()
    const zero = await authenticateSession(ctx, { sessionToken: token, sessionExpirationMinutes: 0 })
    expect(zero.session.expiresAt).toEqual(session.expiresAt)
    const fixed = await start({ refreshable: false })
    const answer = await authenticateSession(ctx, {
      sessionToken: fixed.token,
      sessionExpirationMinutes: 1000,
    })
    expect(answer.session).toEqual(fixed.session)
    expect(await events({ type: 'session.refreshed' })).toEqual([])
  })

  test('requires the clientId that an OIDC session was started with, and accepts any clientId for other sessions', async ({
    ctx,
    start,
    newClientId,
  }) => {
    const clientId = await newClientId()
    const { token } = await start({ kind: 'oidc', clientId })
    const wrong = [undefined, null, '', await newClientId()]
    for (const other of wrong)
      await expect(authenticateSession(ctx, { sessionToken: token, clientId: other })).rejects.toThrow(
        INVALID_SESSION_TOKEN,
      )
    const answer = await authenticateSession(ctx, { sessionToken: token, clientId })
    expect(answer.session.clientId).toBe(clientId)
    const own = await start()
    await authenticateSession(ctx, { sessionToken: own.token, clientId })
  })

  test('updates lastSeenAt at most once a minute, without changing updatedAt', async ({
    ctx,
    events,
    start,
    findRow,
    findUserSeen,
  }) => {
    const began = Date.now()
    setClock(began)
    const { session, token } = await start()
    setClock(began + 59_000)
    await authenticateSession(ctx, { sessionToken: token, metadata: { ipAddress: '192.0.2.7' } })
    expect(await findRow(session.id)).toMatchObject({
      lastSeenAt: session.lastSeenAt,
      lastSeenIp: '127.0.0.1',
    })
    const before = await findUserSeen()
    setClock(began + 2 * MINUTE)
    const metadata = { deviceToken: 'd', userAgent: 'Phone', ipAddress: '2001:db8::1' }
    const answer = await authenticateSession(ctx, { sessionToken: token, metadata })
    expect(answer.session).toEqual({
      ...session,
      lastSeenAt: new Date(began + 2 * MINUTE),
      lastSeenIp: '2001:db8::1',
      userAgent: 'Phone',
      deviceId: expect.any(String),
    })
    const after = await findUserSeen()
    expect(after).toEqual({ lastSeenAt: new Date(began + 2 * MINUTE), updatedAt: before?.updatedAt })
    expect(await events({ type: 'session.refreshed' })).toEqual([])
  })

  test('reports every invalid field at once', async ({ ctx }) => {
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

  test('accepts 20 concurrent refreshes of one session', async ({ ctx, start }) => {
    const { session, token } = await start()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        authenticateSession(ctx, { sessionToken: token, sessionExpirationMinutes: 5 }),
      ),
    )
    expect(answers.map((answer) => answer.session.id)).toEqual(Array(20).fill(session.id))
  })

  test('sends one statement, with and without refresh and rotation', async ({ ctx, start }) => {
    const { token } = await start()
    await authenticateSession(ctx, { sessionToken: token })
    expect(await countStatements(() => authenticateSession(ctx, { sessionToken: token }))).toBe(1)
    const all = { sessionToken: token, sessionExpirationMinutes: 5, rotateSessionToken: true }
    expect(await countStatements(() => authenticateSession(ctx, all))).toBe(1)
  })

  test('sends another statement when the use is recorded, once a minute', async ({ ctx, start }) => {
    const { token } = await start()
    const use = (minutes: number) =>
      countStatements(() => authenticateSession(ctx, { sessionToken: token }, inMinutes(minutes)))
    expect([await use(2), await use(2), await use(4)]).toEqual([2, 1, 2])
  })
})
