import type { Redis } from 'ioredis'
import { env } from '../core/env.ts'
import { errorMessage } from '../core/error-message.ts'
import { log } from '../core/log.ts'
import { openRedis } from './redis.ts'

/**
 * Notifies the processes of a deployment of changes, through Redis pub/sub. Messages only reduce latency:
 * they are lost while Redis is unavailable, so that every listener also polls.
 */
type Listener = (message: string) => void
const listeners = new Map<string, Set<Listener>>()

let publisher: Redis | undefined
let subscriber: Redis | undefined
/** The connection for counters and limits; undefined when Redis is not configured. */
export const getRedis = (): Redis | undefined => publisher

function notifyListeners(topic: string, message: string): void {
  for (const listener of listeners.get(topic) ?? []) listener(message)
}

/** Connects to Redis when REDIS_URL is set; without it, messages stay in the process. */
export async function openBus(): Promise<void> {
  if (!env.redisUrl) return
  publisher = await openRedis(env.redisUrl, 'publisher')
  subscriber = await openRedis(env.redisUrl, 'subscriber')
  subscriber.on('message', (_channel, text) => {
    const [topic = '', message = ''] = text.split('\n', 2)
    notifyListeners(topic, message)
  })
  // On every connection: the first may be established long after the start.
  subscriber.on('ready', () => {
    subscriber
      ?.subscribe(env.redisPrefix)
      .catch((error: Error) => log.warn({ err: error.message }, 'redis subscribe'))
  })
}

export function closeBus(): void {
  publisher?.disconnect()
  subscriber?.disconnect()
  publisher = subscriber = undefined
}

/** Sends a message to every process, including this one. Does not wait and never throws. */
export function publishMessage(topic: string, message: string): void {
  notifyListeners(topic, message)
  publisher?.publish(env.redisPrefix, `${topic}\n${message}`).catch(() => {
    // Listeners poll within a second; the connection has logged its error.
  })
}

/**
 * Calls `listener` for each message of a topic; returns the function that stops it. With Redis, a process
 * receives its own messages twice.
 */
export function subscribe(topic: string, listener: Listener): () => void {
  const topicListeners = listeners.get(topic) ?? new Set()
  listeners.set(topic, topicListeners.add(listener))
  return () => topicListeners.delete(listener)
}

/** Returns the error of a ping; null when Redis answers or is not configured. */
export async function checkRedis(): Promise<string | null> {
  if (!publisher) return null
  try {
    await publisher.ping()
    return null
  } catch (error) {
    return errorMessage(error)
  }
}

/** The topic that wakes the readers of a tenant's event log; the message is the tenant. */
export const EVENTS_TOPIC = 'events'
