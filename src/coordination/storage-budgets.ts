import { env } from '../core/env.ts'
import { errorMessage } from '../core/error-message.ts'
import { RateLimited } from '../core/errors.ts'
import { log } from '../core/log.ts'
import { countLimitedStorage } from '../core/metrics.ts'
import { toNetwork, toSite } from '../core/network/ip.ts'
import { getRedis } from './bus.ts'
import { type Bucket, fillInMemory, fillInRedis, type StorageLimit } from './storage-buckets.ts'

/** Rows and bytes. What is stored counts with the larger part of either. */
type Size = { rows: number; bytes: number }
/**
 * What the unauthenticated callers of one network may store, over all tenants, and those of all networks in one
 * tenant. A used up budget is whole again after `drainSeconds`; it recovers steadily.
 */
type StorageBudget = { network: Size; tenant: Size; drainSeconds: number }

const HOUR_SECONDS = 3600
const DAY_SECONDS = 86_400
/** The operator sets the first budget; the others keep their proportion to it. */
const SCALE = env.networkStorageMb / 8
const scaled = (rows: number, bytes: number): Size => ({ rows: rows * SCALE, bytes: bytes * SCALE })

/** The budgets by what is stored, with the lifetime of the rows. */
export const STORAGE_BUDGETS = {
  /** Interactions, and pushed requests and device codes of public clients: up to an hour. */
  pendingRequest: { network: scaled(8000, 8e6), tenant: scaled(200_000, 200e6), drainSeconds: HOUR_SECONDS },
  /** Rejected requests in the event log: a week. Beyond the budget, they are counted and not recorded. */
  rejection: { network: scaled(4000, 4e6), tenant: scaled(64_000, 64e6), drainSeconds: DAY_SECONDS },
  /** Requested codes and guesses: rows for a day, events of failures for 90 days. */
  passcode: { network: scaled(5000, 5e6), tenant: scaled(2_000_000, 2e9), drainSeconds: DAY_SECONDS },
  /** Users who sign up, or enter by an identity provider: they stay. */
  account: { network: scaled(1000, 4e6), tenant: scaled(50_000, 200e6), drainSeconds: DAY_SECONDS },
  /** Metadata documents of clients that were fetched: 30 days. */
  clientDocument: { network: scaled(1000, 4e6), tenant: scaled(20_000, 80e6), drainSeconds: DAY_SECONDS },
  /** Clients that registered themselves without a token: 30 days, longer if they are used. */
  clientRegistration: { network: scaled(500, 2e6), tenant: scaled(20_000, 80e6), drainSeconds: DAY_SECONDS },
  /** Answers of forms, for repeated submissions: a minute. Beyond the budget, they are not kept. */
  formAnswer: { network: scaled(4000, 8e6), tenant: scaled(200_000, 200e6), drainSeconds: 60 },
  /** Used DPoP proofs of public clients: two minutes. */
  usedProof: { network: scaled(12_000, 12e6), tenant: scaled(600_000, 600e6), drainSeconds: 120 },
} as const satisfies Record<string, StorageBudget>
export type BudgetName = keyof typeof STORAGE_BUDGETS

/** A /48 has several networks, and may be one customer's. */
const SITE_NETWORKS = 4

/** The part of a bucket that something takes: the larger of its parts of rows and of bytes. */
const toPart = (size: Size, capacity: Size): number =>
  Math.max(size.rows / capacity.rows, size.bytes / capacity.bytes)

/** The buckets of a caller: those of its networks, and that of the tenant. */
function listBuckets(name: BudgetName, tenant: string, ip: string | null, size: Size) {
  const budget = STORAGE_BUDGETS[name]
  const key = (owner: string) => `storage:${name}:${owner}`
  const site = toSite(ip)
  const networkPart = toPart(size, budget.network)
  const networks: Bucket[] = [{ key: key(`network:${toNetwork(ip)}`), part: networkPart }]
  if (site) networks.push({ key: key(`network:${site}`), part: networkPart / SITE_NETWORKS })
  return { networks, tenant: { key: key(`tenant:${tenant}`), part: toPart(size, budget.tenant) } }
}

/**
 * Takes what a caller is about to store from the budgets of its network and of the tenant. Returns null, or the
 * limit when a budget is used up; then nothing is taken, and it is counted in the metrics as `what`. One round
 * trip to Redis. While Redis is unavailable, each process counts separately. Never throws.
 */
export async function takeStorage(
  name: BudgetName,
  { tenant, ip }: { tenant: string; ip: string | null },
  { rows = 1, bytes, what = name }: Partial<Size> & { bytes: number; what?: string },
): Promise<StorageLimit | null> {
  const buckets = listBuckets(name, tenant, ip, { rows, bytes })
  const drainMs = STORAGE_BUDGETS[name].drainSeconds * 1000
  const limit = await fillBuckets(buckets, drainMs)
  if (limit) countLimitedStorage({ budget: name, what, reason: limit.reason })
  return limit
}

async function fillBuckets(buckets: ReturnType<typeof listBuckets>, drainMs: number) {
  const redis = getRedis()
  try {
    if (redis) return await fillInRedis(redis, buckets, drainMs)
  } catch (error) {
    log.warn({ err: errorMessage(error) }, 'stored rows could not be counted in Redis')
  }
  return fillInMemory(buckets, drainMs)
}

/** Counts rows, and rejects the request beyond the budget. Throws RateLimited. See docs/decisions/0066. */
export async function requireStorage(
  name: BudgetName,
  caller: { tenant: string; ip: string | null },
  size: Partial<Size> & { bytes: number },
): Promise<void> {
  const limit = await takeStorage(name, caller, size)
  if (limit) throw new RateLimited(Math.max(1, Math.ceil(limit.waitMs / 1000)))
}
