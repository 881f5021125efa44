import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Ctx, Scope } from '../src/ctx.ts'
import { inTransaction } from '../src/db.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { listUserSessions, startSession } from '../src/sessions/sessions.ts'
import { exportUsers } from '../src/users/export.ts'
import { BATCH_LINES, importUsers } from '../src/users/import.ts'
import { setUserRoles } from '../src/users/roles.ts'
import { createUser, deleteUser, getUser, getUserByEmail } from '../src/users/users.ts'
import { ctxFor, newTenant } from './support/actors.ts'
import { logOf } from './support/events.ts'
import { countStatements } from './support/statements.ts'

beforeAll(openRuntime)
afterAll(closeRuntime)

// biome-ignore lint/suspicious/noExplicitAny: results are compared whole
type Result = any

const toText = (lines: readonly (object | string)[]): string =>
  lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')

async function* inChunks(text: string | Buffer, size = 1000): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function take(results: AsyncIterable<object[]>): Promise<Result[]> {
  const taken: Result[] = []
  for await (const some of results) taken.push(...some)
  return taken
}

const run = (ctx: Ctx, lines: readonly (object | string)[], options: object = {}): Promise<Result[]> =>
  take(importUsers(ctx, inChunks(toText(lines)), options))

const statuses = (results: Result[]) => results.slice(0, -1).map(({ status }) => status)
const person = (n: number) => ({ externalId: `crm-${n}`, email: `p${n}@example.com`, name: `Person ${n}` })
const people = (count: number, from = 1) => Array.from({ length: count }, (_, i) => person(from + i))

