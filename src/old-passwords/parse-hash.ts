import { DIGESTS, type Digest, type HashIssue, type PasswordHash } from './password-hash.ts'

/** The forms in which systems export the hash of a password. */
export const HASH_ALGORITHMS = {
  bcrypt: 'The text of crypt, such as $2b$10$….',
  argon2: 'The encoded text, such as $argon2id$v=19$m=65536,t=3,p=4$….',
  scrypt:
    'The encoded text $scrypt$ln=…,r=…,p=…$…, or the hash with salt, cost, blockSize and parallelization.',
  'firebase-scrypt': 'The hash of Firebase, with salt, saltSeparator, signerKey, rounds and memoryCost.',
  pbkdf2: 'The encoded text of Django or of passlib, or the hash with salt, iterations and digest.',
  md5: 'The hash with or without a salt.',
  sha1: 'The hash with or without a salt.',
  sha256: 'The hash with or without a salt.',
  sha512: 'The hash with or without a salt.',
  ldap: 'A userPassword such as {SSHA512}….',
  keycloak: 'The JSON of a credential of Keycloak, with its secretData and credentialData.',
} as const
export type HashAlgorithm = keyof typeof HASH_ALGORITHMS

export const ENCODINGS = ['base64', 'hex', 'text'] as const
type Encoding = (typeof ENCODINGS)[number]

/** The hash of a line of an import, as it is given. */
export type GivenHash = {
  algorithm: HashAlgorithm
  value: string
  encoding?: 'base64' | 'hex' | undefined
  salt?: string | undefined
  saltEncoding?: Encoding | undefined
  saltPosition?: 'prefix' | 'suffix' | undefined
  digest?: Digest | undefined
  iterations?: number | undefined
  cost?: number | undefined
  blockSize?: number | undefined
  parallelization?: number | undefined
  saltSeparator?: string | undefined
  signerKey?: string | undefined
  rounds?: number | undefined
  memoryCost?: number | undefined
}

/** A hash that cannot be read. */
export class UnreadableHash extends Error {
  readonly issue: HashIssue

  constructor(member: string, description: string) {
    super(description)
    this.issue = { member, description }
  }
}

const BASE64_SYNTAX = /^[A-Za-z0-9+/]*={0,2}$/
const HEX_SYNTAX = /^(?:[0-9a-fA-F]{2})*$/

/** A text in an encoding as base64. Systems write base64 with other characters, and without padding. */
function toBase64(member: string, text: string, encoding: Encoding): string {
  if (encoding === 'text') return Buffer.from(text).toString('base64')
  if (encoding === 'hex') {
    if (!HEX_SYNTAX.test(text)) throw new UnreadableHash(member, 'must be hexadecimal')
    return Buffer.from(text, 'hex').toString('base64')
  }
  const standard = text.replaceAll('-', '+').replaceAll('_', '/').replaceAll('.', '+')
  if (!BASE64_SYNTAX.test(standard)) throw new UnreadableHash(member, 'must be base64')
  return Buffer.from(standard, 'base64').toString('base64')
}

function requireMember<Value>(member: string, value: Value | undefined): Value {
  if (value === undefined) throw new UnreadableHash(member, 'is required')
  return value
}

/** The members of `m=65536,t=3,p=4`. */
const readParameters = (text: string): Record<string, number> =>
  Object.fromEntries(text.split(',').map((part) => [part.split('=')[0], Number(part.split('=')[1])]))

const fromEncoded = (member: string, text = ''): string => toBase64(member, text, 'base64')

function parseArgon2({ value }: GivenHash): PasswordHash {
  const match =
    /^\$(argon2id|argon2i|argon2d)\$v=19\$(m=\d{1,9},t=\d{1,9},p=\d{1,9})\$([^$]+)\$([^$]+)$/.exec(value)
  if (!match) throw new UnreadableHash('value', 'must be an encoded hash of Argon2 with v=19')
  const [, variant, parameters = '', salt, hash] = match
  const { m = 0, t = 0, p = 0 } = readParameters(parameters)
  return {
    kind: 'argon2',
    variant: variant as 'argon2id',
    memory: m,
    passes: t,
    lanes: p,
    salt: fromEncoded('value', salt),
    hash: fromEncoded('value', hash),
  }
}

