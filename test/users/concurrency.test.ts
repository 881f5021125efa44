import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import type { Ctx } from '../../src/context/context.ts'
import { newId } from '../../src/core/crypto.ts'
import { listUsers } from '../../src/users/list/user-list.ts'
import { createUser, deleteUser, getUser, lockUser, updateUser } from '../../src/users/users.ts'
import { sql } from '../support/database.ts'
import { toTypes } from '../support/events.ts'
import { test } from '../support/tenant-per-test.ts'
import { startApiSession } from '../support/user-sessions.ts'

/** The sessions of a user that have not ended. */
const listActiveSessions = (ctx: Ctx, userId: string) =>
  sql<{ id: string }>(
    `SELECT "id" FROM "Session" WHERE "tenantId" = $1 AND "userId" = $2 AND "endedAt" IS NULL`,
    [ctx.tenant, userId],
  )

/** Starts `work` several times at once and waits for all of them. */
const runTimes = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.allSettled(Array.from({ length: count }, (_, index) => work(index)))

const countFulfilled = (results: PromiseSettledResult<unknown>[]): number =>
  results.filter(({ status }) => status === 'fulfilled').length

/** The different error codes of the rejections; the text of an error that has none. */
const listCodes = (results: PromiseSettledResult<unknown>[]): string[] => [
  ...new Set(
    results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason.code ?? String(result.reason)] : [],
    ),
  ),
]

describe('concurrent calls', () => {
  test('create exactly one of 20 users with the same email address', async ({ ctx }) => {
    const results = await runTimes(20, (i) =>
      createUser(ctx, { email: i % 2 ? 'race@example.com' : 'RACE@Example.COM' }),
    )
    expect(countFulfilled(results)).toBe(1)
    expect(listCodes(results)).toEqual(['CONFLICT'])
  })

  test('assign a phone number to exactly one of 10 users', async ({ ctx }) => {
    const users = await Promise.all(Array.from({ length: 10 }, () => createUser(ctx, {})))
    const results = await runTimes(10, (i) =>
      updateUser(ctx, users[i]?.id ?? '', { phoneNumber: '+14155552671' }),
    )
    expect(countFulfilled(results)).toBe(1)
    expect(listCodes(results)).toEqual(['CONFLICT'])
  })

  test('store each of 20 changes of different fields', async ({ ctx, events }) => {
    const { id } = await createUser(ctx, {})
    const fields = [
      'name',
      'givenName',
      'familyName',
      'middleName',
      'nickname',
      'preferredUsername',
      'gender',
    ]
    const others = [{ userMetadata: { kept: true } }, { locale: 'de' }, { address: { locality: 'L' } }]
    const changes = [...fields.map((field) => ({ [field]: `value of ${field}` })), ...others]
    const results = await runTimes(20, (i) => updateUser(ctx, id, changes[Math.min(i, changes.length - 1)]))
    expect(listCodes(results)).toEqual([])
    expect(await getUser(ctx, id)).toMatchObject({
      ...Object.fromEntries(fields.map((field) => [field, `value of ${field}`])),
      userMetadata: { kept: true },
      locale: 'de',
      addressLocality: 'L',
    })
    // Of 11 equal changes, one changes the user.
    expect((await events({ userId: id })).filter(({ type }) => type === 'user.updated')).toHaveLength(
      changes.length,
    )
  })

  test('record one lock when 10 callers lock a user', async ({ ctx, events }) => {
    const { id } = await createUser(ctx, {})
    const results = await runTimes(10, () => lockUser(ctx, id))
    expect(listCodes(results)).toEqual([])
    expect(toTypes(await events({ userId: id }))).toEqual(['user.created', 'user.locked'])
  })

  test('leave no active session that starts while its user is being locked', async ({ ctx, events }) => {
    for (let round = 0; round < 5; round++) {
      const { id } = await createUser(ctx, {})
      await startApiSession(ctx, id)
      const [started, locked] = await Promise.all([
        runTimes(12, async (i) => {
          await sleep(i)
          return startApiSession(ctx, id)
        }),
        runTimes(1, () => (round % 2 ? lockUser(ctx, id) : updateUser(ctx, id, { locked: true }))),
      ])
      expect(countFulfilled(locked)).toBe(1)
      expect(listCodes(started).filter((code) => code !== 'USER_LOCKED')).toEqual([])
      expect(await listActiveSessions(ctx, id)).toEqual([])
      const recorded = await events({ userId: id })
      const ended = recorded.filter(({ type }) => type === 'session.ended')
      expect(ended.every(({ detail }) => detail?.reason === 'locked')).toBe(true)
      expect(ended.map(({ sessionId }) => sessionId).sort()).toEqual(
        recorded
          .filter(({ type }) => type === 'session.started')
          .map(({ sessionId }) => sessionId)
          .sort(),
      )
      await expect(startApiSession(ctx, id)).rejects.toMatchObject({ code: 'USER_LOCKED' })
    }
  })

  test('delete a user once, and record the end of every session', async ({ tenant, ctx, events }) => {
    const { id } = await createUser(ctx, {})
    const session = await startApiSession(ctx, id)
    const results = await runTimes(10, () => deleteUser(ctx, id))
    expect([countFulfilled(results), listCodes(results)]).toEqual([1, ['NOT_FOUND']])
    const recorded = await events({ userId: id })
    expect(recorded.map(({ type, sessionId, detail }) => [type, sessionId, detail])).toEqual([
      ['user.created', null, null],
      ['session.started', session.session.id, { kind: 'api', method: 'passcode' }],
      ['session.ended', session.session.id, { reason: 'deleted' }],
      ['user.deleted', null, null],
    ])
    // The IP addresses of the user are deleted; those of the administrator are kept.
    expect(recorded.map(({ ip }) => ip)).toEqual([null, null, '127.0.0.1', '127.0.0.1'])
    expect(await sql(`SELECT FROM "Session" WHERE "tenantId" = $1 AND "userId" = $2`, [tenant, id])).toEqual(
      [],
    )
  })

  test('count users exactly while they are created and deleted', async ({ ctx }) => {
    const users = await Promise.all(Array.from({ length: 20 }, () => createUser(ctx, {})))
    await Promise.all([
      ...users.slice(0, 12).map(({ id }) => deleteUser(ctx, id)),
      ...Array.from({ length: 20 }, () => createUser(ctx, {})),
      ...Array.from({ length: 5 }, () => createUser(ctx, { email: 'one@example.com' }).catch(() => null)),
    ])
    const page = await listUsers(ctx, { pageSize: 1000 })
    expect([page.rows.length, await page.countAll()]).toEqual([29, 29])
  })
})

