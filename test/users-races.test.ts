import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { newId } from '../src/crypto.ts'
import type { Ctx } from '../src/ctx.ts'
import { inTransaction, sql } from '../src/db.ts'
import { startSession } from '../src/sessions/sessions.ts'
import { listUsers } from '../src/users/user-list.ts'
import { createUser, deleteUser, getUser, lockUser, updateUser } from '../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from './support/actors.ts'
import { recordStatements } from './support/statements.ts'
import { openSurfaces, type Surfaces } from './support/surfaces.ts'

let surfaces: Surfaces
let ctx: Ctx

beforeAll(async () => {
  surfaces = await openSurfaces()
  ctx = await ctxFor(await newTenant())
})
afterAll(() => surfaces.close())

const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.allSettled(Array.from({ length: count }, (_, index) => work(index)))
const succeeded = (results: PromiseSettledResult<unknown>[]) =>
  results.filter(({ status }) => status === 'fulfilled').length
/** How the others failed; anything but one of our errors would be a 500. */
const codes = (results: PromiseSettledResult<unknown>[]) => [
  ...new Set(
    results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason.code ?? String(result.reason)] : [],
    ),
  ),
]

const start = (userId: string, now = new Date()) =>
  inTransaction((sql) =>
    startSession(
      sql,
      ctx,
      {
        userId,
        kind: 'api',
        expiresAt: new Date(now.getTime() + 3_600_000),
        refreshable: true,
        amr: ['otp'],
      },
      now,
    ),
  )
const eventsOf = (userId: string) =>
  sql<{ type: string; sessionId: string | null; detail: object | null; ip: string | null }>(
    `SELECT "type", "sessionId", "detail", "ip" FROM "Event" WHERE "tenantId" = $1 AND "userId" = $2 ORDER BY "era", "xid", "seq"`,
    [ctx.tenant, userId],
  )
const activeSessions = (userId: string) =>
  sql<{ id: string }>(
    `SELECT "id" FROM "Session" WHERE "tenantId" = $1 AND "userId" = $2 AND "endedAt" IS NULL`,
    [ctx.tenant, userId],
  )