function parseScrypt(given: GivenHash): PasswordHash {
  const match = /^\$scrypt\$(ln=\d{1,2},r=\d{1,4},p=\d{1,4})\$([^$]+)\$([^$]+)$/.exec(given.value)
  if (match) {
    const { ln = 0, r = 0, p = 0 } = readParameters(match[1] ?? '')
    const [salt, hash] = [fromEncoded('value', match[2]), fromEncoded('value', match[3])]
    return { kind: 'scrypt', cost: 2 ** ln, blockSize: r, lanes: p, salt, hash }
  }
  return {
    kind: 'scrypt',
    cost: requireMember('cost', given.cost),
    blockSize: given.blockSize ?? 8,
    lanes: given.parallelization ?? 1,
    salt: toBase64('salt', requireMember('salt', given.salt), given.saltEncoding ?? 'base64'),
    hash: toBase64('value', given.value, given.encoding ?? 'base64'),
  }
}

function parseFirebase(given: GivenHash): PasswordHash {
  const parts = [requireMember('salt', given.salt), given.saltSeparator ?? '']
  const salt = Buffer.concat(
    parts.map((part, index) =>
      Buffer.from(toBase64(index === 0 ? 'salt' : 'saltSeparator', part, 'base64'), 'base64'),
    ),
  )
  return {
    kind: 'firebase-scrypt',
    cost: 2 ** requireMember('memoryCost', given.memoryCost),
    blockSize: requireMember('rounds', given.rounds),
    salt: salt.toString('base64'),
    signerKey: toBase64('signerKey', requireMember('signerKey', given.signerKey), 'base64'),
    hash: toBase64('value', given.value, 'base64'),
  }
}

const isDigest = (name: string): name is Digest => (DIGESTS as readonly string[]).includes(name)

function requireDigest(member: string, name: string): Digest {
  const digest = name.toLowerCase().replace('-', '')
  if (!isDigest(digest) || digest === 'md5')
    throw new UnreadableHash(member, 'must use sha1, sha256 or sha512')
  return digest
}

function parsePbkdf2(given: GivenHash): PasswordHash {
  // Django: the salt is text.
  const django = /^pbkdf2_(sha1|sha256|sha512)\$(\d{1,9})\$([^$]+)\$([^$]+)$/.exec(given.value)
  if (django)
    return {
      kind: 'pbkdf2',
      digest: django[1] as Digest,
      iterations: Number(django[2]),
      salt: toBase64('value', django[3] ?? '', 'text'),
      hash: fromEncoded('value', django[4]),
    }
  // Passlib, and the form of the Password Hashing Competition.
  const encoded = /^\$pbkdf2(?:-(sha1|sha256|sha512))?\$(?:i=)?(\d{1,9})(?:,l=\d+)?\$([^$]+)\$([^$]+)$/.exec(
    given.value,
  )
  if (encoded)
    return {
      kind: 'pbkdf2',
      digest: (encoded[1] ?? 'sha1') as Digest,
      iterations: Number(encoded[2]),
      salt: fromEncoded('value', encoded[3]),
      hash: fromEncoded('value', encoded[4]),
    }
  return {
    kind: 'pbkdf2',
    digest: requireDigest('digest', requireMember('digest', given.digest)),
    iterations: requireMember('iterations', given.iterations),
    salt: toBase64('salt', requireMember('salt', given.salt), given.saltEncoding ?? 'base64'),
    hash: toBase64('value', given.value, given.encoding ?? 'base64'),
  }
}

function parseDigest(digest: Digest, given: GivenHash): PasswordHash {
  const salt = toBase64('salt', given.salt ?? '', given.saltEncoding ?? 'text')
  const isSuffix = given.saltPosition === 'suffix'
  return {
    kind: 'digest',
    digest,
    before: isSuffix ? '' : salt,
    after: isSuffix ? salt : '',
    hash: toBase64('value', given.value, given.encoding ?? 'hex'),
  }
}

