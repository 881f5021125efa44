import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Ctx } from '../../context/context.ts'
import { createBackgroundCounts } from '../../coordination/background-counts.ts'
import { sha256 } from '../../core/crypto.ts'
import { errorMessage } from '../../core/error-message.ts'
import { RateLimited } from '../../core/errors.ts'
import { log } from '../../core/log.ts'
import { countLimited } from '../../core/metrics.ts'
import { createNetworkMatcher, toNetwork } from '../../core/network/ip.ts'
import {
  getRoleScopes,
  type HeldRoles,
  isScope,
  listManagementScopes,
  type Scope,
} from '../../core/scopes.ts'
import { Handle } from '../../database/handle.ts'
import { deliverInBackground } from '../../delivery/background.ts'
import { type ActiveKey, recordKeyUse, selectActiveKey, selectStoredSecrets } from './api-keys.sql.ts'
import { isKeyText } from './key-text.ts'

/** Well-formed keys that were not accepted, of a network in a tenant. Each costs a statement. */
const MAX_REJECTED = 100
const countRejected = createBackgroundCounts('rejectedKeys', {
  limit: MAX_REJECTED,
  seconds: 60,
  maxKeys: 50_000,
})

/** The next lookup of a tenant for networks that have used up their guesses, which is for all keys until then. */
type Lookup = { secretHashes: Buffer[]; stored: Promise<ReadonlySet<string>> }
const lookups = new Map<string, Lookup>()
const LOOKUP_INTERVAL_MS = 250
const MAX_LOOKED_UP = 1000

/** Whether a key has the hash: four statements a second at most, for any number of guesses. False for those beyond 1,000 in each. */
async function isStoredSecret(tenant: string, secretHash: Buffer): Promise<boolean> {
  let lookup = lookups.get(tenant)
  if (!lookup) {
    const secretHashes: Buffer[] = []
    const stored = sleep(LOOKUP_INTERVAL_MS).then(() => {
      lookups.delete(tenant)
      return selectStoredSecrets(new Handle({ tenant }), secretHashes)
    })
    lookup = { secretHashes, stored }
    lookups.set(tenant, lookup)
  }
  if (lookup.secretHashes.length >= MAX_LOOKED_UP) return false
  lookup.secretHashes.push(secretHash)
  return (await lookup.stored).has(secretHash.toString('hex'))
}

/** When this process last recorded a use of a key, by its hash: keys that it has accepted. */
const recordedUses = new LRUCache<string, number>({ max: 10_000 })
const RECORD_INTERVAL_MS = 60_000

/** Records a use in the background, at most once a minute. */
function noteUse(tenant: string, hash: string, { id, lastUsedAt }: ActiveKey): void {
  const now = Date.now()
  const last = Math.max(recordedUses.get(hash) ?? 0, lastUsedAt?.getTime() ?? 0)
  const isDue = now - last >= RECORD_INTERVAL_MS
  recordedUses.set(hash, isDue ? now : last)
  if (!isDue) return
  deliverInBackground(() =>
    recordKeyUse(new Handle({ tenant }), id).catch((error: unknown) =>
      log.warn({ err: errorMessage(error) }, 'the use of an API key could not be recorded'),
    ),
  )
}

export const isAllowedFrom = (
  { allowedNetworks }: Pick<ActiveKey, 'allowedNetworks'>,
  ip: string | null,
): boolean =>
  allowedNetworks.length === 0 || allowedNetworks.some((network) => createNetworkMatcher(network)(ip))

/** Who presents a key. A client that authenticates may ask about any number of keys. */
type Presenter = Pick<Ctx, 'tenant' | 'ip' | 'workload'> & { isClient?: true }

/**
 * Finds the active key of the tenant; null for any other text. One statement for a well-formed key, none otherwise, and at
 * most one in a minute in the background, which records the use. Throws RateLimited for the keys that a network guesses:
 * once it has used up its guesses, a key that this process has not accepted yet waits until it is looked up together with others.
 */
export async function findApiKey(
  { tenant, ip, workload, isClient }: Presenter,
  text: string,
): Promise<ActiveKey | null> {
  if (!isKeyText(text)) return null
  const secretHash = sha256(text)
  const hash = `${tenant}:${secretHash.toString('base64url')}`
  const network = `${tenant}:${toNetwork(ip)}`
  if (!isClient && !recordedUses.has(hash)) {
    const { remaining, resetSeconds } = countRejected(network, undefined, 0)
    if (remaining === 0 && !(await isStoredSecret(tenant, secretHash))) {
      countLimited('rejectedKeys')
      throw new RateLimited(resetSeconds, `Too many API keys were not accepted: ${MAX_REJECTED} in a minute.`)
    }
  }
  const key = await selectActiveKey(new Handle({ tenant, workload }), secretHash)
  if (!key || !isAllowedFrom(key, ip)) {
    recordedUses.delete(hash)
    if (!isClient) countRejected(network)
    return null
  }
  noteUse(tenant, hash, key)
  return key
}

/** The management scopes that a key permits: of a user, those that the roles permit too. */
export function listKeyScopes(
  tenant: string,
  { scopes, roles }: { scopes: readonly string[]; roles: HeldRoles | null },
): Set<Scope> {
  const available = roles ? getRoleScopes(roles) : new Set(listManagementScopes(tenant))
  return new Set(scopes.filter((scope): scope is Scope => isScope(scope) && available.has(scope)))
}

/** Whose key it is. That of a user may be for an organization. */
export const getKeyOwner = (key: {
  userId: string | null
  organizationId: string | null
}): 'tenant' | 'organization' | 'user' =>
  key.userId !== null ? 'user' : key.organizationId !== null ? 'organization' : 'tenant'
