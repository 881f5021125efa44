import { toEpochSeconds } from '../core/time.ts'
import type { User } from '../generated/prisma/client.ts'
import { getClaimName, getClaimWords, PROFILE_FIELD_NAMES } from '../model/profile-fields.ts'
import { type ClaimRequest, isAcceptableValue } from './claim-request.ts'

/** Columns of a user from which claims are built. Statements of hot paths select exactly these. */
export const CLAIM_COLUMNS = [
  'id',
  ...PROFILE_FIELD_NAMES,
  'email',
  'emailVerified',
  'phoneNumber',
  'phoneNumberVerified',
  'addressFormatted',
  'addressStreetAddress',
  'addressLocality',
  'addressRegion',
  'addressPostalCode',
  'addressCountry',
  'updatedAt',
] as const satisfies (keyof User)[]

export type ClaimsUser = Pick<User, (typeof CLAIM_COLUMNS)[number]>
type ResolveClaim = (user: ClaimsUser) => unknown
type ClaimScope = 'profile' | 'email' | 'phone' | 'address'

/** A claim: the scope that contains it, its text on the consent page, and its value. */
type ClaimDefinition = { scope: ClaimScope; description?: string | undefined; resolve: ResolveClaim }

const profileClaims: Record<string, ClaimDefinition> = Object.fromEntries(
  PROFILE_FIELD_NAMES.map((field) => [
    getClaimName(field),
    { scope: 'profile', description: getClaimWords(field), resolve: (user) => user[field] },
  ]),
)

/** The registry of claims about the user (OIDC Core, sections 5.1 and 5.4). */
export const CLAIM_DEFINITIONS: Record<string, ClaimDefinition> = {
  ...profileClaims,
  updated_at: {
    scope: 'profile',
    description: 'See when your profile was last changed',
    resolve: (user) => toEpochSeconds(user.updatedAt),
  },
  email: { scope: 'email', description: 'See your email address', resolve: (user) => user.email },
  email_verified: {
    scope: 'email',
    description: 'See whether your email address is verified',
    resolve: (user) => (user.email === null ? null : user.emailVerified),
  },
  phone_number: { scope: 'phone', description: 'See your phone number', resolve: (user) => user.phoneNumber },
  phone_number_verified: {
    scope: 'phone',
    description: 'See whether your phone number is verified',
    resolve: (user) => (user.phoneNumber === null ? null : user.phoneNumberVerified),
  },
  address: { scope: 'address', description: 'See your postal address', resolve: toAddressClaim },
}

const CLAIMS = Object.entries(CLAIM_DEFINITIONS)

/** Whether `name` is a claim about the user. */
export const isClaim = (name: string): boolean => Object.hasOwn(CLAIM_DEFINITIONS, name)

function toAddressClaim(user: ClaimsUser): object | null {
  const members = removeNulls({
    formatted: user.addressFormatted,
    street_address: user.addressStreetAddress,
    locality: user.addressLocality,
    region: user.addressRegion,
    postal_code: user.addressPostalCode,
    country: user.addressCountry,
  })
  return Object.keys(members).length > 0 ? members : null
}

const removeNulls = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))

/**
 * The claims about the user that the scopes contain or that are requested individually. Claims without a
 * value are omitted, and so are individually requested claims with another value than the request names (OIDC
 * Core, sections 5.3.2 and 5.5.1).
 */
export function buildClaims(
  user: ClaimsUser,
  scopes: readonly string[],
  requested: Record<string, ClaimRequest> = {},
): Record<string, unknown> {
  const claims: Record<string, unknown> = { sub: user.id }
  for (const [name, { scope, resolve }] of CLAIMS) {
    const isInScope = scopes.includes(scope)
    const request = requested[name]
    if (!isInScope && request === undefined) continue
    const value = resolve(user)
    if (value === null || !(isInScope || isAcceptableValue(request as ClaimRequest, value))) continue
    claims[name] = value
  }
  return claims
}
