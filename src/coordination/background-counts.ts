import { LRUCache } from 'lru-cache'
import { getRedis } from './bus.ts'

/** What a key has left in the current period. `isExhausted`: this use exceeded the limit, and is to be rejected. */
export type CountedUse = { remaining: number; resetSeconds: number; isExhausted: boolean }

type Count = {
  /** Uses in this process. */
  own: number
  /** Those of them that were sent to Redis. None is sent again: Redis may have counted one that it did not answer. */
  sent: number
  /** Uses in all processes when Redis last answered, and those that were sent since. */
  shared: number
  isFlushing: boolean
}

/** The uses in all processes, as far as this one knows. */
const readUses = ({ own, sent, shared }: Count): number => Math.max(own, shared + own - sent)

/**
 * Counts uses by key in periods of a fixed length, over all processes.
 *
 * A use is counted in this process; counts are sent to Redis in the background, a part of the limit at a time: `step`.
 * Nothing waits for Redis. A key may exceed the limit by that for each process. A use that Redis has counted without an
 * answer counts once; one that it has lost counts in its process only. Without Redis, each process counts separately.
 * `maxKeys` bounds the memory.
 */
export function createBackgroundCounts(
  name: string,
  {
    limit,
    seconds,
    maxKeys,
    step = 0.01,
  }: { limit: number; seconds: number; maxKeys: number; step?: number },
) {
  // With `max`, the cache would take the memory of all keys at once: 2 MB for each kind of use.
  const counts = new LRUCache<string, Count>({ maxSize: maxKeys, sizeCalculation: () => 1 })
  const flushThreshold = Math.max(1, Math.ceil(limit * step))
  let countedPeriod = 0

  function flush(key: string, count: Count): void {
    const store = getRedis()
    if (store?.status !== 'ready') return
    const amount = count.own - count.sent
    count.sent = count.own
    count.shared += amount
    count.isFlushing = true
    store
      .pipeline()
      .incrby(`${name}:${key}`, amount)
      .expire(`${name}:${key}`, 2 * seconds)
      .exec()
      .then((results) => {
        const total = results?.[0]?.[1]
        if (typeof total === 'number') count.shared = total
      })
      .catch(() => undefined) // the connection has logged its error
      .finally(() => {
        count.isFlushing = false
      })
  }

  /** Counts a use, or an amount, unless it exceeds the limit. Does not wait and never throws. */
  return (key: string, now = Date.now(), amount = 1): CountedUse => {
    const period = Math.floor(now / (seconds * 1000))
    if (period !== countedPeriod) {
      counts.clear()
      countedPeriod = period
    }
    let count = counts.get(key)
    if (!count) {
      count = { own: 0, sent: 0, shared: 0, isFlushing: false }
      counts.set(key, count)
    }
    const isExhausted = readUses(count) + amount > limit
    if (!isExhausted) {
      count.own += amount
      if (!count.isFlushing && count.own - count.sent >= flushThreshold) flush(`${key}:${period}`, count)
    }
    return {
      remaining: Math.max(0, limit - readUses(count)),
      resetSeconds: Math.max(1, Math.ceil(((period + 1) * seconds * 1000 - now) / 1000)),
      isExhausted,
    }
  }
}
