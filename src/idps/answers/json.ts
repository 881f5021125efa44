import { isJsonObject } from '../../core/json/json-object.ts'

/** A string, which is left as it is, or a number. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
/** Number.MAX_SAFE_INTEGER has 16 digits. */
const LONG_NUMBER = /\d{16}/
const INTEGER = /^-?\d+$/

const isRounded = (token: string): boolean => INTEGER.test(token) && !Number.isSafeInteger(Number(token))

/**
 * Parses JSON. Integers beyond 2^53 become text as they are written: they are identifiers, which a number would
 * round. Throws SyntaxError.
 */
export function parseJson(text: string): unknown {
  const parsed: unknown = JSON.parse(text)
  if (!LONG_NUMBER.test(text)) return parsed
  return JSON.parse(text.replaceAll(TOKENS, (token) => (isRounded(token) ? `"${token}"` : token)))
}

/** The JSON object in a text; null for anything else. */
export function parseJsonObject(text: string): Record<string, unknown> | null {
  try {
    const parsed = parseJson(text)
    return isJsonObject(parsed) ? parsed : null
  } catch {
    return null // not JSON
  }
}

/** The claims of a JWT, whose signature was verified. */
export const readJwtClaims = (token: string): Record<string, unknown> =>
  parseJsonObject(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) ?? {}
