import { describe, expect } from 'vitest'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { newId } from '../../src/core/crypto.ts'
import { createInvitation } from '../../src/invitations/invitations.ts'
import { getSigningKeys } from '../../src/keys/key-rotation.ts'
import { createRegistrationToken } from '../../src/registration/registration-tokens.ts'
import { createUser } from '../../src/users/users.ts'
import { ctxFor, newTenant, ownTokenFor, tokenFor } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { test } from '../support/graphql-test.ts'
import { countWarmStatements } from '../support/statements.ts'

/** The types whose ids are composed, or that are read by `node` and by no query; and the scope of each. */
const SCOPES = {
  Invitation: 'users:read',
  RegistrationToken: 'clients:read',
  Consent: 'users:read',
  SigningKey: 'tenant:read',
} as const
type Name = keyof typeof SCOPES
const NAMES = Object.keys(SCOPES) as Name[]

const SELECTION = `__typename id
  ... on Invitation { email } ... on RegistrationToken { note }
  ... on Consent { clientName scopes { scope } } ... on SigningKey { kid }`
const NODES = `query ($ids: [ID!]!) { nodes(ids: $ids) { ${SELECTION} } }`

/** Makes one object of each type in a tenant. Returns their ids. */
async function makeObjects(tenant: string) {
  const ctx = await ctxFor(tenant)
  const invitation = await createInvitation(ctx, { email: `guest-${newId('user').slice(-8)}@nodes.example` })
  const { registrationToken } = await createRegistrationToken(ctx, { note: 'Partner' })
  const user = await createUser(ctx, { name: 'Ada' })
  const { client } = await createClient(createPlatformCtx(tenant), {
    name: 'Shop',
    appType: 'web',
    type: 'login',
    scopes: ['account'],
  })
  await dbFor(tenant).consent.create({
    data: { tenantId: tenant, userId: user.id, clientId: client.id, scopes: ['openid', 'email'] },
  })
  const [key] = await getSigningKeys(ctx)
  return {
    userId: user.id,
    clientId: client.id,
    ids: {
      Invitation: invitation.id,
      RegistrationToken: registrationToken.id,
      Consent: `consent~${user.id}~${client.id}`,
      SigningKey: `key~${key?.kid}`,
    } satisfies Record<Name, string>,
  }
}

describe('Query.nodes', () => {
  test('returns invitations, registration tokens, consents and signing keys by their ids', async ({
    tenant,
    token,
    server,
  }) => {
    const { ids } = await makeObjects(tenant)
    const { body } = await server.post(tenant, token, NODES, { ids: NAMES.map((name) => ids[name]) })
    expect(body).toEqual({
      data: {
        nodes: [
          expect.objectContaining({ __typename: 'Invitation', id: ids.Invitation }),
          { __typename: 'RegistrationToken', id: ids.RegistrationToken, note: 'Partner' },
          {
            __typename: 'Consent',
            id: ids.Consent,
            clientName: 'Shop',
            scopes: [{ scope: 'openid' }, { scope: 'email' }],
          },
          { __typename: 'SigningKey', id: ids.SigningKey, kid: ids.SigningKey.slice('key~'.length) },
        ],
      },
    })
  })

  test('has the ids that lists and nested lists give', async ({ tenant, token, server }) => {
    const { userId, ids } = await makeObjects(tenant)
    const { body } = await server.post(
      tenant,
      token,
      'query ($id: ID!) { user(id: $id) { consents { nodes { id } } } signingKeys { id } }',
      { id: userId },
    )
    expect(body.data.user.consents.nodes).toEqual([{ id: ids.Consent }])
    expect(body.data.signingKeys).toContainEqual({ id: ids.SigningKey })
  })

  test.for(NAMES)(
    'requires the scope of %s, whether the object exists or not',
    async (name, { tenant, server }) => {
      const { ids } = await makeObjects(tenant)
      const blind = await tokenFor(tenant, ['sessions:read'])
      const unknown = `${ids[name].slice(0, -1)}${ids[name].endsWith('0') ? '1' : '0'}`
      const { body } = await server.post(tenant, blind, NODES, { ids: [ids[name], unknown] })
      expect(body.data).toEqual({ nodes: [null, null] })
      expect(body.errors).toHaveLength(2)
      for (const { message } of body.errors ?? []) expect(message).toBe(`Requires scope ${SCOPES[name]}.`)
    },
  )

  test.for(NAMES)('returns no %s of another tenant', async (name, { tenant, server }) => {
    const { ids } = await makeObjects(tenant)
    const other = await newTenant()
    const { body } = await server.post(other, await tokenFor(other), NODES, { ids: [ids[name]] })
    expect(body).toEqual({ data: { nodes: [null] } })
  })

  test.for([
    'consent~',
    'consent~~',
    'consent~user_x',
    'consent~user_x~',
    'consent~\u0000~x',
    'consent~user_x~\ud800',
    'key~',
    'key~x',
    'key~~~',
    'key~\u0000',
  ])(
    'returns null for %j, which identifies nothing, and the object of another id',
    async (id, { tenant, token, server }) => {
      const { ids } = await makeObjects(tenant)
      const { body } = await server.post(tenant, token, NODES, { ids: [id, ids.Consent] })
      expect(body).toEqual({ data: { nodes: [null, expect.objectContaining({ id: ids.Consent })] } })
    },
  )

  test('lets users read their own consents with account, and those of no other user', async ({
    tenant,
    server,
  }) => {
    const { userId, clientId, ids } = await makeObjects(tenant)
    const stranger = await makeObjects(tenant)
    const own = await ownTokenFor(tenant, userId, clientId)
    const { body } = await server.post(tenant, own, NODES, { ids: [ids.Consent, stranger.ids.Consent] })
    expect(body.data.nodes).toEqual([expect.objectContaining({ id: ids.Consent }), null])
    expect(body.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
  })

  test.for(NAMES)('reads several of %s by one statement', async (name, { tenant, token, server }) => {
    const objects = [await makeObjects(tenant), await makeObjects(tenant)]
    const ids = objects.map((each) => each.ids[name])
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename } }'
    const count = (some: string[]) => {
      const send = () => server.post(tenant, token, query, { ids: some })
      return countWarmStatements(send, send)
    }
    expect(await count(ids)).toBe(await count(ids.slice(0, 1)))
  })
})
