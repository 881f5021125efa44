import { describe, expect } from 'vitest'
import { newTenant } from '../support/actors.ts'
import { test } from '../support/tenant-per-test.ts'

describe('the operations on clients', () => {
  test('return the secret of a new client once', async ({ tenant, rest, gql }) => {
    const input = {
      name: 'Shop',
      appType: 'web',
      type: 'login',
      callbacks: ['https://a.example/cb'],
      scopes: ['users:read'],
    }
    const created = await rest('POST', '/clients', input)
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/${tenant}/api/v1/clients/${created.body.id}`)
    const { secret, ...client } = created.body
    expect(client).toEqual({
      ...input,
      id: expect.stringMatching(/^client_/),
      description: null,
      themeColor: null,
      logoUrl: null,
      policyUrl: null,
      termsUrl: null,
      translations: [],
      allowedOrigins: ['https://a.example'],
      webOrigins: [],
      allowedLogoutUrls: [],
      initiateLoginUrl: null,
      tokenExpiryTime: null,
      requireConsent: false,
      jwks: null,
      jwksUri: null,
      clientUri: null,
      backchannelLogoutUrl: null,
      idTokenSigningAlg: null,
      userInfoSigningAlg: null,
      idTokenClaims: false,
      claimMappings: [],
      groupsClaim: false,
      profile: null,
      requirePushedRequests: false,
      requirePkce: false,
      tokenEndpointAuthMethod: null,
      requireIssuerAudience: false,
      requireFapiAlgorithms: false,
      dpopBoundAccessTokens: false,
      rotateRefreshTokens: true,
      requireSecondFactor: false,
      organization: 'none',
      defaultMaxAge: null,
      acceptedDocuments: 'any',
      resources: [],
      registeredBy: 'administrator',
      updatedAt: expect.any(String),
      createdAt: expect.any(String),
    })
    expect(secret).toMatch(/^[\w-]{43}$/)
    const read = await rest('GET', `/clients/${client.id}`)
    expect([read.status, read.body]).toEqual([200, client])
    const list = await rest('GET', '/clients?appType=web&pageSize=10')
    expect(list.body).toEqual({ page: 0, pageSize: 10, totalSize: 1, endsEarly: false, clients: [client] })
    const queried = await gql(
      `query ($id: ID!) { client(id: $id) { id name appType type callbacks scopes }
        node(id: $id) { __typename } clients(first: 1, filter: { appType: WEB }) { totalSize edges { cursor node { id } } } }`,
      { id: client.id },
    )
    expect(queried.body.data).toEqual({
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

  test('create a client over GraphQL, without a secret for a public client', async ({ gql }) => {
    const mutation = `mutation ($input: CreateClientInput!) { createClient(input: $input) { __typename
      ... on CreateClientPayload { secret client { appType themeColor requireConsent } }
      ... on ValidationError { fields { field description } } } }`
    const run = async (input: object) => (await gql(mutation, { input })).body
    const fields = { themeColor: '#0a7c66', requireConsent: true, callbacks: null }
    expect(
      (await run({ name: 'App', appType: 'SINGLE_PAGE', type: 'PAYMENT', ...fields })).data.createClient,
    ).toEqual({
      __typename: 'CreateClientPayload',
      secret: null,
      client: { appType: 'SINGLE_PAGE', themeColor: '#0a7c66', requireConsent: true },
    })
    expect(
      (await run({ name: '', appType: 'WEB', type: 'LOGIN', themeColor: 'red' })).data.createClient.fields,
    ).toEqual([
      { field: 'name', description: 'must not be empty' },
      { field: 'themeColor', description: 'must be a color such as #0a7c66' },
    ])
    const escalating = { name: 'App', appType: 'WEB', type: 'LOGIN', scopes: ['users:write'] }
    const rejected = await gql(mutation, { input: escalating }, { scopes: ['clients:write'] })
    expect(rejected.body.data.createClient).toBeNull()
    expect(rejected.body.errors?.[0]).toMatchObject({
      message: 'This needs scopes that the caller lacks: users:write.',
      extensions: { code: 'FORBIDDEN' },
    })
  })

  test('return 404 and null for a client of another tenant', async ({ rest, gql }) => {
    const theirs = await rest(
      'POST',
      '/clients',
      {
        name: 'X',
        appType: 'web',
        type: 'login',
      },
      { tenant: await newTenant() },
    )
    const read = await rest('GET', `/clients/${theirs.body.id}`)
    expect([read.status, read.body]).toEqual([
      404,
      { message: 'No such client.', requestId: expect.any(String), fields: [], code: 'NOT_FOUND' },
    ])
    const queried = await gql('query ($id: ID!) { client(id: $id) { id } node(id: $id) { id } }', {
      id: theirs.body.id,
    })
    expect(queried.body).toEqual({ data: { client: null, node: null } })
  })
})
