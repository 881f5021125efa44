import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { setUserRoles } from '../../src/users/roles.ts'
import { importUsers, MAX_BATCH_LINES } from '../../src/users/transfer/import.ts'
import { deleteUser, getUserByEmail } from '../../src/users/users.ts'
import type { Json } from '../support/json.ts'
import { test } from '../support/tenant-per-test.ts'
import { exportAll, importLines, toNdjson, userLine, userLines } from '../support/user-lines.ts'

describe('a running import', () => {
  test('reads at most two batches and a chunk ahead of the reader of the results', async ({ ctx }) => {
    const CHUNK_LINES = 100
    let read = 0
    async function* endless() {
      for (;;) {
        const chunk = Buffer.from(toNdjson(userLines(CHUNK_LINES, read + 1)))
        read += CHUNK_LINES
        yield chunk
      }
    }
    const results = importUsers(ctx, endless())
    let taken = 0
    for (let batch = 0; batch < 4; batch++) {
      taken += ((await results.next()).value as Json[]).length
      // Reading ahead, if any, has happened by then.
      await sleep(300)
      expect(read - taken).toBeLessThanOrEqual(MAX_BATCH_LINES + 2 * CHUNK_LINES)
    }
    await results.return(undefined)
  })

  test('returns the results of the lines received so far while the source pauses', async ({ ctx }) => {
    const chunks = new TransformStream<Uint8Array, Uint8Array>()
    const writer = chunks.writable.getWriter()
    const results = importUsers(ctx, chunks.readable)
    for (const n of [1, 2]) {
      const next = results.next()
      await writer.write(Buffer.from(toNdjson([userLine(n)])))
      expect((await next).value).toMatchObject([{ line: n, status: 'created' }])
    }
    const end = results.next()
    await writer.close()
    expect((await end).value).toMatchObject([{ summary: { created: 2 } }])
  })

  test('ends with the error of its source, after the results of the lines that were read', async ({
    ctx,
  }) => {
    async function* cut() {
      yield Buffer.from(toNdjson(userLines(3)))
      await sleep(300)
      throw new Error('cut off')
    }
    const results = importUsers(ctx, cut())
    expect((await results.next()).value).toHaveLength(3)
    await expect(results.next()).rejects.toThrow('cut off')
    expect(await getUserByEmail(ctx, 'p3@example.com')).toBeTruthy()
  })

  test('creates each user once when three imports of the same lines run at once', async ({ ctx }) => {
    const lines = userLines(2 * MAX_BATCH_LINES)
    const both = await Promise.all([
      importLines(ctx, lines),
      importLines(ctx, lines, { startLine: 120 }),
      importLines(ctx, [...lines].reverse()),
    ])
    const [all, some, reversed] = both.map((results) => results.at(-1).summary)
    expect([all.failed, some.failed, reversed.failed]).toEqual([0, 0, 0])
    expect(all.created + some.created + reversed.created).toBe(lines.length)
    const idsOf = (results: Json[]) => results.slice(0, -1).map(({ userId }) => userId)
    expect(idsOf(both[0] as Json[])).toEqual(idsOf(both[2] as Json[]).reverse())
    const created = (await exportAll(ctx)).length
    expect(created).toBe(lines.length)
  })

  test('creates a user again that is deleted during the import', async ({ ctx }) => {
    const lines = userLines(40)
    const [{ userId }] = await importLines(ctx, lines)
    await setUserRoles(ctx, userId, { roles: ['auditor'] })
    const [results] = await Promise.all([importLines(ctx, lines), deleteUser(ctx, userId)])
    expect(results.at(-1).summary.failed).toBe(0)
    expect((await importLines(ctx, lines)).at(-1).summary).toMatchObject({ failed: 0 })
    expect(await exportAll(ctx)).toHaveLength(lines.length)
  })
})