describe('races', () => {
  it('creates exactly one of 20 users with one e-mail address', async () => {
    const results = await times(20, (i) =>
      createUser(ctx, { email: i % 2 ? 'race@example.com' : 'RACE@Example.COM' }),
    )
    expect(succeeded(results)).toBe(1)
    expect(codes(results)).toEqual(['CONFLICT'])
  })

  it('gives a phone number to exactly one of 10 users that take it', async () => {
    const users = await Promise.all(Array.from({ length: 10 }, () => createUser(ctx, {})))
    const results = await times(10, (i) =>
      updateUser(ctx, users[i]?.id ?? '', { phoneNumber: '+14155552671' }),
    )
    expect(succeeded(results)).toBe(1)
    expect(codes(results)).toEqual(['CONFLICT'])
  })

  it('loses none of 20 changes of different fields', async () => {
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
    const results = await times(20, (i) => updateUser(ctx, id, changes[Math.min(i, changes.length - 1)]))
    expect(codes(results)).toEqual([])
    expect(await getUser(ctx, id)).toMatchObject({
      ...Object.fromEntries(fields.map((field) => [field, `value of ${field}`])),
      userMetadata: { kept: true },
      locale: 'de',
      addressLocality: 'L',
    })
    // Of 11 equal changes, one was a change.
    expect((await eventsOf(id)).filter(({ type }) => type === 'user.updated')).toHaveLength(changes.length)
  })

  it('locks once, however many lock at a time', async () => {
    const { id } = await createUser(ctx, {})
    const results = await times(10, () => lockUser(ctx, id))
    expect(codes(results)).toEqual([])
    expect((await eventsOf(id)).map(({ type }) => type)).toEqual(['user.created', 'user.locked'])
  })

  it('leaves no session behind that was started while its user was being locked', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await createUser(ctx, {})
      await start(id)
      const [started, locked] = await Promise.all([
        times(12, async (i) => {
          await new Promise((resolve) => setTimeout(resolve, i))
          return start(id)
        }),
        times(1, () => (round % 2 ? lockUser(ctx, id) : updateUser(ctx, id, { locked: true }))),
      ])
      expect(succeeded(locked)).toBe(1)
      expect(codes(started).filter((code) => code !== 'USER_LOCKED')).toEqual([])
      expect(await activeSessions(id)).toEqual([])
      const events = await eventsOf(id)
      const ended = events.filter(({ type }) => type === 'session.ended')
      expect(ended.every(({ detail }) => (detail as { reason: string }).reason === 'locked')).toBe(true)
      expect(ended.map(({ sessionId }) => sessionId).sort()).toEqual(
        events
          .filter(({ type }) => type === 'session.started')
          .map(({ sessionId }) => sessionId)
          .sort(),
      )
      await expect(start(id)).rejects.toMatchObject({ code: 'USER_LOCKED' })
    }
  })

  it('deletes once, with every session told of as ended', async () => {
    const { id } = await createUser(ctx, {})
    const session = await start(id)
    const results = await times(10, () => deleteUser(ctx, id))
    expect([succeeded(results), codes(results)]).toEqual([1, ['NOT_FOUND']])
    const events = await eventsOf(id)
    expect(events.map(({ type, sessionId, detail }) => [type, sessionId, detail])).toEqual([
      ['user.created', null, null],
      ['session.started', session.session.id, { kind: 'api' }],
      ['session.ended', session.session.id, { reason: 'deleted' }],
      ['user.deleted', null, null],
    ])
    // Where the person was is forgotten; where the administrator was is not.
    expect(events.map(({ ip }) => ip)).toEqual([null, null, '127.0.0.1', '127.0.0.1'])
    expect(
      await sql(`SELECT FROM "Session" WHERE "tenantId" = $1 AND "userId" = $2`, [ctx.tenant, id]),
    ).toEqual([])
  })

  it('counts users exactly while they are created and deleted', async () => {
    const counted = await ctxFor(await newTenant())
    const users = await Promise.all(Array.from({ length: 20 }, () => createUser(counted, {})))
    await Promise.all([
      ...users.slice(0, 12).map(({ id }) => deleteUser(counted, id)),
      ...Array.from({ length: 20 }, () => createUser(counted, {})),
      ...Array.from({ length: 5 }, () => createUser(counted, { email: 'one@example.com' }).catch(() => null)),
    ])
    const page = await listUsers(counted, { pageSize: 1000 })
    expect([page.rows.length, await page.countAll()]).toEqual([29, 29])
  })
})

describe('access', () => {
  it('ends with a lock: sessions, grants, codes and live passcodes', async () => {
    const { id } = await createUser(ctx, { email: 'access@example.com' })
    const { session } = await start(id)
    const clientId = ctx.actor.kind === 'client' ? ctx.actor.clientId : ''
    const grantId = newId('grant')
    await sql(
      `INSERT INTO "Grant" ("tenantId", "id", "clientId", "userId", "scopes", "offline", "authenticatedAt", "idleExpiresAt", "expiresAt")
       VALUES ($1, $2, $3, $4, '{}', true, now(), now() + interval '1 day', now() + interval '1 day')`,
      [ctx.tenant, grantId, clientId, id],
    )
    await sql(
      `INSERT INTO "AuthorizationCode" ("tenantId", "codeHash", "grantId", "clientId", "userId", "sessionId", "redirectUri", "scopes", "authenticatedAt", "expiresAt")
       VALUES ($1, '\\x01', 'grant_x', $2, $3, $4, 'https://example.com', '{}', now(), now() + interval '1 minute')`,
      [ctx.tenant, clientId, id, session.id],
    )
    await sql(
      `INSERT INTO "Passcode" ("tenantId", "address", "channel", "userId", "codeHash", "attempts", "expiresAt", "sentAt")
       VALUES ($1, 'access@example.com', 'email', $2, '\\x02', 3, now() + interval '5 minutes', now())`,
      [ctx.tenant, id],
    )
    await lockUser(ctx, id)
    const left = await sql(
      `SELECT (SELECT "endReason" FROM "Session" WHERE "tenantId" = $1 AND "id" = $3) AS "session",
        (SELECT "revokedAt" IS NOT NULL FROM "Grant" WHERE "tenantId" = $1 AND "id" = $4) AS "revoked",
        (SELECT count(*)::int FROM "AuthorizationCode" WHERE "tenantId" = $1 AND "userId" = $2) AS "codes",
        (SELECT "codeHash" IS NULL AND "attempts" = 3 FROM "Passcode" WHERE "tenantId" = $1 AND "userId" = $2) AS "cleared"`,
      [ctx.tenant, id, session.id, grantId],
    )
    expect(left).toEqual([{ session: 'locked', revoked: true, codes: 0, cleared: true }])
    expect((await eventsOf(id)).map(({ type }) => type)).toEqual([
      'user.created',
      'session.started',
      'user.locked',
      'session.ended',
      'grant.revoked',
    ])
  })
})

