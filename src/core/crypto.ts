import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hash,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { TypeID, typeid } from 'typeid-js'
import { env } from './env.ts'

/** Prefixes of the identifiers that Vestibule creates: TypeIDs, a prefix and a UUIDv7. */
export const ID_PREFIXES = [
  'user',
  'session',
  'cred',
  'client',
  'idpuser',
  'grant',
  'event',
  'regtoken',
  'invitation',
  'organization',
  'membership',
  'orgdomain',
  'bulkjob',
  'trusteddoc',
  'api',
  'role',
  'mgmtrole',
  'apikey',
  'group',
  'webhook',
  'delivery',
  'stream',
  'signal',
] as const
export type IdPrefix = (typeof ID_PREFIXES)[number]

/** A new identifier such as `user_01h455vb4pex5vsknk084sn02q`; later ones sort after earlier ones. */
export const newId = (prefix: IdPrefix): string => typeid(prefix).toString()

/** The prefix of a well-formed identifier of Vestibule, or null. */
export function readIdPrefix(id: string): IdPrefix | null {
  const prefix = ID_PREFIXES.find((known) => id.startsWith(`${known}_`))
  if (!prefix) return null
  try {
    TypeID.fromString(id, prefix)
    return prefix
  } catch {
    return null // no well-formed UUIDv7 follows the prefix
  }
}

/** When a well-formed identifier was created: a UUIDv7 begins with the time in milliseconds. */
export const readIdTime = (id: string): Date =>
  new Date(Number.parseInt(TypeID.fromString(id).toUUID().replaceAll('-', '').slice(0, 12), 16))

/** 256 random bits in base64url: session tokens, codes, client secrets, handles. */
export const randomToken = (): string => randomBytes(32).toString('base64url')

/** The stored form of opaque tokens. They have 256 random bits, so a slow hash adds no protection. */
export const sha256 = (token: string): Buffer<ArrayBuffer> =>
  hash('sha256', token, 'buffer') as Buffer<ArrayBuffer>

export const sha256Hex = (text: string): string => hash('sha256', text, 'hex')

export const sha256Base64url = (text: string): string => hash('sha256', text, 'base64url')

/** Compares in constant time. Values of different lengths are not equal. */
export function equalsConstantTime(a: Buffer | string, b: Buffer | string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)]
  return x.length === y.length && timingSafeEqual(x, y)
}

/** Derives an independent key per purpose, so that a value for one purpose never verifies for another. */
const deriveKey = (key: Buffer, purpose: string): Buffer =>
  createHmac('sha256', key).update(`vestibule:${purpose}`).digest()

const derivedKeys = new Map<string, Buffer[]>()
function getDerivedKeys(purpose: string): [Buffer, ...Buffer[]] {
  let keys = derivedKeys.get(purpose)
  if (!keys) {
    keys = env.encryptionKeys.map((key) => deriveKey(key, purpose))
    derivedKeys.set(purpose, keys)
  }
  return keys as [Buffer, ...Buffer[]]
}

/** HMAC-SHA-256 with the first key of ENCRYPTION_KEY, for one purpose. */
export const computeMac = (purpose: string, text: string): Buffer<ArrayBuffer> =>
  createHmac('sha256', getDerivedKeys(purpose)[0]).update(text).digest() as Buffer<ArrayBuffer>

/** The HMAC with each key of ENCRYPTION_KEY: a value from before a key rotation matches one of them. */
export const computeMacs = (purpose: string, text: string): Buffer[] =>
  getDerivedKeys(purpose).map((key) => createHmac('sha256', key).update(text).digest())

const toKeyId = (key: Buffer): string => createHash('sha256').update(key).digest('base64url').slice(0, 8)

/** Encrypts a secret with AES-256-GCM as `keyId.iv.tag.ciphertext`. `purpose` is authenticated with it. */
export function seal(purpose: string, secret: string | Buffer): string {
  const key = getDerivedKeys('seal')[0]
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(purpose))
  const body = Buffer.concat([cipher.update(secret), cipher.final()])
  return [toKeyId(key), ...[iv, cipher.getAuthTag(), body].map((part) => part.toString('base64url'))].join(
    '.',
  )
}

/** Whether the first configured key sealed the value, so that re-encryption skips it. */
export const isSealedByCurrentKey = (sealed: string): boolean =>
  sealed.startsWith(`${toKeyId(getDerivedKeys('seal')[0])}.`)

/** A sealed value cannot be decrypted: no key matches, the purpose differs, or the value was altered. */
export class UnsealError extends Error {
  constructor(purpose: string, cause?: unknown) {
    super(`sealed ${purpose}: no configured ENCRYPTION_KEY decrypts it`, { cause })
    this.name = 'UnsealError'
  }
}

/** Decrypts what `seal` returned, with the configured key that sealed it. Throws UnsealError. */
export function unseal(purpose: string, sealed: string): Buffer {
  const [id, ...parts] = sealed.split('.')
  const key = getDerivedKeys('seal').find((candidate) => toKeyId(candidate) === id)
  const [iv, tag, body] = parts.map((part) => Buffer.from(part, 'base64url'))
  if (!key || !iv || !tag || !body) throw new UnsealError(purpose)
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: 16 })
    decipher.setAAD(Buffer.from(purpose)).setAuthTag(tag)
    return Buffer.concat([decipher.update(body), decipher.final()])
  } catch (error) {
    throw new UnsealError(purpose, error)
  }
}
