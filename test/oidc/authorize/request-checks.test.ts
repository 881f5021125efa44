import { describe, expect, test } from 'vitest'
import { OAuthError } from '../../../src/core/oauth-error.ts'
import { readAuthorizeRequest } from '../../../src/oidc/authorize/request-checks.ts'
import type { RequestingClient } from '../../../src/oidc/authorize/response-target.ts'
import { PROMPTS } from '../../../src/oidc/model/authorize-request.ts'

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const RESOURCES = ['http://localhost:3000/acme/api', 'urn:orders']
/** A client that sends authorize requests. */
const testClient = (more: Partial<RequestingClient> = {}): RequestingClient => ({
  id: 'client_1',
  appType: 'web',
  registeredBy: 'administrator',
  callbacks: ['https://rp.example.com/cb', 'com.example.app:/cb'],
  webOrigins: [],
  scopes: ['users:read'],
  claimMappings: [],
  groupsClaim: false,
  codeGeneration: 0,
  organization: 'none',
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
function parse(params: URLSearchParams, of: RequestingClient | null = testClient(), isPushed = false) {
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
const changed = (more: Record<string, string | undefined>): URLSearchParams =>
  new URLSearchParams(
    Object.entries({ ...good, ...more }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
/** A valid request with one parameter more. */
const repeated = (name: string, value: string): URLSearchParams => {
  const params = changed({})
  params.append(name, value)
  return params
}

describe('readAuthorizeRequest', () => {
  test('reads each parameter of a request (OIDC Core, section 3.1.2.1)', () => {
    const more = {
      scope: 'openid  email users:read openid users:write unknown',
      state: 'a b&c',
      nonce: 'n',
      prompt: 'login consent',
      max_age: '300',
      login_hint: 'ada@example.com',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      resource: 'urn:orders',
      ui_locales: 'de fr',
      idp: 'partner',
      claims: '{}',
      acr_values: 'x',
      display: 'popup',
      anything: 'else',
    }
    expect(parse(changed(more))).toEqual({
      clientId: 'client_1',
      redirectUri: 'https://rp.example.com/cb',
      state: 'a b&c',
      // Unknown scopes are ignored, and so are those that the client was not given (OIDC Core, section
      // 3.1.2.1).
      scopes: ['openid', 'email', 'users:read'],
      nonce: 'n',
      organization: null,
      codeChallenge: CHALLENGE,
      prompt: ['login', 'consent'],
      display: 'popup',
      maxAgeSeconds: 300,
      loginHint: 'ada@example.com',
      uiLocales: ['de', 'fr'],
      idp: 'partner',
      idTokenHint: null,
      resources: ['urn:orders'],
      responseMode: 'query',
      claims: null,
      dpopJkt: null,
    })
  })

  test.each([
    ['no client_id', changed({ client_id: undefined })],
    ['an empty client_id', changed({ client_id: '' })],
    ['two client_ids', repeated('client_id', 'client_1')],
    ['no redirect_uri', changed({ redirect_uri: undefined })],
    ['two redirect_uris', repeated('redirect_uri', 'https://rp.example.com/cb')],
    ['an unregistered redirect_uri', changed({ redirect_uri: 'https://rp.example.com/cb/' })],
    ['U+0000 anywhere', changed({ state: 'a\u0000' })],
    ['a bad redirect_uri and a bad scope', changed({ redirect_uri: 'https://evil.example', scope: 'x' })],
  ])('does not redirect a request with %s (RFC 6749, section 4.1.2.1)', (_name, params) => {
    expect(parse(params)).toEqual({ error: 'invalid_request', redirect: false })
  })

  test('does not redirect a request of an unknown client', () => {
    expect(parse(changed({}), null)).toEqual({ error: 'invalid_request', redirect: false })
  })

  test.each([
    ['a repeated parameter', repeated('scope', 'openid'), 'invalid_request'],
    ['a repeated unknown parameter', new URLSearchParams(`${changed({ x: '1' })}&x=1`), 'invalid_request'],
    ['a request object', changed({ request: 'e30.e30.' }), 'request_not_supported'],
    ['a request_uri', changed({ request_uri: 'https://rp.example.com/r' }), 'request_uri_not_supported'],
    ['a registration', changed({ registration: '{}' }), 'registration_not_supported'],
    ['no response_type', changed({ response_type: undefined }), 'invalid_request'],
    ['response_type=token', changed({ response_type: 'token' }), 'unsupported_response_type'],
    ['response_type=code id_token', changed({ response_type: 'code id_token' }), 'unsupported_response_type'],
    ['response_mode=fragment', changed({ response_mode: 'fragment' }), 'invalid_request'],
    ['a scope that the client may not request', changed({ scope: 'users:write' }), 'invalid_scope'],
    ['an unknown scope', changed({ scope: 'x' }), 'invalid_scope'],
    ['PKCE plain', changed({ code_challenge: CHALLENGE, code_challenge_method: 'plain' }), 'invalid_request'],
    ['PKCE plain by omission', changed({ code_challenge: CHALLENGE }), 'invalid_request'],
    ['a challenge method alone', changed({ code_challenge_method: 'S256' }), 'invalid_request'],
    [
      'a challenge that is not a hash',
      changed({ code_challenge: 'x', code_challenge_method: 'S256' }),
      'invalid_request',
    ],
    ['an unknown prompt', changed({ prompt: 'register' }), 'invalid_request'],
    ['prompt=none with another', changed({ prompt: 'none login' }), 'invalid_request'],
    ['max_age below 0', changed({ max_age: '-1' }), 'invalid_request'],
    ['max_age=1.5', changed({ max_age: '1.5' }), 'invalid_request'],
    ['a resource of another', changed({ resource: 'http://localhost:3000/other/api' }), 'invalid_target'],
  ])(
    'redirects a request with %s to the client with the error (RFC 6749, section 4.1.2.1)',
    (_name, params, error) => {
      expect(parse(params)).toEqual({ error, redirect: true })
    },
  )

  test.each(['single-page', 'native'])('requires PKCE of a %s client', (appType) => {
    expect(parse(changed({}), testClient({ appType }))).toEqual({ error: 'invalid_request', redirect: true })
    const pkce = changed({ code_challenge: CHALLENGE, code_challenge_method: 'S256' })
    expect(parse(pkce, testClient({ appType }))).toMatchObject({ codeChallenge: CHALLENGE })
  })

  test('rejects a request that was not pushed when the client requires pushed requests (RFC 9126, section 4)', () => {
    const pushing = testClient({ requirePushedRequests: true })
    expect(parse(changed({}), pushing)).toEqual({ error: 'invalid_request', redirect: true })
    expect(parse(changed({}), pushing, true)).toMatchObject({ clientId: 'client_1' })
  })

  test('rejects a request of a machine client as unauthorized_client', () => {
    expect(parse(changed({}), testClient({ appType: 'machine' }))).toEqual({
      error: 'unauthorized_client',
      redirect: true,
    })
  })

  test('treats an empty parameter as omitted (RFC 6749, section 3.1)', () => {
    expect(
      parse(changed({ state: '', nonce: '', prompt: '', max_age: '', response_mode: '', request: '' })),
    ).toMatchObject({
      state: null,
      nonce: null,
      prompt: [],
      maxAgeSeconds: null,
    })
  })
})
