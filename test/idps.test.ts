import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

// Tests may reach this machine (test/support/setup.ts); here it is as in production.
vi.hoisted(() => {
  process.env.FETCH_PRIVATE = '0'
})

import { newId } from '../src/crypto.ts'
import { platformCtx, type Scope } from '../src/ctx.ts'
import { dbFor, sql } from '../src/db.ts'
import { isIdpId } from '../src/idps/idps.fields.ts'
import { createIdentityProvider, listIdentityProviders } from '../src/idps/idps.ts'
import { addIdpUser } from '../src/idps/link-idp-user.ts'
import { createUser } from '../src/users/users.ts'
import { ctxFor, newTenant, TENANT_SCOPES, tokenFor } from './support/actors.ts'
import { logOf } from './support/events.ts'
import { countStatements } from './support/statements.ts'
import { openSurfaces, type Surfaces } from './support/surfaces.ts'

let surfaces: Surfaces
let tenant: string
let token: string

beforeAll(async () => {
  surfaces = await openSurfaces()
  tenant = await newTenant()
  token = await tokenFor(tenant)
})
afterAll(() => surfaces.close())

// biome-ignore lint/suspicious/noExplicitAny: what a test asks for decides the shape
type Any = any
type Outcome = Record<string, Any>
type Options = { token?: string }

const FIELDS = `id type name clientId hasClientSecret scopes issuer authorizationEndpoint tokenEndpoint userInfoEndpoint jwksUri
  idTokenSigningAlg hasIdTokenSigningKey platformTeamId platformKid updatedAt createdAt`

async function rest(method: string, path: string, body?: unknown, options: Options = {}): Promise<Outcome> {
  const answer = await surfaces.rest(tenant, options.token ?? token, method, `/idps${path}`, body)
  const { requestId: _, ...told } = answer.body
  return told
}

async function gql(field: string, input: object, selection: string, options: Options = {}): Promise<Outcome> {
  const { body } = await surfaces.gql(
    tenant,
    options.token ?? token,
    `mutation ($input: ${field.charAt(0).toUpperCase()}${field.slice(1)}Input!) { result: ${field}(input: $input) {
      ${selection} ... on UserError { code message } ... on ValidationError { fields { field description } }
      ${field.startsWith('delete') ? '' : '... on ConflictError { fields { field description } }'} } }`,
    { input },
  )
  const { identityProvider: idp, ...result } = body.data?.result ?? {
    code: body.errors?.[0]?.extensions.code,
    message: body.errors?.[0]?.message,
    fields: body.errors?.[0]?.extensions.fields ?? [],
  }
  return idp ? { ...idp, type: idp.type.toLowerCase(), ...result } : result
}
const upper = ({ type, ...fields }: Record<string, Any>) => ({
  ...fields,
  ...(type !== undefined && { type: type.toUpperCase() }),
})

const writers = [
  {
    surface: 'REST',
    create: (fields: object, options?: Options) => rest('POST', '', fields, options),
    update: (id: string, fields: object, options?: Options) => rest('PATCH', `/${id}`, fields, options),
    remove: (id: string, options?: Options) => rest('DELETE', `/${id}`, undefined, options),
    get: (id: string) => rest('GET', `/${id}`),
  },
  {
    surface: 'GraphQL',
    create: (fields: object, options?: Options) =>
      gql(
        'createIdentityProvider',
        upper(fields),
        `... on IdentityProviderPayload { identityProvider { ${FIELDS} } }`,
        options,
      ),
    update: (idpId: string, fields: object, options?: Options) =>
      gql(
        'updateIdentityProvider',
        { idpId, ...fields },
        `... on IdentityProviderPayload { identityProvider { ${FIELDS} } }`,
        options,
      ),
    remove: (idpId: string, options?: Options) =>
      gql(
        'deleteIdentityProvider',
        { idpId },
        '... on DeleteIdentityProviderPayload { deletedIdentityProviderId }',
        options,
      ),
    get: async (id: string) => {
      const { body } = await surfaces.gql(tenant, token, `{ identityProvider(id: "${id}") { ${FIELDS} } }`)
      const found = body.data.identityProvider
      return found ? { ...found, type: found.type.toLowerCase() } : { code: 'NOT_FOUND' }
    },
  },
]

