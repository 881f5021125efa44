import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findClient } from '../src/clients/client-cache.ts'
import { randomToken } from '../src/crypto.ts'
import { sql } from '../src/db.ts'
import { env } from '../src/env.ts'
import { newTenant, tokenFor } from './support/actors.ts'
import { logOf } from './support/events.ts'
import { openApiOf } from './support/openapi.ts'
import { openSurfaces, type Surfaces } from './support/surfaces.ts'

// What OpenID Connect needs to know of a client beyond the table of the specification.

let surfaces: Surfaces
let tenant: string
let token: string
/** A public key of each kind, and what belongs to no client. */
const keys: Record<string, Record<string, unknown>> = {}

const publicJwk = async (alg: string, options?: object) => ({
  ...(await exportJWK((await generateKeyPair(alg, { extractable: true, ...options })).publicKey)),
})

beforeAll(async () => {
  surfaces = await openSurfaces()
  tenant = await newTenant()
  token = await tokenFor(tenant)
  for (const alg of ['ES256', 'ES384', 'ES512', 'RS256', 'EdDSA']) keys[alg] = await publicJwk(alg)
  keys.X25519 = await publicJwk('ECDH-ES', { crv: 'X25519' })
  // jose makes none of 1024 bits.
  keys.weak = {
    kty: 'RSA',
    e: 'AQAB',
    n: Buffer.concat([Buffer.of(0xc1), Buffer.alloc(127, 0x55)]).toString('base64url'),
  }
  keys.private = await exportJWK((await generateKeyPair('ES256', { extractable: true })).privateKey)
})
afterAll(() => surfaces.close())

// biome-ignore lint/suspicious/noExplicitAny: what a test asks for decides the shape
type Any = any
type Fields = Record<string, unknown>

const MEMBERS =
  'jwks backchannelLogoutUrl idTokenSigningAlg userInfoSigningAlg requirePushedRequests resources'
const UNSET = {
  jwks: null,
  backchannelLogoutUrl: null,
  idTokenSigningAlg: null,
  userInfoSigningAlg: null,
  requirePushedRequests: false,
  resources: [],
}
const given = (): Fields => ({
  jwks: { keys: [{ ...keys.ES256, kid: 'one', use: 'sig', alg: 'ES256' }, keys.RS256] },
  backchannelLogoutUrl: 'https://shop.example/logout?from=vestibule',
  idTokenSigningAlg: 'EdDSA',
  userInfoSigningAlg: 'ES384',
  requirePushedRequests: true,
  resources: ['https://api.shop.example/v1', 'urn:example:orders'],
})
const toEnum = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      name.endsWith('SigningAlg') && typeof value === 'string' ? value.toUpperCase() : value,
    ]),
  )

/** One client's members over either surface, in the words of REST. */
const SURFACES = [
  {
    surface: 'REST',
    create: async (fields: Fields, appType = 'web') =>
      (
        await surfaces.rest(tenant, token, 'POST', '/clients', {
          name: 'Shop',
          type: 'login',
          appType,
          ...fields,
        })
      ).body as Any,
    update: async (id: string, fields: Fields) =>
      (await surfaces.rest(tenant, token, 'PATCH', `/clients/${id}`, fields)).body as Any,
  },
  {
    surface: 'GraphQL',
    create: async (fields: Fields, appType = 'web') =>
      write('createClient', {
        name: 'Shop',
        type: 'LOGIN',
        appType: appType.toUpperCase().replace('-', '_'),
        fields: toEnum(fields),
      }),
    update: async (clientId: string, { appType, ...fields }: Fields) =>
      write('updateClient', {
        clientId,
        fields: {
          ...toEnum(fields),
          ...(appType ? { appType: String(appType).toUpperCase().replace('-', '_') } : {}),
        },
      }),
  },
]

