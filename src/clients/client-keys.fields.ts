import { createPublicKey, type KeyObject } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { metadata } from '../fields.ts'

/** What keys of each kind sign by (RFC 7518, section 3.1; RFC 8037; RFC 9864); keys of other kinds sign nothing for clients. */
const ALGORITHMS_OF_KINDS = {
  prime256v1: ['ES256'],
  secp384r1: ['ES384'],
  secp521r1: ['ES512'],
  rsa: ['RS256', 'PS256'],
  ed25519: ['EdDSA', 'Ed25519'],
} as const satisfies Record<string, readonly string[]>

/** Algorithms that clients may sign their assertions with. */
export const ASSERTION_ALGORITHMS = Object.values(ALGORITHMS_OF_KINDS).flat()

const MAX_KEYS = 10
const MIN_RSA_BITS = 2048
/** Anybody may have us check a signature by a client's keys: none may cost much more than others. */
const MAX_RSA_BITS = 4096
const MAX_RSA_EXPONENT = 2n ** 32n
/** Members of private and symmetric keys (RFC 7518, section 6). */
export const SECRET_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

function importKey(jwk: Record<string, unknown>): KeyObject | null {
  try {
    return createPublicKey({ key: jwk as never, format: 'jwk' })
  } catch {
    return null // no public key that this platform knows
  }
}

/** Its curve, or its type where that has but one. */
const kindOf = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string =>
  asymmetricKeyDetails?.namedCurve ?? asymmetricKeyType ?? ''

/** Why a key may not be a client's, or null. */
function keyFault(jwk: Record<string, unknown>): string | null {
  if (SECRET_MEMBERS.some((member) => Object.hasOwn(jwk, member)))
    return 'holds a private or symmetric key: send the public part alone'
  const key = importKey(jwk)
  const kind = key && kindOf(key)
  if (!key || !kind || !Object.hasOwn(ALGORITHMS_OF_KINDS, kind))
    return 'must be a public key: RSA, EC on P-256, P-384 or P-521, or OKP on Ed25519'
  const { modulusLength: bits = MIN_RSA_BITS, publicExponent = 0n } = key.asymmetricKeyDetails ?? {}
  if (bits < MIN_RSA_BITS) return `must have ${MIN_RSA_BITS} bits at least`
  if (bits > MAX_RSA_BITS || publicExponent > MAX_RSA_EXPONENT)
    return `must have ${MAX_RSA_BITS} bits at most, and an exponent of 32`
  if (jwk.use !== undefined && jwk.use !== 'sig') return 'is not for signatures (use)'
  if (jwk.key_ops !== undefined && !isDeepStrictEqual(jwk.key_ops, ['verify']))
    return 'must have the key_ops ["verify"], or none'
  const algorithms: readonly unknown[] = ALGORITHMS_OF_KINDS[kind as keyof typeof ALGORITHMS_OF_KINDS]
  if (jwk.alg !== undefined && !algorithms.includes(jwk.alg))
    return `must have the alg ${algorithms.join(' or ')}, or none`
  if (jwk.kid !== undefined && typeof jwk.kid !== 'string') return 'has a kid that is no text'
  return null
}

// As any object that callers hand in, it must be such as the database can hold.
const publicKey = metadata.superRefine((jwk, context) => {
  const fault = keyFault(jwk)
  if (fault) context.addIssue(fault)
})

/** A set of public keys (RFC 7517, section 5), of 10 keys at most. Private ones are refused by name. */
export const jwkSet = z
  .looseObject(
    {
      keys: z
        .array(publicKey, 'must be an array')
        .min(1, 'must have a key at least')
        .max(MAX_KEYS, `must have ${MAX_KEYS} keys at most`),
    },
    'must be an object',
  )
  // Objects out of a GraphQL document have no prototype, by which they would differ from those out of the database.
  .transform(({ keys }) => ({ keys: keys.map((key) => ({ ...key })) }))
