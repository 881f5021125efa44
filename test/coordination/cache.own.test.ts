import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, vi } from 'vitest'
import { createCache } from '../../src/coordination/cache.ts'
import { isComplete } from '../../src/coordination/row-changes.ts'
import { Handle } from '../../src/database/handle.ts'
import { databaseUrl } from '../support/connections.ts'
import { sql } from '../support/database.ts'
import { withConnection } from '../support/databases.ts'
import { countCacheChecks } from '../support/statements.ts'
import { test as base } from '../support/tenant-per-test.ts'

const realNow = performance.now.bind(performance)
let passed = 0

/**
 * Lets time pass for the ages of entries, in addition to the real time. It does not go back within a process: entries of
 * the future would not be checked.
 */
function pass(ms: number): void {
  passed += ms
  vi.spyOn(performance, 'now').mockImplementation(() => realNow() + passed)
}

const run = (text: string) => withConnection(databaseUrl(), (client) => client.query(text))

const RECORD_CHANGE = `INSERT INTO "RowChange" ("tenantId", "cache", "key") VALUES ($1, $2, $3)`
let caches = 0

const test = base
  /** A cache of what `read` returns, with counted loads. `change` records a change, as triggers do. */
  .extend('newCache', ({ tenant }) => (read: () => Promise<{ value: number } | null>) => {
    caches += 1
    const name = `cache-${caches}`
    let loads = 0
    const cache = createCache(name, () => {
      loads += 1
      return read()
    })
    const change = (key: string) => sql(RECORD_CHANGE, [tenant, name, key])
    return { ...cache, name, change, loads: () => loads }
  })
  /** Reads entries until they are loaded and every later change of them is noticed. */
  .extend(
    'settle',
    ({ tenant }) =>
      async ({ get }: Pick<ReturnType<typeof createCache>, 'get'>, keys = ['a']): Promise<void> => {
        for (let round = 0; round < 3; round++) {
          pass(1010)
          await Promise.all(keys.map((key) => get(tenant, key)))
        }
      },
  )

