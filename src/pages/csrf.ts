import { computeMac, computeMacs, equalsConstantTime } from '../core/crypto.ts'

/** A CSRF token, binding to the purpose of the form and to values that identify the browser. */
export const createCsrfToken = (purpose: string, ...binding: string[]): string =>
  computeMac('csrf', [purpose, ...binding].join('\n')).toString('base64url')

/** Verifies a CSRF token under all of the server's keys. */
export const isCsrfToken = (given: string | undefined, purpose: string, ...binding: string[]): boolean =>
  computeMacs('csrf', [purpose, ...binding].join('\n')).some((mac) =>
    equalsConstantTime(mac.toString('base64url'), given ?? ''),
  )
