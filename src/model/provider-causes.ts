/**
 * Why a sign-in at an identity provider, or a test of one, fails, with the reason that the event log groups it by.
 * `misconfigured` is a cause that another attempt does not cure: the configuration here or at the provider is wrong.
 */
export const PROVIDER_CAUSES = {
  'fields missing': 'misconfigured',
  'client secret expired': 'misconfigured',
  'client secret unusable': 'misconfigured',
  'endpoint missing': 'misconfigured',
  'endpoint unusable': 'misconfigured',
  'host not found': 'misconfigured',
  'TLS failed': 'misconfigured',
  'redirected elsewhere': 'misconfigured',
  'unexpected status': 'misconfigured',
  'too large': 'misconfigured',
  'not JSON': 'misconfigured',
  'metadata without issuer': 'misconfigured',
  'issuer differs': 'misconfigured',
  'issuer differs by a slash': 'misconfigured',
  'keys unusable': 'misconfigured',
  'algorithm not accepted': 'misconfigured',
  'nonce missing': 'misconfigured',
  'no ID token': 'misconfigured',
  'no access token': 'misconfigured',
  'no subject': 'misconfigured',
  'userinfo not verified': 'misconfigured',
  invalid_client: 'misconfigured',
  invalid_request: 'misconfigured',
  invalid_scope: 'misconfigured',
  redirect_uri_mismatch: 'misconfigured',
  unauthorized_client: 'misconfigured',
  unsupported_grant_type: 'misconfigured',
  unsupported_response_type: 'misconfigured',
  'server error': 'unavailable',
  'too slow': 'unavailable',
  unreachable: 'unavailable',
  audience: 'rejected',
  'claim missing': 'rejected',
  clock: 'rejected',
  'earlier sign-in': 'rejected',
  'foreign domain': 'rejected',
  invalid_grant: 'rejected',
  'issuer of another provider': 'rejected',
  'key unknown': 'rejected',
  'no code': 'rejected',
  'no iss parameter': 'rejected',
  nonce: 'rejected',
  'other callback': 'rejected',
  'other error': 'rejected',
  signature: 'rejected',
  'token rejected': 'rejected',
  'type of token': 'rejected',
} as const satisfies Record<string, 'misconfigured' | 'unavailable' | 'rejected'>

export type ProviderCause = keyof typeof PROVIDER_CAUSES
export const PROVIDER_CAUSE_NAMES = Object.keys(PROVIDER_CAUSES) as [ProviderCause, ...ProviderCause[]]

/** The cause of that name; null without one. */
export const findProviderCause = (name: string | null): ProviderCause | null =>
  PROVIDER_CAUSE_NAMES.find((each) => each === name) ?? null
