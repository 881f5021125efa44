import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'

/**
 * Leaky buckets: each drains steadily and is empty after `drainMs` at most. `part` is what is to be added, as a
 * part of the bucket.
 *
 * A tenant that is attacked from many networks must not reject the sign-ins of the others: no bucket of a
 * tenant rejects anything by itself. While it is at most half full, a network may fill its own bucket.
 * Beyond, each network may use only a part of its bucket, which shrinks with the space that the tenant has
 * left, down to `LEAST_SHARE`. Networks that have stored most are rejected first.
 */
export type Bucket = { key: string; part: number }
type Buckets = { networks: readonly Bucket[]; tenant: Bucket }

/** The bucket that had no space, and when it has. `tenant`: the network may only use a part of its bucket. */
export type StorageLimit = { reason: 'network' | 'tenant'; waitMs: number }

const LEAST_SHARE = 1 / 200
const SHARE_OF_FREE = 2

/** Buckets that fill at the same time, in a process without Redis: about 10 MB. */
const MAX_KEPT_BUCKETS = 50_000
/** When each bucket is empty, in milliseconds since 1970. */
const emptyAt = new LRUCache<string, number>({ max: MAX_KEPT_BUCKETS })

/** Fills the buckets of this process, unless one has no space. */
export function fillInMemory(
  { networks, tenant }: Buckets,
  drainMs: number,
  now = Date.now(),
): StorageLimit | null {
  const readLevel = ({ key }: Bucket) => Math.max(0, (emptyAt.get(key) ?? 0) - now) / drainMs
  const share = Math.min(1, Math.max(LEAST_SHARE, SHARE_OF_FREE * (1 - readLevel(tenant))))
  for (const bucket of networks) {
    const level = readLevel(bucket) + bucket.part
    if (level > share)
      return { reason: level > 1 ? 'network' : 'tenant', waitMs: Math.ceil((level - share) * drainMs) }
  }
  for (const bucket of [...networks, tenant])
    emptyAt.set(bucket.key, now + Math.min(1, readLevel(bucket) + bucket.part) * drainMs)
  return null
}

/** Fills the buckets in Redis. A key lives as long as its bucket drains, so that its lifetime is the level. */
const FILL_SCRIPT = `
local drain = tonumber(ARGV[1])
local levels = {}
for i, key in ipairs(KEYS) do levels[i] = math.max(0, redis.call('PTTL', key)) / drain end
local share = math.min(1, math.max(${LEAST_SHARE}, ${SHARE_OF_FREE} * (1 - levels[#KEYS])))
for i, key in ipairs(KEYS) do
  levels[i] = levels[i] + tonumber(ARGV[i + 1])
  if i < #KEYS and levels[i] > share then
    return { levels[i] > 1 and 'network' or 'tenant', math.ceil((levels[i] - share) * drain) }
  end
end
for i, key in ipairs(KEYS) do
  redis.call('SET', key, '', 'PX', math.max(1, math.ceil(math.min(1, levels[i]) * drain)))
end
return {}`

/** Fills the buckets that all processes share, unless one has no space. Throws when Redis does not answer. */
export async function fillInRedis(
  redis: Redis,
  { networks, tenant }: Buckets,
  drainMs: number,
): Promise<StorageLimit | null> {
  const buckets = [...networks, tenant]
  const keys = buckets.map(({ key }) => key)
  const parts = buckets.map(({ part }) => part)
  const limit = (await redis.eval(FILL_SCRIPT, keys.length, ...keys, drainMs, ...parts)) as
    | []
    | [StorageLimit['reason'], number]
  return limit.length === 0 ? null : { reason: limit[0], waitMs: limit[1] }
}
