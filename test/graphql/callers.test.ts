import { describe, expect } from 'vitest'
import { addResourceMetadata } from '../../src/access/protected-resources.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { errorOf } from '../support/graphql-test.ts'
import { test } from '../support/subscriptions.ts'

describe('the access token of a GraphQL request', () => {
  test('is required: each field reports UNAUTHENTICATED without it', async ({ tenant, server }) => {
    const { status, body } = await server.post(
      tenant,
      null,
      '{ viewer { scopes } users { totalSize } node(id: "x_y") { id } }',
    )
    expect(status).toBe(200)
    expect(body.data).toEqual({ viewer: null, users: null, node: null })
    expect(
      body.errors
        ?.slice(0, 2)
        .map(({ message, path, extensions }) => ({ message, path, code: extensions.code })),
    ).toEqual([
      { message: 'A valid access token is required.', path: ['viewer'], code: 'UNAUTHENTICATED' },
      { message: 'A valid access token is required.', path: ['users'], code: 'UNAUTHENTICATED' },
    ])
  })

  test.for<[name: string, authorization: string]>([
    ['a malformed token', 'Bearer nonsense'],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['an empty token', 'Bearer '],
  ])(
    'is verified before the document: %s is rejected with 401',
    async ([_what, authorization], { tenant, server }) => {
      const { status, headers, body } = await server.post(
        tenant,
        null,
        '{ __typename nonsense }',
        {},
        { authorization },
      )
      expect(status).toBe(401)
      expect(headers.get('www-authenticate')).toBe(
        addResourceMetadata('Bearer error="invalid_token"', tenant, 'graphql'),
      )
      expect(body).toEqual({
        errors: [
          {
            message: 'The access token is invalid, expired or revoked.',
            extensions: { code: 'UNAUTHENTICATED', requestId: headers.get('x-request-id') },
          },
        ],
      })
    },
  )

  test('is rejected with 401 when it belongs to another tenant', async ({ tenant, server }) => {
    const { status } = await server.post(tenant, await tokenFor(await newTenant()), '{ viewer { scopes } }')
    expect(status).toBe(401)
  })

  test('permits the fields of its scopes, and the error of another field names the missing scope', async ({
    tenant,
    server,
  }) => {
    const { body } = await server.post(
      tenant,
      await tokenFor(tenant, ['users:read']),
      '{ tenant { id } users { totalSize } }',
    )
    expect(body).toMatchObject({
      data: { tenant: null, users: { totalSize: expect.any(Number) } },
      errors: [
        { message: 'Requires scope tenant:read.', path: ['tenant'], extensions: { code: 'FORBIDDEN' } },
      ],
    })
  })

  test('determines the viewer: client, scopes and expiry', async ({ tenant, ctx, server }) => {
    const query = '{ viewer { user { id } client { id name } session { id } scopes tokenExpiresAt } }'
    const { body } = await server.post(tenant, await tokenFor(tenant, ['users:read', 'clients:read']), query)
    const { actor } = ctx
    expect(body).toEqual({
      data: {
        viewer: {
          user: null,
          client: { id: actor.kind === 'client' && actor.clientId, name: 'Test backend' },
          session: null,
          scopes: ['clients:read', 'users:read'],
          tokenExpiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/),
        },
      },
    })
  })

  test('lets a client without scopes read itself and no other client', async ({ tenant, server }) => {
    const bare = await tokenFor(tenant, [])
    const { body } = await server.post(
      tenant,
      bare,
      '{ viewer { client { name } scopes } clients { totalSize } }',
    )
    expect(body).toMatchObject({
      data: { viewer: { client: { name: 'Test backend' }, scopes: [] }, clients: null },
      errors: [{ message: 'Requires scope clients:read.', path: ['clients'] }],
    })
  })

  test('lets a user with scope account read themselves, their session and the name of their client, and no other client', async ({
    tenant,
    appId,
    server,
    newSubscriber,
  }) => {
    const { userId, sessionId, token: own } = await newSubscriber()
    const query = '{ viewer { user { id } session { id } client { id name } scopes } clients { totalSize } }'
    const { body } = await server.post(tenant, own, query)
    expect(body.data).toEqual({
      viewer: {
        user: { id: userId },
        session: { id: sessionId },
        client: { id: appId, name: 'Relying party' },
        scopes: [],
      },
      clients: null,
    })
  })
})

describe('an operator of tenant system', () => {
  test('lists tenants at tenant system and is rejected at another tenant', async ({
    tenant,
    token,
    server,
  }) => {
    const operator = await tokenFor(SYSTEM_TENANT, ['tenants:read'])
    const query = '{ tenants(first: 1000) { nodes { id } } }'
    expect((await server.post(SYSTEM_TENANT, operator, query)).body.data.tenants.nodes).toContainEqual({
      id: tenant,
    })
    expect(errorOf((await server.post(tenant, token, query)).body)?.message).toBe(
      'This exists in tenant system only.',
    )
  })
})
