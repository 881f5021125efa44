import { LRUCache } from 'lru-cache'
import { publishMessage, subscribe } from './bus.ts'

/**
 * Every process sees a revocation or a change of settings within a second, even when the bus loses the
 * message.
 */
const MAX_AGE_MS = 1000
const MAX_ENTRIES = 10_000

/**
 * Creates a cache of values by tenant and key. An entry is loaded at most once a second, and concurrent
 * readers share one load. Null is not cached.
 */
export function createCache<Value extends object>(
  name: string,
  load: (tenant: string, key: string) => Promise<Value | null>,
) {
  const toEntryKey = (tenant: string, key: string) => `${tenant}\n${key}`
  const entries = new LRUCache<string, Value>({ max: MAX_ENTRIES, ttl: MAX_AGE_MS })
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
        if (value && isCurrent()) entries.set(entry, value, { start })
        return value
      })
      .finally(() => {
        if (isCurrent()) loading.delete(entry)
      })
    loading.set(entry, started)
    return started
  }
  return {
    /** The value of an entry, at most a second old; null when it does not exist. */
    get: async (tenant: string, key: string): Promise<Value | null> => {
      const entry = toEntryKey(tenant, key)
      return entries.get(entry) ?? loading.get(entry) ?? startLoad(entry, tenant, key)
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
