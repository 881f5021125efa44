import { LRUCache } from 'lru-cache'
import { measureJson } from '../core/json/json-size.ts'
import type { Db } from '../database/handle.ts'
import { publishMessage, subscribe } from './bus.ts'
import { awaitRowChanges, CHECK_AGE_MS, checkRowChanges, onRowChange, toCurrentAt } from './row-changes.ts'

/**
 * Every process sees a revocation or a change of settings within a second, even when the bus loses the
 * message.
 */
const MAX_AGE_MS = 1000
/** An entry is loaded again after this time, in case its row was changed while triggers were disabled. */
const MAX_LIFE_MS = 60_000
const MAX_ENTRIES = 10_000
/** Clients of metadata documents have up to 65 KB, and strangers choose them. */
const MAX_BYTES = 32_000_000
/** Of an entry, apart from its value. */
const ENTRY_BYTES = 500

type Entry<Value> = { value: Value; loadedAt: number }
type Load<Value> = { value: Promise<Value | null>; startedAt: number }

/**
 * Creates a cache of values by tenant and key. Triggers record the changes of its rows under its `name`. An entry in
 * use is current as of the last second, for which one statement serves all entries of all caches. Concurrent readers
 * share one load. Null is not cached.
 */
export function createCache<Value extends object>(
  name: string,
  load: (tenant: string, key: string) => Promise<Value | null>,
) {
  const toEntryKey = (tenant: string, key: string) => `${tenant}\n${key}`
  const entries = new LRUCache<string, Entry<Value>>({
    max: MAX_ENTRIES,
    maxSize: MAX_BYTES,
    sizeCalculation: ({ value }, entry) => ENTRY_BYTES + entry.length + measureJson(value),
  })
  const loading = new Map<string, Load<Value>>()
  const topic = `cache:${name}`

  function drop(tenant: string, key: string): void {
    const entry = toEntryKey(tenant, key)
    entries.delete(entry)
    // Loads in flight may return a stale value: callers that arrive after the invalidation must not share
    // them.
    loading.delete(entry)
  }
  subscribe(topic, (message) => {
    const [tenant = '', key = ''] = message.split(' ')
    drop(tenant, key)
  })
  onRowChange(name, drop)

  function startLoad(entry: string, tenant: string, key: string): Promise<Value | null> {
    const startedAt = performance.now()
    const isCurrent = () => loading.get(entry) === started
    const value = load(tenant, key)
      .then((loaded) => {
        // The age counts from the start of the load: the value may have changed since it was read.
        if (!isCurrent()) return loaded
        if (loaded) entries.set(entry, { value: loaded, loadedAt: startedAt })
        else entries.delete(entry)
        return loaded
      })
      .finally(() => {
        if (isCurrent()) loading.delete(entry)
      })
    const started = { value, startedAt }
    loading.set(entry, started)
    return value
  }

  /** Concurrent readers share a load, unless it began so long ago that its value may be too old. */
  function shareLoad(entry: string, tenant: string, key: string): Promise<Value | null> {
    const started = loading.get(entry)
    if (started && performance.now() - started.startedAt <= MAX_AGE_MS) return started.value
    return startLoad(entry, tenant, key)
  }

  /** The value, if no change can have been missed for more than a second. */
  function read(entry: string, now: number): Value | undefined {
    const found = entries.get(entry)
    if (!found || now - found.loadedAt > MAX_LIFE_MS) return undefined
    const age = now - toCurrentAt(found.loadedAt)
    if (age > CHECK_AGE_MS) void checkRowChanges()
    return age > MAX_AGE_MS ? undefined : found.value
  }

  return {
    /** The value of an entry, current as of the last second; null when it does not exist. */
    get: async (tenant: string, key: string): Promise<Value | null> => {
      const entry = toEntryKey(tenant, key)
      let value = read(entry, performance.now())
      if (!value && entries.has(entry)) {
        await awaitRowChanges()
        value = read(entry, performance.now())
      }
      return value ?? shareLoad(entry, tenant, key)
    },
    /**
     * Loads the entry again, for a caller that expects more than the cached value has: an invalidation may be
     * late.
     */
    reload: (tenant: string, key: string): Promise<Value | null> =>
      shareLoad(toEntryKey(tenant, key), tenant, key),
    /** Drops an entry of the tenant in this process and the others, after the commit. */
    invalidate: (db: Db, key: string): void =>
      db.afterCommit(`${topic} ${key}`, () => publishMessage(topic, `${db.tenant} ${key}`)),
  }
}
