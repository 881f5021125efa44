import { describe, expect } from 'vitest'
import { findClient } from '../../src/access/client-cache.ts'
import { randomToken } from '../../src/core/crypto.ts'
import { env } from '../../src/core/env.ts'
import type { CallOptions } from '../support/calls.ts'
import { OIDC_MEMBERS, SURFACES } from '../support/client-writers.ts'
import type { Json } from '../support/json.ts'
import { type Keys, test, toIssues, UNSET } from '../support/oidc-members.ts'
import { buildOpenApi } from '../support/openapi.ts'
import { hasServices } from '../support/services.ts'

type Fields = Record<string, unknown>

describe.runIf(hasServices).each(SURFACES)('the OpenID Connect members of a client over %s', (surface) => {
  test('are stored as given, and unset when they are omitted', async ({
    tenant,
    writers,
    given,
    findStored,
  }) => {
    const { id, ...client } = await writers[surface].create(given())
    expect(client).toMatchObject(given())
    expect(await findStored(id)).toEqual(given())
    expect(await findClient(tenant, id)).toMatchObject(given())
    const plain = await writers[surface].create({})
    expect(plain).toMatchObject(UNSET)
    expect(await findStored(plain.id)).toEqual(UNSET)
  })

  test('keep their value when omitted, and are unset by null and by an empty string', async ({
    writers,
    given,
    findStored,
    listUpdates,
  }) => {
    const { id } = await writers[surface].create(given())
    const changed = await writers[surface].update(id, { userInfoSigningAlg: 'RS256' })
    expect(changed).toMatchObject({ ...given(), userInfoSigningAlg: 'RS256' })
    expect(await listUpdates(id)).toEqual([['userInfoSigningAlg']])
    const nothing = Object.fromEntries(OIDC_MEMBERS.map((name) => [name, null]))
    expect(await writers[surface].update(id, nothing)).toMatchObject(UNSET)
    expect(await findStored(id)).toEqual(UNSET)
    expect((await listUpdates(id))[1]?.sort()).toEqual(OIDC_MEMBERS.sort())
    const other = await writers[surface].create(given())
    expect(await writers[surface].update(other.id, { backchannelLogoutUrl: '' })).toMatchObject({
      ...given(),
      backchannelLogoutUrl: null,
    })
  })

  test('change nothing when the same values are given, in any order of the members of a key', async ({
    writers,
    given,
    listUpdates,
  }) => {
    const { id, updatedAt } = await writers[surface].create(given())
    const [key, ...others] = (given().jwks as { keys: Fields[] }).keys
    const turned = { keys: [Object.fromEntries(Object.entries(key as Fields).reverse()), ...others] }
    for (const same of [given(), { jwks: turned }])
      expect(await writers[surface].update(id, same)).toMatchObject({ updatedAt })
    expect(await listUpdates(id)).toEqual([])
  })

  test('are reported all at once when they are invalid', async ({
    tenant,
    writers,
    keys,
    given,
    findStored,
    listUpdates,
  }) => {
    const invalid = {
      jwks: {
        keys: [
          keys.private,
          keys.weak,
          { kty: 'oct', k: randomToken() },
          keys.X25519,
          { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' },
          { ...keys.ES256, use: 'enc' },
          { ...keys.ES256, alg: 'RS256' },
          { ...keys.RS256, alg: 'none' },
          { ...keys.ES256, kid: 7 },
          { ...keys.ES256, note: 'a\u0000b' },
        ],
      },
      backchannelLogoutUrl: 'http://shop.example/logout',
      resources: [
        `${env.baseUrl}/${tenant}/api`,
        env.baseUrl,
        `${env.baseUrl.toUpperCase()}/other`,
        'https://api.example/#x',
        'https://api.example/a b',
        '/relative',
        '',
        'https://api.example',
      ],
    }
    const KIND = 'must be a public key: RSA, EC on P-256, P-384 or P-521, or OKP on Ed25519'
    const PRIVATE = 'contains a private or symmetric key: send the public part only'
    const expected = [
      ['jwks.keys.0', PRIVATE],
      ['jwks.keys.1', 'must have at least 2048 bits'],
      ['jwks.keys.2', PRIVATE],
      ['jwks.keys.3', KIND],
      ['jwks.keys.4', KIND],
      ['jwks.keys.5', 'is not for signatures (use)'],
      ['jwks.keys.6', 'must have alg ES256 or omit alg'],
      ['jwks.keys.7', 'must have alg RS256 or PS256 or omit alg'],
      ['jwks.keys.8', 'has a kid that is not a string'],
      ['jwks.keys.9', 'must not contain U+0000 or lone surrogates'],
      ['backchannelLogoutUrl', 'must be an https URL (http on this machine only)'],
      ['resources.0', 'belongs to this deployment'],
      ['resources.1', 'belongs to this deployment'],
      ['resources.2', 'belongs to this deployment'],
      ['resources.3', 'must not contain a fragment'],
      ['resources.4', 'must not contain spaces or backslashes'],
      ['resources.5', 'must be an absolute URI'],
      ['resources.6', 'must be an absolute URI'],
    ]
    expect(toIssues(await writers[surface].create(invalid))).toEqual(expected)
    const { id } = await writers[surface].create(given())
    expect(toIssues(await writers[surface].update(id, invalid))).toEqual(expected)
    expect(await findStored(id)).toEqual(given())
    expect(await listUpdates(id)).toEqual([])
  })

  test('reject keys that are too expensive to verify with, or that cannot verify a signature', async ({
    writers,
    keys,
    given,
  }) => {
    const costly = 'must have at most 4096 bits, and an exponent of at most 32 bits'
    const { n } = keys.RS256 as { n: string }
    const invalid = [
      { kty: 'RSA', n: Buffer.alloc(1024, 0xff).toString('base64url'), e: 'AQAB' },
      { kty: 'RSA', n, e: Buffer.alloc(8, 0xff).toString('base64url') },
      { ...keys.ES256, key_ops: ['verify', 'foo'] },
      { ...keys.ES256, key_ops: ['sign'] },
      { ...keys.ES256, key_ops: ['verify'] },
    ]
    expect(toIssues(await writers[surface].create({ ...given(), jwks: { keys: invalid } }))).toEqual([
      ['jwks.keys.0', costly],
      ['jwks.keys.1', costly],
      ['jwks.keys.2', 'must have key_ops ["verify"] or omit key_ops'],
      ['jwks.keys.3', 'must have key_ops ["verify"] or omit key_ops'],
    ])
  })

  test.for<[name: string, makeSet: (keys: Keys) => unknown, field: string, description: string]>([
    ['no key', () => [], 'jwks.keys', 'must have at least one key'],
    [
      'eleven keys',
      (keys) => Array.from({ length: 11 }, () => keys.ES256),
      'jwks.keys',
      'must have at most 10 keys',
    ],
    ['text instead of a list', () => 'x', 'jwks.keys', 'must be an array'],
    ['no list of keys', () => undefined, 'jwks.keys', 'is required'],
    ['a number instead of a key', () => [7], 'jwks.keys.0', 'must be a JSON object'],
  ])('reject a key set with %s', async ([, makeSet, field, description], { writers, keys }) => {
    expect(toIssues(await writers[surface].create({ jwks: { keys: makeSet(keys) } }))).toEqual([
      [field, description],
    ])
  })

  test('accept a key of every signature algorithm, http on loopback for logout and login URLs, and any absolute URI of a resource', async ({
    writers,
    keys,
  }) => {
    const fields = {
      jwks: { keys: ['ES256', 'ES384', 'ES512', 'RS256', 'EdDSA'].map((alg) => keys[alg]) },
      backchannelLogoutUrl: 'http://127.0.0.1:8080/logout',
      initiateLoginUrl: 'http://localhost:8080/login?tenant=a&b=c',
      resources: ['https://api.example', 'com.example.api:/', 'urn:example:api', `${env.baseUrl}0/api`],
    }
    const { initiateLoginUrl: _, ...members } = fields
    expect(await writers[surface].create(fields)).toMatchObject(members)
  })

  test('require https for login and logout URLs except on loopback, and keep a query', async ({
    tenant,
    writers,
  }) => {
    for (const field of ['initiateLoginUrl', 'backchannelLogoutUrl']) {
      const { id } = await writers[surface].create({ [field]: 'https://shop.example/x?tenant=a&b=c' })
      expect(await findClient(tenant, id)).toMatchObject({ [field]: 'https://shop.example/x?tenant=a&b=c' })
      for (const bad of [
        'http://shop.example/x',
        'http://127.0.0.1.nip.example/x',
        'http://localhost.shop.example/',
      ])
        expect(toIssues(await writers[surface].update(id, { [field]: bad }))).toEqual([
          [field, 'must be an https URL (http on this machine only)'],
        ])
      expect(toIssues(await writers[surface].update(id, { [field]: 'https://shop.example/#x' }))).toEqual([
        [field, 'must not contain a fragment'],
      ])
    }
  })

  test.for(['single-page', 'native'])(
    'include no jwks and no resources of a %s client',
    async (appType, { writers, given, findStored }) => {
      const { jwks, resources, ...others } = given()
      expect(toIssues(await writers[surface].create({ appType, jwks, resources }))).toEqual([
        ['jwks', `a ${appType} client cannot keep a secret to authenticate with`],
        ['resources', `a ${appType} client cannot keep a secret to authenticate with`],
      ])
      const { id } = await writers[surface].create({ appType, ...others, jwks: null, resources: [] })
      expect(await findStored(id)).toEqual({ ...UNSET, ...others })
      expect(toIssues(await writers[surface].update(id, { jwks }))).toHaveLength(1)
      const { id: confidential } = await writers[surface].create({})
      expect(toIssues(await writers[surface].update(confidential, { appType, jwks }))).toEqual([
        ['jwks', `a ${appType} client cannot keep a secret to authenticate with`],
      ])
    },
  )

  test('lose jwks and resources when the client becomes public, also when it becomes confidential again', async ({
    tenant,
    writers,
    given,
    findStored,
    listUpdates,
  }) => {
    const { id } = await writers[surface].create(given())
    await writers[surface].update(id, { appType: 'native' })
    expect(await findStored(id)).toEqual({ ...given(), jwks: null, resources: [] })
    expect(await findClient(tenant, id)).toMatchObject({ jwks: null, resources: [], secretHashes: [] })
    expect(await listUpdates(id)).toEqual([['appType', 'jwks', 'resources', 'secret']])
    await writers[surface].update(id, { appType: 'web' })
    expect(await findStored(id)).toEqual({ ...given(), jwks: null, resources: [] })
  })
})

describe.runIf(hasServices)('the OpenID Connect members of a client', () => {
  test('cannot be changed by a caller without the scopes of the client', async ({
    rest,
    given,
    findStored,
  }) => {
    const created = await rest('POST', '/clients', {
      name: 'Shop',
      type: 'login',
      appType: 'web',
      scopes: ['users:write'],
    })
    const lesser: CallOptions = { scopes: ['clients:read', 'clients:write'] }
    // The owner of a key of the client can obtain its tokens.
    for (const fields of [
      { jwks: given().jwks },
      { resources: ['urn:mine'] },
      { idTokenSigningAlg: 'RS256' },
    ])
      expect(await rest('PATCH', `/clients/${created.body.id}`, fields, lesser)).toMatchObject({
        status: 403,
        body: { message: 'This needs scopes that the caller lacks: users:write.' },
      })
    expect(await findStored(created.body.id)).toEqual(UNSET)
  })

  test('are limited to the supported algorithms by validation over REST and by an enum over GraphQL', async ({
    gql,
    writers,
  }) => {
    for (const alg of ['HS256', 'none', 'es256', 'EDDSA', 7])
      expect(
        toIssues(await writers.REST.create({ idTokenSigningAlg: alg, userInfoSigningAlg: alg })),
      ).toEqual([
        ['idTokenSigningAlg', 'must be one of: ES256, RS256, ES384, EdDSA'],
        ['userInfoSigningAlg', 'must be one of: ES256, RS256, ES384, EdDSA'],
      ])
    const { body } = await gql('{ __type(name: "SigningAlgorithm") { enumValues { name } } }')
    expect(body.data.__type.enumValues.map(({ name }: Json) => name).sort()).toEqual([
      'EDDSA',
      'ES256',
      'ES384',
      'RS256',
    ])
    const rejected = await gql(
      'mutation ($input: CreateClientInput!) { createClient(input: $input) { __typename } }',
      { input: { name: 'x', type: 'LOGIN', appType: 'WEB', idTokenSigningAlg: 'EdDSA' } },
    )
    expect(rejected.body.errors?.[0]?.message).toMatch(/does not exist in "SigningAlgorithm" enum/)
  })

  test('are accepted in a GraphQL document as well as in its variables', async ({ gql, writers, keys }) => {
    const { id, updatedAt } = await writers.REST.create({ jwks: { keys: [keys.ES256] } })
    const { kty, crv, x, y } = keys.ES256 as Fields
    const { body } =
      await gql(`mutation { updateClient(input: { clientId: "${id}", jwks: { keys: [{ kty: "${kty}", crv: "${crv}", x: "${x}", y: "${y}" }] } }) {
        ... on UpdateClientPayload { client { updatedAt } } } }`)
    expect(body.data.updateClient.client).toEqual({ updatedAt })
  })

  test('are described in the OpenAPI schemas that write and read them', async ({ tenant }) => {
    const { schemas } = (await buildOpenApi(tenant)).components as Json
    for (const name of ['Client', 'NewClient', 'RotatedClient', 'ClientCreate', 'ClientPatch'])
      for (const member of OIDC_MEMBERS)
        expect([name, member, schemas[name].properties[member]?.description]).toEqual([
          name,
          member,
          expect.stringMatching(/.{20}/),
        ])
    expect(schemas.ClientCreate.properties).toMatchObject({
      jwks: {
        type: ['object', 'null'],
        required: ['keys'],
        properties: { keys: { type: 'array', items: { type: 'object' }, minItems: 1, maxItems: 10 } },
      },
      backchannelLogoutUrl: { type: ['string', 'null'], format: 'uri' },
      idTokenSigningAlg: { type: ['string', 'null'], enum: ['ES256', 'RS256', 'ES384', 'EdDSA', null] },
      requirePushedRequests: { type: ['boolean', 'null'] },
      resources: { type: ['array', 'null'], maxItems: 20 },
    })
  })
})
