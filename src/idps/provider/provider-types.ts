import { defineEnum } from '../../schema/enums.ts'

export const IDP_TYPE = defineEnum(
  'IdentityProviderType',
  'The type of provider; never changes. The endpoints of named providers are built in.',
  {
    oauth2: 'OAuth 2.0 with a userinfo endpoint.',
    oidc: 'OpenID Connect. Endpoints are discovered from the issuer.',
    apple: 'Sign in with Apple.',
    facebook: 'Facebook Login.',
    google: 'Google.',
    microsoft: 'Microsoft. Any organization, unless issuer names one.',
    twitter: 'X, formerly Twitter.',
  },
)
export type IdpType = (typeof IDP_TYPE.values)[number]

/** Fields without which a provider proves nothing. */
export const REQUIRABLE_FIELD = defineEnum(
  'RequirableIdentityProviderField',
  'A field without which an identity provider proves nothing.',
  {
    clientId: '`clientId`.',
    clientSecret: '`clientSecret`.',
    issuer: '`issuer`.',
    userInfoEndpoint: '`userInfoEndpoint`.',
    platformTeamId: '`platformTeamId`.',
    platformKid: '`platformKid`.',
  },
)
export type RequirableField = (typeof REQUIRABLE_FIELD.values)[number]

/** What is known of a kind of provider. What an administrator sets on a provider goes before it. */
export type ProviderType = {
  /** Fields that a provider needs besides the client id, because the type does not know them. */
  requires?: readonly RequirableField[]
  /** As above, for a provider whose client secret is a key. */
  requiresWithSecret?: readonly RequirableField[]
  issuer?: string
  /** Further values of `iss` that mean the same issuer. */
  issuerAliases?: readonly string[]
  /**
   * Issuer of one organisation, out of its id in claim `tid`: the provider has as many issuers as customers.
   */
  issuerOfOrganisation?: (tid: string) => string
  /** Its metadata is found through its issuer (OIDC Discovery). */
  discovers?: true
  /** Redeeming a code returns an ID token, which is required at a sign-in. */
  idToken?: 'required'
  /** Scopes that are requested when a provider has none. */
  defaultScopes?: string
  /** How the provider is asked to return the code, if not in the query. */
  responseMode?: 'form_post'
  authorizationEndpoint?: string
  tokenEndpoint?: string
  userInfoEndpoint?: string
  jwksUri?: string
  /** A web application redeems codes with a secret only. */
  redeemsWithSecret?: boolean
  /** How clients authenticate at the token endpoint, where the metadata does not say. */
  clientAuthentication: 'basic' | 'post'
  /** Members of the userinfo response that contain the claims, if they are not at the top level. */
  claimsIn?: string
  /** Claims that may contain the user's identifier; the first present one counts. */
  subject: readonly ('sub' | 'id')[]
}

/**
 * One line for each thing that a provider does differently. The endpoints are those of the providers'
 * documentation.
 */
export const PROVIDER_TYPES: Record<IdpType, ProviderType> = {
  oauth2: { requires: ['userInfoEndpoint'], clientAuthentication: 'basic', subject: ['sub', 'id'] },
  oidc: {
    requires: ['issuer'],
    idToken: 'required',
    defaultScopes: 'openid email profile',
    discovers: true,
    clientAuthentication: 'basic',
    subject: ['sub'],
  },
  apple: {
    // The secret is a key, with which the secrets for Apple are signed, or one that was signed elsewhere.
    requiresWithSecret: ['platformTeamId', 'platformKid'],
    issuer: 'https://appleid.apple.com',
    idToken: 'required',
    defaultScopes: 'openid name email',
    // Apple requires it where a scope is requested.
    redeemsWithSecret: true,
    responseMode: 'form_post',
    authorizationEndpoint: 'https://appleid.apple.com/auth/authorize',
    tokenEndpoint: 'https://appleid.apple.com/auth/token',
    jwksUri: 'https://appleid.apple.com/auth/keys',
    clientAuthentication: 'post',
    subject: ['sub'],
  },
  facebook: {
    redeemsWithSecret: true,
    issuer: 'https://www.facebook.com',
    defaultScopes: 'public_profile email',
    authorizationEndpoint: 'https://www.facebook.com/v21.0/dialog/oauth',
    tokenEndpoint: 'https://graph.facebook.com/v21.0/oauth/access_token',
    userInfoEndpoint: 'https://graph.facebook.com/v21.0/me?fields=id,name,email',
    jwksUri: 'https://www.facebook.com/.well-known/oauth/openid/jwks/',
    clientAuthentication: 'post',
    subject: ['id'],
  },
  google: {
    redeemsWithSecret: true,
    issuer: 'https://accounts.google.com',
    idToken: 'required',
    defaultScopes: 'openid email profile',
    issuerAliases: ['accounts.google.com'],
    authorizationEndpoint: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenEndpoint: 'https://oauth2.googleapis.com/token',
    userInfoEndpoint: 'https://openidconnect.googleapis.com/v1/userinfo',
    jwksUri: 'https://www.googleapis.com/oauth2/v3/certs',
    clientAuthentication: 'post',
    subject: ['sub'],
  },
  microsoft: {
    redeemsWithSecret: true,
    issuerOfOrganisation: (tid) => `https://login.microsoftonline.com/${tid}/v2.0`,
    idToken: 'required',
    defaultScopes: 'openid email profile',
    discovers: true,
    authorizationEndpoint: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    tokenEndpoint: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    userInfoEndpoint: 'https://graph.microsoft.com/oidc/userinfo',
    jwksUri: 'https://login.microsoftonline.com/common/discovery/v2.0/keys',
    clientAuthentication: 'post',
    subject: ['sub'],
  },
  twitter: {
    // X answers who signed in with both scopes only.
    defaultScopes: 'users.read tweet.read',
    authorizationEndpoint: 'https://x.com/i/oauth2/authorize',
    tokenEndpoint: 'https://api.x.com/2/oauth2/token',
    userInfoEndpoint: 'https://api.x.com/2/users/me',
    clientAuthentication: 'basic',
    claimsIn: 'data',
    subject: ['id'],
  },
}

/**
 * Algorithms of ID tokens: asymmetric ones only. `none` proves nothing, and an HMAC key is known to both
 * sides. A provider that has nothing else, such as LINE, is stated by an administrator: see `SECRET_ALGORITHM`.
 */
export const ID_TOKEN_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const
export type IdTokenAlgorithm = (typeof ID_TOKEN_ALGORITHMS)[number]

/** The algorithm whose key is the client secret (OIDC Core, section 10.1). It is never accepted unless it is stated. */
export const SECRET_ALGORITHM = 'HS256'
/** The algorithms that an administrator may state. */
export const ID_TOKEN_ALGORITHM = defineEnum<IdTokenAlgorithm | typeof SECRET_ALGORITHM>(
  'IdTokenAlgorithm',
  'An algorithm of the ID tokens of an identity provider (RFC 7518, RFC 8037, RFC 9864).',
  Object.fromEntries(
    [...ID_TOKEN_ALGORITHMS, SECRET_ALGORITHM].map((name) => [name, `alg=${name}.`]),
  ) as Record<IdTokenAlgorithm | typeof SECRET_ALGORITHM, string>,
)
/** RFC 7518, section 3.2: a shorter key must not be used. */
export const MIN_SECRET_BYTES = 32
