import { describe, expect } from 'vitest'
import { env } from '../../src/core/env.ts'
import { test as base } from '../support/fixtures.ts'

/** Expects an https URL, or one of this machine, without userinfo and fragment. */
function expectEndpoint(value: unknown): void {
  const url = new URL(String(value))
  expect(url.protocol === 'https:' || url.hostname === 'localhost').toBe(true)
  expect([url.username, url.hash]).toEqual(['', ''])
}

/** `test` with the metadata of a tenant. */
const test = base
  /** Fetches a URL of the issuer where the program listens. */
  .extend(
    'fetchEndpoint',
    { scope: 'file' },
    ({ app }) =>
      (url: string) =>
        fetch(url.replace(env.baseUrl, app.origin)),
  )
  .extend('discovered', { scope: 'file' }, async ({ app, tenant }) => {
    const response = await app.fetch(`/${tenant}/.well-known/openid-configuration`)
    return { response, metadata: (await response.json()) as Record<string, unknown> }
  })
  .extend('response', { scope: 'file' }, ({ discovered }) => discovered.response)
  .extend('metadata', { scope: 'file' }, ({ discovered }) => discovered.metadata)
  .extend('keys', { scope: 'file' }, async ({ fetchEndpoint, metadata }) => {
    const response = await fetchEndpoint(metadata.jwks_uri as string)
    return ((await response.json()) as { keys: Record<string, string>[] }).keys
  })

// oidcc-config-certification-test-plan of the OpenID Foundation: a test for each condition of its one module.

describe('oidcc-discovery-endpoint-verification', () => {
  test('returns a JSON document', ({ response }) => {
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
  })

  test('has the issuer that the document was found at, without query and fragment (section 4.3)', ({
    tenant,
    metadata,
  }) => {
    expect(metadata.issuer).toBe(`http://localhost:3000/${tenant}`)
    expect([new URL(metadata.issuer as string).search, new URL(metadata.issuer as string).hash]).toEqual([
      '',
      '',
    ])
  })

  test.for(['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'])(
    'has the %s',
    (name, { metadata }) => {
      expectEndpoint(metadata[name])
    },
  )

  test('has endpoints of this issuer that exist', async ({ metadata, fetchEndpoint }) => {
    const named = Object.entries(metadata).filter(([name]) => name.endsWith('_endpoint'))
    for (const [name, url] of named) {
      expectEndpoint(url)
      expect(String(url).startsWith(`${metadata.issuer}/`)).toBe(true)
      expect([name, (await fetchEndpoint(String(url))).status]).not.toEqual([name, 404])
    }
  })

  test.for([
    ['response_types_supported', ['code']],
    ['subject_types_supported', ['public']],
    // RS256 is mandatory (section 3).
    ['id_token_signing_alg_values_supported', ['RS256']],
    ['userinfo_signing_alg_values_supported', []],
    ['grant_types_supported', ['authorization_code']],
    ['scopes_supported', ['openid']],
    ['claims_supported', ['sub']],
    ['code_challenge_methods_supported', ['S256']],
    ['token_endpoint_auth_methods_supported', ['client_secret_basic', 'client_secret_post']],
  ] as const)('has in %s a list without repetitions that contains %j', ([name, needed], { metadata }) => {
    const list = metadata[name] as string[]
    expect(list).toEqual(expect.arrayContaining([expect.any(String), ...needed]))
    expect(new Set(list).size).toBe(list.length)
  })

  test('offers no unsigned tokens', ({ metadata }) => {
    for (const name of ['id_token_signing_alg_values_supported', 'userinfo_signing_alg_values_supported'])
      expect(metadata[name]).not.toContain('none')
  })

  test('has scopes by the syntax of RFC 6749, and canonical language tags', ({ metadata }) => {
    for (const scope of metadata.scopes_supported as string[])
      expect(scope).toMatch(/^[\x21\x23-\x5b\x5d-\x7e]+$/)
    const tags = metadata.ui_locales_supported as string[]
    expect(Intl.getCanonicalLocales(tags)).toEqual(tags)
  })

  test('has every boolean member, also with its default value', ({ metadata }) => {
    expect(metadata).toMatchObject({
      claims_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    })
    // Request objects are not supported, and neither are their signatures.
    expect(metadata).not.toHaveProperty('request_object_signing_alg_values_supported')
  })

  test('has a key set of complete public keys with distinct kids, without private members (RFC 7517)', ({
    metadata,
    keys,
  }) => {
    const members = { EC: ['crv', 'x', 'y'], RSA: ['n', 'e'], OKP: ['crv', 'x'] } as Record<string, string[]>
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys) {
      const own = members[key.kty ?? ''] ?? []
      expect(Object.keys(key).sort()).toEqual([...own, 'alg', 'kid', 'kty', 'use'].sort())
      expect(key.use).toBe('sig')
      for (const name of own.filter((member) => member !== 'crv'))
        expect(key[name]).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(metadata.id_token_signing_alg_values_supported).toContain(key.alg)
    }
    expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length)
  })
})