describe('importing users', () => {
  it('creates, changes or leaves the user that each line is about, and sums up in the end', async () => {
    const ctx = await ctxFor(await newTenant())
    const first = await run(ctx, people(3))
    const ids = first.slice(0, 3).map(({ userId }) => userId)
    expect(first).toEqual([
      { line: 1, status: 'created', userId: expect.stringMatching(/^user_/) },
      { line: 2, status: 'created', userId: expect.stringMatching(/^user_/) },
      { line: 3, status: 'created', userId: expect.stringMatching(/^user_/) },
      { summary: { lastLine: 3, created: 3, updated: 0, unchanged: 0, failed: 0 } },
    ])
    const before = await getUser(ctx, ids[0])
    const again = await run(ctx, [person(1), { ...person(2), name: 'Ada', website: '' }, person(4)])
    expect(again).toEqual([
      { line: 1, status: 'unchanged', userId: ids[0] },
      { line: 2, status: 'updated', userId: ids[1] },
      { line: 3, status: 'created', userId: expect.any(String) },
      { summary: { lastLine: 3, created: 1, updated: 1, unchanged: 1, failed: 0 } },
    ])
    expect(await getUser(ctx, ids[0])).toEqual(before)
    expect(await getUser(ctx, ids[1])).toMatchObject({ name: 'Ada', externalId: 'crm-2' })
    const told = (await logOf(ctx.tenant)).filter(({ type }) => type.startsWith('user.'))
    expect(
      told.map(({ type, userId, changedFields, requestId }) => [type, userId, changedFields, requestId]),
    ).toEqual([
      ...ids.map((id) => ['user.created', id, [], ctx.requestId]),
      ['user.created', again[2].userId, [], ctx.requestId],
      ['user.updated', ids[1], ['name'], ctx.requestId],
    ])
  })

  it('takes every field as a creation does, and nothing else', async () => {
    const ctx = await ctxFor(await newTenant())
    const [result] = await run(ctx, [
      {
        email: 'Ada@Example.com',
        emailVerified: true,
        phoneNumber: '+43 1 5123456',
        locked: true,
        address: { locality: 'Wien' },
        zoneinfo: 'europe/vienna',
        appMetadata: { plan: 'pro' },
      },
    ])
    expect(await getUser(ctx, result.userId)).toMatchObject({
      email: 'Ada@Example.com',
      emailKey: 'ada@example.com',
      emailVerified: true,
      phoneNumber: '+4315123456',
      phoneNumberVerified: false,
      locked: true,
      lockedAt: expect.any(Date),
      addressLocality: 'Wien',
      zoneinfo: 'Europe/Vienna',
      appMetadata: { plan: 'pro' },
      roles: [],
    })
    expect((await logOf(ctx.tenant)).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['user.created', 'user.locked']),
    )
    const [refused] = await run(ctx, [
      { email: 'b@example.com', roles: ['admin'], tenantId: 'x', hasCredential: true },
    ])
    expect(refused).toEqual({
      line: 1,
      status: 'error',
      code: 'BAD_USER_INPUT',
      message: 'The request has invalid fields.',
      fields: ['roles', 'tenantId', 'hasCredential'].map((field) => ({
        field,
        description: 'is not a field of this request',
      })),
    })
  })

  it('names every faulty field of a line, and fails none of its neighbours', async () => {
    const ctx = await ctxFor(await newTenant())
    const results = await run(ctx, [
      person(1),
      { ...person(2), email: 'nobody', zoneinfo: 'Nowhere', locked: 'yes' },
      '{"email": "broken@example.com"',
      '[]',
      '{"email": "nul\\u0000@example.com", "name": "\\ud800"}',
      { externalId: 'x', phoneNumberVerified: true },
      {},
      { name: 'Nobody in particular' },
      person(3),
    ])
    expect(statuses(results)).toEqual([
      'created',
      'error',
      'error',
      'error',
      'error',
      'error',
      'error',
      'error',
      'created',
    ])
    const faults = results.slice(1, 8).map(({ fields }) => fields.map(({ field }: Result) => field))
    expect(faults).toEqual([
      ['email', 'zoneinfo', 'locked'],
      [''],
      [''],
      ['name', 'email', 'email'],
      ['phoneNumberVerified'],
      ['externalId'],
      ['externalId'],
    ])
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`x${n}`, n]))
    const [crowded] = await run(ctx, [many])
    expect(crowded.fields).toEqual([{ field: '', description: 'has more than 200 members' }])
    expect(results[2].fields[0].description).toBe('is not valid JSON')
    expect(results[3].fields[0].description).toBe('must be an object')
    expect(results.at(-1).summary).toEqual({ lastLine: 9, created: 2, updated: 0, unchanged: 0, failed: 7 })
  })

  it('reads what editors and spreadsheets write: byte order mark, CRLF, blank lines, no newline at the end', async () => {
    const ctx = await ctxFor(await newTenant())
    const text = `\uFEFF${JSON.stringify(person(1))}\r\n\r\n   \n\n${JSON.stringify({ ...person(2), name: 'Žofie 漢' })}`
    // Cut within characters of several bytes, and within line ends.
    for (const size of [1, 7, 100_000])
      expect(
        (await take(importUsers(ctx, inChunks(text, size)))).slice(0, 2).map(({ line }) => line),
      ).toEqual([1, 5])
    expect(await getUserByEmail(ctx, 'p2@example.com')).toMatchObject({ name: 'Žofie 漢' })
    expect(await take(importUsers(ctx, inChunks('')))).toEqual([
      { summary: { lastLine: 0, created: 0, updated: 0, unchanged: 0, failed: 0 } },
    ])
  })

  it('refuses lines that are too long or no UTF-8, and keeps nothing of them', async () => {
    const ctx = await ctxFor(await newTenant())
    const long = `{"email":"long@example.com","name":"${'x'.repeat(300_000)}"}`
    const bytes = Buffer.concat([
      Buffer.from(`${JSON.stringify(person(1))}\n${long}\n`),
      Buffer.from([0x7b, 0xff, 0x7d, 0x0a]),
      Buffer.from(JSON.stringify(person(2))),
    ])
    const results = await take(importUsers(ctx, inChunks(bytes, 65_536)))
    expect(statuses(results)).toEqual(['created', 'error', 'error', 'created'])
    expect(results[1].fields).toEqual([{ field: '', description: 'has more than 262144 bytes' }])
    expect(results[2].fields).toEqual([{ field: '', description: 'is not UTF-8' }])
    // What metadata may hold fits into a line.
    const blob = { data: '"'.repeat(30_000) }
    const [result] = await run(ctx, [{ email: 'big@example.com', appMetadata: blob, userMetadata: blob }])
    expect(result.status).toBe('created')
  })

  it('finds the user by externalId, else email, else phoneNumber, unless it is told by which', async () => {
    const ctx = await ctxFor(await newTenant())
    const mine = await createUser(ctx, { email: 'ada@example.com', phoneNumber: '+4315123456' })
    expect(await run(ctx, [{ email: 'ADA@example.com', name: 'By email' }])).toMatchObject([
      { status: 'updated', userId: mine.id },
      {},
    ])
    expect(
      await run(ctx, [
        { phoneNumber: '01 5123456', name: 'x' },
        { phoneNumber: '+43 1 5123456', name: 'By number' },
      ]),
    ).toMatchObject([{ status: 'created' }, { status: 'updated', userId: mine.id }, {}])
    // By externalId nobody is found, and the address is taken.
    expect(await run(ctx, [{ externalId: 'a', email: 'ada@example.com' }])).toEqual([
      {
        line: 1,
        status: 'error',
        code: 'CONFLICT',
        message: 'The value is taken.',
        fields: [{ field: 'email', description: 'is taken by another user' }],
      },
      expect.anything(),
    ])
    const adopt = [{ externalId: 'a', email: 'ada@example.com' }]
    expect(await run(ctx, adopt, { matchBy: 'email' })).toMatchObject([
      { status: 'updated', userId: mine.id },
      {},
    ])
    expect(await run(ctx, adopt)).toMatchObject([{ status: 'unchanged', userId: mine.id }, {}])
    expect(await run(ctx, [{ externalId: 'a' }], { matchBy: 'phoneNumber' })).toMatchObject([
      {
        status: 'error',
        fields: [{ field: 'phoneNumber', description: 'is needed to find the user of the line' }],
      },
      {},
    ])
    expect(() => importUsers(ctx, inChunks(''), { matchBy: 'name', startLine: 0, more: 1 })).toThrow(
      expect.objectContaining({
        fields: [
          expect.objectContaining({ field: 'matchBy' }),
          expect.objectContaining({ field: 'startLine' }),
          expect.objectContaining({ field: 'more' }),
        ],
      }),
    )
  })

  it('tells of a line whose keys belong to two users, by the fields that are taken', async () => {
    const ctx = await ctxFor(await newTenant())
    await run(ctx, [
      { externalId: 'a', email: 'a@example.com', phoneNumber: '+4315123451' },
      { externalId: 'b', email: 'b@example.com', phoneNumber: '+4315123452' },
    ])
    const results = await run(ctx, [
      { externalId: 'a', email: 'b@example.com', phoneNumber: '+4315123452' },
      { externalId: 'c', email: 'a@example.com' },
      { externalId: 'd', email: 'd@example.com' },
    ])
    expect(
      results.map(({ status, code, fields }) => [status, code, fields?.map(({ field }: Result) => field)]),
    ).toEqual([
      ['error', 'CONFLICT', ['email', 'phoneNumber']],
      ['error', 'CONFLICT', ['email']],
      ['created', undefined, undefined],
      [undefined, undefined, undefined],
    ])
  })

  it('lets lines take effect one after the other, also when they are about one user', async () => {
    const ctx = await ctxFor(await newTenant())
    const results = await run(ctx, [
      { externalId: 'a', email: 'old@example.com' },
      { externalId: 'a', email: 'new@example.com' },
      { externalId: 'b', email: 'old@example.com' },
      { externalId: 'b', email: 'b@example.com' },
      { externalId: 'c', email: 'old@example.com' },
      { externalId: 'a', email: 'new@example.com' },
    ])
    expect(statuses(results)).toEqual(['created', 'updated', 'created', 'updated', 'created', 'unchanged'])
    expect(results[0].userId).toBe(results[1].userId)
    expect(await getUserByEmail(ctx, 'old@example.com')).toMatchObject({ externalId: 'c' })
  })

  it('frees an address in one line and gives it away in a later one of the same batch', async () => {
    const ctx = await ctxFor(await newTenant())
    await run(ctx, [{ externalId: 'a', email: 'shared@example.com' }])
    const results = await run(ctx, [
      { externalId: 'a', email: 'other@example.com' },
      { externalId: 'b', email: 'shared@example.com' },
    ])
    expect(statuses(results)).toEqual(['updated', 'created'])
  })

  it('makes a new address unverified, and a flag without its address a fault of the line', async () => {
    const ctx = await ctxFor(await newTenant())
    await run(ctx, [{ externalId: 'a', email: 'a@example.com', emailVerified: true }])
    await run(ctx, [{ externalId: 'a', email: 'A@example.com', name: 'Ada' }])
    expect(await getUserByEmail(ctx, 'a@example.com')).toMatchObject({ emailVerified: true, name: 'Ada' })
    await run(ctx, [{ externalId: 'a', email: 'b@example.com' }])
    expect(await getUserByEmail(ctx, 'b@example.com')).toMatchObject({ emailVerified: false })
    const [result] = await run(ctx, [{ externalId: 'a', email: null, emailVerified: true }])
    expect(result).toMatchObject({ status: 'error', fields: [{ field: 'emailVerified' }] })
    expect(await getUserByEmail(ctx, 'b@example.com')).toMatchObject({ externalId: 'a' })
  })

  it('ends the sessions of whom it locks', async () => {
    const ctx = await ctxFor(await newTenant())
    const [{ userId }] = await run(ctx, [person(1)])
    await inTransaction((tx) =>
      startSession(tx, ctx, {
        userId,
        kind: 'api',
        expiresAt: new Date(Date.now() + 3_600_000),
        refreshable: true,
        amr: ['otp'],
      }),
    )
    expect(statuses(await run(ctx, [person(2), { externalId: 'crm-1', locked: true }, person(3)]))).toEqual([
      'created',
      'updated',
      'created',
    ])
    expect((await listUserSessions(ctx, userId, {})).rows).toEqual([])
    expect(statuses(await run(ctx, [{ externalId: 'crm-1', locked: true }]))).toEqual(['unchanged'])
    expect((await logOf(ctx.tenant)).map(({ type }) => type)).toEqual(
      expect.arrayContaining(['user.locked', 'session.ended']),
    )
  })

  it('does not change who gets into the account of somebody with more scopes than the caller', async () => {
    const tenant = await newTenant()
    const all = await ctxFor(tenant)
    const [{ userId }] = await run(all, [person(1)])
    await setUserRoles(all, userId, { roles: ['admin'] })
    const writer = await ctxFor(tenant, ['users:write'] satisfies Scope[])
    const results = await run(writer, [
      { externalId: 'crm-1', email: 'mine@example.com' },
      person(2),
      { externalId: 'crm-1', locked: true },
      { externalId: 'crm-1', nickname: 'Boss' },
    ])
    expect(results.map(({ status, code }) => [status, code])).toEqual([
      ['error', 'FORBIDDEN'],
      ['created', undefined],
      ['error', 'FORBIDDEN'],
      ['updated', undefined],
      [undefined, undefined],
    ])
    expect(await getUser(all, userId)).toMatchObject({
      email: 'p1@example.com',
      locked: false,
      nickname: 'Boss',
    })
  })

  it('does not let them lead an import of others to somebody with more scopes, either', async () => {
    const all = await ctxFor(await newTenant())
    const [{ userId }] = await run(all, [{ email: 'root@example.com', emailVerified: true }])
    await setUserRoles(all, userId, { roles: ['admin'] })
    const writer = await ctxFor(all.tenant, ['users:write'] satisfies Scope[])
    // Else the next import of the file that crm-666 is in would give the account to the address there.
    const planted = [{ email: 'root@example.com', externalId: 'crm-666' }]
    expect(await run(writer, planted, { matchBy: 'email' })).toMatchObject([
      { status: 'error', code: 'FORBIDDEN' },
      {},
    ])
    expect(await run(all, planted, { matchBy: 'email' })).toMatchObject([{ status: 'updated', userId }, {}])
  })

  it('goes on from a line, with the numbers of the whole file', async () => {
    const ctx = await ctxFor(await newTenant())
    const lines = people(5)
    await run(ctx, lines.slice(0, 2))
    const results = await run(ctx, lines, { startLine: '3' })
    expect(results.map(({ line, status }) => [line, status])).toEqual([
      [3, 'created'],
      [4, 'created'],
      [5, 'created'],
      [undefined, undefined],
    ])
    expect(statuses(await run(ctx, lines, { startLine: 1 }))).toEqual(Array(5).fill('unchanged'))
    expect(await run(ctx, lines, { startLine: 6 })).toMatchObject([{ summary: { lastLine: 0 } }])
  })

  it('takes a limited number of lines, and says where to go on', async () => {
    const ctx = await ctxFor(await newTenant())
    const results = importUsers(ctx, inChunks(toText(people(4))), { startLine: 2 }, { maxLines: 2 })
    expect((await results.next()).value).toMatchObject([{ line: 2 }, { line: 3 }])
    await expect(results.next()).rejects.toMatchObject({
      status: 413,
      message: expect.stringContaining('from line 4 on'),
    })
  })

  it('is as many round trips for a batch as for a line', async () => {
    const ctx = await ctxFor(await newTenant())
    const lines = people(BATCH_LINES)
    expect(await countStatements(() => run(ctx, lines))).toBeLessThanOrEqual(7)
    const changed = lines.map((line, index) => ({ ...line, name: index % 2 ? line.name : 'Changed' }))
    const results: Result[] = []
    expect(await countStatements(async () => results.push(...(await run(ctx, changed))))).toBeLessThanOrEqual(
      7,
    )
    expect(results.at(-1).summary).toMatchObject({ updated: BATCH_LINES / 2, unchanged: BATCH_LINES / 2 })
  })
})

