import { describe, expect, test } from 'vitest'
import { OAuthError } from '../../src/errors.ts'
import { parseAuthorizeRequest } from '../../src/oidc/authorize/authorize.ts'
import type { RequestingClient } from '../../src/oidc/authorize/proven-target.ts'

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const RESOURCES = ['http://localhost:3000/acme/api', 'urn:orders']
const client = (more: Partial<RequestingClient> = {}): RequestingClient => ({
  id: 'client_1',
  appType: 'web',
  callbacks: ['https://rp.example.com/cb', 'com.example.app:/cb'],
  webOrigins: [],
  scopes: ['users:read'],
  requirePushedRequests: false,
  ...more,
})
const good = {
  client_id: 'client_1',
  redirect_uri: 'https://rp.example.com/cb',
  response_type: 'code',
  scope: 'openid',
}

function outcome(params: URLSearchParams, of: RequestingClient | null = client(), isPushed = false) {
  try {
    return parseAuthorizeRequest(params, of, RESOURCES, isPushed)
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    return { error: error.error, redirect: error.redirect }
  }
}
const withChange = (more: Record<string, string | undefined>): URLSearchParams =>
  new URLSearchParams(
    Object.entries({ ...good, ...more }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
const repeated = (name: string, value: string): URLSearchParams => {
  const params = withChange({})
  params.append(name, value)
  return params
}

describe('parseAuthorizeRequest', () => {
  test('takes a request apart (OIDC Core, section 3.1.2.1)', () => {
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
      claims: '{}',
      acr_values: 'x',
      display: 'popup',
      anything: 'else',
    }
    expect(outcome(withChange(more))).toEqual({
      clientId: 'client_1',
      redirectUri: 'https://rp.example.com/cb',
      state: 'a b&c',
      // Unknown scopes are ignored, and so are those that the client was not given (OIDC Core, section 3.1.2.1).
      scopes: ['openid', 'email', 'users:read'],
      nonce: 'n',
      codeChallenge: CHALLENGE,
      prompt: ['login', 'consent'],
      display: 'popup',
      maxAgeSeconds: 300,
      loginHint: 'ada@example.com',
      idTokenHint: null,
      resources: ['urn:orders'],
      responseMode: 'query',
      claims: null,
      dpopJkt: null,
    })
  })

  test.each([
    ['no client_id', withChange({ client_id: undefined })],
    ['an empty client_id', withChange({ client_id: '' })],
    ['two client_ids', repeated('client_id', 'client_1')],
    ['no redirect_uri', withChange({ redirect_uri: undefined })],
    ['two redirect_uris', repeated('redirect_uri', 'https://rp.example.com/cb')],
    ['an unregistered redirect_uri', withChange({ redirect_uri: 'https://rp.example.com/cb/' })],
    ['U+0000 anywhere', withChange({ state: 'a\u0000' })],
    ['a bad redirect_uri and a bad scope', withChange({ redirect_uri: 'https://evil.example', scope: 'x' })],
  ])('with %s it is never redirected (RFC 6749, section 4.1.2.1)', (_name, params) => {
    expect(outcome(params)).toEqual({ error: 'invalid_request', redirect: false })
  })

  test('of an unknown client it is never redirected', () => {
    expect(outcome(withChange({}), null)).toEqual({ error: 'invalid_request', redirect: false })
  })

  test.each([
    ['a repeated parameter', repeated('scope', 'openid'), 'invalid_request'],
    ['a repeated unknown parameter', new URLSearchParams(`${withChange({ x: '1' })}&x=1`), 'invalid_request'],
    ['a request object', withChange({ request: 'e30.e30.' }), 'request_not_supported'],
    ['a request_uri', withChange({ request_uri: 'https://rp.example.com/r' }), 'request_uri_not_supported'],
    ['a registration', withChange({ registration: '{}' }), 'registration_not_supported'],
    ['no response_type', withChange({ response_type: undefined }), 'invalid_request'],
    ['response_type=token', withChange({ response_type: 'token' }), 'unsupported_response_type'],
    [
      'response_type=code id_token',
      withChange({ response_type: 'code id_token' }),
      'unsupported_response_type',
    ],
    ['response_mode=fragment', withChange({ response_mode: 'fragment' }), 'invalid_request'],
    ['no scope', withChange({ scope: undefined }), 'invalid_scope'],
    ['a scope without openid', withChange({ scope: 'profile' }), 'invalid_scope'],
    [
      'PKCE plain',
      withChange({ code_challenge: CHALLENGE, code_challenge_method: 'plain' }),
      'invalid_request',
    ],
    ['PKCE plain by omission', withChange({ code_challenge: CHALLENGE }), 'invalid_request'],
    ['a challenge method alone', withChange({ code_challenge_method: 'S256' }), 'invalid_request'],
    [
      'a challenge that is no hash',
      withChange({ code_challenge: 'x', code_challenge_method: 'S256' }),
      'invalid_request',
    ],
    ['an unknown prompt', withChange({ prompt: 'create' }), 'invalid_request'],
    ['prompt=none with another', withChange({ prompt: 'none login' }), 'invalid_request'],
    ['max_age below 0', withChange({ max_age: '-1' }), 'invalid_request'],
    ['max_age=1.5', withChange({ max_age: '1.5' }), 'invalid_request'],
    ['a resource of another', withChange({ resource: 'http://localhost:3000/other/api' }), 'invalid_target'],
  ])('with %s it goes back to the client (RFC 6749, section 4.1.2.1)', (_name, params, error) => {
    expect(outcome(params)).toEqual({ error, redirect: true })
  })

  test.each(['single-page', 'native'])('of a %s client needs PKCE (security row 9)', (appType) => {
    expect(outcome(withChange({}), client({ appType }))).toEqual({ error: 'invalid_request', redirect: true })
    const pkce = withChange({ code_challenge: CHALLENGE, code_challenge_method: 'S256' })
    expect(outcome(pkce, client({ appType }))).toMatchObject({ codeChallenge: CHALLENGE })
  })

  test('of a client that must push its requests is refused unless it was pushed (RFC 9126, section 4)', () => {
    const pushing = client({ requirePushedRequests: true })
    expect(outcome(withChange({}), pushing)).toEqual({ error: 'invalid_request', redirect: true })
    expect(outcome(withChange({}), pushing, true)).toMatchObject({ clientId: 'client_1' })
  })

  test('of a machine client is refused', () => {
    expect(outcome(withChange({}), client({ appType: 'machine' }))).toEqual({
      error: 'unauthorized_client',
      redirect: true,
    })
  })

  test('takes an empty parameter for an omitted one (RFC 6749, section 3.1)', () => {
    expect(
      outcome(withChange({ state: '', nonce: '', prompt: '', max_age: '', response_mode: '', request: '' })),
    ).toMatchObject({
      state: null,
      nonce: null,
      prompt: [],
      maxAgeSeconds: null,
    })
  })
})
