import { randomInt } from 'node:crypto'
import { authenticate, authenticateAll, equals } from '../crypto.ts'

const PURPOSE = 'passcode'
const bound = (tenant: string, address: string, code: string): string => `${tenant}\n${address}\n${code}`

/**
 * How a passcode is stored: under the server's key, because a million codes are quickly tried at a plain hash, and
 * bound to tenant and address, so that a row copied elsewhere verifies nothing.
 */
export const codeHashOf = (tenant: string, address: string, code: string): Buffer<ArrayBuffer> =>
  authenticate(PURPOSE, bound(tenant, address, code))

/** Compares in constant time, under every server key. */
export function isCode(tenant: string, address: string, code: string, codeHash: Buffer): boolean {
  const macs = authenticateAll(PURPOSE, bound(tenant, address, code))
  return macs.map((mac) => equals(mac, codeHash)).includes(true)
}

/** A new code of six digits. */
export const newCode = (): string => String(randomInt(1_000_000)).padStart(6, '0')

/** People copy codes with spaces and dashes. */
export const tidyCode = (code: string): string => code.replace(/[\s-]/g, '')
