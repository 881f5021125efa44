import { Redis } from 'ioredis'
import { describeError } from './admin-server.ts'

const PROBE_TIMEOUT_MS = 2000

export const redisUrl = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379'

/** Null when it answers, else the cause. */
export async function probeRedis(): Promise<string | null> {
  const options = { lazyConnect: true, retryStrategy: () => null, connectTimeout: PROBE_TIMEOUT_MS }
  const redis = new Redis(redisUrl, options)
  let connectionError: unknown
  redis.on('error', (error) => {
    connectionError = error
  })
  try {
    await redis.connect()
    await redis.ping()
    return null
  } catch (error) {
    return `Redis (TEST_REDIS_URL): ${describeError(connectionError ?? error)}`
  } finally {
    redis.disconnect()
  }
}
