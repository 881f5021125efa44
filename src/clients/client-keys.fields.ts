import { createPublicKey, type KeyObject } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { ALGORITHMS_BY_KEY_KIND, PRIVATE_JWK_MEMBERS } from '../keys/public-keys.ts'
import { metadata } from '../schema/input-shapes.ts'

const MAX_KEYS = 10
const MIN_RSA_BITS = 2048
/** Limits the cost of verifying a signature, which anonymous requests can cause. */
const MAX_RSA_BITS = 4096
const MAX_RSA_EXPONENT = 2n ** 32n

function importPublicJwk(jwk: Record<string, unknown>): KeyObject | null {
  try {
    return createPublicKey({ key: jwk as never, format: 'jwk' })
  } catch {
    return null // not a public key that Node supports
  }
}

/** The curve of a key, or its type. */
const getKeyKind = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string =>
  asymmetricKeyDetails?.namedCurve ?? asymmetricKeyType ?? ''

/** Why a key is rejected, or null. */
export function findKeyIssue(jwk: Record<string, unknown>): string | null {
  if (PRIVATE_JWK_MEMBERS.some((member) => Object.hasOwn(jwk, member)))
    return 'contains a private or symmetric key: send the public part only'
  const key = importPublicJwk(jwk)
  const kind = key && getKeyKind(key)
  if (!key || !kind || !Object.hasOwn(ALGORITHMS_BY_KEY_KIND, kind))
    return 'must be a public key: RSA, EC on P-256, P-384 or P-521, or OKP on Ed25519'
  const { modulusLength: bits = MIN_RSA_BITS, publicExponent = 0n } = key.asymmetricKeyDetails ?? {}
  if (bits < MIN_RSA_BITS) return `must have at least ${MIN_RSA_BITS} bits`
  if (bits > MAX_RSA_BITS || publicExponent > MAX_RSA_EXPONENT)
    return `must have at most ${MAX_RSA_BITS} bits, and an exponent of at most 32 bits`
  if (jwk.use !== undefined && jwk.use !== 'sig') return 'is not for signatures (use)'
  if (jwk.key_ops !== undefined && !isDeepStrictEqual(jwk.key_ops, ['verify']))
    return 'must have key_ops ["verify"] or omit key_ops'
  const algorithms: readonly unknown[] = ALGORITHMS_BY_KEY_KIND[kind as keyof typeof ALGORITHMS_BY_KEY_KIND]
  if (jwk.alg !== undefined && !algorithms.includes(jwk.alg))
    return `must have alg ${algorithms.join(' or ')} or omit alg`
  if (jwk.kid !== undefined && typeof jwk.kid !== 'string') return 'has a kid that is not a string'
  return null
}

// Like any object of a caller, it must be storable.
const publicJwk = metadata.superRefine((jwk, context) => {
  const issue = findKeyIssue(jwk)
  if (issue) context.addIssue(issue)
})

/** A JWK set of at most 10 public keys (RFC 7517, section 5). Private keys are rejected by name. */
export const clientJwks = z
  .looseObject(
    {
      keys: z
        .array(publicJwk, 'must be an array')
        .min(1, 'must have at least one key')
        .max(MAX_KEYS, `must have at most ${MAX_KEYS} keys`),
    },
    'must be an object',
  )
  // Objects of a GraphQL document have no prototype, which makes them differ from stored objects in deep
  // comparisons.
  .transform(({ keys }) => ({ keys: keys.map((key) => ({ ...key })) }))
