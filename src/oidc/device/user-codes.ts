import { randomInt } from 'node:crypto'
import { computeMac, computeMacs } from '../../core/crypto.ts'
import { cleanTypedCode } from '../../core/typed-text.ts'

/** Consonants only, so that no words occur, and none that resembles a digit (RFC 8628, section 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const LENGTH = 8
const OTHER_CHARACTERS = new RegExp(`[^${LETTERS}]`, 'g')

/** Creates a user code: 20^8 possibilities. */
export const createUserCode = (): string =>
  Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')

/** The code as devices show it: BCDF-GHJK. */
export const formatUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`

/**
 * Normalizes an entered code, ignoring case and punctuation (RFC 8628, section 6.1); null when it is not a
 * user code.
 */
export function parseUserCode(entered: string): string | null {
  const code = cleanTypedCode(entered).toUpperCase().replace(OTHER_CHARACTERS, '')
  return code.length === LENGTH ? code : null
}

const toMacInput = (tenant: string, code: string): string => `${tenant}\n${code}`

/** The stored form: a MAC, because a plain hash of a short code can be found by trying all codes. */
export const hashUserCode = (tenant: string, code: string): Buffer<ArrayBuffer> =>
  computeMac('user_code', toMacInput(tenant, code))

/** The stored forms under all of the server's keys. */
export const hashUserCodeWithAllKeys = (tenant: string, code: string): Buffer[] =>
  computeMacs('user_code', toMacInput(tenant, code))
