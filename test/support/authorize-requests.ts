import { OAuthError } from '../../src/core/oauth-error.ts'
import { readAuthorizeRequest } from '../../src/oidc/authorize/request-checks.ts'
import type { RequestingClient } from '../../src/oidc/authorize/response-target.ts'
import { PROMPTS } from '../../src/oidc/model/authorize-request.ts'

export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const RESOURCES = ['http://localhost:3000/acme/api', 'urn:orders']
/** A client that sends authorize requests. */
export const testClient = (more: Partial<RequestingClient> = {}): RequestingClient => ({
  id: 'client_1',
  appType: 'web',
  registeredBy: 'administrator',
  callbacks: ['https://rp.example.com/cb', 'com.example.app:/cb'],
  webOrigins: [],
  scopes: ['users:read'],
  requirePushedRequests: false,
  requirePkce: false,
  ...more,
})
const good = {
  client_id: 'client_1',
  redirect_uri: 'https://rp.example.com/cb',
  response_type: 'code',
  scope: 'openid',
}

/** Parses an authorize request; returns the error instead of throwing it. */
export function parse(params: URLSearchParams, of: RequestingClient | null = testClient(), isPushed = false) {
  try {
    return readAuthorizeRequest(params, of, {
      tenant: 'demo',
      resources: RESOURCES,
      prompts: PROMPTS,
      defaultScopes: [],
      isPushed,
    })
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    return { error: error.error, redirect: error.redirect }
  }
}
/** A valid request with changes; undefined leaves a parameter out. */
export const changed = (more: Record<string, string | undefined>): URLSearchParams =>
  new URLSearchParams(
    Object.entries({ ...good, ...more }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
/** A valid request with one parameter more. */
export const repeated = (name: string, value: string): URLSearchParams => {
  const params = changed({})
  params.append(name, value)
  return params
}