const pem = (key: { export: (options: Any) => string | Buffer }, type: 'spki' | 'pkcs8') =>
  String(key.export({ format: 'pem', type }))
const P256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const PUBLIC_KEY = pem(P256.publicKey, 'spki')
const PRIVATE_KEY = pem(P256.privateKey, 'pkcs8')
/** Not valid for long, which is not looked at: `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=upstream -days 1` */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBezCCASGgAwIBAgIUCj+5QYpzxNPgyH+dMRWI9X70fiswCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIdXBzdHJlYW0wHhcNMjYxMTIxMDA0ODA5WhcNMjYxMTIyMDA0
ODA5WjATMREwDwYDVQQDDAh1cHN0cmVhbTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABNNyZhk/P1zf3T5vjoBm4U2WrAa+inoQDU+Ne+qkpBX56X8drK5AXgpopuL3
5cr0w4cL8j2Jp0KrukRU1nYHKEWjUzBRMB0GA1UdDgQWBBSNI/H/R1N8Tt3oysv4
wz/WWdLo6DAfBgNVHSMEGDAWgBSNI/H/R1N8Tt3oysv4wz/WWdLo6DAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIEIwyRCuxIssTxZwwJJw4cEAM6CW
F+81cjBsOWwkM8bKAiEA6TsXTZm/huW7kMs2jmmoGYpmZai3WOSoDWCTHthJlUA=
-----END CERTIFICATE-----
`

const FULL = {
  type: 'oidc',
  name: 'Partner',
  clientId: 'vestibule',
  clientSecret: 'a secret of the provider',
  scopes: 'openid email',
  issuer: 'https://login.partner.example',
  authorizationEndpoint: 'https://login.partner.example/authorize',
  tokenEndpoint: 'https://login.partner.example/token',
  userInfoEndpoint: 'https://login.partner.example/userinfo',
  jwksUri: 'https://login.partner.example/jwks.json',
  idTokenSigningAlg: 'ES256',
  idTokenSigningKey: PUBLIC_KEY,
  platformTeamId: 'TEAM',
  platformKid: 'KID',
}
const EMPTY = Object.fromEntries(
  Object.keys(FULL)
    .filter((field) => !['type', 'name', 'clientSecret', 'idTokenSigningKey'].includes(field))
    .map((field) => [field, null]),
)
let names = 0
const fresh = () => `idp-${++names}`
const eventsOf = async (id: string) =>
  (await logOf(tenant))
    .filter(({ subjectIds }) => subjectIds.includes(id))
    .map(({ type, changedFields, detail }) => ({ type, changedFields, detail }))
const storedOf = async (id: string) => {
  const [row] = await sql<Record<string, string>>(
    `SELECT * FROM "IdentityProvider" WHERE "tenantId" = $1 AND "id" = $2`,
    [tenant, id],
  )
  return row
}
const faults = (...fields: [string, unknown][]) => ({
  code: 'BAD_USER_INPUT',
  message: 'The request has invalid fields.',
  fields: fields.map(([field, description]) => ({ field, description })),
})
const NOT_FOUND = expect.objectContaining({ code: 'NOT_FOUND' })

describe.each(writers)('creating an identity provider over $surface', ({ create, get }) => {
  it('needs id, type and name only, as the spec has it', async () => {
    const id = fresh()
    const created = await create({ id, type: 'google', name: 'Google' })
    expect(created).toEqual({
      ...EMPTY,
      id,
      type: 'google',
      name: 'Google',
      hasClientSecret: false,
      hasIdTokenSigningKey: false,
      updatedAt: expect.any(String),
      createdAt: expect.any(String),
    })
    expect(await get(id)).toEqual(created)
    expect(await eventsOf(id)).toEqual([{ type: 'idp.created', changedFields: [], detail: null }])
  })

  it('keeps every field, and seals the secrets, which nothing answers', async () => {
    const id = fresh()
    const created = await create({ id, ...FULL })
    const { clientSecret, idTokenSigningKey, ...shown } = FULL
    expect(created).toEqual({
      ...shown,
      id,
      hasClientSecret: true,
      hasIdTokenSigningKey: true,
      updatedAt: expect.any(String),
      createdAt: expect.any(String),
    })
    const stored = JSON.stringify(await storedOf(id))
    const told = JSON.stringify([created, await get(id), await rest('GET', ''), await eventsOf(id)])
    for (const secret of [clientSecret, 'BEGIN PUBLIC KEY']) {
      expect(stored).not.toContain(secret)
      expect(told).not.toContain(secret)
    }
  })

  it.each([
    ['oauth2', { userInfoEndpoint: 'https://api.example.com/user' }],
    ['oidc', { issuer: 'https://login.example.com' }],
    ['apple', { clientSecret: PRIVATE_KEY, platformTeamId: 'T', platformKid: 'K' }],
    ['facebook', {}],
    ['google', {}],
    ['microsoft', {}],
    ['twitter', {}],
  ])('of type %s', async (type, fields) => {
    const id = fresh()
    expect(await create({ id, type, name: type, clientId: 'app', ...fields })).toMatchObject({ id, type })
  })

  it('names what a type needs once it has a clientId', async () => {
    const use = (type: string, fields: object = {}) =>
      create({ id: fresh(), type, name: 'x', clientId: 'app', ...fields })
    expect(await use('oidc')).toEqual(faults(['issuer', 'is required for type oidc with a clientId']))
    expect(await use('oauth2')).toEqual(
      faults(['userInfoEndpoint', 'is required for type oauth2 with a clientId']),
    )
    expect(await use('apple', { clientSecret: 'x' })).toEqual(
      faults(
        ['platformTeamId', 'is required for type apple with a clientSecret'],
        ['platformKid', 'is required for type apple with a clientSecret'],
        ['clientSecret', 'must be the private key from Apple in PEM format (PKCS #8)'],
      ),
    )
  })

  it('says that an id is taken', async () => {
    const id = fresh()
    await create({ id, type: 'google', name: 'First' })
    expect(await create({ id, type: 'google', name: 'Second' })).toEqual({
      code: 'CONFLICT',
      message: 'The value is taken.',
      fields: [{ field: 'id', description: 'is taken' }],
    })
  })

  it('refuses an id that node could take for something else', async () => {
    for (const id of [
      newId('user'),
      newId('idpuser'),
      'user_x',
      'idpuser_',
      '',
      'a b',
      'a/b',
      '../x',
      '.',
      '-a',
      'a-',
      'é',
      'x'.repeat(65),
    ])
      expect([id, (await create({ id, type: 'google', name: 'x' })).fields?.[0]?.field]).toEqual([id, 'id'])
    expect(await create({ id: tenant, type: 'google', name: 'x' })).toEqual(
      faults(['id', 'is the name of the tenant']),
    )
  })

  it('names all faulty fields at once', async () => {
    const faulty = {
      id: 'a b',
      type: 'oidc',
      name: '',
      clientId: 'app',
      scopes: 'openid  email',
      authorizationEndpoint: 'javascript:alert(1)',
      idTokenSigningAlg: 'HS256',
      idTokenSigningKey: 'x',
    }
    const { fields } = await create(faulty)
    expect(fields.map(({ field }: Any) => field).sort()).toEqual(
      [
        'authorizationEndpoint',
        'id',
        'idTokenSigningAlg',
        'idTokenSigningKey',
        'issuer',
        'name',
        'scopes',
      ].sort(),
    )
  })

  it.each(['none', 'None', 'HS256', 'HS512', 'RSA1_5', 'dir'])(
    'takes no ID tokens signed by %s',
    async (alg) => {
      expect(await create({ id: fresh(), type: 'google', name: 'x', idTokenSigningAlg: alg })).toMatchObject({
        fields: [{ field: 'idTokenSigningAlg' }],
      })
    },
  )

  it('takes a certificate or a public key, strong enough and fit for the algorithm, and no private key', async () => {
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey
    const edwards = generateKeyPairSync('ed25519').publicKey
    const use = async (idTokenSigningKey: string, idTokenSigningAlg?: string) =>
      (
        await create({ id: fresh(), type: 'google', name: 'x', idTokenSigningKey, idTokenSigningAlg })
      ).fields?.map(({ field }: Any) => field)
    expect(await use(PUBLIC_KEY)).toBeUndefined()
    expect(await use(CERTIFICATE)).toBeUndefined()
    expect(await use(pem(edwards, 'spki'), 'EdDSA')).toBeUndefined()
    expect(await use(PRIVATE_KEY)).toEqual(['idTokenSigningKey'])
    expect(await use(pem(weak, 'spki'))).toEqual(['idTokenSigningKey'])
    expect(await use('-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----')).toEqual([
      'idTokenSigningKey',
    ])
    expect(await use(PUBLIC_KEY, 'RS256')).toEqual(['idTokenSigningAlg'])
  })

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://127.0.0.1:8080/',
    'http://[::ffff:10.0.0.1]/',
    'https://10.0.0.1/',
  ])('security 52: %s is no endpoint', async (url) => {
    expect(await create({ id: fresh(), type: 'google', name: 'x', jwksUri: url })).toEqual(
      faults(['jwksUri', 'must be on a public address']),
    )
  })
})

describe('security 52: a provider whose name leads to this machine', () => {
  it.each(['localhost', 'localhost.', 'a.localhost', 'LOCALHOST'])(
    'is not taken when it is %s',
    async (name) => {
      const issuer = `https://${name}:8443`
      const { create } = writers[0] as (typeof writers)[0]
      expect(await create({ id: fresh(), type: 'oidc', name: 'x', issuer })).toEqual(
        faults(['issuer', 'must be on a public address']),
      )
    },
  )

  it('is never asked, whatever it is asked for', async () => {
    let seen = 0
    const server = createServer((_request, response) => {
      seen += 1
      response.end('{}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const origin = `http://localhost:${(server.address() as AddressInfo).port}`
    const id = fresh()
    const { create, update } = writers[0] as (typeof writers)[0]
    const endpoints = {
      userInfoEndpoint: `${origin}/me`,
      tokenEndpoint: `${origin}/t`,
      jwksUri: `${origin}/j`,
    }
    const { clientSecret } = FULL
    await create({
      id,
      type: 'oidc',
      name: 'x',
      clientId: 'app',
      clientSecret,
      issuer: 'https://partner.example',
    })
    // Other names lead here as well, which shows only when they are looked up.
    await dbFor(tenant).identityProvider.updateMany({
      where: { tenantId: tenant, id },
      data: { issuer: origin, ...endpoints },
    })
    const user = await createUser(platformCtx(tenant), {})
    const jwt = `${Buffer.from('{"alg":"ES256"}').toString('base64url')}.e30.AAAA`
    const unset = Object.fromEntries(Object.keys(endpoints).map((name) => [name, null]))
    for (const fields of [{}, unset]) {
      await update(id, fields)
      for (const proof of [{ idToken: jwt }, { accessToken: 'x' }, { code: 'x' }])
        expect(
          (await surfaces.rest(tenant, token, 'PUT', `/users/${user.id}/idps/${id}`, proof)).body,
        ).toMatchObject({ code: 'UNAVAILABLE', fields: [] })
    }
    expect(seen).toBe(0)
    server.close()
  })
})

describe.each(writers)('changing an identity provider over $surface', ({ surface, create, update, get }) => {
  it('changes what is given and nothing else, and tells which fields', async () => {
    const id = fresh()
    const created = await create({ id, ...FULL })
    const changed = await update(id, {
      name: 'Other',
      scopes: '',
      clientSecret: 'another',
      issuer: FULL.issuer,
    })
    expect(changed).toEqual({ ...created, name: 'Other', scopes: null, updatedAt: expect.any(String) })
    expect(Date.parse(changed.updatedAt)).toBeGreaterThan(Date.parse(created.updatedAt))
    expect(await get(id)).toEqual(changed)
    expect(await eventsOf(id)).toEqual([
      { type: 'idp.created', changedFields: [], detail: null },
      { type: 'idp.updated', changedFields: ['name', 'clientSecret', 'scopes'], detail: null },
    ])
  })

  it('unsets secrets by null, and says so', async () => {
    const id = fresh()
    await create({ id, ...FULL })
    expect(await update(id, { clientSecret: null, idTokenSigningKey: '' })).toMatchObject({
      hasClientSecret: false,
      hasIdTokenSigningKey: false,
    })
    expect(await storedOf(id)).toMatchObject({ clientSecret: null, idTokenSigningKey: null })
  })

  it('what changes nothing leaves updatedAt and the log alone, the same secret too', async () => {
    const id = fresh()
    const created = await create({ id, ...FULL })
    const sealed = await storedOf(id)
    const { type: _, ...same } = FULL
    expect(await update(id, same)).toEqual(created)
    expect(await storedOf(id)).toEqual(sealed)
    expect(await eventsOf(id)).toHaveLength(1)
  })

  it('must leave it valid as a whole', async () => {
    const id = fresh()
    await create({ id, ...FULL })
    expect(await update(id, { issuer: null })).toEqual(
      faults(['issuer', 'is required for type oidc with a clientId']),
    )
    expect(await update(id, { name: null })).toMatchObject({ fields: [{ field: 'name' }] })
    expect(await update(id, { idTokenSigningAlg: 'RS256' })).toMatchObject({
      fields: [{ field: 'idTokenSigningAlg' }],
    })
  })

  it('writes nothing when it was changed since', async () => {
    const id = fresh()
    const { updatedAt } = await create({ id, ...FULL })
    expect(await update(id, { name: 'A', expectedUpdatedAt: updatedAt })).toMatchObject({ name: 'A' })
    expect(await update(id, { name: 'B', expectedUpdatedAt: updatedAt })).toMatchObject({
      code: 'CONFLICT',
      fields: [{ field: 'expectedUpdatedAt' }],
    })
    expect(await get(id)).toMatchObject({ name: 'A' })
  })

  it('knows no provider that is not there', async () => {
    expect(await update('nobody', { name: 'x' })).toEqual(NOT_FOUND)
    const bad = await update('user_x', { name: 'x' })
    expect(bad.code).toBe(surface === 'REST' ? 'NOT_FOUND' : 'BAD_USER_INPUT')
  })

  it('security 13: whoever may less than somebody linked to it changes nothing that proofs rest on', async () => {
    const id = fresh()
    await create({ id, ...FULL })
    const admin = await createUser(platformCtx(tenant), {})
    await sql(`UPDATE "User" SET "roles" = '{support}' WHERE "tenantId" = $1 AND "id" = $2`, [
      tenant,
      admin.id,
    ])
    await addIdpUser(platformCtx(tenant), admin.id, id, { externalId: 'admin' })
    const narrow = await tokenFor(tenant, ['idps:read', 'idps:write'])
    for (const fields of [
      { issuer: 'https://evil.example' },
      { jwksUri: 'https://evil.example/jwks' },
      { idTokenSigningKey: null },
      { clientId: 'evil' },
    ])
      expect(await update(id, fields, { token: narrow })).toMatchObject({ code: 'FORBIDDEN' })
    expect(await update(id, { name: 'Renamed' }, { token: narrow })).toMatchObject({ name: 'Renamed' })
    expect(await update(id, { clientId: 'fine' })).toMatchObject({ clientId: 'fine' })
  })
})

describe('what only answers carry', () => {
  const { create, update } = writers[0] as (typeof writers)[0]
  it('may be sent back as it was answered', async () => {
    const id = fresh()
    const created = await create({ id, ...FULL })
    expect(await update(id, { ...created, name: 'Round trip' })).toMatchObject({ name: 'Round trip' })
  })
  it('is refused where it says something else', async () => {
    const id = fresh()
    await create({ id, ...FULL })
    const wrong = {
      id: 'other',
      type: 'google',
      hasClientSecret: false,
      hasIdTokenSigningKey: false,
      updatedAt: '2020-01-01T00:00:00Z',
      createdAt: '2020-01-01T00:00:00Z',
    }
    expect(await update(id, wrong)).toEqual(
      faults(
        ['id', 'cannot be changed'],
        ['type', 'cannot be changed'],
        ['hasClientSecret', 'is set by the service'],
        ['hasIdTokenSigningKey', 'is set by the service'],
        ['updatedAt', 'is set by the service'],
        ['createdAt', 'is set by the service'],
      ),
    )
    expect(await update(id, { tenantId: 'x', colour: 'red' })).toEqual(
      faults(['tenantId', 'is not a field of this request'], ['colour', 'is not a field of this request']),
    )
  })
})

describe.each(writers)('deleting an identity provider over $surface', ({ surface, create, remove, get }) => {
  it('removes it and all links for ever, with one entry that counts them', async () => {
    const id = fresh()
    await create({ id, ...FULL })
    for (let i = 0; i < 3; i++) {
      const user = await createUser(platformCtx(tenant), {})
      await addIdpUser(platformCtx(tenant), user.id, id, { externalId: `e${i}` })
    }
    const done =
      surface === 'REST'
        ? { message: 'The identity provider was deleted.', fields: [] }
        : { deletedIdentityProviderId: id }
    expect(await remove(id)).toEqual(done)
    expect(await get(id)).toEqual(NOT_FOUND)
    expect(await remove(id)).toEqual(NOT_FOUND)
    expect((await eventsOf(id)).at(-1)).toEqual({
      type: 'idp.deleted',
      changedFields: [],
      detail: { links: 3 },
    })
    const links = await sql(`SELECT 1 FROM "IdpUser" WHERE "tenantId" = $1 AND "idpId" = $2`, [tenant, id])
    expect(links).toEqual([])
  })

  it('is refused to whoever may less than somebody linked to it', async () => {
    const id = fresh()
    await create({ id, ...FULL })
    const admin = await createUser(platformCtx(tenant), {})
    await sql(`UPDATE "User" SET "roles" = '{admin}' WHERE "tenantId" = $1 AND "id" = $2`, [tenant, admin.id])
    await addIdpUser(platformCtx(tenant), admin.id, id, { externalId: 'admin' })
    const narrow = await tokenFor(tenant, ['idps:read', 'idps:write'])
    expect(await remove(id, { token: narrow })).toMatchObject({ code: 'FORBIDDEN' })
    expect(await remove(id)).not.toHaveProperty('code')
  })
})

describe('who may only write', () => {
  it('learns over GraphQL that the write was done, with an error about reading', async () => {
    const token = await tokenFor(
      tenant,
      TENANT_SCOPES.filter((scope: Scope) => scope !== 'idps:read'),
    )
    const id = fresh()
    const { body } = await surfaces.gql(
      tenant,
      token,
      `mutation { createIdentityProvider(input: {id: "${id}", type: GOOGLE, name: "x"}) {
        __typename ... on IdentityProviderPayload { identityProvider { id } } } }`,
    )
    expect(body.data.createIdentityProvider).toEqual({
      __typename: 'IdentityProviderPayload',
      identityProvider: null,
    })
    expect(body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    expect(await storedOf(id)).toMatchObject({ id })
  })
})

describe('the list', () => {
  let other: string
  let otherToken: string
  const ids = ['Zeta', 'a.b', 'alpha', 'beta_1', 'gamma-2']
  beforeAll(async () => {
    other = await newTenant()
    otherToken = await tokenFor(other)
    for (const id of [...ids].reverse())
      await createIdentityProvider(platformCtx(other), { id, type: 'google', name: id })
  })

  it('is in order of id, by page on REST', async () => {
    const page = (query: string) => surfaces.rest(other, otherToken, 'GET', `/idps${query}`)
    const first = await page('?page=0&pageSize=2')
    expect(first.body).toMatchObject({ page: 0, pageSize: 2, totalSize: 5 })
    expect(first.body.idps.map(({ id }: Any) => id)).toEqual(ids.slice(0, 2))
    const third = await page('?page=2&pageSize=2')
    expect(third.body.idps.map(({ id }: Any) => id)).toEqual(ids.slice(4))
    expect((await page('')).body).toMatchObject({ page: 0, pageSize: 50, totalSize: 5 })
  })

  it('by cursor on GraphQL, both ways', async () => {
    const list = async (args: string) =>
      (
        await surfaces.gql(
          other,
          otherToken,
          `{ identityProviders(${args}) { totalSize nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
        )
      ).body.data.identityProviders
    const first = await list('first: 3')
    expect(first).toMatchObject({ totalSize: 5, nodes: ids.slice(0, 3).map((id) => ({ id })) })
    const second = await list(`first: 3, after: "${first.pageInfo.endCursor}"`)
    expect(second.nodes).toEqual(ids.slice(3).map((id) => ({ id })))
    expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true })
    const back = await list(`last: 2, before: "${second.pageInfo.startCursor}"`)
    expect(back.nodes).toEqual(ids.slice(1, 3).map((id) => ({ id })))
  })

  it('costs one round trip, and one more for totalSize', async () => {
    const ctx = await ctxFor(other)
    expect(await countStatements(() => listIdentityProviders(ctx, {}))).toBe(1)
    const page = await listIdentityProviders(ctx, {})
    expect(await countStatements(() => page.countAll())).toBe(1)
    expect(
      await countStatements(async () =>
        createIdentityProvider(ctx, { id: 'counted', type: 'google', name: 'x' }),
      ),
    ).toBe(1)
  })
})

describe('node', () => {
  it('finds a provider by the id that was chosen, and the tenant by its slug', async () => {
    await writers[0]?.create({ id: 'google', type: 'google', name: 'Google' })
    const { body } = await surfaces.gql(
      tenant,
      token,
      `{ node(id: "google") { __typename id ... on IdentityProvider { name } }
         tenant: node(id: "${tenant}") { __typename id }
         nodes(ids: ["google", "nothing", "${tenant}"]) { __typename } }`,
    )
    expect(body.data).toEqual({
      node: { __typename: 'IdentityProvider', id: 'google', name: 'Google' },
      tenant: { __typename: 'Tenant', id: tenant },
      nodes: [{ __typename: 'IdentityProvider' }, null, { __typename: 'Tenant' }],
    })
  })

  it('demands the scope before it looks', async () => {
    const token = await tokenFor(tenant, ['users:read', 'tenant:read'])
    for (const id of ['google', 'nothing']) {
      const { body } = await surfaces.gql(tenant, token, `{ node(id: "${id}") { id } }`)
      expect(body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    }
    const { body } = await surfaces.gql(tenant, token, '{ node(id: "no id") { id } }')
    expect(body.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
  })

  it.each([
    ['google', true],
    ['AzureAD', true],
    ['a', true],
    ['6b1f0f3e-9a0c-4a55-8f0e-2a1d5f1c9a11', true],
    ['user_1', false],
    ['grant_x', false],
    ['a..b', true],
    ['a~b', false],
  ])('%s may be an id: %s', (id, expected) => {
    expect(isIdpId(id)).toBe(expected)
  })
})
