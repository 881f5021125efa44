import { PROFILE_FIELD_NAMES } from './profile-fields.ts'

/** Where the value of a mapped claim comes from. */
export type ClaimSource = 'user' | 'userMetadata' | 'appMetadata' | 'constant'
/** What a mapped claim is part of. */
export type ClaimTarget = 'id_token' | 'access_token' | 'userinfo'

/** A claim that the tokens of a client, or its userinfo responses, have besides those of OpenID Connect. */
export type ClaimMapping = {
  claim: string
  source: ClaimSource
  /** The field of the user, or the JSON Pointer to a member of the metadata; null for a constant. */
  path: string | null
  /** The text of a constant; null for other sources. */
  value: string | null
  /** The claim comes out with this scope only; null for each token. */
  scope: string | null
  targets: ClaimTarget[]
}

/** The fields of a user that a mapping may read, by their names in the API. */
export const MAPPED_USER_FIELDS: readonly string[] = [
  'id',
  'externalId',
  ...PROFILE_FIELD_NAMES,
  'email',
  'emailVerified',
  'phoneNumber',
  'phoneNumberVerified',
  'address',
  'updatedAt',
]

/**
 * The claims that only the service sets: of JWTs (RFC 7519), of ID tokens and logout tokens (OIDC Core, section 2), of access
 * tokens (RFC 9068; RFC 7800; RFC 8693), of signed responses, and of this service.
 */
const RESERVED_CLAIMS: ReadonlySet<string> = new Set([
  ...['iss', 'sub', 'aud', 'exp', 'iat', 'nbf', 'jti', 'typ', 'events', 'toe', 'txn', 'sub_id', 'sub_jwk'],
  ...['nonce', 'azp', 'auth_time', 'acr', 'amr', 'at_hash', 'c_hash', 's_hash', 'sid'],
  ...[
    'client_id',
    'scope',
    'cnf',
    'act',
    'may_act',
    'authorization_details',
    'active',
    'token_type',
    'username',
  ],
  ...['token_introspection', 'vc', 'vp', '_claim_names', '_claim_sources'],
  ...['gid', 'permissions', 'org_id', 'org_slug', 'org_roles'],
])
export const isReservedClaim = (claim: string): boolean => RESERVED_CLAIMS.has(claim)

/** Claims by which resource servers authorize (RFC 9068, section 2.2.3.1). */
export const AUTHORIZATION_CLAIMS: readonly string[] = ['roles', 'groups', 'entitlements']

/** Claims about an address, by which relying parties recognize a person, and the only field that each may have. */
export const ADDRESS_CLAIMS: ReadonlyMap<string, string> = new Map([
  ['email', 'email'],
  ['email_verified', 'emailVerified'],
  ['phone_number', 'phoneNumber'],
  ['phone_number_verified', 'phoneNumberVerified'],
])

/**
 * A mapped claim as a consent has it: its name, source and path. With another source or path it is another claim, which
 * users are asked for again. A name has no space.
 */
export const toConsentedClaim = ({ claim, source, path }: ClaimMapping): string =>
  `${claim} ${source} ${path}`

/** The name of a claim of a consent. */
export const readClaimName = (consented: string): string => consented.split(' ', 1)[0] ?? ''

/** The names of members that a JSON Pointer leads through (RFC 6901, section 4). */
export const parsePointer = (pointer: string): string[] =>
  pointer
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
