import { describe, expect } from 'vitest'
import { findClient } from '../../src/access/client-cache.ts'
import { SECURITY_MEMBERS, SURFACES } from '../support/client-writers.ts'
import type { Json } from '../support/json.ts'
import { test, toIssues } from '../support/oidc-members.ts'
import { buildOpenApi } from '../support/openapi.ts'

const DEFAULTS = {
  profile: null,
  requirePushedRequests: false,
  requirePkce: false,
  tokenEndpointAuthMethod: null,
  requireIssuerAudience: false,
  requireFapiAlgorithms: false,
  dpopBoundAccessTokens: false,
  rotateRefreshTokens: true,
}
const FAPI2 = {
  profile: 'fapi2',
  requirePushedRequests: true,
  requirePkce: true,
  tokenEndpointAuthMethod: 'private_key_jwt',
  requireIssuerAudience: true,
  requireFapiAlgorithms: true,
  dpopBoundAccessTokens: true,
  rotateRefreshTokens: false,
}
const { profile: _, ...SETTINGS } = FAPI2
const NOTHING = Object.fromEntries(SECURITY_MEMBERS.map((name) => [name, null]))
const EC_KEY = 'must be a key for PS256, ES256, EdDSA, Ed25519 with requireFapiAlgorithms'

describe.each(SURFACES)('the profile fapi2 of a client over %s', (surface) => {
  test('implies every setting, and no secret, when the client is created', async ({
    tenant,
    writers,
    keys,
  }) => {
    const jwks = { keys: [keys.ES256] }
    for (const given of [{}, NOTHING, FAPI2]) {
      const client = await writers[surface].create({ jwks, ...given, profile: 'fapi2' })
      expect(client).toMatchObject({ ...FAPI2, secret: null })
      expect(await findClient(tenant, client.id)).toMatchObject({ ...FAPI2, secretHashes: [] })
    }
    expect(await writers[surface].create({})).toMatchObject(DEFAULTS)
  })

  test('implies every setting when it is set, and leaves them when it is unset', async ({
    writers,
    keys,
    listUpdates,
  }) => {
    const { id } = await writers[surface].create({ jwks: { keys: [keys.EdDSA] } })
    expect(await writers[surface].update(id, { profile: 'fapi2' })).toMatchObject(FAPI2)
    expect((await listUpdates(id))[0]?.sort()).toEqual([...SECURITY_MEMBERS].sort())
    const { profile: _profile, ...nulls } = NOTHING
    expect(await writers[surface].update(id, nulls)).toMatchObject(FAPI2)
    expect(await writers[surface].update(id, { profile: null })).toMatchObject({ ...FAPI2, profile: null })
    expect(await writers[surface].update(id, nulls)).toMatchObject(DEFAULTS)
  })

  test('reports each field that contradicts it', async ({ writers, keys }) => {
    const fields = {
      profile: 'fapi2',
      jwks: {
        keys: [keys.ES384, keys.RS256, { ...keys.RS256, alg: 'RS256' }, { ...keys.RS256, alg: 'PS256' }],
      },
      idTokenSigningAlg: 'RS256',
      userInfoSigningAlg: 'ES384',
      requirePushedRequests: false,
      requirePkce: false,
      tokenEndpointAuthMethod: 'client_secret_basic',
      requireIssuerAudience: false,
      requireFapiAlgorithms: false,
      dpopBoundAccessTokens: false,
      rotateRefreshTokens: true,
    }
    const expected = [
      ...Object.entries(SETTINGS).map(([name, value]) => [name, `must be ${value} with profile fapi2`]),
      ['idTokenSigningAlg', 'must be ES256 or EdDSA with requireFapiAlgorithms'],
      ['userInfoSigningAlg', 'must be ES256 or EdDSA with requireFapiAlgorithms'],
      ['jwks.keys.0', EC_KEY],
      ['jwks.keys.2', EC_KEY],
    ]
    expect(toIssues(await writers[surface].create(fields)).sort()).toEqual(expected.sort())
    const { id } = await writers[surface].create({})
    expect(toIssues(await writers[surface].update(id, fields)).sort()).toEqual(expected.sort())
    const { id: profiled } = await writers[surface].create({ profile: 'fapi2', jwks: { keys: [keys.ES256] } })
    const { profile: _profile, ...others } = fields
    expect(toIssues(await writers[surface].update(profiled, others)).sort()).toEqual(expected.sort())
  })

  test('rejects stored fields that contradict it, and clients that have no keys or cannot keep any', async ({
    writers,
    keys,
  }) => {
    const stored = await writers[surface].create({ idTokenSigningAlg: 'RS256', jwks: { keys: [keys.ES384] } })
    expect(toIssues(await writers[surface].update(stored.id, { profile: 'fapi2' }))).toEqual([
      ['idTokenSigningAlg', 'must be ES256 or EdDSA with requireFapiAlgorithms'],
      ['jwks.keys.0', EC_KEY],
    ])
    const required = [['jwks', 'is required for profile fapi2, unless jwksUri is given']]
    expect(toIssues(await writers[surface].create({ profile: 'fapi2' }))).toEqual(required)
    const { id } = await writers[surface].create({ profile: 'fapi2', jwks: { keys: [keys.ES256] } })
    expect(toIssues(await writers[surface].update(id, { jwks: null }))).toEqual(required)
    const jwksUri = 'https://bank.example/jwks.json'
    expect(toIssues(await writers[surface].update(id, { jwksUri }))).toEqual([
      ['jwksUri', 'cannot be combined with jwks (RFC 7591, section 2)'],
    ])
    expect(await writers[surface].update(id, { jwks: null, jwksUri })).toMatchObject({ jwks: null, jwksUri })
    for (const appType of ['single-page', 'native']) {
      const rejected = [['appType', 'must be web or machine with profile fapi2']]
      expect(toIssues(await writers[surface].create({ appType, profile: 'fapi2' }))).toEqual(rejected)
      expect(toIssues(await writers[surface].update(id, { appType }))).toEqual(rejected)
    }
    expect(await writers[surface].update(id, { appType: 'native', profile: null })).toMatchObject({
      appType: 'native',
      jwks: null,
      tokenEndpointAuthMethod: null,
    })
  })

  test('may be replaced by each of its settings alone', async ({ writers, keys }) => {
    const jwks = { keys: [keys.ES256] }
    for (const [name, value] of Object.entries(SETTINGS)) {
      const client = await writers[surface].create({ jwks, [name]: value })
      expect(client).toMatchObject({ ...DEFAULTS, [name]: value })
      expect(client.secret === null).toBe(value === 'private_key_jwt')
    }
    expect(toIssues(await writers[surface].create({ tokenEndpointAuthMethod: 'private_key_jwt' }))).toEqual([
      ['jwks', 'is required for private_key_jwt, unless jwksUri is given'],
    ])
  })

  test('keeps refresh tokens of a public client only where they are bound to a key', async ({ writers }) => {
    const spa = { appType: 'single-page', rotateRefreshTokens: false }
    expect(toIssues(await writers[surface].create(spa))).toEqual([
      ['rotateRefreshTokens', 'must be true for a single-page client without dpopBoundAccessTokens'],
    ])
    const bound = await writers[surface].create({ ...spa, dpopBoundAccessTokens: true })
    expect(bound).toMatchObject({ rotateRefreshTokens: false })
    expect(toIssues(await writers[surface].update(bound.id, { dpopBoundAccessTokens: false }))).toHaveLength(
      1,
    )
    const method = { appType: 'native', tokenEndpointAuthMethod: 'client_secret_post' }
    expect(toIssues(await writers[surface].create(method))).toEqual([
      ['tokenEndpointAuthMethod', 'a native client cannot keep a secret to authenticate with'],
    ])
  })
})

describe('the security settings of a client', () => {
  test('are described in the OpenAPI schemas that write and read them', async ({ tenant }) => {
    const { schemas } = (await buildOpenApi(tenant)).components as Json
    for (const name of ['Client', 'NewClient', 'RotatedClient', 'ClientCreate', 'ClientPatch'])
      for (const member of SECURITY_MEMBERS)
        expect([name, member, schemas[name].properties[member]?.description]).toEqual([
          name,
          member,
          expect.stringMatching(/.{20}/),
        ])
    expect(schemas.ClientCreate.properties).toMatchObject({
      profile: { type: ['string', 'null'], enum: ['fapi2', null] },
      requirePkce: { type: ['boolean', 'null'] },
    })
  })
})
