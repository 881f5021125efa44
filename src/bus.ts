import type { Redis } from 'ioredis'
import { sha256Base64url } from './crypto.ts'
import { env } from './env.ts'
import { log } from './log.ts'

/**
 * Tells the other processes of the deployment that something changed. A message may be lost (Redis may be away):
 * whoever listens must also look by itself now and then. It only makes things faster.
 */
type Listener = (message: string) => void
const listeners = new Map<string, Set<Listener>>()

let publisher: Redis | undefined
let subscriber: Redis | undefined
/** Deployments that share a Redis must not wake each other. */
const channel = `vestibule:${sha256Base64url(env.databaseUrl ?? '').slice(0, 12)}`

/** The connection for counters and limits, when Redis is configured. */
export const redis = (): Redis | undefined => publisher

function deliver(topic: string, message: string): void {
  for (const listener of listeners.get(topic) ?? []) listener(message)
}

/** Requests wait for Redis where limits are counted: one that hangs may not keep them, and is as good as away. */
const ANSWER_LIMIT_MS = 500

/** Connects to Redis when REDIS_URL is set; without it, messages stay in the process. */
export async function openBus(): Promise<void> {
  if (!env.redisUrl) return
  const { Redis } = await import('ioredis') // who has no Redis need not load it
  const connect = (name: string) => {
    const connection = new Redis(env.redisUrl as string, {
      connectionName: `vestibule-${name}`,
      maxRetriesPerRequest: 1,
      enableOfflineQueue: false,
      autoResubscribe: false,
      commandTimeout: ANSWER_LIMIT_MS,
      socketTimeout: ANSWER_LIMIT_MS,
      retryStrategy: (attempt) => Math.min(attempt * 100, 2000),
    })
    connection.on('error', (error) => log.warn({ err: error.message }, `redis ${name}`))
    return connection
  }
  publisher = connect('publisher')
  subscriber = connect('subscriber')
  subscriber.on('message', (_channel, text) => {
    const [topic = '', message = ''] = text.split('\n', 2)
    deliver(topic, message)
  })
  // With every connection anew: the first may come long after the start.
  subscriber.on('ready', () => {
    subscriber
      ?.subscribe(channel)
      .catch((error: Error) => log.warn({ err: error.message }, 'redis subscribe'))
  })
}

export function closeBus(): void {
  publisher?.disconnect()
  subscriber?.disconnect()
  publisher = subscriber = undefined
}

/** Tells every process, this one included. Never waits and never fails the caller. */
export function publish(topic: string, message: string): void {
  deliver(topic, message)
  publisher?.publish(channel, `${topic}\n${message}`).catch(() => {
    // The listeners look by themselves within a second; the connection's own error was logged.
  })
}

/** Listens to a topic; returns what ends it. A process hears its own messages twice when Redis is there. */
export function listen(topic: string, listener: Listener): () => void {
  const ofTopic = listeners.get(topic) ?? new Set()
  listeners.set(topic, ofTopic.add(listener))
  return () => ofTopic.delete(listener)
}

/** Why Redis does not answer, or null when it does or is not configured. */
export async function redisFault(): Promise<string | null> {
  if (!publisher) return null
  try {
    await publisher.ping()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