/** The digest of each scheme of LDAP (RFC 2307, and its salted successors), and its bytes. The salt follows them. */
const LDAP_SCHEMES: Record<string, [digest: Digest, bytes: number]> = {
  MD5: ['md5', 16],
  SMD5: ['md5', 16],
  SHA: ['sha1', 20],
  SSHA: ['sha1', 20],
  SHA256: ['sha256', 32],
  SSHA256: ['sha256', 32],
  SHA512: ['sha512', 64],
  SSHA512: ['sha512', 64],
}

function parseLdap({ value }: GivenHash): PasswordHash {
  const [, scheme = '', text = ''] = /^\{(\w+)\}(.+)$/.exec(value) ?? []
  const entry = LDAP_SCHEMES[scheme.toUpperCase()]
  if (!entry)
    throw new UnreadableHash('value', `must have one of the schemes ${Object.keys(LDAP_SCHEMES).join(', ')}`)
  const [digest, length] = entry
  const bytes = Buffer.from(toBase64('value', text, 'base64'), 'base64')
  return {
    kind: 'digest',
    digest,
    before: '',
    after: bytes.subarray(length).toString('base64'),
    hash: bytes.subarray(0, length).toString('base64'),
  }
}

function readJson(member: string, text: unknown): Record<string, unknown> {
  try {
    const value: unknown = typeof text === 'string' ? JSON.parse(text) : text
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // The error below names it.
  }
  throw new UnreadableHash(member, 'must be the JSON of a credential with secretData and credentialData')
}

function parseKeycloak({ value }: GivenHash): PasswordHash {
  const credential = readJson('value', value)
  const secret = readJson('value', credential.secretData)
  const { algorithm, hashIterations, additionalParameters } = readJson('value', credential.credentialData)
  const [salt, hash] = [secret.salt, secret.value].map((part) => fromEncoded('value', String(part ?? '')))
  const iterations = Number(hashIterations)
  const numbers = { salt: salt ?? '', hash: hash ?? '' }
  if (!Number.isInteger(iterations)) throw new UnreadableHash('value', 'must have hashIterations')
  if (algorithm !== 'argon2') {
    const digest = String(algorithm).replace(/^pbkdf2-?/, '')
    return { kind: 'pbkdf2', digest: requireDigest('value', digest || 'sha1'), iterations, ...numbers }
  }
  const more = readJson('value', additionalParameters ?? {}) as Record<string, string[] | undefined>
  const first = (name: string) => String(more[name]?.[0] ?? '')
  if (!['', '1.3'].includes(first('version')))
    throw new UnreadableHash('value', 'must have version 1.3 of Argon2')
  const variant = { id: 'argon2id', i: 'argon2i', d: 'argon2d' }[first('type') || 'id']
  if (!variant) throw new UnreadableHash('value', 'must have a type of Argon2')
  const [memory, lanes] = [Number(first('memory')), Number(first('parallelism') || 1)]
  return { kind: 'argon2', variant: variant as 'argon2id', memory, passes: iterations, lanes, ...numbers }
}

const BCRYPT_SYNTAX = /^\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}$/

function parseBcrypt({ value }: GivenHash): PasswordHash {
  if (!BCRYPT_SYNTAX.test(value)) throw new UnreadableHash('value', 'must be a hash of bcrypt')
  return { kind: 'bcrypt', hash: value }
}

/** Reads a hash as a system exported it. Throws UnreadableHash. */
export function parseHash(given: GivenHash): PasswordHash {
  switch (given.algorithm) {
    case 'bcrypt':
      return parseBcrypt(given)
    case 'argon2':
      return parseArgon2(given)
    case 'scrypt':
      return parseScrypt(given)
    case 'firebase-scrypt':
      return parseFirebase(given)
    case 'pbkdf2':
      return parsePbkdf2(given)
    case 'ldap':
      return parseLdap(given)
    case 'keycloak':
      return parseKeycloak(given)
    default:
      return parseDigest(given.algorithm, given)
  }
}
