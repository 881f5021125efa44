import { decodeJwt } from 'jose'
import { parseApplePrivateKey } from './provider-keys.ts'

/** A client secret without `exp` does not expire. */
const NEVER = new Date('9999-12-31T00:00:00Z')
/** An instant that has passed: such a secret cannot be used. */
const UNUSABLE = new Date(0)

/** When a client secret that is itself a JWT expires ("Creating a client secret"); null for anything else. */
function findJwtExpiry(secret: string): Date | null {
  try {
    const { exp } = decodeJwt(secret)
    const date = exp === undefined ? NEVER : new Date(exp * 1000)
    return date < NEVER ? date : NEVER
  } catch {
    return null // not a JWT
  }
}

/**
 * When a client secret cannot be used any more. Apple's is a private key, which does not expire, or a JWT that is used as
 * it is; anything else can never be used. Null for one that does not expire.
 */
export function findSecretExpiry(type: string, secret: string | null | undefined): Date | null {
  if (type !== 'apple' || !secret || parseApplePrivateKey(secret)) return null
  return findJwtExpiry(secret) ?? UNUSABLE
}

/** Why a client secret that has expired, by `findSecretExpiry`, cannot be used. */
export const describeExpired = (expiresAt: Date | null) =>
  expiresAt?.getTime() === UNUSABLE.getTime() ? 'client secret unusable' : 'client secret expired'
