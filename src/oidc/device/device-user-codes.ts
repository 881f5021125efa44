import { randomInt } from 'node:crypto'
import { authenticate, authenticateAll } from '../../crypto.ts'

/** No vowels, so that no words come out, and nothing that is mistaken for a digit (RFC 8628, section 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const LENGTH = 8
const OTHERS = new RegExp(`[^${LETTERS}]`, 'g')

/** A new code for a person to enter: 20^8 possibilities. */
export const newUserCode = (): string =>
  Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')

/** As devices show it. */
export const shownUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`

/** What a person entered, whatever its case and signs (RFC 8628, section 6.1); null when it is no code. */
export function readUserCode(entered: string): string | null {
  const code = entered.normalize('NFKC').toUpperCase().replace(OTHERS, '')
  return code.length === LENGTH ? code : null
}

const bound = (tenant: string, code: string): string => `${tenant}\n${code}`

/** How a code is stored: it is short, so that a mere hash could be searched through. */
export const userCodeHashOf = (tenant: string, code: string): Buffer<ArrayBuffer> =>
  authenticate('user_code', bound(tenant, code))

/** What it may be stored as, under any of the server's keys. */
export const userCodeHashesOf = (tenant: string, code: string): Buffer[] =>
  authenticateAll('user_code', bound(tenant, code))