async function write(field: string, input: object): Promise<Any> {
  const type = `${field.charAt(0).toUpperCase()}${field.slice(1)}`
  const payload = field === 'createClient' ? 'CreateClientPayload' : 'ClientPayload'
  const { body } = await surfaces.gql(
    tenant,
    token,
    `mutation ($input: ${type}Input!) { result: ${field}(input: $input) {
      ... on ${payload} { client { id updatedAt ${MEMBERS} } }
      ... on ValidationError { fields { field description } }
    } }`,
    { input },
  )
  const { client, ...rest } = body.data?.result ?? { error: body.errors?.[0]?.message }
  if (!client) return rest
  return { ...client, ...fromEnum(client) }
}
const fromEnum = ({ idTokenSigningAlg, userInfoSigningAlg }: Any) => {
  const name = (value: string | null) => (value === 'EDDSA' ? 'EdDSA' : value)
  return { idTokenSigningAlg: name(idTokenSigningAlg), userInfoSigningAlg: name(userInfoSigningAlg) }
}

const stored = async (id: string) =>
  (
    await sql<Fields>(
      `SELECT ${MEMBERS.split(' ').map((name) => `"${name}"`)} FROM "Client" WHERE "tenantId" = $1 AND "id" = $2`,
      [tenant, id],
    )
  )[0]
const eventsOf = async (id: string) =>
  (await logOf(tenant))
    .filter(({ subjectIds, type }) => subjectIds.includes(id) && type === 'client.updated')
    .map(({ changedFields }) => changedFields)
const faultsIn = ({ fields }: Any): [string, string][] =>
  fields?.map(({ field, description }: Any) => [field, description])

