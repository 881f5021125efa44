import { authenticate, authenticateAll, equals } from '../../crypto.ts'
import { epochSeconds } from '../../time.ts'

/** A new nonce is made every minute, and good for five. */
const STEP_SECONDS = 60
const NONCE_LIFETIME_SECONDS = 300
const PURPOSE = 'dpop-nonce'
/** Digits of base 36: minutes since 1970, for the next thousands of years. */
const NONCE = /^([0-9a-z]{1,9})\.[\w-]{22}$/

const stepAt = (now: Date): number => Math.floor(epochSeconds(now) / STEP_SECONDS)
const MAC_BYTES = 16
const write = (step: string, mac: Buffer): string =>
  `${step}.${mac.subarray(0, MAC_BYTES).toString('base64url')}`

/**
 * The nonce that proofs are to carry from now on (RFC 9449, section 8). It is its own evidence: nothing is stored, and every
 * process takes it. That nobody can know it beforehand is what keeps proofs from being made in stock.
 */
export function currentNonce(now = new Date()): string {
  const step = stepAt(now).toString(36)
  return write(step, authenticate(PURPOSE, step))
}

/** Whether a nonce is ours and how far it is from its end: `ageing` ones are good, and want to be replaced. */
export function standingOfNonce(nonce: string, now = new Date()): 'current' | 'ageing' | 'stale' | 'foreign' {
  const step = NONCE.exec(nonce)?.[1]
  if (!step || !authenticateAll(PURPOSE, step).some((mac) => equals(write(step, mac), nonce)))
    return 'foreign'
  const age = stepAt(now) - Number.parseInt(step, 36)
  // Another process may be ahead of this one by its clock.
  if (age < -1) return 'foreign'
  if (age <= 0) return 'current'
  return age <= NONCE_LIFETIME_SECONDS / STEP_SECONDS ? 'ageing' : 'stale'
}
