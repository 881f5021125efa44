import { once } from 'node:events'
import { openRedis } from '../../coordination/redis.ts'
import type { Env } from '../../core/env.ts'
import { errorMessage } from '../../core/error-message.ts'
import { type Finding, fail, measureRoundTrip, ok, STEP_LIMIT_MS, warn } from './finding.ts'

const SLOW_MS = 10
const MIN_VERSION = 6

/** Connects to Redis: its version, what it evicts, a round trip, and the processes that listen at the prefix. */
export async function checkRedis(config: Env): Promise<Finding[]> {
  if (!config.redisUrl) return [ok('redis', 'not configured: one process alone')]
  const redis = await openRedis(config.redisUrl, 'doctor', config)
  try {
    await once(redis, 'ready', { signal: AbortSignal.timeout(STEP_LIMIT_MS) })
    const latency = await measureRoundTrip(() => redis.ping())
    const info = String(await redis.info())
    const read = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? ''
    const [, listening] = (await redis.pubsub('NUMSUB', config.redisPrefix)) as [string, number]
    const [version, policy] = [read('redis_version'), read('maxmemory_policy')]
    return [
      ok('redis', 'answers'),
      Number.parseInt(version, 10) < MIN_VERSION
        ? warn('redis.version', version, `Upgrade to Redis ${MIN_VERSION} or newer.`)
        : ok('redis.version', version),
      policy === 'noeviction'
        ? ok('redis.eviction', policy)
        : fail(
            'redis.eviction',
            `${policy}: limits are forgotten when memory is short`,
            'Set maxmemory-policy noeviction, and share the Redis with no cache.',
          ),
      latency > SLOW_MS
        ? warn('redis.latency', `${latency.toFixed(1)} ms`, 'Run Redis near the server.')
        : ok('redis.latency', `${latency.toFixed(1)} ms`),
      ok('redis.prefix', `${config.redisPrefix}, at which ${listening} of this server's processes listen`),
    ]
  } catch (error) {
    const { cause = error } = error as { cause?: unknown }
    return [
      fail(
        'redis',
        `does not answer: ${errorMessage(cause)}`,
        'Correct REDIS_URL, or start Redis and let it accept this user.',
      ),
    ]
  } finally {
    redis.disconnect()
  }
}
