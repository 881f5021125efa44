import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { type RedisLink, startRedisLink } from '../support/round-robin.ts'

const database = inject('database')

describe.runIf(database.redisUrl !== null)('Redis', async () => {
  const { redisUrl } = database
  const link: RedisLink = await startRedisLink(redisUrl ?? 'redis://127.0.0.1')
  // src/core/env.ts reads the environment at the first import of src.
  process.env.REDIS_URL = link.url
  const { closeBus, openBus, checkRedis } = await import('../../src/coordination/bus.ts')
  const { createBackgroundCounts } = await import('../../src/coordination/background-counts.ts')
  const { consumeLimit, resetLimiters } = await import('../../src/coordination/rate-limits.ts')

  const observer = new Redis(redisUrl ?? '', { lazyConnect: true })
  afterAll(() => {
    resetLimiters()
    closeBus()
    observer.disconnect()
    link.close()
  })
  const channel = process.env.REDIS_PREFIX ?? ''
  const countSubscribers = async () => Number((await observer.pubsub('NUMSUB', channel))[1])

  test('that is away at the start is subscribed to when it returns', async () => {
    link.cut()
    await openBus()
    await expect.poll(checkRedis).toBe("Stream isn't writeable and enableOfflineQueue options is false")
    // Long enough for more than one attempt to fail.
    await sleep(700)
    await link.restore()
    await expect.poll(checkRedis, { timeout: 10_000 }).toBeNull()
    await expect.poll(countSubscribers, { timeout: 10_000 }).toBe(1)
  })

  test('that does not answer delays no call: limits count in the process, and readiness reports it', async () => {
    await consumeLimit('sendPasscode', 'a-tenant', '192.0.2.1')
    await link.freeze()
    for (let call = 0; call < 3; call++) await consumeLimit('sendPasscode', 'a-tenant', '192.0.2.1')
    expect(await checkRedis()).not.toBeNull()
  })

  test('that counts without an answer counts each use once', async () => {
    const count = createBackgroundCounts('mute', { limit: 10, seconds: 3600, maxKeys: 10 })
    const now = Date.now()
    const use = () => count('ada', now).remaining
    const read = () => observer.get(`${process.env.REDIS_PREFIX}:mute:ada:${Math.floor(now / 3_600_000)}`)
    await link.restore()
    await expect.poll(checkRedis, { timeout: 10_000 }).toBeNull()
    link.mute()
    expect([use(), use()]).toEqual([9, 8])
    // Redis has executed the first.
    await expect.poll(read).toBe('1')
    await expect.poll(checkRedis).not.toBeNull()
    await link.restore()
    await expect.poll(checkRedis, { timeout: 10_000 }).toBeNull()
    expect(use()).toBe(7)
    await expect.poll(read).toBe('3')
    // Answers arrive in the order of the commands: the count is known before the next use.
    expect(await checkRedis()).toBeNull()
    expect(use()).toBe(6)
    await expect.poll(read).toBe('4')
  })

  test('that returns is used and subscribed to again', async () => {
    await link.restore()
    await expect.poll(checkRedis, { timeout: 10_000 }).toBeNull()
    await expect.poll(countSubscribers, { timeout: 10_000 }).toBe(1)
  })
})
