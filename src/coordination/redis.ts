import type { Redis, RedisOptions } from 'ioredis'
import { type Env, env } from '../core/env.ts'
import { log } from '../core/log.ts'

/**
 * Requests wait for Redis where limits are counted: a command that takes longer fails, as if Redis were
 * unavailable, and its connection is closed.
 */
const COMMAND_TIMEOUT_MS = 500
const CONNECT_TIMEOUT_MS = 2000
const MAX_RETRY_MS = 2000
/** A connection that only listens is silent when its server is gone: a ping finds out. */
const HEARTBEAT_MS = 5000

/** With REDIS_SENTINELS, the host of REDIS_URL is the name of the primary. */
function readSentinelOptions(redisUrl: string, { redisSentinels }: Env): RedisOptions {
  if (!redisSentinels) return {}
  const { hostname, username, password, pathname, protocol } = new URL(redisUrl)
  return {
    sentinels: redisSentinels,
    name: hostname,
    sentinelRetryStrategy: (attempt) => Math.min(attempt * 100, MAX_RETRY_MS),
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    ...(pathname.length > 1 && { db: Number(pathname.slice(1)) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  }
}

/** Opens a connection that reconnects by itself, after a fail-over to the new primary. */
export async function openRedis(redisUrl: string, name: string, config: Env = env): Promise<Redis> {
  const { default: ioredis } = await import('ioredis') // loaded only when it is configured
  const options: RedisOptions = {
    connectionName: `vestibule-${name}`,
    // Deployments on the same Redis do not count together. The name of the channel is not a key.
    keyPrefix: `${config.redisPrefix}:`,
    // A command without an answer may have been executed: it fails, and is not sent again on the next connection.
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResubscribe: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: (attempt) => Math.min(attempt * 100, MAX_RETRY_MS),
    // After a fail-over, a former primary answers that it only reads.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    ...readSentinelOptions(redisUrl, config),
  }
  const connection = config.redisSentinels ? new ioredis.Redis(options) : new ioredis.Redis(redisUrl, options)
  connection.on('error', (error) => log.warn({ err: error.message }, `redis ${name}`))
  const heartbeat = setInterval(() => {
    if (connection.status === 'ready') connection.ping().catch(() => undefined) // closes the connection
  }, HEARTBEAT_MS)
  heartbeat.unref()
  connection.once('end', () => clearInterval(heartbeat))
  return connection
}
