import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { databaseUrl } from '../support/connections.ts'
import { callRedis, startFaultRedis } from '../support/fault-redis.ts'
import { expectNothingLost, report, startFaultScene } from '../support/fault-scene.ts'
import { startTcpProxy, throughProxy } from '../support/tcp-proxy.ts'

const RECOVERY_LIMIT_MS = 15_000

/** Whether the server reports Redis as away. */
const isDegraded = async (origin: string): Promise<boolean> => {
  const answer = await fetch(`${origin}/health/ready`)
  return ((await answer.json()) as { degraded?: unknown }).degraded !== undefined
}

/** The ids of the connections that receive the messages of other processes. */
const listSubscribers = (port: number): Promise<number[]> =>
  callRedis(port, async (redis) => {
    const clients = String(await redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub'))
    return [...clients.matchAll(/^id=(\d+) .* name=vestibule-subscriber /gm)].map(([, id]) => Number(id))
  })

describe('a server whose Redis', () => {
  test('is killed works on without it, and uses it again once it is back', async () => {
    const redis = await startFaultRedis()
    const scene = await startFaultScene({ REDIS_URL: redis.url })
    redis.child.kill('SIGKILL')
    const workingMs = await scene.load.untilWorking(RECOVERY_LIMIT_MS)
    await startFaultRedis({ port: redis.port })
    await expect.poll(() => isDegraded(scene.server.origin), { timeout: RECOVERY_LIMIT_MS }).toBe(false)
    await expectNothingLost(scene, databaseUrl())
    report('Redis killed', scene, workingMs)
    expect(scene.load.unavailable).toBe(0)
  })

  test('hangs works on without it, and uses it again once it answers', async () => {
    const redis = await startFaultRedis()
    const scene = await startFaultScene({ REDIS_URL: redis.url })
    redis.child.kill('SIGSTOP')
    const workingMs = await scene.load.untilWorking(RECOVERY_LIMIT_MS)
    expect(await isDegraded(scene.server.origin)).toBe(true)
    redis.child.kill('SIGCONT')
    await expect.poll(() => isDegraded(scene.server.origin), { timeout: RECOVERY_LIMIT_MS }).toBe(false)
    await expectNothingLost(scene, databaseUrl())
    report('Redis hung', scene, workingMs)
    expect(scene.load.unavailable).toBe(0)
  })

  test('falls silent works on without it, and listens again on a new connection', async () => {
    const redis = await startFaultRedis()
    const proxy = await startTcpProxy(redis.port)
    const scene = await startFaultScene({ REDIS_URL: throughProxy(redis.url, proxy) })
    const [before = 0] = await listSubscribers(redis.port)
    proxy.freeze()
    const workingMs = await scene.load.untilWorking(RECOVERY_LIMIT_MS)
    await sleep(1000)
    proxy.thaw()
    // The connection from before stays open, and silent.
    await expect
      .poll(async () => Math.max(...(await listSubscribers(redis.port))), { timeout: RECOVERY_LIMIT_MS })
      .toBeGreaterThan(before)
    expect(await isDegraded(scene.server.origin)).toBe(false)
    await expectNothingLost(scene, databaseUrl())
    report('Redis silent', scene, workingMs)
    expect(scene.load.unavailable).toBe(0)
  })

  test('fails over by Sentinel uses the new primary', async () => {
    const primary = await startFaultRedis()
    const replica = await startFaultRedis({ config: `replicaof 127.0.0.1 ${primary.port}\n` })
    const watched = `sentinel monitor main 127.0.0.1 ${primary.port} 1
sentinel down-after-milliseconds main 1000
sentinel failover-timeout main 5000
`
    const sentinel = await startFaultRedis({ config: watched, args: ['--sentinel'] })
    const scene = await startFaultScene({
      REDIS_URL: 'redis://main/0',
      REDIS_SENTINELS: `127.0.0.1:${sentinel.port}`,
    })
    expect(await isDegraded(scene.server.origin)).toBe(false)
    await sleep(2000)
    primary.child.kill('SIGKILL')
    const workingMs = await scene.load.untilWorking(RECOVERY_LIMIT_MS)
    await expect.poll(() => isDegraded(scene.server.origin), { timeout: 30_000 }).toBe(false)
    await expect
      .poll(() => callRedis(replica.port, (primary) => primary.keys('vestibule*')), {
        timeout: RECOVERY_LIMIT_MS,
      })
      .not.toEqual([])
    expect(await callRedis(replica.port, (primary) => primary.role())).toContain('master')
    await expectNothingLost(scene, databaseUrl())
    report('Redis failed over', scene, workingMs)
  })
})
