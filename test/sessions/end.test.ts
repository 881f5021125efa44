import { describe, expect } from 'vitest'
import { newId } from '../../src/core/crypto.ts'
import { authenticateSession } from '../../src/sessions/authenticate-session.ts'
import { revokeSession, revokeUserSessions } from '../../src/sessions/revoke-sessions.ts'
import { endSession, findBrowserSession, getSession } from '../../src/sessions/sessions.ts'
import { createUser, lockUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import { test as base, INVALID_SESSION_TOKEN, inMinutes } from '../support/sessions.ts'

/** With grants of the user. */
const test = base
  .extend('newGrant', ({ ctx, userId, newClientId }) => async (sessionId: string, offline: boolean) => {
    const id = newId('grant')
    await sql(
      `INSERT INTO "Grant" ("tenantId", "id", "clientId", "userId", "sessionId", "scopes", "offline", "authenticatedAt", "idleExpiresAt", "expiresAt")
     VALUES ($1, $2, $3, $4, $5, '{openid}', $6, now(), now() + interval '1 day', now() + interval '1 day')`,
      [ctx.tenant, id, await newClientId(), userId, sessionId, offline],
    )
    return id
  })
  .extend('isRevoked', ({ ctx }) => async (grantId: string) => {
    const [row] = await sql<{ revoked: boolean }>(
      'SELECT "revokedAt" IS NOT NULL AS "revoked" FROM "Grant" WHERE "tenantId" = $1 AND "id" = $2',
      [ctx.tenant, grantId],
    )
    return row?.revoked
  })

describe('revokeSession', () => {
  test('ends the OIDC sessions and revokes the grants of the session that are not offline', async ({
    ctx,
    events,
    userId,
    start,
    newClientId,
    newGrant,
    isRevoked,
  }) => {
    const { session } = await start({ kind: 'browser', refreshable: false })
    const child = await start({ kind: 'oidc', clientId: await newClientId(), parentId: session.id })
    const other = await start()
    const [online, offline] = [await newGrant(session.id, false), await newGrant(session.id, true)]
    expect(await revokeSession(ctx, session.id)).toEqual({ revokedSessionId: session.id })
    await expect(
      authenticateSession(ctx, { sessionToken: child.token, clientId: child.session.clientId }),
    ).rejects.toThrow(INVALID_SESSION_TOKEN)
    expect([await isRevoked(online), await isRevoked(offline)]).toEqual([true, false])
    const ended = (id: string, subjectIds: unknown[]) =>
      expect.objectContaining({ userId, sessionId: id, subjectIds, detail: { reason: 'revoked' } })
    expect(await events({ type: 'session.ended' })).toEqual([
      ended(session.id, []),
      ended(child.session.id, [child.session.clientId]),
    ])
    expect(await events({ type: 'grant.revoked' })).toEqual([ended(session.id, [online, expect.any(String)])])
    expect(await getSession(ctx, other.session.id)).toEqual(other.session)
  })

  test('rejects an ended, expired or unknown session and one of another tenant with NotFound', async ({
    ctx,
    start,
  }) => {
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

  test('ends a session once for ten concurrent calls of endSession', async ({ ctx, events, start }) => {
    const { session } = await start()
    const results = await Promise.all(Array.from({ length: 10 }, () => endSession(ctx, session.id, 'logout')))
    expect(results.filter(Boolean)).toEqual([true])
    expect(await events({ type: 'session.ended' })).toHaveLength(1)
  })

  test('ends all sessions of one user with revokeUserSessions, and none of another user', async ({
    ctx,
    userId,
    start,
  }) => {
    const mine = [(await start()).session.id, (await start()).session.id]
    const neighbour = await createUser(ctx, {})
    const theirs = await start({ userId: neighbour.id })
    expect(await revokeUserSessions(ctx, userId)).toEqual({ revokedSessionIds: mine })
    expect(await revokeUserSessions(ctx, userId)).toEqual({ revokedSessionIds: [] })
    expect(await getSession(ctx, theirs.session.id)).toEqual(theirs.session)
    await expect(revokeUserSessions(ctx, newId('user'))).rejects.toThrow('No such user.')
  })
})

describe('concurrent use, end, revocation and lock', () => {
  test('end every session without a deadlock', async ({
    ctx,
    events,
    userId,
    start,
    newClientId,
    listActiveIds,
  }) => {
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
    expect(await listActiveIds()).toEqual([])
    expect(await events({ type: 'session.ended' })).toHaveLength(16)
  })
})
