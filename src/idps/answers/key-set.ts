import { createPublicKey } from 'node:crypto'
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
import * as z from 'zod'
import { measureJson } from '../../core/json-size.ts'
import { toUnavailable } from '../provider-errors.ts'
import { fetchDocument } from '../provider-fetch.ts'
import { listAlgorithms } from '../provider-keys.ts'

/** More keys of one provider are not read. */
const MAX_KEYS = 100

/** RSA keys of 16,384 bits are the largest that OpenSSL verifies with. */
const parameter = z.string().max(3000)
/** A member that cannot be used is as if it were absent. */
const label = z.string().min(1).max(500).optional().catch(undefined)
/** The members of a public key that are used (RFC 7517, section 4; RFC 7518, section 6). */
const PublicJwk = z.object({
  kty: z.enum(['RSA', 'EC', 'OKP']),
  n: parameter.optional(),
  e: parameter.optional(),
  crv: parameter.optional(),
  x: parameter.optional(),
  y: parameter.optional(),
  alg: label,
  kid: label,
  use: label,
})

/** The keys of a set that can verify; entries that are no public keys, or too weak, are left out. */
const selectKeys = (entries: readonly unknown[]): JWK[] =>
  entries
    .map((entry) => PublicJwk.safeParse(entry).data)
    .filter((jwk) => jwk !== undefined)
    .filter((jwk) => {
      try {
        return listAlgorithms(createPublicKey({ key: jwk, format: 'jwk' })).length > 0
      } catch {
        return false // not a key
      }
    })
    .slice(0, MAX_KEYS)

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

type KeySet = { find: JWTVerifyGetKey; count: number; bytes: number }

async function fetchKeySet(url: string): Promise<KeySet> {
  const { keys: entries } = await fetchDocument(url)
  if (!Array.isArray(entries)) throw toUnavailable('keys unusable', `${url} is not a key set`)
  const keys = selectKeys(entries)
  if (keys.length === 0 && entries.length > 0)
    throw toUnavailable('keys unusable', `none of the ${entries.length} keys at ${url} can be used`)
  return { find: createKeyFinder(keys), count: keys.length, bytes: measureJson(keys) }
}

/** The keys at a URL, shared by all tenants. Errors are not kept. */
const keySets = new LRUCache<string, KeySet>({
  max: 500,
  maxSize: 16_000_000,
  sizeCalculation: ({ bytes }) => bytes,
  ttl: 600_000,
  fetchMethod: fetchKeySet,
  ignoreFetchAbort: true,
  noDeleteOnFetchRejection: true,
})

const RECHECK_MS = 30_000
/** When the keys at a URL were last fetched for a token that the cached ones do not verify. */
const rechecks = new LRUCache<string, number>({ max: 500, ttl: RECHECK_MS, perf: { now: () => Date.now() } })

/** Keys that were fetched after `known`; null where they may not be fetched yet. Concurrent calls share a fetch. */
async function recheckKeys(url: string, known: KeySet): Promise<KeySet | null> {
  const current = keySets.peek(url)
  if (current && current !== known) return current
  const isDue = !rechecks.has(url)
  if (isDue) rechecks.set(url, Date.now())
  // Without `forceRefresh`, the call joins a fetch that another one has begun.
  const found = await keySets.fetch(url, { forceRefresh: isDue })
  return found && found !== known ? found : null
}

/** Verifies with the keys that a set has for a token. Throws what jose throws. */
async function verifyWith(
  { find }: KeySet,
  token: string,
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
        if (!(tried instanceof errors.JWSSignatureVerificationFailed)) throw tried
      }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

const isAboutKeys = (error: unknown): boolean =>
  error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey

/**
 * Verifies a JWT with the keys at a URL, which are kept for ten minutes. A token that they do not verify is checked once
 * more against fetched ones, twice a minute at most: the provider may have rotated its keys. Throws what jose throws,
 * and Unavailable.
 */
export async function verifyWithKeySet(
  url: string,
  token: string,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  const isCached = keySets.has(url)
  const known = await keySets.fetch(url)
  if (!known) throw toUnavailable('keys unusable', `${url} has no keys`)
  try {
    return await verifyWith(known, token, options)
  } catch (error) {
    const fetched = isCached && isAboutKeys(error) ? await recheckKeys(url, known) : null
    if (!fetched) throw error
    return verifyWith(fetched, token, options)
  }
}

/** Fetches the keys at a URL again; throws Unavailable where none can be used. */
export async function refreshKeySet(url: string): Promise<void> {
  const found = await keySets.fetch(url, { forceRefresh: true })
  if (!found || found.count === 0) throw toUnavailable('keys unusable', `${url} has no keys`)
}
