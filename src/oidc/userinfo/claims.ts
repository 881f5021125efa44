import type { User } from '../../generated/prisma/client.ts'
import { epochSeconds } from '../../time.ts'
import { type ClaimRequest, type ClaimsRequest, isAcceptable } from '../authorize/claims-request.ts'

/** Columns of a user that claims are made of; statements of the hot paths select exactly these. */
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
type Resolve = (user: ClaimsUser) => unknown
type ClaimScope = 'profile' | 'email' | 'phone' | 'address'

/** A claim: the scope that covers it, what it means to the person who is asked for it, and its value. */
type Claim = { scope: ClaimScope; words: string; resolve: Resolve }

/** The one list of claims about a person (OIDC Core, sections 5.1 and 5.4). A new claim is one line. */
export const CLAIMS: Record<string, Claim> = {
  name: { scope: 'profile', words: 'See your full name', resolve: (user) => user.name },
  given_name: { scope: 'profile', words: 'See your given name', resolve: (user) => user.givenName },
  family_name: { scope: 'profile', words: 'See your family name', resolve: (user) => user.familyName },
  middle_name: { scope: 'profile', words: 'See your middle name', resolve: (user) => user.middleName },
  nickname: { scope: 'profile', words: 'See your nickname', resolve: (user) => user.nickname },
  preferred_username: {
    scope: 'profile',
    words: 'See your user name',
    resolve: (user) => user.preferredUsername,
  },
  profile: {
    scope: 'profile',
    words: 'See the address of your profile page',
    resolve: (user) => user.profile,
  },
  picture: { scope: 'profile', words: 'See your picture', resolve: (user) => user.picture },
  website: { scope: 'profile', words: 'See the address of your website', resolve: (user) => user.website },
  gender: { scope: 'profile', words: 'See your gender', resolve: (user) => user.gender },
  birthdate: { scope: 'profile', words: 'See your date of birth', resolve: (user) => user.birthdate },
  zoneinfo: { scope: 'profile', words: 'See your time zone', resolve: (user) => user.zoneinfo },
  locale: { scope: 'profile', words: 'See your language', resolve: (user) => user.locale },
  updated_at: {
    scope: 'profile',
    words: 'See when your profile was last changed',
    resolve: (user) => epochSeconds(user.updatedAt),
  },
  email: { scope: 'email', words: 'See your email address', resolve: (user) => user.email },
  email_verified: {
    scope: 'email',
    words: 'See whether your email address is verified',
    resolve: (user) => (user.email === null ? null : user.emailVerified),
  },
  phone_number: { scope: 'phone', words: 'See your phone number', resolve: (user) => user.phoneNumber },
  phone_number_verified: {
    scope: 'phone',
    words: 'See whether your phone number is verified',
    resolve: (user) => (user.phoneNumber === null ? null : user.phoneNumberVerified),
  },
  address: { scope: 'address', words: 'See your postal address', resolve: addressOf },
}

/** Whether it is the name of a claim about a person. */
export const isClaim = (name: string): boolean => Object.hasOwn(CLAIMS, name)

function addressOf(user: ClaimsUser): object | null {
  const members = withoutNulls({
    formatted: user.addressFormatted,
    street_address: user.addressStreetAddress,
    locality: user.addressLocality,
    region: user.addressRegion,
    postal_code: user.addressPostalCode,
    country: user.addressCountry,
  })
  return Object.keys(members).length > 0 ? members : null
}

const withoutNulls = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))

/**
 * The claims about a person that the scopes cover or that are asked for one by one. Left out is what has no value, and, of
 * what no scope covers, what has another value than those asked for (OIDC Core, sections 5.3.2 and 5.5.1).
 */
export const claimsFor = (
  user: ClaimsUser,
  scopes: readonly string[],
  asked: Record<string, ClaimRequest> = {},
): Record<string, unknown> =>
  withoutNulls({
    sub: user.id,
    ...Object.fromEntries(
      Object.entries(CLAIMS)
        .map(([name, { scope, resolve }]) => ({ name, scope, value: resolve(user) }))
        .filter(
          ({ name, scope, value }) =>
            scopes.includes(scope) || (asked[name] !== undefined && isAcceptable(asked[name], value)),
        )
        .map(({ name, value }) => [name, value]),
    ),
  })

/** The claims about a person that are asked for one by one, without those that a scope asked for covers anyway. */
export const claimsBeside = (request: ClaimsRequest | null, scopes: readonly string[]): string[] =>
  Object.entries(CLAIMS)
    .filter(([name, { scope }]) => isAsked(request, name) && !scopes.includes(scope))
    .map(([name]) => name)

const isAsked = (request: ClaimsRequest | null, name: string): boolean =>
  request !== null && (name in request.userinfo || name in request.id_token)
