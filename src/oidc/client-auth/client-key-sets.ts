import type { JWK, JWTVerifyOptions } from 'jose'
import { LRUCache } from 'lru-cache'
import type { CachedClient } from '../../access/client-cache.ts'
import { findKeyIssue } from '../../clients/client-keys.fields.ts'
import type { Ctx } from '../../context/context.ts'
import { consumeLimit } from '../../coordination/rate-limits.ts'
import { isJsonObject } from '../../core/json/json-object.ts'
import { documentFetch, FetchError } from '../../core/network/fetcher.ts'
import { createRemoteKeySets } from '../../keys/remote-key-sets.ts'
import { isUnreviewed } from '../model/unreviewed-clients.ts'

/** Each key that fits may be tried, for requests of anyone who knows the client_id. */
const MAX_KEYS = 20
const RECHECK_MS = 60_000
/** How long an unusable key set is not fetched again. */
const RETRY_AFTER_MS = 60_000

/** Why the keys of a client cannot be used. The message has no line of what its host answers. */
export class ClientKeysError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'ClientKeysError'
  }
}

/** EdDSA and Ed25519 name the same algorithm for the only supported curve (RFC 9864). */
export const removeLegacyAlg = (key: JWK): JWK => (key.crv === 'Ed25519' ? { ...key, alg: undefined } : key)

async function fetchDocumentText(url: string): Promise<string> {
  const answer = await documentFetch(url, {
    headers: { accept: 'application/jwk-set+json, application/json' },
  }).catch((error: unknown) => {
    if (!(error instanceof FetchError)) throw error
    throw new ClientKeysError(error.message, error)
  })
  if (answer.status !== 200) throw new ClientKeysError(`the host of jwksUri answers ${answer.status}`)
  return answer.text()
}

/** The keys of a set by the rules for `jwks`; those that cannot verify an assertion are left out. */
async function readKeys(url: string): Promise<JWK[]> {
  const text = await fetchDocumentText(url)
  let set: unknown
  try {
    set = JSON.parse(text)
  } catch (error) {
    throw new ClientKeysError('jwksUri has no valid JSON', error)
  }
  if (!isJsonObject(set) || !Array.isArray(set.keys)) throw new ClientKeysError('jwksUri has no key set')
  const usable = set.keys.filter((key) => isJsonObject(key) && findKeyIssue(key) === null)
  if (usable.length === 0) throw new ClientKeysError('jwksUri has no key that can be used')
  return usable.slice(0, MAX_KEYS).map(removeLegacyAlg)
}

const recentErrors = new LRUCache<string, ClientKeysError>({
  max: 2000,
  // Strangers choose the URLs. An error has a stack of a kilobyte.
  maxSize: 4_000_000,
  sizeCalculation: ({ message }, url) => 1500 + 2 * (url.length + message.length),
  ttl: RETRY_AFTER_MS,
  perf: { now: () => Date.now() },
})

/** Fetches keys, and not again for a minute after a failure. Throws ClientKeysError. */
async function fetchKeys(url: string): Promise<JWK[]> {
  const recentError = recentErrors.get(url)
  if (recentError) throw recentError
  try {
    return await readKeys(url)
  } catch (error) {
    if (error instanceof ClientKeysError) recentErrors.set(url, error)
    throw error
  }
}

/** Apart from those of identity providers, which administrators choose: strangers choose these. */
const keySets = createRemoteKeySets({ fetchKeys, maxBytes: 8_000_000, recheckMs: RECHECK_MS })

/**
 * Verifies an assertion with the keys at the `jwksUri` of a client. An assertion that they do not verify has them
 * fetched again once a minute at most. Fetches for clients that nobody reviewed have a limit per network. Throws what
 * jose throws, ClientKeysError and RateLimited.
 */
export async function verifyWithRemoteKeys(
  caller: Pick<Ctx, 'tenant' | 'ip'>,
  client: Pick<CachedClient, 'registeredBy'>,
  url: string,
  assertion: string,
  options: JWTVerifyOptions,
): Promise<void> {
  if (isUnreviewed(client) && !keySets.has(url)) await consumeLimit('fetchDocument', caller.tenant, caller.ip)
  await keySets.verify(url, assertion, options)
}