describe('an import under way', () => {
  it('reads no further than two batches and a chunk ahead of who takes the results', async () => {
    const ctx = await ctxFor(await newTenant())
    const CHUNK_LINES = 100
    let read = 0
    async function* endless() {
      for (;;) {
        const chunk = Buffer.from(toText(people(CHUNK_LINES, read + 1)))
        read += CHUNK_LINES
        yield chunk
      }
    }
    const results = importUsers(ctx, endless())
    let taken = 0
    for (let batch = 0; batch < 4; batch++) {
      taken += ((await results.next()).value as Result[]).length
      // Whatever is read on its own account is read by then.
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(read - taken).toBeLessThanOrEqual(BATCH_LINES + 2 * CHUNK_LINES)
    }
    await results.return(undefined)
  })

  it('tells of the lines that are there when no more come for now', async () => {
    const ctx = await ctxFor(await newTenant())
    const chunks = new TransformStream<Uint8Array, Uint8Array>()
    const writer = chunks.writable.getWriter()
    const results = importUsers(ctx, chunks.readable)
    for (const n of [1, 2]) {
      const next = results.next()
      await writer.write(Buffer.from(toText([person(n)])))
      expect((await next).value).toMatchObject([{ line: n, status: 'created' }])
    }
    const end = results.next()
    await writer.close()
    expect((await end).value).toMatchObject([{ summary: { created: 2 } }])
  })

  it('ends with the error of its source, after the results of what was read', async () => {
    const ctx = await ctxFor(await newTenant())
    async function* cut() {
      yield Buffer.from(toText(people(3)))
      await new Promise((resolve) => setTimeout(resolve, 300))
      throw new Error('cut off')
    }
    const results = importUsers(ctx, cut())
    expect((await results.next()).value).toHaveLength(3)
    await expect(results.next()).rejects.toThrow('cut off')
    expect(await getUserByEmail(ctx, 'p3@example.com')).toBeTruthy()
  })

  it('makes nobody twice when two of them import the same, however they are cut', async () => {
    const ctx = await ctxFor(await newTenant())
    const lines = people(2 * BATCH_LINES)
    const both = await Promise.all([
      run(ctx, lines),
      run(ctx, lines, { startLine: 120 }),
      run(ctx, [...lines].reverse()),
    ])
    const [all, some, reversed] = both.map((results) => results.at(-1).summary)
    expect([all.failed, some.failed, reversed.failed]).toEqual([0, 0, 0])
    expect(all.created + some.created + reversed.created).toBe(lines.length)
    const idsOf = (results: Result[]) => results.slice(0, -1).map(({ userId }) => userId)
    expect(idsOf(both[0] as Result[])).toEqual(idsOf(both[2] as Result[]).reverse())
    const created = (await allOf(ctx)).length
    expect(created).toBe(lines.length)
  })

  it('creates again whoever was deleted meanwhile', async () => {
    const ctx = await ctxFor(await newTenant())
    const lines = people(40)
    const [{ userId }] = await run(ctx, lines)
    await setUserRoles(ctx, userId, { roles: ['auditor'] })
    const [results] = await Promise.all([run(ctx, lines), deleteUser(ctx, userId)])
    expect(results.at(-1).summary.failed).toBe(0)
    expect((await run(ctx, lines)).at(-1).summary).toMatchObject({ failed: 0 })
    expect(await allOf(ctx)).toHaveLength(lines.length)
  })
})

