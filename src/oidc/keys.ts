import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { calculateJwkThumbprint, errors, type JWK, type JWTPayload, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { createCache } from '../cache.ts'
import { open, seal, sha256Base64url } from '../crypto.ts'
import type { Sql } from '../db.ts'
import { sql } from '../db.ts'
import { env } from '../env.ts'
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from '../signing-algorithms.ts'
import { insertSigningKey, type SigningKeyRow, selectSigningKeys } from './keys.sql.ts'

/** The issuer identifier of a tenant, also its base URL. Never taken from a request. */
export const issuerOf = (tenant: string): string => `${env.baseUrl}/${tenant}`

/** The audience of tokens for a tenant's management surface. */
export const apiAudienceOf = (tenant: string): string => `${issuerOf(tenant)}/api`

/** What the `typ` header says; a token of one kind never passes for another. */
export type TokenType = 'JWT' | 'at+jwt' | 'logout+jwt'

export const SEAL_PURPOSE = 'signing-key'

type TenantKeys = {
  /** The newest key of each algorithm that is in use already. */
  signing: Map<SigningAlgorithm, { kid: string; key: KeyObject }>
  verifying: Map<string, { alg: SigningAlgorithm; key: KeyObject }>
  jwks: { keys: JWK[] }
}

/** Opened keys by kid: reloading the rows once a second must not decrypt and parse them again. */
const opened = new LRUCache<string, { privateKey: KeyObject; publicKey: KeyObject }>({ max: 5000 })

function openKey(tenant: string, row: SigningKeyRow) {
  const cacheKey = `${tenant}\n${row.id}`
  let pair = opened.get(cacheKey)
  if (!pair) {
    const privateKey = createPrivateKey({
      key: open(SEAL_PURPOSE, row.privateKey),
      format: 'der',
      type: 'pkcs8',
    })
    pair = { privateKey, publicKey: createPublicKey(privateKey) }
    opened.set(cacheKey, pair)
  }
  return pair
}

const keysCache = createCache<TenantKeys>('keys', async (tenant) => {
  const rows = await selectSigningKeys(sql, tenant)
  const keys: TenantKeys = {
    signing: new Map(),
    verifying: new Map(),
    jwks: { keys: rows.map((row) => row.publicJwk) },
  }
  for (const row of rows) {
    const { privateKey, publicKey } = openKey(tenant, row)
    keys.verifying.set(row.id, { alg: row.alg, key: publicKey })
    if (row.activeAt <= new Date()) keys.signing.set(row.alg, { kid: row.id, key: privateKey })
  }
  return rows.length > 0 ? keys : null
})

/** Call after a tenant's keys have changed: its slug may begin anew with other ones. */
export const forgetKeys = (tenant: string): void => keysCache.invalidate(tenant, '')

async function keysOf(tenant: string): Promise<TenantKeys> {
  const keys = await keysCache.get(tenant, '')
  if (!keys) throw new Error(`tenant ${tenant} has no signing key`)
  return keys
}

/** Makes a key and stores it, sealed; part of the transaction that creates a tenant. */
export async function createSigningKey(
  sql: Sql,
  tenant: string,
  alg: SigningAlgorithm = 'ES256',
): Promise<void> {
  const { privateKey, publicKey } =
    alg === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = publicKey.export({ format: 'jwk' }) as JWK
  const kid = await calculateJwkThumbprint(jwk)
  await insertSigningKey(sql, tenant, {
    id: kid,
    alg,
    publicJwk: { ...jwk, kid, alg, use: 'sig' },
    privateKey: seal(SEAL_PURPOSE, privateKey.export({ format: 'der', type: 'pkcs8' })),
  })
}

/** The tenant's key set (RFC 7517); entries always carry kid, alg and use. */
export const publicKeys = async (tenant: string): Promise<{ keys: JWK[] }> => (await keysOf(tenant)).jwks

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/**
 * Signs a JWT with the tenant's current key. By synchronous node:crypto, which costs a third of what WebCrypto's
 * thread hop does; test/oidc verifies the result with jose.
 */
export async function signJwt(
  tenant: string,
  typ: TokenType,
  claims: JWTPayload,
  alg: SigningAlgorithm = 'ES256',
): Promise<string> {
  const current = (await keysOf(tenant)).signing.get(alg)
  if (!current) throw new Error(`tenant ${tenant} has no ${alg} key`)
  const input = `${encode({ alg, typ, kid: current.kid })}.${encode(claims)}`
  const signature = sign('sha256', Buffer.from(input), { key: current.key, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}

/** What is demanded of a JWT besides its issuer. */
type Expected = { audience?: string | string[]; currentDate?: Date }

/**
 * Verifies a JWT that this tenant issued: signature by one of its keys with that key's own algorithm, `iss`, `typ`,
 * times and, when given, `aud`. Throws an error of jose that names what failed.
 */
export const verifyJwt = async (
  tenant: string,
  token: string,
  typ: TokenType,
  expected: Expected = {},
): Promise<JWTPayload> => (await verifyBy(await keysOf(tenant), tenant, token, typ, expected)).payload

async function verifyBy(
  { verifying }: TenantKeys,
  tenant: string,
  token: string,
  typ: TokenType,
  expected: Expected,
): Promise<{ key: KeyObject; kid: string; payload: JWTPayload }> {
  const { payload, protectedHeader } = await jwtVerify(
    token,
    (header) => {
      const known = verifying.get(header.kid ?? '')
      if (!known || known.alg !== header.alg) throw new errors.JWKSNoMatchingKey()
      return known.key
    },
    { algorithms: [...SIGNING_ALGORITHMS], issuer: issuerOf(tenant), typ, ...expected },
  )
  const kid = protectedHeader.kid ?? ''
  return { key: (verifying.get(kid) as { key: KeyObject }).key, kid, payload }
}

/** Access tokens that were found good, by a hash of the token and of what was demanded of it. */
const verified = new LRUCache<string, Readonly<{ key: KeyObject; kid: string; payload: JWTPayload }>>({
  max: 5000,
})

/**
 * Verifies an access token of the tenant as `verifyJwt` does. One comes with every call, and checking its signature
 * costs more than the call: it is checked again only when the key that it was checked with is no longer the tenant's.
 * What the token stands for is the caller's to ask, each time.
 */
export async function verifyAccessToken(
  tenant: string,
  token: string,
  audience: string[],
): Promise<Readonly<JWTPayload>> {
  const keys = await keysOf(tenant)
  const entry = sha256Base64url([tenant, ...audience, token].join('\n'))
  const known = verified.get(entry)
  const stands = known && keys.verifying.get(known.kid)?.key === known.key
  if (stands && (known.payload.exp ?? 0) > Date.now() / 1000) return known.payload
  const checked = await verifyBy(keys, tenant, token, 'at+jwt', { audience })
  verified.set(entry, checked)
  return checked.payload
}
