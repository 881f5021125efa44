import { toEpochSeconds } from '../core/time.ts'
import type { User } from '../generated/prisma/client.ts'
import { type ClaimRequest, isAcceptableValue } from './claim-request.ts'

/** Columns of a user from which claims are built. Statements of hot paths select exactly these. */
export const CLAIM_COLUMNS = [
  'id',
  'name',
  'givenName',
  'familyName',
  'middleName',
  'nickname',
  'preferredUsername',
  'profile',
  'picture',
  'website',
  'email',
  'emailVerified',
  'gender',
  'birthdate',
  'zoneinfo',
  'locale',
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
type ClaimDefinition = { scope: ClaimScope; description: string; resolve: ResolveClaim }

/** The registry of claims about the user (OIDC Core, sections 5.1 and 5.4). A new claim is one line. */
export const CLAIM_DEFINITIONS: Record<string, ClaimDefinition> = {
  name: { scope: 'profile', description: 'See your full name', resolve: (user) => user.name },
  given_name: { scope: 'profile', description: 'See your given name', resolve: (user) => user.givenName },
  family_name: { scope: 'profile', description: 'See your family name', resolve: (user) => user.familyName },
  middle_name: { scope: 'profile', description: 'See your middle name', resolve: (user) => user.middleName },
  nickname: { scope: 'profile', description: 'See your nickname', resolve: (user) => user.nickname },
  preferred_username: {
    scope: 'profile',
    description: 'See your user name',
    resolve: (user) => user.preferredUsername,
  },
  profile: {
    scope: 'profile',
    description: 'See the address of your profile page',
    resolve: (user) => user.profile,
  },
  picture: { scope: 'profile', description: 'See your picture', resolve: (user) => user.picture },
  website: {
    scope: 'profile',
    description: 'See the address of your website',
    resolve: (user) => user.website,
  },
  gender: { scope: 'profile', description: 'See your gender', resolve: (user) => user.gender },
  birthdate: { scope: 'profile', description: 'See your date of birth', resolve: (user) => user.birthdate },
  zoneinfo: { scope: 'profile', description: 'See your time zone', resolve: (user) => user.zoneinfo },
  locale: { scope: 'profile', description: 'See your language', resolve: (user) => user.locale },
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