describe('a lock of a user', () => {
  test('ends sessions, revokes grants, and voids live passcodes', async ({ tenant, ctx, events }) => {
    const { id } = await createUser(ctx, { email: 'access@example.com' })
    const { session } = await startApiSession(ctx, id)
    const clientId = ctx.actor.kind === 'client' ? ctx.actor.clientId : ''
    const grantId = newId('grant')
    await sql(
      `INSERT INTO "Grant" ("tenantId", "id", "clientId", "userId", "scopes", "offline", "authenticatedAt", "idleExpiresAt", "expiresAt")
       VALUES ($1, $2, $3, $4, '{}', true, now(), now() + interval '1 day', now() + interval '1 day')`,
      [tenant, grantId, clientId, id],
    )
    await sql(
      `INSERT INTO "Passcode" ("tenantId", "address", "channel", "userId", "codeHash", "attempts", "expiresAt", "sentAt")
       VALUES ($1, 'access@example.com', 'email', $2, '\\x02', 3, now() + interval '5 minutes', now())`,
      [tenant, id],
    )
    await lockUser(ctx, id)
    const left = await sql(
      `SELECT (SELECT "endReason" FROM "Session" WHERE "tenantId" = $1 AND "id" = $3) AS "session",
        (SELECT "revokedAt" IS NOT NULL FROM "Grant" WHERE "tenantId" = $1 AND "id" = $4) AS "revoked",
        (SELECT "codeHash" <> '\\x02' AND "attempts" = 3 FROM "Passcode" WHERE "tenantId" = $1 AND "userId" = $2) AS "cleared"`,
      [tenant, id, session.id, grantId],
    )
    expect(left).toEqual([{ session: 'locked', revoked: true, cleared: true }])
    expect(toTypes(await events({ userId: id }))).toEqual([
      'user.created',
      'session.started',
      'user.locked',
      'session.ended',
      'grant.revoked',
    ])
  })
})
