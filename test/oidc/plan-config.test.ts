import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newTenant } from '../support/actors.ts'
import { type Provider, startProvider } from './provider.ts'

// The plan oidcc-config-certification-test-plan of the OpenID Foundation: its one module is
// oidcc-discovery-endpoint-verification, a test here for each of its conditions.

let provider: Provider
let tenant: string
let response: Response
let metadata: Record<string, unknown>
let keys: Record<string, string>[]

const at = (url: string) => fetch(url.replace('http://localhost:3000', provider.origin))

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  response = await fetch(`${provider.origin}/${tenant}/.well-known/openid-configuration`)
  metadata = (await response.json()) as Record<string, unknown>
  const answer = await at(metadata.jwks_uri as string)
  keys = ((await answer.json()) as { keys: Record<string, string>[] }).keys
})
afterAll(() => provider.close())

/** https, but for what is on this machine, and nothing behind the path. */
function expectEndpoint(value: unknown): void {
  const url = new URL(String(value))
  expect(url.protocol === 'https:' || url.hostname === 'localhost').toBe(true)
  expect([url.username, url.hash]).toEqual(['', ''])
}

describe('oidcc-discovery-endpoint-verification', () => {
  test('the document is there, as JSON', () => {
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
  })

  test('the issuer is where the document was found, and has neither query nor fragment (section 4.3)', () => {
    expect(metadata.issuer).toBe(`http://localhost:3000/${tenant}`)
    expect([new URL(metadata.issuer as string).search, new URL(metadata.issuer as string).hash]).toEqual([
      '',
      '',
    ])
  })

  test.each(['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'])(
    '%s is there',
    (name) => {
      expectEndpoint(metadata[name])
    },
  )

  test('whatever is called an endpoint is one, of this issuer, and is there', async () => {
    const named = Object.entries(metadata).filter(([name]) => name.endsWith('_endpoint'))
    for (const [name, url] of named) {
      expectEndpoint(url)
      expect(String(url).startsWith(`${metadata.issuer}/`)).toBe(true)
      expect([name, (await at(String(url))).status]).not.toEqual([name, 404])
    }
  })

  test.each([
    ['response_types_supported', ['code']],
    ['subject_types_supported', ['public']],
    // Providers have to offer it (section 3), whatever they prefer.
    ['id_token_signing_alg_values_supported', ['RS256']],
    ['userinfo_signing_alg_values_supported', []],
    ['grant_types_supported', ['authorization_code']],
    ['scopes_supported', ['openid']],
    ['claims_supported', ['sub']],
    ['code_challenge_methods_supported', ['S256']],
    ['token_endpoint_auth_methods_supported', ['client_secret_basic', 'client_secret_post']],
  ])('%s is a list without repetitions that has %j', (name, needed) => {
    const list = metadata[name] as string[]
    expect(list).toEqual(expect.arrayContaining([expect.any(String), ...needed]))
    expect(new Set(list).size).toBe(list.length)
  })

  test('nothing unsigned is offered', () => {
    for (const name of ['id_token_signing_alg_values_supported', 'userinfo_signing_alg_values_supported'])
      expect(metadata[name]).not.toContain('none')
  })

  test('names of scopes are those of RFC 6749, and tags of languages canonical', () => {
    for (const scope of metadata.scopes_supported as string[])
      expect(scope).toMatch(/^[\x21\x23-\x5b\x5d-\x7e]+$/)
    const tags = metadata.ui_locales_supported as string[]
    expect(Intl.getCanonicalLocales(tags)).toEqual(tags)
  })

  test('what may be true or false is said, also where the default is no', () => {
    expect(metadata).toMatchObject({
      claims_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    })
    // Requests by object are not supported, so that there is nothing to say about their signatures.
    expect(metadata).not.toHaveProperty('request_object_signing_alg_values_supported')
  })

  test('the key set has complete public keys, each with a kid of its own, and nothing private (RFC 7517)', () => {
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
