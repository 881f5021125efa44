import { LRUCache } from 'lru-cache'
import { listen, publish } from './bus.ts'

/** A revocation or a change of settings must be seen everywhere within a second, whatever the bus does. */
const MAX_AGE_MS = 1000
const MAX_ENTRIES = 10_000

/** Loads a thing of a tenant at most once a second; concurrent readers share one load. Null is not kept. */
export function createCache<Value extends object>(
  name: string,
  load: (tenant: string, key: string) => Promise<Value | null>,
) {
  const keyOf = (tenant: string, key: string) => `${tenant}\n${key}`
  const entries = new LRUCache<string, Value>({ max: MAX_ENTRIES, ttl: MAX_AGE_MS })
  const loading = new Map<string, Promise<Value | null>>()
  const topic = `cache:${name}`
  listen(topic, (message) => {
    const [tenant = '', key = ''] = message.split(' ')
    const entry = keyOf(tenant, key)
    entries.delete(entry)
    // Who asked before gets what is being read; it may be older than the change, so that nobody else does.
    loading.delete(entry)
  })

  function startLoad(entry: string, tenant: string, key: string): Promise<Value | null> {
    const start = performance.now()
    const isCurrent = () => loading.get(entry) === started
    const started = load(tenant, key)
      .then((value) => {
        // The age counts from before the read: the value may have changed while it was on its way.
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
    get: async (tenant: string, key: string): Promise<Value | null> => {
      const entry = keyOf(tenant, key)
      return entries.get(entry) ?? loading.get(entry) ?? startLoad(entry, tenant, key)
    },
    /** Reads it anew, for who missed something in what was kept: it may have come since, and the news of it been lost. */
    reload: (tenant: string, key: string): Promise<Value | null> => {
      const entry = keyOf(tenant, key)
      return loading.get(entry) ?? startLoad(entry, tenant, key)
    },
    /** Forgets it here and on the other processes. */
    invalidate: (tenant: string, key: string): void => publish(topic, `${tenant} ${key}`),
  }
}
