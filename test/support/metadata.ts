import { startLogoutReceiver } from './logout-receiver.ts'
import { createMetadataChecks } from './metadata-checks.ts'
import { test as base } from './signed-in-plan.ts'

export const MEMBERS = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
  'revocation_endpoint',
  'introspection_endpoint',
  'pushed_authorization_request_endpoint',
  'device_authorization_endpoint',
  'end_session_endpoint',
  'account_management_uri',
  'jwks_uri',
  'require_pushed_authorization_requests',
  'token_endpoint_auth_methods_supported',
  'revocation_endpoint_auth_methods_supported',
  'introspection_endpoint_auth_methods_supported',
  'token_endpoint_auth_signing_alg_values_supported',
  'revocation_endpoint_auth_signing_alg_values_supported',
  'introspection_endpoint_auth_signing_alg_values_supported',
  'dpop_signing_alg_values_supported',
  'backchannel_logout_supported',
  'backchannel_logout_session_supported',
  'scopes_supported',
  'response_types_supported',
  'response_modes_supported',
  'grant_types_supported',
  'subject_types_supported',
  'id_token_signing_alg_values_supported',
  'userinfo_signing_alg_values_supported',
  'code_challenge_methods_supported',
  'prompt_values_supported',
  'display_values_supported',
  'acr_values_supported',
  'claim_types_supported',
  'claims_supported',
  'claims_parameter_supported',
  'request_parameter_supported',
  'request_uri_parameter_supported',
  'authorization_response_iss_parameter_supported',
  'ui_locales_supported',
]

/** `test` with the provider metadata of the tenant and a check for each of its members. */
export const test = base
  .extend('receiver', { scope: 'file' }, async ({ app: _app }, { onCleanup }) => {
    const receiver = await startLogoutReceiver()
    onCleanup(receiver.close)
    return receiver
  })
  .extend('discovery', { scope: 'file' }, ({ app, plan, planUser, receiver }) =>
    createMetadataChecks(app, plan, planUser.id, receiver),
  )