describe('a cache', () => {
  test('loads a value once for concurrent readers and keeps it', async ({ tenant, newCache }) => {
    const cache = newCache(async () => ({ value: 1 }))
    await Promise.all(Array.from({ length: 50 }, () => cache.get(tenant, 'a')))
    await cache.get(tenant, 'a')
    expect(cache.loads()).toBe(1)
    await cache.get('other', 'a')
    expect(cache.loads()).toBe(2)
  })

  test('does not load a value again while its row is unchanged', async ({ tenant, newCache, settle }) => {
    const cache = newCache(async () => ({ value: 1 }))
    await settle(cache)
    const loads = cache.loads()
    for (let second = 0; second < 10; second++) {
      pass(1010)
      expect(await cache.get(tenant, 'a')).toEqual({ value: 1 })
    }
    expect(cache.loads()).toBe(loads)
  })

  test('checks all entries with one statement a second', async ({ tenant, newCache, settle }) => {
    const cache = newCache(async () => ({ value: 1 }))
    const keys = Array.from({ length: 100 }, (_, n) => `key-${n}`)
    await settle(cache, keys)
    const loads = cache.loads()
    pass(1010)
    const readAll = () => Promise.all(keys.map((key) => cache.get(tenant, key)))
    expect(await countCacheChecks(readAll)).toBe(1)
    expect(await countCacheChecks(readAll)).toBe(0)
    expect(cache.loads()).toBe(loads)
  })

  test('loads a value again within a second of a change that no message reports', async ({
    tenant,
    newCache,
    settle,
  }) => {
    let stored: { value: number } | null = { value: 1 }
    const cache = newCache(async () => stored)
    await settle(cache)
    stored = { value: 2 }
    await cache.change('other')
    pass(1010)
    expect(await cache.get(tenant, 'a')).toEqual({ value: 1 })
    await cache.change('a')
    pass(1010)
    expect(await cache.get(tenant, 'a')).toEqual({ value: 2 })
    stored = null
    await cache.change('a')
    pass(1010)
    expect(await cache.get(tenant, 'a')).toBeNull()
  })

  test('checks a value in use in the background, while readers get it', async ({
    tenant,
    newCache,
    settle,
  }) => {
    let stored = { value: 1 }
    const cache = newCache(async () => stored)
    await settle(cache)
    stored = { value: 2 }
    await cache.change('a')
    pass(750)
    expect(await cache.get(tenant, 'a')).toEqual({ value: 1 })
    await expect.poll(() => cache.get(tenant, 'a')).toEqual({ value: 2 })
  })

  test('notices a change whose transaction was open during checks', async ({ tenant, newCache, settle }) => {
    let stored = { value: 1 }
    const cache = newCache(async () => stored)
    await settle(cache)
    await withConnection(databaseUrl(), async (client) => {
      await client.query('BEGIN')
      await client.query(RECORD_CHANGE, [tenant, cache.name, 'a'])
      for (let n = 0; n < 3; n++) {
        await cache.change('other')
        pass(1010)
        await cache.get(tenant, 'a')
      }
      stored = { value: 2 }
      await client.query('COMMIT')
    })
    pass(1010)
    expect(await cache.get(tenant, 'a')).toEqual({ value: 2 })
  })

  test('loads a value again after more changes than it reads', async ({ tenant, newCache, settle }) => {
    let stored = { value: 1 }
    const cache = newCache(async () => stored)
    await settle(cache)
    stored = { value: 2 }
    await sql(
      `INSERT INTO "RowChange" ("tenantId", "cache", "key") SELECT $1, $2, n::text FROM generate_series(1, 5001) n`,
      [tenant, cache.name],
    )
    await cache.change('a')
    pass(1010)
    expect(await cache.get(tenant, 'a')).toEqual({ value: 2 })
    await sql(`DELETE FROM "RowChange" WHERE "tenantId" = $1`, [tenant])
  })

  test('ignores changes that were restored from another cluster', async ({ tenant, newCache, settle }) => {
    const cache = newCache(async () => ({ value: 1 }))
    await settle(cache)
    const loads = cache.loads()
    await sql(
      `INSERT INTO "RowChange" ("tenantId", "xid", "cache", "key") SELECT $1, 1e12, $2, 'a' FROM generate_series(1, 5001) n`,
      [tenant, cache.name],
    )
    await settle(cache)
    expect(cache.loads()).toBe(loads)
    await sql(`DELETE FROM "RowChange" WHERE "tenantId" = $1`, [tenant])
  })

  test('loads a value again after a minute', async ({ tenant, newCache, settle }) => {
    const cache = newCache(async () => ({ value: 1 }))
    await settle(cache)
    const loads = cache.loads()
    pass(60_010)
    await cache.get(tenant, 'a')
    expect(cache.loads()).toBe(loads + 1)
  })

  test('keeps a value for a second when changes cannot be read', async ({ tenant, newCache, settle }) => {
    let fails = false
    const cache = newCache(async () => {
      if (fails) throw new Error('the database is away')
      return { value: 1 }
    })
    await settle(cache)
    fails = true
    await run('ALTER TABLE "RowChange" RENAME TO "RowChangeAway"')
    try {
      pass(750)
      await cache.get(tenant, 'a')
      await sleep(50)
      expect(await cache.get(tenant, 'a')).toEqual({ value: 1 })
      pass(300)
      await expect(cache.get(tenant, 'a')).rejects.toThrow('the database is away')
    } finally {
      await run('ALTER TABLE "RowChangeAway" RENAME TO "RowChange"')
    }
    // What was loaded before the error may have changed since.
    fails = false
    const loads = cache.loads()
    pass(1010)
    await cache.get(tenant, 'a')
    expect(cache.loads()).toBe(loads + 1)
  })

  test('does not wait for a check that hangs', async ({ tenant, newCache, settle }) => {
    const cache = newCache(async () => ({ value: 1 }))
    await settle(cache)
    const loads = cache.loads()
    await withConnection(databaseUrl(), async (client) => {
      await client.query('BEGIN')
      await client.query('LOCK TABLE "RowChange" IN ACCESS EXCLUSIVE MODE')
      pass(1010)
      const started = realNow()
      await cache.get(tenant, 'a')
      expect(realNow() - started).toBeGreaterThan(290)
      expect(cache.loads()).toBe(loads + 1)
      // Those that come later do not wait at all.
      await cache.get(tenant, 'b')
      pass(1010)
      const later = realNow()
      await cache.get(tenant, 'a')
      expect(realNow() - later).toBeLessThan(290)
      await client.query('ROLLBACK')
    })
  })

  test('does not share a load that began more than a second ago', async ({ tenant, newCache }) => {
    const reads: ((value: { value: number }) => void)[] = []
    const cache = newCache(() => new Promise((resolve) => void reads.push(resolve)))
    const early = cache.get(tenant, 'a')
    pass(1010)
    const late = cache.get(tenant, 'a')
    expect(reads).toHaveLength(2)
    reads[1]?.({ value: 2 })
    expect(await late).toEqual({ value: 2 })
    reads[0]?.({ value: 1 })
    expect(await early).toEqual({ value: 1 })
    expect(await cache.get(tenant, 'a')).toEqual({ value: 2 })
  })

  test('does not keep null', async ({ tenant, newCache }) => {
    const cache = newCache(async () => null)
    expect([await cache.get(tenant, 'a'), await cache.get(tenant, 'a')]).toEqual([null, null])
    expect(cache.loads()).toBe(2)
  })

  test.for([{ value: 1 }, null])(
    'returns a load that an invalidation has overtaken and does not keep it (%o)',
    async (old, { tenant, newCache }) => {
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      let stored = old
      const cache = newCache(async () => {
        const read = stored
        await released
        return read
      })
      const early = cache.get(tenant, 'a')
      stored = { value: 2 }
      cache.invalidate(new Handle({ tenant }), 'a')
      const late = cache.get(tenant, 'a')
      release()
      expect(await early).toEqual(old)
      expect(await late).toEqual({ value: 2 })
      expect(await cache.get(tenant, 'a')).toEqual({ value: 2 })
      expect(cache.loads()).toBe(2)
    },
  )

  test('rejects when a load fails and loads again the next time', async ({ tenant, newCache }) => {
    let fails = true
    const cache = newCache(async () => {
      if (fails) throw new Error('the database is away')
      return { value: 1 }
    })
    await expect(cache.get(tenant, 'a')).rejects.toThrow('the database is away')
    fails = false
    expect(await cache.get(tenant, 'a')).toEqual({ value: 1 })
  })
})

describe('isComplete', () => {
  const check = ({ server = 'one' as string | null, changes = 0, time = 0 } = {}) => ({
    snapshot: '100:100:',
    server,
    changes,
    time,
  })

  test.for([
    { title: 'accepts a later check', previous: check(), next: check({ time: 1000 }), expected: true },
    { title: 'rejects the first check', previous: undefined, next: check(), expected: false },
    {
      title: 'rejects a server that was started or has taken over',
      previous: check(),
      next: check({ server: 'other' }),
      expected: false,
    },
    {
      title: 'rejects a server that cannot be written to',
      previous: check({ server: null }),
      next: check({ server: null }),
      expected: false,
    },
    {
      title: 'rejects as many changes as are read at most',
      previous: check(),
      next: check({ changes: 5000 }),
      expected: false,
    },
    {
      title: 'rejects a check after an hour',
      previous: check(),
      next: check({ time: 3_600_000 }),
      expected: false,
    },
  ])('$title', ({ previous, next, expected }) => {
    expect(isComplete(previous, next)).toBe(expected)
  })
})
