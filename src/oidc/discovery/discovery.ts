import { DPOP_ALGORITHMS } from '../../access/dpop/dpop.ts'
import { type ApiPath, apiResourceOf } from '../../access/protected-resources.ts'
import type { CachedTenant } from '../../access/tenant-cache.ts'
import { AUTH_METHODS } from '../../clients/auth-methods.ts'
import { GRANT_TYPES } from '../../clients/client-grants.ts'
import { issuerOf } from '../../core/issuer.ts'
import { ACCOUNT_SCOPE, listManagementScopes, OIDC_SCOPES, ORGANIZATION_SCOPE } from '../../core/scopes.ts'
import { ASSERTION_ALGORITHMS } from '../../keys/public-keys.ts'
import { SIGNING_ALGORITHMS } from '../../keys/signing-algorithms.ts'
import { LANGUAGES } from '../../languages/catalogs.ts'
import type { SignUpSettings } from '../../passcodes/sign-up-policy.ts'
import { buildRegistrationEndpoint, hasRegistration } from '../../registration/registration-endpoint.ts'
import { CLAIM_DEFINITIONS } from '../../users/claims.ts'
import { listSupportedAcrs } from '../model/acr.ts'
import { DISPLAYS, RESPONSE_MODES } from '../model/authorize-request.ts'
import { listSupportedPrompts } from '../model/prompts.ts'
import { userinfoAudienceOf } from '../token/audience.ts'

/** The claims that ID tokens contain in addition to claims about the user. */
const ID_TOKEN_CLAIMS = [
  'sub',
  'iss',
  'aud',
  'exp',
  'iat',
  'auth_time',
  'nonce',
  'acr',
  'amr',
  'at_hash',
  'sid',
]

/** The settings of a tenant that its metadata shows. */
type DiscoverySettings = SignUpSettings &
  Pick<
    CachedTenant,
    | 'tenantId'
    | 'dynamicRegistration'
    | 'openRegistration'
    | 'clientIdMetadataDocuments'
    | 'signInMethods'
    | 'secondFactor'
    | 'idps'
    | 'migrationEndsAt'
  >

/**
 * The provider metadata (OIDC Discovery 1.0, section 3; RFC 8414; RFC 9207; RP-Initiated Logout 1.0). Every
 * list comes from the code that implements it; members whose default is true are stated when unsupported.
 */
export function buildDiscovery(tenant: DiscoverySettings): Record<string, unknown> {
  const { tenantId, clientIdMetadataDocuments } = tenant
  const issuer = issuerOf(tenantId)
  return {
    issuer,
    authorization_endpoint: `${issuer}/oidc/authorize`,
    pushed_authorization_request_endpoint: `${issuer}/oidc/par`,
    require_pushed_authorization_requests: false,
    token_endpoint: `${issuer}/oidc/token`,
    device_authorization_endpoint: `${issuer}/oidc/device`,
    ...(hasRegistration(tenant) && { registration_endpoint: buildRegistrationEndpoint(tenantId) }),
    ...(clientIdMetadataDocuments && { client_id_metadata_document_supported: true }),
    userinfo_endpoint: userinfoAudienceOf(tenantId),
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    revocation_endpoint: `${issuer}/oidc/revoke`,
    revocation_endpoint_auth_methods_supported: AUTH_METHODS,
    revocation_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    introspection_endpoint: `${issuer}/oidc/introspect`,
    introspection_endpoint_auth_methods_supported: AUTH_METHODS.filter((method) => method !== 'none'),
    introspection_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    end_session_endpoint: `${issuer}/oidc/logout`,
    account_management_uri: `${issuer}/account`,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    scopes_supported: [...OIDC_SCOPES, ...listManagementScopes(tenantId)],
    response_types_supported: ['code'],
    response_modes_supported: RESPONSE_MODES,
    grant_types_supported: GRANT_TYPES,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: SIGNING_ALGORITHMS,
    userinfo_signing_alg_values_supported: SIGNING_ALGORITHMS,
    token_endpoint_auth_methods_supported: AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
    code_challenge_methods_supported: ['S256'],
    prompt_values_supported: listSupportedPrompts(tenant),
    display_values_supported: DISPLAYS,
    acr_values_supported: listSupportedAcrs(tenant),
    claim_types_supported: ['normal'],
    claims_supported: [...ID_TOKEN_CLAIMS, ...Object.keys(CLAIM_DEFINITIONS)],
    claims_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    authorization_response_iss_parameter_supported: true,
    ui_locales_supported: LANGUAGES,
  }
}

/** The metadata of a management API of a tenant as a protected resource (RFC 9728, section 2). */
export const buildResourceMetadata = (
  { tenantId, friendlyName }: Pick<CachedTenant, 'tenantId' | 'friendlyName'>,
  path: ApiPath,
): Record<string, unknown> => ({
  resource: apiResourceOf(tenantId, path),
  ...(friendlyName && { resource_name: friendlyName }),
  authorization_servers: [issuerOf(tenantId)],
  scopes_supported: [...listManagementScopes(tenantId), ACCOUNT_SCOPE, ORGANIZATION_SCOPE],
  bearer_methods_supported: ['header'],
  dpop_signing_alg_values_supported: DPOP_ALGORITHMS,
  dpop_bound_access_tokens_required: false,
})
