/** The digests that hashes are made with. */
export const DIGESTS = ['md5', 'sha1', 'sha256', 'sha512'] as const
export type Digest = (typeof DIGESTS)[number]

/** The hash of a password with everything that a comparison needs. Bytes are in base64. */
export type PasswordHash =
  | { kind: 'bcrypt'; hash: string }
  | {
      kind: 'argon2'
      variant: 'argon2id' | 'argon2i' | 'argon2d'
      /** In KiB. */
      memory: number
      passes: number
      lanes: number
      salt: string
      hash: string
    }
  | { kind: 'scrypt'; cost: number; blockSize: number; lanes: number; salt: string; hash: string }
  /** The hash of Firebase: scrypt makes the key that encrypts the signer key of the project. */
  | {
      kind: 'firebase-scrypt'
      cost: number
      blockSize: number
      salt: string
      signerKey: string
      hash: string
    }
  | { kind: 'pbkdf2'; digest: Digest; iterations: number; salt: string; hash: string }
  /** One pass of a digest over `before`, the password and `after`. */
  | { kind: 'digest'; digest: Digest; before: string; after: string; hash: string }

const MIB = 1_048_576
/** A comparison takes this memory at most, and about three seconds: see docs/decisions/0184. */
const MAX_MEMORY_BYTES = 128 * MIB
const MAX_BCRYPT_COST = 14
const MAX_ARGON2_KIB_PASSES = 512 * 1024
const MAX_SCRYPT_WORK = 2 ** 21
const MAX_PBKDF2_BLOCKS = 2_000_000
const MAX_LANES = 16
const MAX_SALT_BYTES = 256
/** A shorter hash would match other passwords. */
const MIN_HASH_BYTES = 16
const MAX_HASH_BYTES = 256

const DIGEST_BYTES: Record<Digest, number> = { md5: 16, sha1: 20, sha256: 32, sha512: 64 }

/** Why a hash is not accepted, with the member that is wrong. */
export type HashIssue = { member: string; description: string }

const countBytes = (base64: string): number => Buffer.from(base64, 'base64').length
const isPowerOfTwo = (count: number): boolean => count > 1 && Number.isInteger(Math.log2(count))

const findScryptIssue = (cost: number, blockSize: number, lanes: number): HashIssue | null => {
  if (!isPowerOfTwo(cost)) return { member: 'cost', description: 'must be a power of two, at least 2' }
  if (blockSize < 1 || lanes < 1) return { member: 'blockSize', description: 'must be at least 1' }
  if (128 * cost * blockSize > MAX_MEMORY_BYTES)
    return { member: 'cost', description: 'must take at most 128 MiB of memory with blockSize' }
  return lanes > MAX_LANES || cost * blockSize * lanes > MAX_SCRYPT_WORK
    ? { member: 'parallelization', description: 'takes too much time with cost and blockSize' }
    : null
}

/** The parameter that would cost a comparison too much memory or time, or that no comparison can use. */
function findParameterIssue(hash: PasswordHash): HashIssue | null {
  switch (hash.kind) {
    case 'bcrypt': {
      const cost = Number(hash.hash.slice(4, 6))
      return cost < 4 || cost > MAX_BCRYPT_COST
        ? { member: 'value', description: `must have a cost of 4 to ${MAX_BCRYPT_COST}` }
        : null
    }
    case 'argon2': {
      const { memory, passes, lanes } = hash
      if (lanes < 1 || lanes > MAX_LANES)
        return { member: 'value', description: `must have 1 to ${MAX_LANES} lanes (p)` }
      if (memory < 8 * lanes || memory * 1024 > MAX_MEMORY_BYTES)
        return { member: 'value', description: 'must take 8 KiB a lane to 128 MiB of memory (m)' }
      if (passes < 1 || memory * passes > MAX_ARGON2_KIB_PASSES)
        return {
          member: 'value',
          description: 'must have a pass (t), and memory times passes at most 512 MiB',
        }
      return countBytes(hash.salt) < 8
        ? { member: 'value', description: 'must have a salt of at least 8 bytes' }
        : null
    }
    case 'scrypt':
      return findScryptIssue(hash.cost, hash.blockSize, hash.lanes)
    case 'firebase-scrypt':
      return findScryptIssue(hash.cost, hash.blockSize, 1)
    case 'pbkdf2': {
      const blocks = Math.ceil(countBytes(hash.hash) / DIGEST_BYTES[hash.digest])
      return hash.iterations < 1 || hash.iterations * blocks > MAX_PBKDF2_BLOCKS
        ? { member: 'iterations', description: 'must be 1 to 2000000, times the blocks of the hash' }
        : null
    }
    case 'digest':
      return countBytes(hash.hash) === DIGEST_BYTES[hash.digest]
        ? null
        : { member: 'value', description: `must be a hash of ${DIGEST_BYTES[hash.digest]} bytes` }
  }
}

function findSizeIssue(hash: PasswordHash): HashIssue | null {
  if (hash.kind === 'bcrypt') return null
  const bytes = countBytes(hash.hash)
  if (bytes < MIN_HASH_BYTES || bytes > MAX_HASH_BYTES)
    return { member: 'value', description: `must be a hash of ${MIN_HASH_BYTES} to ${MAX_HASH_BYTES} bytes` }
  const salts = hash.kind === 'digest' ? [hash.before, hash.after] : [hash.salt]
  return salts.some((salt) => countBytes(salt) > MAX_SALT_BYTES)
    ? { member: 'salt', description: `must have at most ${MAX_SALT_BYTES} bytes` }
    : null
}

/** Exports have parameters in texts. A comparison with one that is not a number would fail. */
const hasWholeNumbers = (hash: PasswordHash): boolean =>
  Object.values(hash).every((value) => typeof value !== 'number' || Number.isSafeInteger(value))

/** Why a hash cannot be compared with a password within the bounds; null when it can. */
export const findHashIssue = (hash: PasswordHash): HashIssue | null =>
  hasWholeNumbers(hash)
    ? (findSizeIssue(hash) ?? findParameterIssue(hash))
    : { member: 'value', description: 'must have whole numbers as parameters' }
