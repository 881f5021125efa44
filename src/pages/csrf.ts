import { randomBytes } from 'node:crypto'
import { computeMac, computeMacs, equalsConstantTime } from '../core/crypto.ts'

const MAC_BYTES = 32

const combine = (a: Buffer, b: Buffer): Buffer => Buffer.from(a.map((byte, index) => byte ^ (b[index] ?? 0)))

/**
 * A CSRF token, binding to the purpose of the form and to values that identify the browser: a mask and the masked MAC.
 * Each token is another one, so that the length of a compressed page tells nothing about it (BREACH).
 */
export function createCsrfToken(purpose: string, ...binding: string[]): string {
  const mask = randomBytes(MAC_BYTES)
  const mac = computeMac('csrf', [purpose, ...binding].join('\n'))
  return Buffer.concat([mask, combine(mask, mac)]).toString('base64url')
}

/** Verifies a CSRF token under all of the server's keys. */
export function isCsrfToken(given: string | undefined, purpose: string, ...binding: string[]): boolean {
  const bytes = Buffer.from(given ?? '', 'base64url')
  // Another spelling of the bytes is rejected.
  if (bytes.length !== 2 * MAC_BYTES || bytes.toString('base64url') !== given) return false
  const mac = combine(bytes.subarray(0, MAC_BYTES), bytes.subarray(MAC_BYTES)).toString('base64url')
  return computeMacs('csrf', [purpose, ...binding].join('\n')).some((expected) =>
    equalsConstantTime(expected.toString('base64url'), mac),
  )
}
