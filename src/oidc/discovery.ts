import { SCOPE_NAMES, SYSTEM_SCOPES, SYSTEM_TENANT } from '../ctx.ts'
import { SIGNING_ALGORITHMS } from '../signing-algorithms.ts'
import { ACR_OTP } from './acr.ts'
import { userinfoAudienceOf } from './audience.ts'
import { DISPLAYS, PROMPTS } from './authorize.ts'
import { CLAIMS } from './claims.ts'
import { issuerOf } from './keys.ts'
import { RESPONSE_MODES } from './response-modes.ts'
import { OIDC_SCOPES } from './scopes.ts'
import { GRANT_TYPE_NAMES } from './token.ts'

const TOKEN_CLAIMS = ['sub', 'iss', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'acr', 'amr', 'at_hash', 'sid']

const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none']

/**
 * The provider's metadata (OIDC Discovery 1.0, section 3; RFC 8414; RFC 9207; RP-Initiated Logout 1.0). It names what
 * is there and nothing else: every list comes from the code that implements it, or says no where the default is yes.
 */
export function discoveryOf(tenant: string): Record<string, unknown> {
  const issuer = issuerOf(tenant)
  return {
    issuer,
    authorization_endpoint: `${issuer}/oidc/authorize`,
    pushed_authorization_request_endpoint: `${issuer}/oidc/par`,
    require_pushed_authorization_requests: false,
    token_endpoint: `${issuer}/oidc/token`,
    userinfo_endpoint: userinfoAudienceOf(tenant),
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    revocation_endpoint: `${issuer}/oidc/revoke`,
    revocation_endpoint_auth_methods_supported: AUTH_METHODS,
    introspection_endpoint: `${issuer}/oidc/introspect`,
    introspection_endpoint_auth_methods_supported: AUTH_METHODS.filter((method) => method !== 'none'),
    end_session_endpoint: `${issuer}/oidc/logout`,
    scopes_supported: [
      ...OIDC_SCOPES,
      ...SCOPE_NAMES.filter((scope) => tenant === SYSTEM_TENANT || !SYSTEM_SCOPES.includes(scope)),
    ],
    response_types_supported: ['code'],
    response_modes_supported: RESPONSE_MODES,
    grant_types_supported: GRANT_TYPE_NAMES,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: SIGNING_ALGORITHMS,
    userinfo_signing_alg_values_supported: SIGNING_ALGORITHMS,
    token_endpoint_auth_methods_supported: AUTH_METHODS,
    code_challenge_methods_supported: ['S256'],
    prompt_values_supported: PROMPTS,
    display_values_supported: DISPLAYS,
    acr_values_supported: [ACR_OTP],
    claim_types_supported: ['normal'],
    claims_supported: [...TOKEN_CLAIMS, ...Object.keys(CLAIMS)],
    claims_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    authorization_response_iss_parameter_supported: true,
    ui_locales_supported: ['en'],
  }
}
