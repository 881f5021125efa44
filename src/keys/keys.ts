import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { errors, type JWK, type JWTPayload, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { createCache } from '../coordination/cache.ts'
import { sha256Base64url, unseal } from '../core/crypto.ts'
import { issuerOf } from '../core/issuer.ts'
import { measureJson } from '../core/json/json-size.ts'
import { type Db, Handle } from '../database/handle.ts'
import { signInput } from './key-algorithms.ts'
import { type SigningKeyRow, selectSigningKeys } from './keys.sql.ts'
import { DEFAULT_SIGNING_ALGORITHM, SIGNING_ALGORITHMS, type SigningAlgorithm } from './signing-algorithms.ts'

/** The `typ` header of a token: a token of one type is never accepted as another (RFC 8725, section 3.11). */
export type TokenType = 'JWT' | 'at+jwt' | 'logout+jwt' | 'old-account+jwt' | 'secevent+jwt'

export const SEAL_PURPOSE = 'signing-key'

/** A key of a tenant, opened. Which key signs, and which are published, depends on the time of use. */
type TenantKey = Omit<SigningKeyRow, 'privateKey'> & OpenedKey
type OpenedKey = {
  privateKey: KeyObject
  publicKey: KeyObject
  /** The encoded JOSE headers of the tokens that it has signed, by their type. */
  joseHeaders: Map<TokenType, string>
}
type TenantKeys = {
  /** Newest first. */
  all: readonly TenantKey[]
  byKid: ReadonlyMap<string, TenantKey>
  readAt: number
}

/** Opened keys: a row that is loaded again is not opened and parsed again. */
const unsealedKeys = new LRUCache<string, OpenedKey>({ max: 5000 })

function unsealKey(tenant: string, row: SigningKeyRow): OpenedKey {
  const cacheKey = `${tenant}\n${row.id}`
  let pair = unsealedKeys.get(cacheKey)
  if (!pair) {
    const key = unseal(SEAL_PURPOSE, row.privateKey)
    const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
    pair = { privateKey, publicKey: createPublicKey(privateKey), joseHeaders: new Map() }
    unsealedKeys.set(cacheKey, pair)
  }
  return pair
}

const keysCache = createCache<TenantKeys>('keys', async (tenant) => {
  const readAt = Date.now()
  const rows = await selectSigningKeys(new Handle({ tenant }))
  const all = rows.map((row) => ({ ...row, ...unsealKey(tenant, row) }))
  return all.length > 0 ? { all, byKid: new Map(all.map((key) => [key.id, key])), readAt } : null
})

/** Drops the cached keys of the tenant after the commit; after its deletion too: the slug may be used again. */
export const invalidateKeys = (db: Db): void => keysCache.invalidate(db, '')

async function getTenantKeys(tenant: string): Promise<TenantKeys> {
  const keys = await keysCache.get(tenant, '')
  if (!keys) throw new Error(`tenant ${tenant} has no signing key`)
  return keys
}

/**
 * An unknown kid causes a reload when the cached keys are older than this, so that invented kids cannot cause
 * a flood of statements.
 */
const UNKNOWN_KEY_RELOAD_MS = 100

/**
 * The key of a kid. An unknown kid may be a key that another process has just created: then the keys are
 * reloaded.
 */
async function findKey(tenant: string, kid: unknown): Promise<TenantKey | undefined> {
  if (typeof kid !== 'string') return undefined
  const keys = await getTenantKeys(tenant)
  if (keys.byKid.has(kid) || Date.now() - keys.readAt < UNKNOWN_KEY_RELOAD_MS) return keys.byKid.get(kid)
  return (await keysCache.reload(tenant, ''))?.byKid.get(kid)
}

const isPublished = ({ expiresAt }: TenantKey): boolean =>
  expiresAt === null || expiresAt.getTime() > Date.now()

/** The newest active key; the oldest key when no key is active by the clock of this process. */
function selectSigningKey({ all }: TenantKeys, alg: SigningAlgorithm): TenantKey | undefined {
  const candidates = all.filter((key) => key.alg === alg)
  return candidates.find(({ activeAt }) => activeAt.getTime() <= Date.now()) ?? candidates.at(-1)
}

/** The tenant's key set (RFC 7517): active, upcoming and retiring keys, with `kid`, `alg` and `use`. */
export const listPublicKeys = async (tenant: string): Promise<{ keys: JWK[] }> => ({
  keys: (await getTenantKeys(tenant)).all.filter(isPublished).map(({ publicJwk }) => publicJwk),
})

const encodeJson = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function encodeJoseHeader(
  { id: kid, joseHeaders }: TenantKey,
  alg: SigningAlgorithm,
  typ: TokenType,
): string {
  let header = joseHeaders.get(typ)
  if (header === undefined) {
    header = encodeJson({ alg, typ, kid })
    joseHeaders.set(typ, header)
  }
  return header
}

/**
 * Signs a JWT with the tenant's active key of an algorithm. Throws when the tenant has none (see
 * `ensureSigningKeys`).
 */
export async function signJwt(
  tenant: string,
  typ: TokenType,
  claims: JWTPayload,
  alg: SigningAlgorithm = DEFAULT_SIGNING_ALGORITHM,
): Promise<string> {
  let key = selectSigningKey(await getTenantKeys(tenant), alg)
  if (!key) {
    // Another process may have just created the first key of this algorithm.
    const keys = await keysCache.reload(tenant, '')
    key = keys ? selectSigningKey(keys, alg) : undefined
  }
  if (!key) throw new Error(`tenant ${tenant} has no ${alg} key`)
  const input = `${encodeJoseHeader(key, alg, typ)}.${encodeJson(claims)}`
  return `${input}.${signInput(alg, key.privateKey, input)}`
}

/** The claims that a JWT must have in addition to its issuer. */
type ExpectedClaims = { audience?: string | string[]; currentDate?: Date }

/**
 * Verifies a JWT that this tenant issued: the signature by a published key with the algorithm of that key,
 * `iss`, `typ`, times and, when given, `aud`. Throws an error of jose that names the failed check.
 */
export const verifyJwt = async (
  tenant: string,
  token: string,
  typ: TokenType,
  expected: ExpectedClaims = {},
): Promise<JWTPayload> => (await verifyWithKeys(isPublished, tenant, token, typ, expected)).payload

/**
 * Verifies a JWT like `verifyJwt`, but accepts keys that are stored and no longer published. For
 * id_token_hint and the like.
 */
export const verifyRetiredJwt = async (
  tenant: string,
  token: string,
  typ: TokenType,
  expected: ExpectedClaims = {},
): Promise<JWTPayload> => (await verifyWithKeys(() => true, tenant, token, typ, expected)).payload

type VerifiedToken = Readonly<{ key: TenantKey; payload: JWTPayload }>

async function verifyWithKeys(
  isAcceptable: (key: TenantKey) => boolean,
  tenant: string,
  token: string,
  typ: TokenType,
  expected: ExpectedClaims,
): Promise<VerifiedToken> {
  let key: TenantKey | undefined
  const { payload } = await jwtVerify(
    token,
    async (header) => {
      key = await findKey(tenant, header.kid)
      if (!key || key.alg !== header.alg || !isAcceptable(key)) throw new errors.JWKSNoMatchingKey()
      return key.publicKey
    },
    { algorithms: [...SIGNING_ALGORITHMS], issuer: issuerOf(tenant), typ, ...expected },
  )
  return { key: key as TenantKey, payload }
}

/** Verified access tokens, by a hash of the tenant, the expected audience and the token. */
const verifiedTokens = new LRUCache<string, VerifiedToken>({
  max: 5000,
  maxSize: 16_000_000,
  sizeCalculation: ({ payload }) => 500 + measureJson(payload),
})

/**
 * Verifies an access token of the tenant like `verifyJwt`. The signature check costs more than the rest of a
 * call, so that a verified token is cached until it expires or its key is no longer published. The caller
 * checks each time that the token's basis is active and, without `audience`, that it is the right audience.
 * Throws an error of jose.
 */
export async function verifyAccessToken(
  tenant: string,
  token: string,
  audience?: string[],
): Promise<Readonly<JWTPayload>> {
  const entry = sha256Base64url([tenant, ...(audience ?? ['']), token].join('\n'))
  const cached = verifiedTokens.get(entry)
  if (cached && (await isStillValid(tenant, cached))) return cached.payload
  const verified = await verifyWithKeys(isPublished, tenant, token, 'at+jwt', {
    ...(audience && { audience }),
  })
  verifiedTokens.set(entry, verified)
  return verified.payload
}

async function isStillValid(tenant: string, { key, payload }: VerifiedToken): Promise<boolean> {
  const current = (await getTenantKeys(tenant)).byKid.get(key.id)
  const isUnchanged = current !== undefined && current.publicKey === key.publicKey
  return isUnchanged && isPublished(current) && (payload.exp ?? 0) > Date.now() / 1000
}
