import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { errors, type JWK, type JWTPayload, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { createCache } from '../../cache.ts'
import { open, sha256Base64url } from '../../crypto.ts'
import { sql } from '../../db.ts'
import { env } from '../../env.ts'
import {
  DEFAULT_SIGNING_ALGORITHM,
  SIGNING_ALGORITHMS,
  type SigningAlgorithm,
} from '../../signing-algorithms.ts'
import { signWith } from './key-algorithms.ts'
import { type SigningKeyRow, selectSigningKeys } from './keys.sql.ts'

/** The issuer identifier of a tenant, also its base URL. Never taken from a request. */
export const issuerOf = (tenant: string): string => `${env.baseUrl}/${tenant}`

/** The audience of tokens for a tenant's management surface. */
export const apiAudienceOf = (tenant: string): string => `${issuerOf(tenant)}/api`

/** What the `typ` header says; a token of one kind never passes for another. */
export type TokenType = 'JWT' | 'at+jwt' | 'logout+jwt'

export const SEAL_PURPOSE = 'signing-key'

/** A key of a tenant, ready for use. Which one signs, and which are published, is decided when they are asked for. */
type TenantKey = Omit<SigningKeyRow, 'privateKey'> & { privateKey: KeyObject; publicKey: KeyObject }
type TenantKeys = {
  /** Each before the ones that it succeeds. */
  all: readonly TenantKey[]
  byKid: ReadonlyMap<string, TenantKey>
  readAt: number
}

/** Opened keys by kid: reloading the rows once a second must not decrypt and parse them again. */
const opened = new LRUCache<string, Pick<TenantKey, 'privateKey' | 'publicKey'>>({ max: 5000 })

function openKey(tenant: string, row: SigningKeyRow) {
  const cacheKey = `${tenant}\n${row.id}`
  let pair = opened.get(cacheKey)
  if (!pair) {
    const key = open(SEAL_PURPOSE, row.privateKey)
    const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' })
    pair = { privateKey, publicKey: createPublicKey(privateKey) }
    opened.set(cacheKey, pair)
  }
  return pair
}

const keysCache = createCache<TenantKeys>('keys', async (tenant) => {
  const readAt = Date.now()
  const rows = await selectSigningKeys(sql, tenant)
  const all = rows.map((row) => ({ ...row, ...openKey(tenant, row) }))
  return all.length > 0 ? { all, byKid: new Map(all.map((key) => [key.id, key])), readAt } : null
})

/** Call after a tenant's keys have changed: its slug may begin anew with other ones. */
export const forgetKeys = (tenant: string): void => keysCache.invalidate(tenant, '')

async function keysOf(tenant: string): Promise<TenantKeys> {
  const keys = await keysCache.get(tenant, '')
  if (!keys) throw new Error(`tenant ${tenant} has no signing key`)
  return keys
}

/** What is kept may be this old when it does not know a key: less, and a flood of invented ones would be one of statements. */
const UNKNOWN_KEY_RELOAD_MS = 100

/** The key that a token names. One that another process has just made is read, should the news of it be late or lost. */
async function findKey(tenant: string, kid: unknown): Promise<TenantKey | undefined> {
  if (typeof kid !== 'string') return undefined
  const keys = await keysOf(tenant)
  if (keys.byKid.has(kid) || Date.now() - keys.readAt < UNKNOWN_KEY_RELOAD_MS) return keys.byKid.get(kid)
  return (await keysCache.reload(tenant, ''))?.byKid.get(kid)
}

const isPublished = ({ expiresAt }: TenantKey): boolean =>
  expiresAt === null || expiresAt.getTime() > Date.now()

/** The last key that is active already; the first one ever where this clock lags behind the one that it was made by. */
function signingKeyOf({ all }: TenantKeys, alg: SigningAlgorithm): TenantKey | undefined {
  const candidates = all.filter((key) => key.alg === alg)
  return candidates.find(({ activeAt }) => activeAt.getTime() <= Date.now()) ?? candidates.at(-1)
}

/** The tenant's key set (RFC 7517): what it signs with, signed with of late or soon will. Entries carry kid, alg and use. */
export const publicKeys = async (tenant: string): Promise<{ keys: JWK[] }> => ({
  keys: (await keysOf(tenant)).all.filter(isPublished).map(({ publicJwk }) => publicJwk),
})

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Signs a JWT with the tenant's current key of an algorithm. Throws when the tenant has none (`ensureSigningKeys`). */
export async function signJwt(
  tenant: string,
  typ: TokenType,
  claims: JWTPayload,
  alg: SigningAlgorithm = DEFAULT_SIGNING_ALGORITHM,
): Promise<string> {
  let key = signingKeyOf(await keysOf(tenant), alg)
  if (!key) {
    // Another process has just made the first key of this algorithm, for a client that we know already.
    const keys = await keysCache.reload(tenant, '')
    key = keys ? signingKeyOf(keys, alg) : undefined
  }
  if (!key) throw new Error(`tenant ${tenant} has no ${alg} key`)
  const input = `${encode({ alg, typ, kid: key.id })}.${encode(claims)}`
  return `${input}.${signWith(alg, key.privateKey, input)}`
}

/** What is demanded of a JWT besides its issuer. */
type Expected = { audience?: string | string[]; currentDate?: Date }

/**
 * Verifies a JWT that this tenant issued: signature by one of its published keys with that key's own algorithm, `iss`,
 * `typ`, times and, when given, `aud`. Throws an error of jose that names what failed.
 */
export const verifyJwt = async (
  tenant: string,
  token: string,
  typ: TokenType,
  expected: Expected = {},
): Promise<JWTPayload> => (await verifyBy(isPublished, tenant, token, typ, expected)).payload

/** The same for a token that tells of the past: keys that are no longer published will do while the tenant has them. */
export const verifyOldJwt = async (
  tenant: string,
  token: string,
  typ: TokenType,
  expected: Expected = {},
): Promise<JWTPayload> => (await verifyBy(() => true, tenant, token, typ, expected)).payload

type Verified = Readonly<{ key: TenantKey; payload: JWTPayload }>

async function verifyBy(
  isGood: (key: TenantKey) => boolean,
  tenant: string,
  token: string,
  typ: TokenType,
  expected: Expected,
): Promise<Verified> {
  let key: TenantKey | undefined
  const { payload } = await jwtVerify(
    token,
    async (header) => {
      key = await findKey(tenant, header.kid)
      if (!key || key.alg !== header.alg || !isGood(key)) throw new errors.JWKSNoMatchingKey()
      return key.publicKey
    },
    { algorithms: [...SIGNING_ALGORITHMS], issuer: issuerOf(tenant), typ, ...expected },
  )
  return { key: key as TenantKey, payload }
}

/** Access tokens that were found good, by a hash of the token and of what was demanded of it. */
const verified = new LRUCache<string, Verified>({ max: 5000 })

/**
 * Verifies an access token of the tenant as `verifyJwt` does. One comes with every call, and checking its signature
 * costs more than the call: it is checked again only when the key that it was checked with is no longer published.
 * What the token stands for is the caller's to ask, each time; without `audience`, whom it is for as well.
 */
export async function verifyAccessToken(
  tenant: string,
  token: string,
  audience?: string[],
): Promise<Readonly<JWTPayload>> {
  const entry = sha256Base64url([tenant, ...(audience ?? ['']), token].join('\n'))
  const known = verified.get(entry)
  if (known && (await stillStands(tenant, known))) return known.payload
  const checked = await verifyBy(isPublished, tenant, token, 'at+jwt', { ...(audience && { audience }) })
  verified.set(entry, checked)
  return checked.payload
}

async function stillStands(tenant: string, { key, payload }: Verified): Promise<boolean> {
  const current = (await keysOf(tenant)).byKid.get(key.id)
  const isTheSame = current !== undefined && current.publicKey === key.publicKey
  return isTheSame && isPublished(current) && (payload.exp ?? 0) > Date.now() / 1000
}
