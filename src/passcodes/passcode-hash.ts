import { randomInt } from 'node:crypto'
import { computeMac, computeMacs, equalsConstantTime } from '../core/crypto.ts'

const CODE_PURPOSE = 'passcode'
const toMacInput = (tenant: string, address: string, code: string): string => `${tenant}\n${address}\n${code}`

/**
 * The stored form of a passcode: an HMAC under ENCRYPTION_KEY, because a plain hash of one million codes is
 * tried quickly. It is bound to tenant and address, so that a copied row verifies nothing.
 */
export const hashCode = (tenant: string, address: string, code: string): Buffer<ArrayBuffer> =>
  computeMac(CODE_PURPOSE, toMacInput(tenant, address, code))

/** Compares in constant time, under every key of ENCRYPTION_KEY. */
export function isMatchingCode(tenant: string, address: string, code: string, codeHash: Buffer): boolean {
  const macs = computeMacs(CODE_PURPOSE, toMacInput(tenant, address, code))
  return macs.map((mac) => equalsConstantTime(mac, codeHash)).includes(true)
}

/** A new code of six digits. */
export const createCode = (): string => String(randomInt(1_000_000)).padStart(6, '0')

/** A new code of ten digits, as `12345 67890`. */
export function createLongCode(): string {
  const half = () => String(randomInt(100_000)).padStart(5, '0')
  return `${half()} ${half()}`
}
