import { describe, expect } from 'vitest'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { test } from '../support/graphql-test.ts'
import { objectTypes, schema } from '../support/schema.ts'
import { newSlug } from '../support/tenants.ts'

type Creation = { edge: string; list: string; input: (count: number) => object }

/** The creations of objects that have a list at the root, two of which make a list. */
const CREATIONS: Record<string, Creation> = {
  createUser: { edge: 'userEdge', list: 'users', input: (count) => ({ name: `User ${count}` }) },
  createClient: {
    edge: 'clientEdge',
    list: 'clients',
    input: (count) => ({ name: `Client ${count}`, appType: 'MACHINE', type: 'LOGIN' }),
  },
  createIdentityProvider: {
    edge: 'identityProviderEdge',
    list: 'identityProviders',
    input: (count) => ({ id: `idp-${count}`, type: 'GOOGLE', name: 'Google' }),
  },
  createInvitation: {
    edge: 'invitationEdge',
    list: 'invitations',
    input: (count) => ({ email: `guest${count}@edges.example` }),
  },
  createOrganization: {
    edge: 'organizationEdge',
    list: 'organizations',
    input: (count) => ({ slug: `edge-${count}`, name: `Organization ${count}` }),
  },
  createApiKey: { edge: 'apiKeyEdge', list: 'apiKeys', input: (count) => ({ name: `Key ${count}` }) },
  createWebhook: { edge: 'webhookEdge', list: 'webhooks', input: () => ({ url: 'https://a.example' }) },
  createRegistrationToken: {
    edge: 'registrationTokenEdge',
    list: 'registrationTokens',
    input: (count) => ({ note: `Partner ${count}` }),
  },
  createApi: {
    edge: 'apiEdge',
    list: 'apis',
    input: (count) => ({ identifier: `https://${count}.edges.example`, name: 'API' }),
  },
  createGroup: { edge: 'groupEdge', list: 'groups', input: (count) => ({ name: `group ${count}` }) },
  createManagementRole: {
    edge: 'managementRoleEdge',
    list: 'managementRoles',
    input: (count) => ({ name: `role-${count}`, scopes: ['users:read'] }),
  },
  createAppRole: { edge: 'appRoleEdge', list: 'appRoles', input: (count) => ({ name: `role-${count}` }) },
  createTenant: {
    edge: 'tenantEdge',
    list: 'tenants',
    input: () => ({ slug: newSlug() }),
  },
}

const upper = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`
const toDocument = (name: string, { edge }: Creation) =>
  `mutation ($input: ${upper(name)}Input!) { result: ${name}(input: $input) {
    __typename ... on ${upper(name)}Payload { edge: ${edge} { cursor node { id } } } } }`

describe('the edge of a creation', () => {
  test('exists for every object that has a list', () => {
    const withEdge = objectTypes.filter(
      (type) =>
        /^Create\w+Payload$/.test(type.name) &&
        Object.keys(type.getFields()).some((name) => name.endsWith('Edge')),
    )
    expect(withEdge.map(({ name }) => name).sort()).toEqual(
      Object.keys(CREATIONS)
        .map((name) => `${upper(name)}Payload`)
        .sort(),
    )
    for (const { list } of Object.values(CREATIONS))
      expect(schema.getQueryType()?.getFields()[list]).toBeDefined()
  })

  test.for(Object.entries(CREATIONS))(
    'of %s has the cursor that the list gives, for `after` and `before`',
    async ([name, creation], { tenant, token, systemToken, server }) => {
      const isTenant = name === 'createTenant'
      const post = async (query: string, variables: object = {}) =>
        (isTenant
          ? await server.post(SYSTEM_TENANT, systemToken, query, variables)
          : await server.post(tenant, token, query, variables)
        ).body.data
      const create = async (count: number) =>
        (await post(toDocument(name, creation), { input: creation.input(count) })).result.edge
      const edges = [await create(1), await create(2)]
      const [first, second] = edges.sort((one, other) => (one.node.id < other.node.id ? -1 : 1))
      const read = async (args: string, cursor: string) =>
        (
          await post(
            `query ($cursor: String) { list: ${creation.list}(${args}: $cursor) { edges { cursor node { id } } } }`,
            { cursor },
          )
        ).list.edges
      const after = await read('first: 1, after', first.cursor)
      if (isTenant) expect(after).toHaveLength(1)
      else expect(after).toEqual([second])
      const before = await read('last: 1, before', second.cursor)
      if (isTenant) expect(before).toHaveLength(1)
      else expect(before).toEqual([first])
      expect(await read('first: 1, after', before[0].cursor)).toEqual([second])
    },
  )

  test('requires the scope of the list, and leaves the object created', async ({ tenant, server }) => {
    const blind = await tokenFor(tenant, ['users:write'])
    const { body } = await server.post(
      tenant,
      blind,
      `mutation { createUser(input: { name: "Blind" }) { __typename ... on CreateUserPayload { userEdge { cursor } } } }`,
    )
    expect(body.data.createUser).toEqual({ __typename: 'CreateUserPayload', userEdge: null })
    expect(body.errors).toMatchObject([
      { message: 'Requires scope users:read.', path: ['createUser', 'userEdge'] },
    ])
  })

  test('is not a cursor of the list of another tenant', async ({ tenant, token, server }) => {
    const { body } = await server.post(
      tenant,
      token,
      toDocument('createUser', CREATIONS.createUser as Creation),
      { input: { name: 'Ada' } },
    )
    const other = await newTenant()
    const read = await server.post(
      other,
      await tokenFor(other),
      'query ($cursor: String) { users(first: 1, after: $cursor) { nodes { id } } }',
      { cursor: body.data.result.edge.cursor },
    )
    expect(read.body.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
  })
})
