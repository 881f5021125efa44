import { LRUCache } from 'lru-cache'
import { getRedis } from './bus.ts'

/** What a key has left in the current period. `isExhausted`: this use exceeded the limit, and is to be rejected. */
export type CountedUse = { remaining: number; resetSeconds: number; isExhausted: boolean }

type Count = {
  /** Uses in all processes when Redis last answered. */
  shared: number
  /** Uses in this process that were not sent to Redis. */
  unflushed: number
  isFlushing: boolean
  isSynchronized: boolean
}

/**
 * Counts uses by key in periods of a fixed length, over all processes.
 *
 * A use is counted in this process; counts are sent to Redis in the background, several uses of a key at a time.
 * Nothing waits for Redis. Until the processes have synchronized, a key may exceed the limit by one percent for each
 * process. Without Redis, each process counts separately. `maxKeys` bounds the memory.
 */
export function createBackgroundCounts(
  name: string,
  { limit, seconds, maxKeys }: { limit: number; seconds: number; maxKeys: number },
) {
  const counts = new LRUCache<string, Count>({ max: maxKeys })
  const flushThreshold = Math.max(1, Math.ceil(limit / 100))
  let countedPeriod = 0

  function flush(key: string, count: Count): void {
    const store = getRedis()
    if (!store) return
    const { unflushed: sent } = count
    count.isFlushing = true
    store
      .pipeline()
      .incrby(`${name}:${key}`, sent)
      .expire(`${name}:${key}`, 2 * seconds)
      .exec()
      .then((results) => {
        const total = results?.[0]?.[1]
        if (typeof total !== 'number') return
        count.shared = total
        count.unflushed -= sent
        count.isSynchronized = true
      })
      .catch(() => undefined) // sent with a later use; the connection has logged its error
      .finally(() => {
        count.isFlushing = false
      })
  }

  /** Counts one use, unless the limit is reached. Does not wait and never throws. */
  return (key: string, now = Date.now()): CountedUse => {
    const period = Math.floor(now / (seconds * 1000))
    if (period !== countedPeriod) {
      counts.clear()
      countedPeriod = period
    }
    let count = counts.get(key)
    if (!count) {
      count = { shared: 0, unflushed: 0, isFlushing: false, isSynchronized: false }
      counts.set(key, count)
    }
    const isExhausted = count.shared + count.unflushed >= limit
    if (!isExhausted) {
      count.unflushed += 1
      if (!count.isFlushing && (count.unflushed >= flushThreshold || !count.isSynchronized))
        flush(`${key}:${period}`, count)
    }
    return {
      remaining: Math.max(0, limit - count.shared - count.unflushed),
      resetSeconds: Math.max(1, Math.ceil(((period + 1) * seconds * 1000 - now) / 1000)),
      isExhausted,
    }
  }
}
