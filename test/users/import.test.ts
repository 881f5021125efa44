import { describe, expect } from 'vitest'
import { listUserSessions, startSession } from '../../src/sessions/sessions.ts'
import { importUsers, MAX_BATCH_LINES } from '../../src/users/transfer/import.ts'
import { getUser, getUserByEmail } from '../../src/users/users.ts'
import { toTypes } from '../support/events.ts'
import type { Json } from '../support/json.ts'
import { countStatements } from '../support/statements.ts'
import { test } from '../support/tenant-per-test.ts'
import {
  collect,
  importLines,
  toChunks,
  toNdjson,
  toStatuses,
  userLine,
  userLines,
} from '../support/user-lines.ts'

describe('importUsers', () => {
  test('creates, updates or leaves the user of each line, and ends with a summary', async ({
    ctx,
    events,
  }) => {
    const first = await importLines(ctx, userLines(3))
    const ids = first.slice(0, 3).map(({ userId }) => userId)
    expect(first).toEqual([
      { line: 1, status: 'created', userId: expect.stringMatching(/^user_/) },
      { line: 2, status: 'created', userId: expect.stringMatching(/^user_/) },
      { line: 3, status: 'created', userId: expect.stringMatching(/^user_/) },
      { summary: { lastLine: 3, created: 3, updated: 0, unchanged: 0, failed: 0 } },
    ])
    const before = await getUser(ctx, ids[0])
    const again = await importLines(ctx, [
      userLine(1),
      { ...userLine(2), name: 'Ada', website: '' },
      userLine(4),
    ])
    expect(again).toEqual([
      { line: 1, status: 'unchanged', userId: ids[0] },
      { line: 2, status: 'updated', userId: ids[1] },
      { line: 3, status: 'created', userId: expect.any(String) },
      { summary: { lastLine: 3, created: 1, updated: 1, unchanged: 1, failed: 0 } },
    ])
    expect(await getUser(ctx, ids[0])).toEqual(before)
    expect(await getUser(ctx, ids[1])).toMatchObject({ name: 'Ada', externalId: 'crm-2' })
    const recorded = (await events()).filter(({ type }) => type.startsWith('user.'))
    expect(
      recorded.map(({ type, userId, changedFields, requestId }) => [type, userId, changedFields, requestId]),
    ).toEqual([
      ...ids.map((id) => ['user.created', id, [], ctx.requestId]),
      ['user.created', again[2].userId, [], ctx.requestId],
      ['user.updated', ids[1], ['name'], ctx.requestId],
    ])
  })

  test('accepts the fields that a creation accepts, and rejects others', async ({ ctx, events }) => {
    const [result] = await importLines(ctx, [
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
    expect(toTypes(await events())).toEqual(expect.arrayContaining(['user.created', 'user.locked']))
    const [rejected] = await importLines(ctx, [
      { email: 'b@example.com', roles: ['admin'], tenantId: 'x', hasCredential: true },
    ])
    expect(rejected).toEqual({
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

  test('reports every invalid field of a line, and imports the lines around it', async ({ ctx }) => {
    const results = await importLines(ctx, [
      userLine(1),
      { ...userLine(2), email: 'invalid', zoneinfo: 'Nowhere', locked: 'yes' },
      '{"email": "broken@example.com"',
      '[]',
      '{"email": "nul\\u0000@example.com", "name": "\\ud800"}',
      { externalId: 'x', phoneNumberVerified: true },
      {},
      { name: 'No key' },
      userLine(3),
    ])
    expect(toStatuses(results)).toEqual([
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
    const invalid = results.slice(1, 8).map(({ fields }) => fields.map(({ field }: Json) => field))
    expect(invalid).toEqual([
      ['email', 'zoneinfo', 'locked'],
      [''],
      [''],
      ['name', 'email'],
      ['phoneNumberVerified'],
      ['externalId'],
      ['externalId'],
    ])
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`x${n}`, n]))
    const [crowded] = await importLines(ctx, [many])
    expect(crowded.fields).toEqual([{ field: '', description: 'has more than 200 members' }])
    expect(results[2].fields[0].description).toBe('is not valid JSON')
    expect(results[3].fields[0].description).toBe('must be an object')
    expect(results.at(-1).summary).toEqual({ lastLine: 9, created: 2, updated: 0, unchanged: 0, failed: 7 })
  })

  test('accepts a byte order mark, CRLF, blank lines and a last line without a newline', async ({ ctx }) => {
    const text = `\uFEFF${JSON.stringify(userLine(1))}\r\n\r\n   \n\n${JSON.stringify({ ...userLine(2), name: 'Žofie 漢' })}`
    // Chunks end within characters of several bytes and within line ends.
    for (const size of [1, 7, 100_000])
      expect(
        (await collect(importUsers(ctx, toChunks(text, size)))).slice(0, 2).map(({ line }) => line),
      ).toEqual([1, 5])
    expect(await getUserByEmail(ctx, 'p2@example.com')).toMatchObject({ name: 'Žofie 漢' })
    expect(await collect(importUsers(ctx, toChunks('')))).toEqual([
      { summary: { lastLine: 0, created: 0, updated: 0, unchanged: 0, failed: 0 } },
    ])
  })

  test('rejects lines that are too long or not UTF-8, and imports the lines around them', async ({ ctx }) => {
    const long = `{"email":"long@example.com","name":"${'x'.repeat(300_000)}"}`
    const bytes = Buffer.concat([
      Buffer.from(`${JSON.stringify(userLine(1))}\n${long}\n`),
      Buffer.from([0x7b, 0xff, 0x7d, 0x0a]),
      Buffer.from(JSON.stringify(userLine(2))),
    ])
    const results = await collect(importUsers(ctx, toChunks(bytes, 65_536)))
    expect(toStatuses(results)).toEqual(['created', 'error', 'error', 'created'])
    expect(results[1].fields).toEqual([{ field: '', description: 'has more than 262144 bytes' }])
    expect(results[2].fields).toEqual([{ field: '', description: 'is not UTF-8' }])
    // Metadata of the largest size fits into a line.
    const blob = { data: '"'.repeat(30_000) }
    const [result] = await importLines(ctx, [
      { email: 'big@example.com', appMetadata: blob, userMetadata: blob },
    ])
    expect(result.status).toBe('created')
  })

  test('applies lines in their order, also several lines of one user', async ({ ctx }) => {
    const results = await importLines(ctx, [
      { externalId: 'a', email: 'old@example.com' },
      { externalId: 'a', email: 'new@example.com' },
      { externalId: 'b', email: 'old@example.com' },
      { externalId: 'b', email: 'b@example.com' },
      { externalId: 'c', email: 'old@example.com' },
      { externalId: 'a', email: 'new@example.com' },
    ])
    expect(toStatuses(results)).toEqual(['created', 'updated', 'created', 'updated', 'created', 'unchanged'])
    expect(results[0].userId).toBe(results[1].userId)
    expect(await getUserByEmail(ctx, 'old@example.com')).toMatchObject({ externalId: 'c' })
  })

  test('ends the sessions of a user that a line locks', async ({ ctx, events }) => {
    const [{ userId }] = await importLines(ctx, [userLine(1)])
    await ctx.db.transaction((tx) =>
      startSession(tx, ctx, {
        userId,
        kind: 'api',
        expiresAt: new Date(Date.now() + 3_600_000),
        refreshable: true,
        proof: { method: 'passcode', amr: ['otp'] },
      }),
    )
    expect(
      toStatuses(await importLines(ctx, [userLine(2), { externalId: 'crm-1', locked: true }, userLine(3)])),
    ).toEqual(['created', 'updated', 'created'])
    expect((await listUserSessions(ctx, userId, {})).rows).toEqual([])
    expect(toStatuses(await importLines(ctx, [{ externalId: 'crm-1', locked: true }]))).toEqual(['unchanged'])
    expect(toTypes(await events())).toEqual(expect.arrayContaining(['user.locked', 'session.ended']))
  })

  test('continues at startLine, with the line numbers of the whole file', async ({ ctx }) => {
    const lines = userLines(5)
    await importLines(ctx, lines.slice(0, 2))
    const results = await importLines(ctx, lines, { startLine: '3' })
    expect(results.map(({ line, status }) => [line, status])).toEqual([
      [3, 'created'],
      [4, 'created'],
      [5, 'created'],
      [undefined, undefined],
    ])
    expect(toStatuses(await importLines(ctx, lines, { startLine: 1 }))).toEqual(Array(5).fill('unchanged'))
    expect(await importLines(ctx, lines, { startLine: 6 })).toMatchObject([{ summary: { lastLine: 0 } }])
  })

  test('ends with 413 at the limit of lines, and names the line to continue from', async ({ ctx }) => {
    const results = importUsers(ctx, toChunks(toNdjson(userLines(4))), { startLine: 2 }, { maxLines: 2 })
    expect((await results.next()).value).toMatchObject([{ line: 2 }, { line: 3 }])
    await expect(results.next()).rejects.toMatchObject({
      status: 413,
      message: expect.stringContaining('from line 4 on'),
    })
  })

  test('takes at most seven round trips for a batch of lines', async ({ ctx }) => {
    const lines = userLines(MAX_BATCH_LINES)
    expect(await countStatements(() => importLines(ctx, lines))).toBeLessThanOrEqual(7)
    const changed = lines.map((line, index) => ({ ...line, name: index % 2 ? line.name : 'Changed' }))
    const results: Json[] = []
    expect(
      await countStatements(async () => results.push(...(await importLines(ctx, changed)))),
    ).toBeLessThanOrEqual(7)
    expect(results.at(-1).summary).toMatchObject({
      updated: MAX_BATCH_LINES / 2,
      unchanged: MAX_BATCH_LINES / 2,
    })
  })
})