describe.each(SURFACES)('members of clients over $surface', ({ surface, create, update }) => {
  it('are kept as given, and unset where they are not given', async () => {
    const { id, ...client } = await create(given())
    expect(client).toMatchObject(given())
    expect(await stored(id)).toEqual(given())
    expect(await findClient(tenant, id)).toMatchObject(given())
    const plain = await create({})
    expect(plain).toMatchObject(UNSET)
    expect(await stored(plain.id)).toEqual(UNSET)
  })

  it('stay as they are when omitted, and are unset by null and by an empty string', async () => {
    const { id } = await create(given())
    const changed = await update(id, { userInfoSigningAlg: 'RS256' })
    expect(changed).toMatchObject({ ...given(), userInfoSigningAlg: 'RS256' })
    expect(await eventsOf(id)).toEqual([['userInfoSigningAlg']])
    const nothing = Object.fromEntries(MEMBERS.split(' ').map((name) => [name, null]))
    expect(await update(id, nothing)).toMatchObject(UNSET)
    expect(await stored(id)).toEqual(UNSET)
    expect((await eventsOf(id))[1]?.sort()).toEqual(MEMBERS.split(' ').sort())
    const other = await create(given())
    // GraphQL's own types refuse '' for objects, lists, enums and flags.
    const empty =
      surface === 'REST'
        ? Object.fromEntries(MEMBERS.split(' ').map((name) => [name, '']))
        : { backchannelLogoutUrl: '' }
    expect(await update(other.id, empty)).toMatchObject(
      surface === 'REST' ? UNSET : { ...given(), backchannelLogoutUrl: null },
    )
  })

  it('change nothing when they are given as they are, in whatever order members of keys stand', async () => {
    const { id, updatedAt } = await create(given())
    const [key, ...others] = (given().jwks as { keys: Fields[] }).keys
    const turned = { keys: [Object.fromEntries(Object.entries(key as Fields).reverse()), ...others] }
    for (const same of [given(), { jwks: turned }])
      expect(await update(id, same)).toMatchObject({ updatedAt })
    expect(await eventsOf(id)).toEqual([])
  })

  it('name every fault at once', async () => {
    const faulty = {
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
    const PRIVATE = 'holds a private or symmetric key: send the public part alone'
    const expected = [
      ['jwks.keys.0', PRIVATE],
      ['jwks.keys.1', 'must have 2048 bits at least'],
      ['jwks.keys.2', PRIVATE],
      ['jwks.keys.3', KIND],
      ['jwks.keys.4', KIND],
      ['jwks.keys.5', 'is not for signatures (use)'],
      ['jwks.keys.6', 'must have the alg ES256, or none'],
      ['jwks.keys.7', 'must have the alg RS256 or PS256, or none'],
      ['jwks.keys.8', 'has a kid that is no text'],
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
    expect(faultsIn(await create(faulty))).toEqual(expected)
    const { id } = await create(given())
    expect(faultsIn(await update(id, faulty))).toEqual(expected)
    expect(await stored(id)).toEqual(given())
    expect(await eventsOf(id)).toEqual([])
  })

  it('take no keys that cost anybody else too much, or that fit no signature (security 61)', async () => {
    const costly = 'must have 4096 bits at most, and an exponent of 32'
    const { n } = keys.RS256 as { n: string }
    const faulty = [
      { kty: 'RSA', n: Buffer.alloc(1024, 0xff).toString('base64url'), e: 'AQAB' },
      { kty: 'RSA', n, e: Buffer.alloc(8, 0xff).toString('base64url') },
      { ...keys.ES256, key_ops: ['verify', 'foo'] },
      { ...keys.ES256, key_ops: ['sign'] },
      { ...keys.ES256, key_ops: ['verify'] },
    ]
    expect(faultsIn(await create({ ...given(), jwks: { keys: faulty } }))).toEqual([
      ['jwks.keys.0', costly],
      ['jwks.keys.1', costly],
      ['jwks.keys.2', 'must have the key_ops ["verify"], or none'],
      ['jwks.keys.3', 'must have the key_ops ["verify"], or none'],
    ])
  })

  it.each<[string, () => unknown, string, string]>([
    ['no key', () => [], 'jwks.keys', 'must have a key at least'],
    ['eleven', () => Array.from({ length: 11 }, () => keys.ES256), 'jwks.keys', 'must have 10 keys at most'],
    ['no list', () => 'x', 'jwks.keys', 'must be an array'],
    ['nothing', () => undefined, 'jwks.keys', 'is required'],
    ['a number', () => [7], 'jwks.keys.0', 'must be a JSON object'],
  ])('take no set of keys of %s', async (_, set, field, description) => {
    expect(faultsIn(await create({ jwks: { keys: set() } }))).toEqual([[field, description]])
  })

  it('take a key of every kind that signs, loopback http for what comes back, and any absolute URI of an API', async () => {
    const fields = {
      jwks: { keys: ['ES256', 'ES384', 'ES512', 'RS256', 'EdDSA'].map((alg) => keys[alg]) },
      backchannelLogoutUrl: 'http://127.0.0.1:8080/logout',
      initiateLoginUrl: 'http://localhost:8080/login?tenant=a&b=c',
      resources: ['https://api.example', 'com.example.api:/', 'urn:example:api', `${env.baseUrl}0/api`],
    }
    const { initiateLoginUrl: _, ...members } = fields
    expect(await create(fields)).toMatchObject(members)
  })

  it('need https where people or sessions are concerned, this machine excepted; a query is kept', async () => {
    for (const field of ['initiateLoginUrl', 'backchannelLogoutUrl']) {
      const { id } = await create({ [field]: 'https://shop.example/x?tenant=a&b=c' })
      expect(await findClient(tenant, id)).toMatchObject({ [field]: 'https://shop.example/x?tenant=a&b=c' })
      for (const bad of [
        'http://shop.example/x',
        'http://127.0.0.1.nip.example/x',
        'http://localhost.shop.example/',
      ])
        expect(faultsIn(await update(id, { [field]: bad }))).toEqual([
          [field, 'must be an https URL (http on this machine only)'],
        ])
      expect(faultsIn(await update(id, { [field]: 'https://shop.example/#x' }))).toEqual([
        [field, 'must not contain a fragment'],
      ])
    }
  })

  it.each(['single-page', 'native'])('that need a secret are none of a %s client', async (appType) => {
    const { jwks, resources, ...others } = given()
    expect(faultsIn(await create({ jwks, resources }, appType))).toEqual([
      ['jwks', `a ${appType} client can keep no secret to prove that it is meant`],
      ['resources', `a ${appType} client can keep no secret to prove that it is meant`],
    ])
    const { id } = await create({ ...others, jwks: null, resources: [] }, appType)
    expect(await stored(id)).toEqual({ ...UNSET, ...others })
    expect(faultsIn(await update(id, { jwks }))).toHaveLength(1)
    const { id: confidential } = await create({})
    expect(faultsIn(await update(confidential, { appType, jwks }))).toEqual([
      ['jwks', `a ${appType} client can keep no secret to prove that it is meant`],
    ])
  })

  it('that need a secret go when the client becomes public, and do not come back', async () => {
    const { id } = await create(given())
    await update(id, { appType: 'native' })
    expect(await stored(id)).toEqual({ ...given(), jwks: null, resources: [] })
    expect(await findClient(tenant, id)).toMatchObject({ jwks: null, resources: [], secretHashes: [] })
    expect(await eventsOf(id)).toEqual([['appType', 'jwks', 'resources', 'secret']])
    await update(id, { appType: 'web' })
    expect(await stored(id)).toEqual({ ...given(), jwks: null, resources: [] })
  })
})

describe('members of clients', () => {
  it('are given to nobody by who lacks the scopes of the client', async () => {
    const { rest } = surfaces
    const created = await rest(tenant, token, 'POST', '/clients', {
      name: 'Shop',
      type: 'login',
      appType: 'web',
      scopes: ['users:write'],
    })
    const lesser = await tokenFor(tenant, ['clients:read', 'clients:write'])
    // Who adds a key of their own has the client's tokens.
    for (const fields of [
      { jwks: given().jwks },
      { resources: ['urn:mine'] },
      { idTokenSigningAlg: 'RS256' },
    ])
      expect(await rest(tenant, lesser, 'PATCH', `/clients/${created.body.id}`, fields)).toMatchObject({
        status: 403,
        body: { message: 'This needs scopes that the caller lacks: users:write.' },
      })
    expect(await stored(created.body.id)).toEqual(UNSET)
  })

  it('name the algorithms that there are, for each surface by its own means', async () => {
    const [REST] = SURFACES as [(typeof SURFACES)[0], ...typeof SURFACES]
    for (const alg of ['HS256', 'none', 'es256', 'EDDSA', 7])
      expect(faultsIn(await REST.create({ idTokenSigningAlg: alg, userInfoSigningAlg: alg }))).toEqual([
        ['idTokenSigningAlg', 'must be one of: ES256, RS256, ES384, EdDSA'],
        ['userInfoSigningAlg', 'must be one of: ES256, RS256, ES384, EdDSA'],
      ])
    const { body } = await surfaces.gql(
      tenant,
      token,
      '{ __type(name: "SigningAlgorithm") { enumValues { name } } }',
    )
    expect(body.data.__type.enumValues.map(({ name }: Any) => name).sort()).toEqual([
      'EDDSA',
      'ES256',
      'ES384',
      'RS256',
    ])
    expect(
      (
        await write('createClient', {
          name: 'x',
          type: 'LOGIN',
          appType: 'WEB',
          fields: { idTokenSigningAlg: 'EdDSA' },
        })
      ).error,
    ).toMatch(/does not exist in "SigningAlgorithm" enum/)
  })

  it('may stand in a document of GraphQL as they do in its variables', async () => {
    const [REST] = SURFACES as [(typeof SURFACES)[0], ...typeof SURFACES]
    const { id, updatedAt } = await REST.create({ jwks: { keys: [keys.ES256] } })
    const { kty, crv, x, y } = keys.ES256 as Fields
    const { body } = await surfaces.gql(
      tenant,
      token,
      `mutation { updateClient(input: { clientId: "${id}", fields: { jwks: { keys: [{ kty: "${kty}", crv: "${crv}", x: "${x}", y: "${y}" }] } } }) {
        ... on ClientPayload { client { updatedAt } } } }`,
    )
    expect(body.data.updateClient.client).toEqual({ updatedAt })
  })

  it('are described where they are written and where they are read', async () => {
    const { schemas } = (await openApiOf(tenant)).components as Any
    for (const name of ['Client', 'NewClient', 'RotatedClient', 'ClientCreate', 'ClientPatch'])
      for (const member of MEMBERS.split(' '))
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
