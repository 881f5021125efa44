import { measureJson } from '../../core/json/json-size.ts'
import { toEmailKey } from '../../schema/address-keys.ts'
import { metadata } from '../../schema/input-shapes.ts'

export type Claims = Record<string, unknown>

/** Claims about the token and not about the user. */
const PROTOCOL_CLAIMS = new Set([
  'iss',
  'aud',
  'azp',
  'exp',
  'iat',
  'nbf',
  'jti',
  'nonce',
  'at_hash',
  'c_hash',
  's_hash',
  'auth_time',
  'acr',
  'amr',
  'sid',
  'events',
])

/** How providers say that they verified the address; the first present claim counts. Discord sends `verified`. */
const VERIFICATION_CLAIMS = ['email_verified', 'verified_email', 'verified'] as const

/**
 * Whether the claims of one answer say that the address is verified: `true` or, as Apple writes it, `"true"`. Null
 * where they do not speak of it.
 */
export function readVerification(claims: Claims): boolean | null {
  const name = VERIFICATION_CLAIMS.find((each) => Object.hasOwn(claims, each))
  return name === undefined ? null : [true, 'true'].includes(claims[name] as boolean | string)
}

const readEmail = ({ email }: Claims): string | null =>
  typeof email === 'string' && email !== '' ? email : null

const areSame = (one: string, other: string): boolean =>
  one === other || (toEmailKey(one) !== null && toEmailKey(one) === toEmailKey(other))

/**
 * The address and its verification out of the answers of one sign-in, the most trusted first. Both come from the
 * same answer, and every answer that speaks of either must agree; otherwise the address is not verified.
 * `email_verified` is absent where no answer speaks of it.
 */
function selectAddress(answers: readonly Claims[]): { email?: string; email_verified?: boolean } {
  const withEmail = answers.filter((each) => readEmail(each) !== null)
  const holder = withEmail.find((each) => readVerification(each) !== null) ?? withEmail[0]
  const email = holder && readEmail(holder)
  if (!holder || !email) return {}
  const isAgreed =
    withEmail.every((each) => areSame(readEmail(each) ?? '', email)) &&
    answers.every((each) => readVerification(each) ?? true)
  if (isAgreed && answers.every((each) => readVerification(each) === null)) return { email }
  return { email, email_verified: isAgreed && readVerification(holder) === true }
}

/** Whether a claim says something: null and the empty text are as if they were absent. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

/** More members of an answer are not read, except the address: it takes time to merge and judge each. */
const MAX_MEMBERS = 2000

/** The members of an answer without the address, which `selectAddress` chooses. */
const listMembers = (answer: Claims): [string, unknown][] =>
  Object.keys(answer)
    .slice(0, MAX_MEMBERS)
    .filter((name) => name !== 'email' && name !== 'email_verified')
    .map((name) => [name, answer[name]])

/**
 * The claims about a user out of the answers of one sign-in, the most trusted first. A claim without a value gives way to
 * the value of another answer.
 */
export function mergeClaims(...answers: readonly Claims[]): Claims {
  const entries = answers.toReversed().flatMap(listMembers)
  const empty = entries.filter(([, value]) => !isGiven(value))
  const given = entries.filter(([, value]) => isGiven(value))
  return { ...Object.fromEntries([...empty, ...given]), ...selectAddress(answers) }
}

/** Room for the claims of an identity: `metadata` permits no more. */
const MAX_CLAIMS_BYTES = 65_536
const EMPTY_BYTES = 2

/** The size of an object as JSON; infinite for one that is nested too deeply to be written. */
function measureObject(value: object): number {
  try {
    return measureJson(value)
  } catch {
    return Number.POSITIVE_INFINITY // RangeError: the stack is full
  }
}

/**
 * The claims that are stored, each judged by itself: those about the token and those that cannot be stored are left
 * out. Where they are too large together, `needed` ones are kept first, then the small ones. What does not fit is not
 * judged.
 */
export function selectUserClaims(claims: Claims, needed: readonly string[]): Claims {
  const sized = Object.entries(claims)
    .filter(([name]) => !PROTOCOL_CLAIMS.has(name))
    .map(([name, value]) => {
      const only = Object.fromEntries([[name, value]])
      return { name, value, only, bytes: measureObject(only), rank: needed.includes(name) ? 0 : 1 }
    })
    .sort((one, other) => one.rank - other.rank || one.bytes - other.bytes)
  let bytes = EMPTY_BYTES
  const kept = sized.filter((each) => {
    // Without its braces and with a comma, a member takes one byte less than alone.
    if (bytes + each.bytes - 1 > MAX_CLAIMS_BYTES || !metadata.safeParse(each.only).success) return false
    bytes += each.bytes - 1
    return true
  })
  return Object.fromEntries(kept.map(({ name, value }) => [name, value]))
}
