import { describe, expect } from 'vitest'
import { test } from '../../support/fixtures.ts'

const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'RS256', 'PS256', 'EdDSA', 'Ed25519']

describe('discovery documents', () => {
  test('list the endpoints and the supported values (OIDC Discovery, section 3; RFC 8414, section 3.1)', async ({
    app,
    tenant,
  }) => {
    const issuer = `http://localhost:3000/${tenant}`
    const response = await app.fetch(`/${tenant}/.well-known/openid-configuration`)
    expect(response.status).toBe(200)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    const metadata = (await response.json()) as Record<string, string[]>
    expect(metadata).toMatchObject({
      issuer,
      authorization_endpoint: `${issuer}/oidc/authorize`,
      token_endpoint: `${issuer}/oidc/token`,
      device_authorization_endpoint: `${issuer}/oidc/device`,
      userinfo_endpoint: `${issuer}/oidc/userinfo`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      revocation_endpoint: `${issuer}/oidc/revoke`,
      end_session_endpoint: `${issuer}/oidc/logout`,
      response_types_supported: ['code'],
      response_modes_supported: ['query', 'form_post', 'web_message'],
      display_values_supported: ['page', 'popup', 'touch'],
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
      grant_types_supported: [
        'authorization_code',
        'refresh_token',
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256', 'RS256', 'ES384', 'EdDSA'],
      userinfo_signing_alg_values_supported: ['ES256', 'RS256', 'ES384', 'EdDSA'],
      token_endpoint_auth_methods_supported: [
        'client_secret_basic',
        'client_secret_post',
        'private_key_jwt',
        'none',
      ],
      token_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
      revocation_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
      introspection_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
      dpop_signing_alg_values_supported: ALGORITHMS,
      code_challenge_methods_supported: ['S256'],
      claims_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      authorization_response_iss_parameter_supported: true,
    })
    expect(metadata.scopes_supported).toEqual(
      expect.arrayContaining(['openid', 'offline_access', 'account', 'users:read']),
    )
    expect(metadata.scopes_supported).not.toContain('tenants:read')
    expect(metadata.claims_supported).toEqual(
      expect.arrayContaining(['sub', 'email_verified', 'address', 'sid']),
    )
    const rfc8414 = await app.fetch(`/.well-known/oauth-authorization-server/${tenant}`)
    expect(await rfc8414.json()).toEqual(metadata)
  })

  test('list public keys only, each with kid, alg and use (RFC 7517)', async ({ app, tenant }) => {
    const response = await app.fetch(`/${tenant}/.well-known/jwks.json`)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(await response.json()).toEqual({
      keys: [
        {
          kty: 'EC',
          crv: 'P-256',
          x: expect.any(String),
          y: expect.any(String),
          kid: expect.any(String),
          alg: 'ES256',
          use: 'sig',
        },
      ],
    })
  })

  test('answer 404 for an unknown tenant and 405 for POST', async ({ app, tenant }) => {
    for (const path of [
      '/unknown-tenant/.well-known/openid-configuration',
      '/unknown-tenant/.well-known/jwks.json',
      '/.well-known/oauth-authorization-server/unknown-tenant',
    ]) {
      const response = await app.fetch(path)
      expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/json'])
    }
    const response = await app.fetch(`/${tenant}/.well-known/jwks.json`, { method: 'POST' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('answer HEAD without a body', async ({ app, tenant }) => {
    const response = await app.fetch(`/${tenant}/.well-known/openid-configuration`, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
  })
})
