import { createPublicKey } from 'node:crypto'
import type { JWK } from 'jose'
import * as z from 'zod'
import { createRemoteKeySets } from '../../keys/remote-key-sets.ts'
import { toUnavailable } from '../provider/provider-errors.ts'
import { fetchDocument } from '../provider/provider-fetch.ts'
import { listAlgorithms } from '../provider/provider-keys.ts'

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

async function fetchKeys(url: string): Promise<JWK[]> {
  const { keys: entries } = await fetchDocument(url)
  if (!Array.isArray(entries)) throw toUnavailable('keys unusable', `${url} is not a key set`)
  const keys = selectKeys(entries)
  if (keys.length === 0 && entries.length > 0)
    throw toUnavailable('keys unusable', `none of the ${entries.length} keys at ${url} can be used`)
  return keys
}

/** The keys of providers, shared by all tenants. A token with another key has them fetched twice a minute at most. */
const keySets = createRemoteKeySets({ fetchKeys, maxBytes: 16_000_000, recheckMs: 30_000 })

/** Verifies a JWT with the keys at a URL of a provider. Throws what jose throws, and Unavailable. */
export const verifyWithKeySet = keySets.verify

/** Fetches the keys at a URL again; throws Unavailable where none can be used. */
export async function refreshKeySet(url: string): Promise<void> {
  if ((await keySets.refresh(url)) === 0) throw toUnavailable('keys unusable', `${url} has no keys`)
}
