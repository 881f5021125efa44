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
  const entries = new LRUCache<string, Value>({
    max: MAX_ENTRIES,
    ttl: MAX_AGE_MS,
    fetchMethod: async (entry) => {
      const [tenant = '', key = ''] = entry.split('\n')
      return (await load(tenant, key)) ?? undefined
    },
  })
  const topic = `cache:${name}`
  listen(topic, (entry) => {
    const [tenant = '', key = ''] = entry.split(' ')
    entries.delete(keyOf(tenant, key))
  })
  return {
    get: async (tenant: string, key: string): Promise<Value | null> =>
      (await entries.fetch(keyOf(tenant, key))) ?? null,
    /** Forgets it here and on the other processes. */
    invalidate: (tenant: string, key: string): void => publish(topic, `${tenant} ${key}`),
  }
}
