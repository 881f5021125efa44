import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, inject } from 'vitest'
import { getRedis } from '../../src/coordination/bus.ts'
import { fillInMemory, fillInRedis } from '../../src/coordination/storage-buckets.ts'
import { test as base } from '../support/fixtures.ts'

type Buckets = Parameters<typeof fillInMemory>[0]
const MINUTE_MS = 60_000

const inRedis = async (buckets: Buckets, drainMs: number) => {
  const redis = getRedis()
  if (!redis) throw new Error('Redis is not configured')
  return fillInRedis(redis, buckets, drainMs)
}
const inMemory = async (buckets: Buckets, drainMs: number) => fillInMemory(buckets, drainMs)
const STORES = [
  ['the buckets of a process', inMemory],
  ['the buckets in Redis', inRedis],
] as const
const stores = inject('database').redisUrl === null ? STORES.slice(0, 1) : STORES

/** Buckets of networks and of a tenant with keys that nothing else has. */
const test = base.extend(
  'newBuckets',
  { scope: 'file' },
  ({ app: _ }) =>
    (): ((part: number, networks: string[], tenantPart?: number) => Buckets) => {
      const prefix = `vestibule:test:${randomUUID()}`
      return (part, networks, tenantPart = 0) => ({
        networks: networks.map((name) => ({ key: `${prefix}:${name}`, part })),
        tenant: { key: `${prefix}:tenant`, part: tenantPart },
      })
    },
)

describe.each(stores)('%s', (_name, fill) => {
  test('are full when the parts make a whole, and say when there is space', async ({ newBuckets }) => {
    const create = newBuckets()
    for (let filled = 0; filled < 4; filled++) expect(await fill(create(0.25, ['a']), MINUTE_MS)).toBeNull()
    const limit = await fill(create(0.25, ['a']), MINUTE_MS)
    expect(limit?.reason).toBe('network')
    expect(limit?.waitMs).toBeGreaterThan(10_000)
    expect(limit?.waitMs).toBeLessThanOrEqual(15_100)
    expect(await fill(create(0.25, ['b']), MINUTE_MS)).toBeNull()
  })

  test('take nothing when one of them has no space', async ({ newBuckets }) => {
    const create = newBuckets()
    await fill(create(1, ['full']), MINUTE_MS)
    for (let tries = 0; tries < 3; tries++)
      expect(await fill(create(0.5, ['other', 'full'], 0.5), MINUTE_MS)).toMatchObject({ reason: 'network' })
    expect(await fill(create(0.9, ['other']), MINUTE_MS)).toBeNull()
  })

  test('have space again as they drain', async ({ newBuckets }) => {
    const create = newBuckets()
    await fill(create(1, ['a']), 400)
    expect(await fill(create(0.5, ['a']), 400)).not.toBeNull()
    await sleep(210)
    expect(await fill(create(0.5, ['a']), 400)).toBeNull()
  })

  test('leave a network the whole bucket while the tenant is half full', async ({ newBuckets }) => {
    const create = newBuckets()
    await fill(create(0, ['b'], 0.5), MINUTE_MS)
    expect(await fill(create(1, ['a']), MINUTE_MS)).toBeNull()
  })

  test('leave a network twice the free part of the tenant beyond, and a little when it is full', async ({
    newBuckets,
  }) => {
    const create = newBuckets()
    await fill(create(0, ['b'], 0.8), MINUTE_MS)
    expect(await fill(create(0.45, ['a']), MINUTE_MS)).toMatchObject({ reason: 'tenant' })
    expect(await fill(create(0.39, ['a']), MINUTE_MS)).toBeNull()
    await fill(create(0, ['b'], 5), MINUTE_MS)
    expect(await fill(create(0.006, ['c']), MINUTE_MS)).toMatchObject({ reason: 'tenant' })
    expect(await fill(create(0.004, ['c']), MINUTE_MS)).toBeNull()
  })
})
