import {
  createLocalJWKSet,
  errors,
  type JWK,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose'
import { LRUCache } from 'lru-cache'
import { measureJson } from '../core/json/json-size.ts'

/** How long fetched keys are used without another fetch. */
const LIFETIME_MS = 600_000

type KeySet = { find: JWTVerifyGetKey; count: number; bytes: number }

/**
 * The key for a token: one with its `kid`. A set may have keys without `kid`, and then each that fits is tried.
 */
function createKeyFinder(keys: JWK[]): JWTVerifyGetKey {
  const findNamed = createLocalJWKSet({ keys })
  const findUnnamed = createLocalJWKSet({ keys: keys.filter(({ kid }) => kid === undefined) })
  return async ({ kid, ...header }, token) => {
    try {
      return await findNamed({ ...header, ...(kid && { kid }) }, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      return findUnnamed(header, token)
    }
  }
}

/** Verifies a JWT with the keys that fit it. Throws what jose throws. */
export async function verifyWithKeys(
  token: string,
  find: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, find, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error)
      try {
        return await jwtVerify(token, key, options)
      } catch (tried) {
        // Any other error means that the key fits and the claims are invalid.
        if (!(tried instanceof errors.JWSSignatureVerificationFailed)) throw tried
      }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

const isAboutKeys = (error: unknown): boolean =>
  error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey

type RemoteKeySets = {
  /** Whether the keys at a URL are in use, without a fetch. */
  has: (url: string) => boolean
  /**
   * Verifies a JWT with the keys at a URL, which are kept for ten minutes. A token that they do not verify is checked
   * once more against fetched ones, unless these were fetched for another such token within `recheckMs`: its signer may
   * have rotated the keys. Throws what jose and `fetchKeys` throw.
   */
  verify: (url: string, token: string, options: JWTVerifyOptions) => Promise<JWTVerifyResult>
  /** Fetches the keys at a URL again; returns their number. Throws what `fetchKeys` throws. */
  refresh: (url: string) => Promise<number>
}

/**
 * Creates a cache of the key sets of other parties, by their URLs. Concurrent calls share a fetch. Errors are not kept.
 */
export function createRemoteKeySets({
  fetchKeys,
  maxBytes,
  recheckMs,
}: {
  fetchKeys: (url: string) => Promise<JWK[]>
  maxBytes: number
  recheckMs: number
}): RemoteKeySets {
  const keySets = new LRUCache<string, KeySet>({
    max: 500,
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }, url) => bytes + url.length,
    ttl: LIFETIME_MS,
    fetchMethod: async (url) => {
      const keys = await fetchKeys(url)
      return { find: createKeyFinder(keys), count: keys.length, bytes: measureJson(keys) }
    },
    ignoreFetchAbort: true,
    noDeleteOnFetchRejection: true,
  })
  /** When the keys at a URL were last fetched for a token that the cached ones do not verify. */
  const rechecks = new LRUCache<string, number>({ max: 500, ttl: recheckMs, perf: { now: () => Date.now() } })

  async function load(url: string, forceRefresh = false): Promise<KeySet> {
    const found = await keySets.fetch(url, { forceRefresh })
    if (!found) throw new Error('the keys were not kept')
    return found
  }

  /** Keys that were fetched after `known`; null where they may not be fetched yet. */
  async function recheckKeys(url: string, known: KeySet): Promise<KeySet | null> {
    const current = keySets.peek(url)
    if (current && current !== known) return current
    const isDue = !rechecks.has(url)
    if (isDue) rechecks.set(url, Date.now())
    // Without `forceRefresh`, the call joins a fetch that another one has begun.
    const found = await load(url, isDue)
    return found === known ? null : found
  }

  return {
    has: (url) => keySets.has(url),
    verify: async (url, token, options) => {
      const isCached = keySets.has(url)
      const known = await load(url)
      try {
        return await verifyWithKeys(token, known.find, options)
      } catch (error) {
        const fetched = isCached && isAboutKeys(error) ? await recheckKeys(url, known) : null
        if (!fetched) throw error
        return verifyWithKeys(token, fetched.find, options)
      }
    },
    refresh: async (url) => (await load(url, true)).count,
  }
}
