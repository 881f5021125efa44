// A worker thread that compares passwords with hashes, one after the other. It is JavaScript so that Node runs it from src.
import { createCipheriv, createHash, pbkdf2Sync, scryptSync, timingSafeEqual } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { argon2d, argon2i, argon2id, bcryptVerify } from 'hash-wasm'

const ARGON2 = { argon2d, argon2i, argon2id }
/** bcrypt reads no more of a password. */
const BCRYPT_BYTES = 72

const toBytes = (base64) => Buffer.from(base64, 'base64')
const runScrypt = (password, { cost, blockSize, lanes = 1, salt }, length) =>
  scryptSync(password, toBytes(salt), length, {
    N: cost,
    r: blockSize,
    p: lanes,
    maxmem: 256 * cost * blockSize + 1_048_576,
  })

/** The hash of a password, with the parameters of the stored one. */
const COMPUTE = {
  argon2: (password, { variant, memory, passes, lanes, salt }, length) =>
    ARGON2[variant]({
      password,
      salt: toBytes(salt),
      memorySize: memory,
      iterations: passes,
      parallelism: lanes,
      hashLength: length,
      outputType: 'binary',
    }),
  scrypt: runScrypt,
  'firebase-scrypt': (password, stored) => {
    const key = runScrypt(password, stored, 32)
    const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
    return Buffer.concat([cipher.update(toBytes(stored.signerKey)), cipher.final()])
  },
  pbkdf2: (password, { digest, iterations, salt }, length) =>
    pbkdf2Sync(password, toBytes(salt), iterations, length, digest),
  digest: (password, { digest, before, after }) =>
    createHash(digest).update(toBytes(before)).update(password).update(toBytes(after)).digest(),
}

async function compare(text, stored) {
  const password = Buffer.from(text)
  // The library accepts neither none nor more.
  if (password.length === 0) return false
  if (stored.kind === 'bcrypt')
    return bcryptVerify({
      password: password.subarray(0, BCRYPT_BYTES),
      hash: stored.hash.replace(/^\$2x/, '$2a'),
    })
  const hash = toBytes(stored.hash)
  const computed = await COMPUTE[stored.kind](password, stored, hash.length)
  return computed.length === hash.length && timingSafeEqual(computed, hash)
}

parentPort.on('message', ({ password, stored }) =>
  compare(password, stored).then(
    (isRight) => parentPort.postMessage({ isRight }),
    (error) => parentPort.postMessage({ error: String(error) }),
  ),
)
