import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { type RedisLink, startRedisLink } from './support/round-robin.ts'

const database = inject('database')

// The embedded run has no Redis.
describe.runIf(database.kind === 'postgres')('Redis', async () => {
  const { redisUrl } = database as Extract<typeof database, { kind: 'postgres' }>
  const link: RedisLink = await startRedisLink(redisUrl ?? 'redis://127.0.0.1')
  // src/env.ts reads the environment with the first import of src.
  process.env.REDIS_URL = link.url
  const { closeBus, openBus, redisFault } = await import('../src/bus.ts')
  const { sha256Base64url } = await import('../src/crypto.ts')
  const { closeLimits, spend } = await import('../src/limits.ts')

  const onlooker = new Redis(redisUrl ?? '', { lazyConnect: true })
  afterAll(() => {
    closeLimits()
    closeBus()
    onlooker.disconnect()
    link.close()
  })
  const channel = `vestibule:${sha256Base64url(process.env.DATABASE_URL ?? '').slice(0, 12)}`
  const listeners = async () => Number((await onlooker.pubsub('NUMSUB', channel))[1])

  test('that was away at the start is listened to when it comes', async () => {
    link.cut()
    await openBus()
    await expect.poll(redisFault).toBe("Stream isn't writeable and enableOfflineQueue options is false")
    // For so long that more than one attempt fails.
    await sleep(700)
    await link.mend()
    await expect.poll(redisFault, { timeout: 10_000 }).toBeNull()
    await expect.poll(listeners, { timeout: 10_000 }).toBe(1)
  })

  test('that hangs keeps nobody waiting: what it counts is counted here, and readiness says so', async () => {
    await spend('sendPasscode', 'a-tenant', '192.0.2.1')
    await link.freeze()
    for (let call = 0; call < 3; call++) await spend('sendPasscode', 'a-tenant', '192.0.2.1')
    expect(await redisFault()).not.toBeNull()
  })

  test('that is there again is used and listened to again', async () => {
    await link.mend()
    await expect.poll(redisFault, { timeout: 10_000 }).toBeNull()
    await expect.poll(listeners, { timeout: 10_000 }).toBe(1)
  })
})
