import type { Scope } from '../core/scopes.ts'
import { PROFILE_FIELD_NAMES } from './profile-fields.ts'

/** Where the value of a mapped claim comes from. */
export type ClaimSource =
  | 'user'
  | 'userMetadata'
  | 'appMetadata'
  | 'roles'
  | 'groups'
  | 'organization'
  | 'constant'
/** What a mapped claim is part of. */
export type ClaimTarget = 'id_token' | 'access_token' | 'userinfo'

/** A claim that tokens of a client or for an API, or userinfo responses, have besides those of OpenID Connect. */
export type ClaimMapping = {
  claim: string
  source: ClaimSource
  /**
   * The field of the user or of the organization, or the JSON Pointer to a member of the metadata; for roles the identifier
   * of an API, or null for all; for groups `organization`, or null for those of the tenant; null for a constant.
   */
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

/** The fields of the organization of a token that a mapping may read. Its metadata is read by a JSON Pointer. */
export const MAPPED_ORGANIZATION_FIELDS = ['id', 'slug', 'name', 'externalId'] as const

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

type Mappings = readonly ClaimMapping[]

/** These mappings, with the claim `groups` of the switch where they do not set it. */
function addGroups(mappings: Mappings, isOn: boolean, targets: readonly ClaimTarget[]): Mappings {
  const free = targets.filter(
    (target) => !mappings.some((mapping) => mapping.claim === 'groups' && mapping.targets.includes(target)),
  )
  return isOn && free.length > 0
    ? [
        ...mappings,
        { claim: 'groups', source: 'groups', path: null, value: null, scope: null, targets: free },
      ]
    : mappings
}

/** The mappings of a client, with that of `groupsClaim`. */
export const listClientMappings = (client: { claimMappings: Mappings; groupsClaim: boolean }): Mappings =>
  addGroups(client.claimMappings, client.groupsClaim, ['id_token', 'userinfo'])

/** The mappings of an API, with that of `groupsInTokens`. */
export const listApiMappings = (api: { claimMappings: Mappings; groupsInTokens: boolean }): Mappings =>
  addGroups(api.claimMappings, api.groupsInTokens, ['access_token'])

/** The management scopes without which nobody reads what a mapping has of a user. */
export const SCOPES_OF_SOURCES: Record<ClaimSource, readonly Scope[]> = {
  user: ['users:read'],
  userMetadata: ['users:read'],
  appMetadata: ['users:read', 'users:read_app_metadata'],
  roles: ['users:read', 'roles:read'],
  groups: ['users:read', 'roles:read'],
  organization: ['users:read', 'organizations:read'],
  constant: [],
}

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
