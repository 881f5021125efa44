import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCOPE_NAMES, SYSTEM_TENANT } from '../src/ctx.ts'
import { findTenant } from '../src/tenants/tenant-cache.ts'
import { newTenant, tokenFor } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'

let app: TestApp
let operator: string
beforeAll(async () => {
  app = await startApp()
  await newTenant()
  operator = await tokenFor(SYSTEM_TENANT, SCOPE_NAMES)
})
afterAll(() => app.close())

const SETTINGS = {
  friendlyName: null,
  logoUrl: null,
  defaultAudience: null,
  loginUrl: null,
  supportUrl: null,
  dynamicRegistration: false,
  clientIdMetadataDocuments: false,
}

describe('tenants over REST', () => {
  it('are created, listed and deleted by operators', async () => {
    const created = await app.rest(SYSTEM_TENANT, operator, 'POST', '/tenants', {
      slug: 'rest-made',
      settings: { friendlyName: 'Made' },
    })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe('/system/api/v1/tenants/rest-made')
    expect(created.body).toEqual({
      slug: 'rest-made',
      settings: { ...SETTINGS, friendlyName: 'Made' },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const found = await app.rest(SYSTEM_TENANT, operator, 'GET', '/tenants/rest-made')
    expect(found).toMatchObject({ status: 200, body: created.body })
    for (const slug of ['nowhere', 'NOWHERE'])
      expect((await app.rest(SYSTEM_TENANT, operator, 'GET', `/tenants/${slug}`)).status).toBe(404)
    const again = await app.rest(SYSTEM_TENANT, operator, 'POST', '/tenants', { slug: 'rest-made' })
    expect(again.status).toBe(409)
    expect(again.body).toMatchObject({
      code: 'CONFLICT',
      fields: [{ field: 'slug', description: 'is taken' }],
    })
    const list = await app.rest(SYSTEM_TENANT, operator, 'GET', '/tenants?pageSize=1000')
    expect(list.body).toMatchObject({
      page: 0,
      pageSize: 1000,
      tenants: expect.arrayContaining([created.body]),
    })
    const gone = await app.rest(SYSTEM_TENANT, operator, 'DELETE', '/tenants/rest-made')
    expect([gone.status, gone.body]).toEqual([
      200,
      { message: 'The tenant was deleted.', requestId: expect.any(String), fields: [] },
    ])
    expect(await findTenant('rest-made')).toBeNull()
    expect((await app.rest(SYSTEM_TENANT, operator, 'DELETE', '/tenants/rest-made')).status).toBe(404)
    expect((await app.rest(SYSTEM_TENANT, operator, 'DELETE', '/tenants/system')).status).toBe(403)
  })

  it('are nobody else’s affair', async () => {
    const tenant = await newTenant()
    const own = await tokenFor(tenant)
    for (const [method, path, body] of [
      ['GET', '/tenants'],
      ['GET', `/tenants/${tenant}`],
      ['POST', '/tenants', { slug: 'stolen' }],
      ['DELETE', `/tenants/${tenant}`],
    ] as const) {
      expect((await app.rest(tenant, own, method, path, body)).status).toBe(403)
      expect((await app.rest(SYSTEM_TENANT, own, method, path, body)).status).toBe(401)
      expect((await app.rest(SYSTEM_TENANT, null, method, path, body)).status).toBe(401)
    }
    expect(await findTenant(tenant)).not.toBeNull()
    expect(await findTenant('stolen')).toBeNull()
  })
})

describe('settings of a tenant', () => {
  it('read the same over REST and GraphQL, whichever changed them', async () => {
    const tenant = await newTenant()
    const token = await tokenFor(tenant)
    const patched = await app.rest(tenant, token, 'PATCH', '/settings', {
      friendlyName: 'Acme',
      supportUrl: 'https://a.example',
    })
    expect([patched.status, patched.body]).toEqual([
      200,
      { ...SETTINGS, friendlyName: 'Acme', supportUrl: 'https://a.example' },
    ])
    const changed = await app.gql(
      tenant,
      token,
      `mutation ($input: UpdateTenantSettingsInput!) { updateTenantSettings(input: $input) {
         __typename ... on TenantSettingsPayload { tenant { id settings { friendlyName supportUrl } } }
         ... on ValidationError { fields { field description } } } }`,
      { input: { supportUrl: null, friendlyName: 'Acme Ltd' } },
    )
    expect(changed.body.data.updateTenantSettings).toEqual({
      __typename: 'TenantSettingsPayload',
      tenant: { id: tenant, settings: { friendlyName: 'Acme Ltd', supportUrl: null } },
    })
    const read = await app.rest(tenant, token, 'GET', '/settings')
    expect(read.body).toEqual({ ...SETTINGS, friendlyName: 'Acme Ltd' })
  })

  it('are refused with every faulty field, and need their scope', async () => {
    const tenant = await newTenant()
    const input = { logoUrl: 'javascript:alert(1)', loginUrl: 'nope' }
    const faults = [
      { field: 'logoUrl', description: 'must be an http or https URL' },
      { field: 'loginUrl', description: 'must be an absolute URL' },
    ]
    const token = await tokenFor(tenant)
    const rest = await app.rest(tenant, token, 'PATCH', '/settings', input)
    expect(rest.status).toBe(400)
    expect(rest.body.fields).toEqual(faults)
    const mutation = `mutation ($input: UpdateTenantSettingsInput!) { updateTenantSettings(input: $input) {
      ... on ValidationError { fields { field description } } } }`
    const gql = await app.gql(tenant, token, mutation, { input })
    expect(gql.body.data.updateTenantSettings.fields).toEqual(faults)
    const reader = await tokenFor(tenant, ['tenant:read'])
    expect((await app.rest(tenant, reader, 'PATCH', '/settings', input)).status).toBe(403)
    const refused = await app.gql(tenant, reader, mutation, { input })
    expect(refused.body.errors?.[0]).toMatchObject({ extensions: { code: 'FORBIDDEN' } })
  })
})

describe('tenants over GraphQL', () => {
  it('are created, found, listed and deleted by operators', async () => {
    const create = `mutation ($slug: String!) { createTenant(input: { slug: $slug }) {
      __typename ... on CreateTenantPayload { tenant { id } } ... on ConflictError { fields { field } }
      ... on ValidationError { fields { field } } } }`
    const run = async (slug: string) =>
      (await app.gql(SYSTEM_TENANT, operator, create, { slug })).body.data.createTenant
    expect(await run('gql-made')).toEqual({ __typename: 'CreateTenantPayload', tenant: { id: 'gql-made' } })
    expect(await run('gql-made')).toEqual({ __typename: 'ConflictError', fields: [{ field: 'slug' }] })
    expect(await run('Gql')).toEqual({ __typename: 'ValidationError', fields: [{ field: 'slug' }] })
    const list = await app.gql(
      SYSTEM_TENANT,
      operator,
      '{ tenants(pageSize: 1000) { totalSize nodes { id } } }',
    )
    expect(list.body.data.tenants.nodes).toContainEqual({ id: 'gql-made' })
    expect(list.body.data.tenants.totalSize).toBe(list.body.data.tenants.nodes.length)
    const remove = `mutation { deleteTenant(input: { slug: "gql-made" }) {
      __typename ... on DeleteTenantPayload { deletedTenantId } } }`
    expect((await app.gql(SYSTEM_TENANT, operator, remove)).body.data.deleteTenant).toEqual({
      __typename: 'DeleteTenantPayload',
      deletedTenantId: 'gql-made',
    })
    expect((await app.gql(SYSTEM_TENANT, operator, remove)).body.data.deleteTenant.__typename).toBe(
      'NotFoundError',
    )
  })

  it('show a tenant itself only, by node as well', async () => {
    const [mine, other] = [await newTenant(), await newTenant()]
    const token = await tokenFor(mine)
    const read = await app.gql(
      mine,
      token,
      'query ($mine: ID!, $other: ID!) { tenant { id } mine: node(id: $mine) { id } other: node(id: $other) { id } }',
      { mine, other },
    )
    expect(read.body).toEqual({ data: { tenant: { id: mine }, mine: { id: mine }, other: null } })
  })
})

describe('clients over REST and GraphQL', () => {
  it('are created with a secret that is told once', async () => {
    const tenant = await newTenant()
    const token = await tokenFor(tenant)
    const input = {
      name: 'Shop',
      appType: 'web',
      type: 'login',
      callbacks: ['https://a.example/cb'],
      scopes: ['users:read'],
    }
    const created = await app.rest(tenant, token, 'POST', '/clients', input)
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/${tenant}/api/v1/clients/${created.body.id}`)
    const { secret, ...client } = created.body
    expect(client).toEqual({
      ...input,
      id: expect.stringMatching(/^client_/),
      description: null,
      themeColor: null,
      logoUrl: null,
      allowedOrigins: [],
      webOrigins: [],
      allowedLogoutUrls: [],
      initiateLoginUrl: null,
      tokenExpiryTime: null,
      requireConsent: false,
      jwks: null,
      backchannelLogoutUrl: null,
      idTokenSigningAlg: null,
      userInfoSigningAlg: null,
      requirePushedRequests: false,
      resources: [],
      registeredBy: 'administrator',
      updatedAt: expect.any(String),
      createdAt: expect.any(String),
    })
    expect(secret).toMatch(/^[\w-]{43}$/)
    const read = await app.rest(tenant, token, 'GET', `/clients/${client.id}`)
    expect([read.status, read.body]).toEqual([200, client])
    const list = await app.rest(tenant, token, 'GET', '/clients?appType=web&pageSize=10')
    expect(list.body).toEqual({ page: 0, pageSize: 10, totalSize: 1, clients: [client] })
    const gql = await app.gql(
      tenant,
      token,
      `query ($id: ID!) { client(id: $id) { id name appType type callbacks scopes }
        node(id: $id) { __typename } clients(first: 1, filter: { appType: WEB }) { totalSize edges { cursor node { id } } } }`,
      { id: client.id },
    )
    expect(gql.body.data).toEqual({
      client: {
        id: client.id,
        name: 'Shop',
        appType: 'WEB',
        type: 'LOGIN',
        callbacks: input.callbacks,
        scopes: input.scopes,
      },
      node: { __typename: 'Client' },
      clients: { totalSize: 1, edges: [{ cursor: expect.any(String), node: { id: client.id } }] },
    })
  })

  it('are created over GraphQL, public ones without a secret', async () => {
    const tenant = await newTenant()
    const token = await tokenFor(tenant)
    const mutation = `mutation ($input: CreateClientInput!) { createClient(input: $input) { __typename
      ... on CreateClientPayload { secret client { appType themeColor requireConsent } }
      ... on ValidationError { fields { field description } } } }`
    const run = async (input: object) => (await app.gql(tenant, token, mutation, { input })).body
    const fields = { themeColor: '#0a7c66', requireConsent: true, callbacks: null }
    expect(
      (await run({ name: 'App', appType: 'SINGLE_PAGE', type: 'PAYMENT', fields })).data.createClient,
    ).toEqual({
      __typename: 'CreateClientPayload',
      secret: null,
      client: { appType: 'SINGLE_PAGE', themeColor: '#0a7c66', requireConsent: true },
    })
    expect(
      (await run({ name: '', appType: 'WEB', type: 'LOGIN', fields: { themeColor: 'red' } })).data
        .createClient.fields,
    ).toEqual([
      { field: 'name', description: 'must not be empty' },
      { field: 'themeColor', description: 'must be a colour such as #0a7c66' },
    ])
    const escalating = { name: 'App', appType: 'WEB', type: 'LOGIN', fields: { scopes: ['users:write'] } }
    const writer = await tokenFor(tenant, ['clients:write'])
    const refused = await app.gql(tenant, writer, mutation, { input: escalating })
    expect(refused.body.data.createClient).toBeNull()
    expect(refused.body.errors?.[0]).toMatchObject({
      message: 'This needs scopes that the caller lacks: users:write.',
      extensions: { code: 'FORBIDDEN' },
    })
  })

  it('of another tenant are not there', async () => {
    const [mine, other] = [await newTenant(), await newTenant()]
    const theirs = await app.rest(other, await tokenFor(other), 'POST', '/clients', {
      name: 'X',
      appType: 'web',
      type: 'login',
    })
    const token = await tokenFor(mine)
    const read = await app.rest(mine, token, 'GET', `/clients/${theirs.body.id}`)
    expect([read.status, read.body]).toEqual([
      404,
      { message: 'No such client.', requestId: expect.any(String), fields: [], code: 'NOT_FOUND' },
    ])
    const gql = await app.gql(
      mine,
      token,
      'query ($id: ID!) { client(id: $id) { id } node(id: $id) { id } }',
      {
        id: theirs.body.id,
      },
    )
    expect(gql.body).toEqual({ data: { client: null, node: null } })
  })
})