const allOf = (ctx: Ctx): Promise<Result[]> => take(exportUsers(ctx))

describe('exporting users', () => {
  it('gives every user once, in order of id, with every field and externalId', async () => {
    const ctx = await ctxFor(await newTenant())
    await run(ctx, people(450))
    const users = await allOf(ctx)
    expect(users).toHaveLength(450)
    expect(users.map(({ id }) => id)).toEqual([...new Set(users.map(({ id }) => id))].sort())
    expect(users[0]).toMatchObject({ ...person(1), emailVerified: false, address: null, appMetadata: {} })
    expect(users[0]).not.toHaveProperty('roles')
    const rest = await take(exportUsers(ctx, { afterId: users[199].id }))
    expect(rest).toEqual(users.slice(200))
    expect(() => exportUsers(ctx, { afterId: 'client_01k7r3m8wxe4gbr5v2c9t6hznq', page: 1 })).toThrow(
      expect.objectContaining({
        fields: [expect.objectContaining({ field: 'afterId' }), expect.objectContaining({ field: 'page' })],
      }),
    )
  })

  it('leaves appMetadata out for who may not read it', async () => {
    const tenant = await newTenant()
    await run(await ctxFor(tenant), [{ ...person(1), appMetadata: { plan: 'secret' } }])
    const [user] = await take(exportUsers(await ctxFor(tenant, ['users:read'])))
    expect(user).not.toHaveProperty('appMetadata')
  })

  it('can be imported into another tenant, where the users are the same; and again, where they stay so', async () => {
    const [from, to] = [await ctxFor(await newTenant()), await ctxFor(await newTenant())]
    await run(from, [
      ...people(250),
      {
        email: 'Ada@Example.com',
        emailVerified: true,
        phoneNumber: '+4315123456;ext=12',
        phoneNumberVerified: true,
        locked: true,
        address: { locality: 'Wien', country: 'Austria' },
        birthdate: '0000-12-10',
        userMetadata: { a: [1, { b: null }] },
        appMetadata: { plan: 'pro' },
      },
      { phoneNumber: 'extension 12' },
    ])
    // No key of their own: the id becomes one.
    const keyless = await createUser(from, { name: 'Keyless' })
    const exported = await allOf(from)
    expect((await run(to, exported)).at(-1).summary).toMatchObject({ created: 253, failed: 0 })
    const comparable = (users: Result[]) =>
      users
        .map(({ id, createdAt, updatedAt, lockedAt, lastSeenAt, ...fields }) => fields)
        .sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
    const expected = exported.map((user) =>
      user.id === keyless.id ? { ...user, externalId: keyless.id } : user,
    )
    const copied = await allOf(to)
    expect(comparable(copied)).toEqual(comparable(expected))
    for (const [ctx, lines] of [
      [to, exported],
      [to, copied],
      [from, exported],
    ] as const)
      expect((await run(ctx, lines)).at(-1).summary).toMatchObject({ unchanged: 253, failed: 0 })
    expect(await getUser(from, keyless.id)).toMatchObject({ externalId: null })
  })
})