describe.runIf(inject('database').kind === 'postgres')('statements (design, section 9)', () => {
  const count = async (work: () => Promise<unknown>) => (await recordStatements(work)).length

  it('makes as few round trips as the budget allows', async () => {
    const user = await createUser(ctx, { name: 'Warm' })
    await start(user.id)
    const page = await listUsers(ctx, { pageSize: 2 })
    expect({
      create: await count(() => createUser(ctx, { email: 'four@example.com' })),
      update: await count(() => updateUser(ctx, user.id, { name: 'Changed', email: 'five@example.com' })),
      lock: await count(() => lockUser(ctx, user.id)),
      unlock: await count(() => updateUser(ctx, user.id, { locked: false })),
      page: await count(() => listUsers(ctx, { page: 1, pageSize: 2 })),
      cursor: await count(() => listUsers(ctx, { first: 2, after: page.cursorOf(page.rows[0] ?? user) })),
      totalSize: await count(() => page.countAll()),
      get: await count(() => getUser(ctx, user.id)),
      delete: await count(() => deleteUser(ctx, user.id)),
    }).toEqual({
      create: 4,
      update: 4,
      lock: 5,
      unlock: 4,
      page: 1,
      cursor: 1,
      totalSize: 1,
      get: 1,
      delete: 5,
    })
  })

  it('answers a page over GraphQL and REST in one statement, and counts only when asked', async () => {
    const token = await tokenFor(ctx.tenant)
    const user = await createUser(ctx, {})
    await start(user.id)
    const gql = (selection: string) => () =>
      surfaces.gql(ctx.tenant, token, `{ users(pageSize: 50) { ${selection} } }`)
    const rest = () => surfaces.rest(ctx.tenant, token, 'GET', '/users')
    const warm = async (work: () => Promise<{ body: object }>) => {
      expect((await work()).body).not.toHaveProperty('errors')
      // Of three calls at most one falls on the end of the second that caches keep things.
      return Math.min(await count(work), await count(work), await count(work))
    }
    expect({
      page: await warm(gql('nodes { id name email }')),
      totalSize: await warm(gql('totalSize nodes { id }')),
      nested: await warm(gql('nodes { id sessions(first: 5) { nodes { id lastSeenAt } } }')),
      rest: await warm(rest),
    }).toEqual({ page: 1, totalSize: 2, nested: 1, rest: 2 })
  })

  it('reads a far page from the index, and a page by cursor without what lies before it', async () => {
    const far = await ctxFor(await newTenant())
    await sql(
      `INSERT INTO "User" ("tenantId", "id") SELECT $1, 'user_' || lpad(i::text, 26, '0') FROM generate_series(1, 20000) i`,
      [far.tenant],
    )
    const admin = new pg.Client({ connectionString: process.env.DATABASE_URL })
    await admin.connect()
    await admin.query('ANALYZE "User"').finally(() => admin.end())
    const plan = async (work: () => Promise<unknown>) => {
      const [text = ''] = await recordStatements(work)
      const values = text.includes('OFFSET')
        ? [far.tenant, 15_000, 51]
        : [far.tenant, `user_${'15000'.padStart(26, '0')}`, 51]
      const rows = await sql<{ 'QUERY PLAN': string }>(
        `EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ${text}`,
        values as never,
      )
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    }
    const offset = await plan(() => listUsers(far, { page: 300, pageSize: 50 }))
    expect(offset).toContain('Index Only Scan')
    const page = await listUsers(far, { pageSize: 1 })
    const cursor = await plan(() =>
      listUsers(far, { first: 50, after: page.cursorOf(page.rows[0] as never) }),
    )
    expect(cursor).toMatch(/Index Scan using "User_pkey"/)
    expect(Number(/shared hit=(\d+)/.exec(cursor)?.[1])).toBeLessThan(120)
  })
})
