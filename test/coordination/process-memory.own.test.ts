import { describe, expect, vi } from 'vitest'

vi.hoisted(() => {
  delete process.env.REDIS_URL
})

import { createCache } from '../../src/coordination/cache.ts'
import { requireWithinLimit, takeFromLimit } from '../../src/coordination/rate-limits.ts'
import { test } from '../support/fixtures.ts'
import { liveBytes } from '../support/heap.ts'

describe('a cache of rows', () => {
  test('keeps 32 MB at most, however large its rows are', async ({ app: _, tenant }) => {
    const cache = createCache<{ text: string }>('process-memory', async (_tenant, key) => ({
      text: Buffer.alloc(65_000, key).toString('latin1'),
    }))
    const before = liveBytes()
    for (let key = 0; key < 2000; key += 1) await cache.get(tenant, `key${key}`)
    expect(liveBytes() - before).toBeLessThan(36_000_000)
    expect(await cache.get(tenant, 'key1999')).toMatchObject({ text: expect.stringContaining('key1999') })
  })
})

describe('limits without Redis', () => {
  test('keep 50,000 counters at most, and forget those that were used least recently', async ({ app: _ }) => {
    const owner = (index: number) => `tenant:2001:db8:${index.toString(16)}::/64`
    for (let index = 0; index <= 50_000; index += 1) await takeFromLimit('registerClient', owner(index), 300)
    await expect(requireWithinLimit('registerClient', owner(0), 1)).resolves.toBeUndefined()
    await expect(requireWithinLimit('registerClient', owner(50_000), 1)).rejects.toThrow()
  })
})
