import { createPublicKey, type KeyObject } from 'node:crypto'
import { z } from 'zod'

/** Algorithms that clients may sign their assertions with (RFC 7518, RFC 8037). */
export const ASSERTION_ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'PS256', 'EdDSA'] as const

const MAX_KEYS = 10
const MIN_RSA_BITS = 2048
/** Members of private and symmetric keys (RFC 7518, section 6). */
const SECRET_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

function importKey(jwk: Record<string, unknown>): KeyObject | null {
  try {
    return createPublicKey({ key: jwk as never, format: 'jwk' })
  } catch {
    return null // no public key that this platform knows
  }
}

/** Why a key may not be a client's, or null. */
function keyFault(jwk: Record<string, unknown>): string | null {
  if (SECRET_MEMBERS.some((member) => Object.hasOwn(jwk, member)))
    return 'holds a private or symmetric key: send the public part alone'
  const key = importKey(jwk)
  if (!key) return 'is not a public key of type EC, RSA or OKP'
  if ((key.asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS) < MIN_RSA_BITS)
    return `must have ${MIN_RSA_BITS} bits at least`
  if (jwk.use !== undefined && jwk.use !== 'sig') return 'is not for signatures (use)'
  if (jwk.alg !== undefined && !(ASSERTION_ALGORITHMS as readonly unknown[]).includes(jwk.alg))
    return `has an alg that is none of: ${ASSERTION_ALGORITHMS.join(', ')}`
  return null
}

const publicKey = z.record(z.string(), z.unknown(), 'must be an object').superRefine((jwk, context) => {
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
  .transform(({ keys }) => ({ keys }))
  .meta({ override: { type: 'object' } })
