import type { User } from '../generated/prisma/client.ts'

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

/** The one list of claims about a person (OIDC Core, sections 5.1 and 5.4). A new claim is one line. */
export const CLAIMS: Record<string, { scope: ClaimScope; resolve: Resolve }> = {
  name: { scope: 'profile', resolve: (user) => user.name },
  given_name: { scope: 'profile', resolve: (user) => user.givenName },
  family_name: { scope: 'profile', resolve: (user) => user.familyName },
  middle_name: { scope: 'profile', resolve: (user) => user.middleName },
  nickname: { scope: 'profile', resolve: (user) => user.nickname },
  preferred_username: { scope: 'profile', resolve: (user) => user.preferredUsername },
  profile: { scope: 'profile', resolve: (user) => user.profile },
  picture: { scope: 'profile', resolve: (user) => user.picture },
  website: { scope: 'profile', resolve: (user) => user.website },
  gender: { scope: 'profile', resolve: (user) => user.gender },
  birthdate: { scope: 'profile', resolve: (user) => user.birthdate },
  zoneinfo: { scope: 'profile', resolve: (user) => user.zoneinfo },
  locale: { scope: 'profile', resolve: (user) => user.locale },
  updated_at: { scope: 'profile', resolve: (user) => Math.floor(user.updatedAt.getTime() / 1000) },
  email: { scope: 'email', resolve: (user) => user.email },
  email_verified: { scope: 'email', resolve: (user) => (user.email === null ? null : user.emailVerified) },
  phone_number: { scope: 'phone', resolve: (user) => user.phoneNumber },
  phone_number_verified: {
    scope: 'phone',
    resolve: (user) => (user.phoneNumber === null ? null : user.phoneNumberVerified),
  },
  address: { scope: 'address', resolve: addressOf },
}

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

/** The claims about a person that the scopes cover; those without a value are left out (OIDC Core, section 5.3.2). */
export const claimsFor = (user: ClaimsUser, scopes: readonly string[]): Record<string, unknown> =>
  withoutNulls({
    sub: user.id,
    ...Object.fromEntries(
      Object.entries(CLAIMS)
        .filter(([, claim]) => scopes.includes(claim.scope))
        .map(([name, claim]) => [name, claim.resolve(user)]),
    ),
  })
