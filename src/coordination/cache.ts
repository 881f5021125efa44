import { LRUCache } from 'lru-cache'
import { errorMessage } from '../core/error-message.ts'
import { log } from '../core/log.ts'
import { publishMessage, subscribe } from './bus.ts'

/**
 * Every process sees a revocation or a change of settings within a second, even when the bus loses the
 * message.
 */
const MAX_AGE_MS = 1000
const MAX_ENTRIES = 10_000
/**
 * An entry that is read at this age is loaded again in the background, with others of the same moment: their statements
 * share round trips, and no reader waits.
 */
const RELOAD_AGE_MS = 700
const RELOAD_DELAY_MS = 50

type Entry<Value> = { value: Value; reloadAt: number }

/**
 * Creates a cache of values by tenant and key. An entry in use is loaded about once a second, and concurrent
 * readers share one load. Null is not cached.
 */
export function createCache<Value extends object>(
  name: string,
  load: (tenant: string, key: string) => Promise<Value | null>,
) {
  const toEntryKey = (tenant: string, key: string) => `${tenant}\n${key}`
  const entries = new LRUCache<string, Entry<Value>>({ max: MAX_ENTRIES, ttl: MAX_AGE_MS })
  const loading = new Map<string, Promise<Value | null>>()
  const topic = `cache:${name}`
  subscribe(topic, (message) => {
    const [tenant = '', key = ''] = message.split(' ')
    const entry = toEntryKey(tenant, key)
    entries.delete(entry)
    // Loads in flight may return a stale value: callers that arrive after the invalidation must not share
    // them.
    loading.delete(entry)
  })

  function startLoad(entry: string, tenant: string, key: string): Promise<Value | null> {
    const start = performance.now()
    const isCurrent = () => loading.get(entry) === started
    const started = load(tenant, key)
      .then((value) => {
        // The age counts from the start of the load: the value may have changed since it was read.
        if (!isCurrent()) return value
        if (value) entries.set(entry, { value, reloadAt: start + RELOAD_AGE_MS }, { start })
        else entries.delete(entry)
        return value
      })
      .finally(() => {
        if (isCurrent()) loading.delete(entry)
      })
    loading.set(entry, started)
    return started
  }

  const due = new Map<string, [tenant: string, key: string]>()

  function reloadDue(): void {
    const loads = [...due].filter(([entry]) => !loading.has(entry))
    due.clear()
    for (const [entry, [tenant, key]] of loads)
      startLoad(entry, tenant, key).catch((error) =>
        log.debug({ err: errorMessage(error) }, `${name} could not be loaded again`),
      )
  }

  function reloadSoon(entry: string, tenant: string, key: string): void {
    if (due.size === 0) setTimeout(reloadDue, RELOAD_DELAY_MS).unref()
    due.set(entry, [tenant, key])
  }

  return {
    /** The value of an entry, at most a second old; null when it does not exist. */
    get: async (tenant: string, key: string): Promise<Value | null> => {
      const entry = toEntryKey(tenant, key)
      const cached = entries.get(entry)
      if (!cached) return loading.get(entry) ?? startLoad(entry, tenant, key)
      if (performance.now() > cached.reloadAt) {
        cached.reloadAt = Number.POSITIVE_INFINITY
        reloadSoon(entry, tenant, key)
      }
      return cached.value
    },
    /**
     * Loads the entry again, for a caller that expects more than the cached value has: an invalidation may be
     * late.
     */
    reload: (tenant: string, key: string): Promise<Value | null> => {
      const entry = toEntryKey(tenant, key)
      return loading.get(entry) ?? startLoad(entry, tenant, key)
    },
    /** Drops the entry in this process and the others. */
    invalidate: (tenant: string, key: string): void => publishMessage(topic, `${tenant} ${key}`),
  }
}
