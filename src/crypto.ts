import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { TypeID, typeid } from 'typeid-js'
import { env } from './env.ts'

/** Prefixes of the identifiers that the platform makes (design: TypeID, prefix + UUIDv7). */
export const ID_PREFIXES = [
  'user',
  'session',
  'cred',
  'client',
  'idpuser',
  'grant',
  'event',
  'regtoken',
] as const
export type IdPrefix = (typeof ID_PREFIXES)[number]

/** A new identifier such as `user_01h455vb4pex5vsknk084sn02q`; later ones sort after earlier ones. */
export const newId = (prefix: IdPrefix): string => typeid(prefix).toString()

/** The kind of thing that an identifier names, or null when it is none of ours. */
export function prefixOf(id: string): IdPrefix | null {
  const prefix = ID_PREFIXES.find((known) => id.startsWith(`${known}_`))
  if (!prefix) return null
  try {
    TypeID.fromString(id, prefix)
    return prefix
  } catch {
    return null // not a well-formed UUIDv7 behind the prefix
  }
}

/** 256 random bits in base64url: session tokens, codes, client secrets, handles. */
export const randomToken = (): string => randomBytes(32).toString('base64url')

/** How opaque tokens are stored. They hold 256 random bits, so that a slow hash would add nothing. */
export const sha256 = (token: string): Buffer<ArrayBuffer> =>
  createHash('sha256').update(token).digest() as Buffer<ArrayBuffer>

export const sha256Base64url = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Compares in constant time; unequal lengths are unequal. */
export function equals(a: Buffer | string, b: Buffer | string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)]
  return x.length === y.length && timingSafeEqual(x, y)
}

/** One independent key per purpose, so that a value made for one never verifies for another. */
const derive = (key: Buffer, purpose: string): Buffer =>
  createHmac('sha256', key).update(`vestibule:${purpose}`).digest()

const derivedKeys = new Map<string, Buffer[]>()
function keysFor(purpose: string): [Buffer, ...Buffer[]] {
  let keys = derivedKeys.get(purpose)
  if (!keys) {
    keys = env.encryptionKeys.map((key) => derive(key, purpose))
    derivedKeys.set(purpose, keys)
  }
  return keys as [Buffer, ...Buffer[]]
}

/** HMAC-SHA-256 under the first server key, for one purpose. */
export const authenticate = (purpose: string, text: string): Buffer<ArrayBuffer> =>
  createHmac('sha256', keysFor(purpose)[0]).update(text).digest() as Buffer<ArrayBuffer>

/** Every server key's HMAC: what a value made before a key rotation may carry. */
export const authenticateAll = (purpose: string, text: string): Buffer[] =>
  keysFor(purpose).map((key) => createHmac('sha256', key).update(text).digest())

const keyId = (key: Buffer): string => createHash('sha256').update(key).digest('base64url').slice(0, 8)

/** Encrypts a secret that must be readable again: AES-256-GCM, `keyId.iv.tag.ciphertext`. `purpose` is bound to it. */
export function seal(purpose: string, plain: string | Buffer): string {
  const key = keysFor('seal')[0]
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(purpose))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return [keyId(key), ...[iv, cipher.getAuthTag(), body].map((part) => part.toString('base64url'))].join('.')
}

/** Whether the first configured key sealed it, so that re-encryption may pass it by. */
export const isSealedByFirstKey = (sealed: string): boolean =>
  sealed.startsWith(`${keyId(keysFor('seal')[0])}.`)

/** What was sealed cannot be opened: by another key, for another purpose, or altered. */
export class SealBroken extends Error {
  constructor(purpose: string, cause?: unknown) {
    super(`sealed ${purpose}: no configured ENCRYPTION_KEY opens it`, { cause })
    this.name = 'SealBroken'
  }
}

/** Opens what `seal` made, with whichever configured key sealed it. Throws SealBroken. */
export function open(purpose: string, sealed: string): Buffer {
  const [id, ...parts] = sealed.split('.')
  const key = keysFor('seal').find((candidate) => keyId(candidate) === id)
  const [iv, tag, body] = parts.map((part) => Buffer.from(part, 'base64url'))
  if (!key || !iv || !tag || !body) throw new SealBroken(purpose)
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: 16 })
    decipher.setAAD(Buffer.from(purpose)).setAuthTag(tag)
    return Buffer.concat([decipher.update(body), decipher.final()])
  } catch (error) {
    throw new SealBroken(purpose, error)
  }
}
