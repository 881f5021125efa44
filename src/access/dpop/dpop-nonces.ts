import { computeMac, computeMacs, equalsConstantTime } from '../../core/crypto.ts'
import { toEpochSeconds } from '../../core/time.ts'

/** The nonce changes every minute; each is valid for five minutes. */
const STEP_SECONDS = 60
const NONCE_LIFETIME_SECONDS = 300
const NONCE_PURPOSE = 'dpop-nonce'
/** Minutes since 1970 in base 36, and a MAC. */
const NONCE_SYNTAX = /^([0-9a-z]{1,9})\.[\w-]{22}$/

const computeStep = (now: Date): number => Math.floor(toEpochSeconds(now) / STEP_SECONDS)
const MAC_BYTES = 16
const formatNonce = (step: string, mac: Buffer): string =>
  `${step}.${mac.subarray(0, MAC_BYTES).toString('base64url')}`

/**
 * Creates the nonce that proofs must have from now on (RFC 9449, section 8). Its MAC makes it verifiable by
 * every process without storage, and unpredictable, so that proofs cannot be generated in advance.
 */
export function createNonce(now = new Date()): string {
  const step = computeStep(now).toString(36)
  return formatNonce(step, computeMac(NONCE_PURPOSE, step))
}

/**
 * The status of a nonce. An `ageing` nonce is valid, and the response provides a new one; a `foreign` nonce
 * was not issued by this deployment.
 */
export function getNonceStatus(nonce: string, now = new Date()): 'current' | 'ageing' | 'stale' | 'foreign' {
  const step = NONCE_SYNTAX.exec(nonce)?.[1]
  if (
    !step ||
    !computeMacs(NONCE_PURPOSE, step).some((mac) => equalsConstantTime(formatNonce(step, mac), nonce))
  )
    return 'foreign'
  const age = computeStep(now) - Number.parseInt(step, 36)
  // The clock of another process may be ahead of this one.
  if (age < -1) return 'foreign'
  if (age <= 0) return 'current'
  return age <= NONCE_LIFETIME_SECONDS / STEP_SECONDS ? 'ageing' : 'stale'
}
