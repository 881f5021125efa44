import type { GraphQLObjectType } from 'graphql'
import { describe, expect } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { CLAIM_DEFINITIONS } from '../../src/users/claims.ts'
import { test as base } from '../support/account.ts'
import { sql } from '../support/database.ts'
import { schema } from '../support/schema.ts'

const USER_FIELDS = Object.keys((schema.getType('User') as GraphQLObjectType).getFields())
/** Fields that are other objects, with what is selected of them. */
const NESTED: Record<string, string> = {
  address: '{ locality }',
  sessions: '{ nodes { id lastSeenIp } }',
  credentials: '{ nodes { id } }',
  idpUsers: '{ nodes { id } }',
  consents: '{ nodes { clientId } }',
  memberships: '{ nodes { id } }',
  organizations: '{ nodes { slug } }',
}
/** Fields that are read with a management scope only. */
const MANAGED: Record<string, string> = {
  appMetadata: '',
  appRoles: '{ name }',
  groups: '{ name }',
  permissions: '{ name }',
  deletion: '{ dueAt }',
  signInLimits: '{ channel }',
}
const toFieldName = (claim: string): string => claim.replace(/_(.)/g, (_, letter) => letter.toUpperCase())
const CLAIM_SCOPES = new Map(
  Object.entries(CLAIM_DEFINITIONS).map(([claim, { scope }]) => [toFieldName(claim), scope as string]),
)

/** With a token of the signed-in user that has exactly these scopes and is accepted by the API. */
const test = base
  /** One user for all tests of the file: a network is sent 30 codes an hour. */
  .extend('viewer', { scope: 'file' }, ({ newSignedIn }) => newSignedIn())
  .extend(
    'tokenOf',
    ({ tenant, spa, viewer }) =>
      (scopes: string[]) =>
        issueAccessToken(tenant, {
          subject: viewer.userId,
          clientId: spa.id,
          scopes,
          audience: [apiAudienceOf(tenant)],
          lifetimeSeconds: 600,
          sessionId: viewer.sessionId,
        }),
  )
  /** Whether the token may read a field of the viewer. */
  .extend('canRead', ({ gql }) => async (token: string, selection: string) => {
    const { body } = await gql(`{ viewer { ${selection} } }`, {}, { token })
    for (const { extensions } of body.errors ?? []) expect(extensions.code).toBe('FORBIDDEN')
    return !body.errors
  })

describe('a field of the viewer', () => {
  test.for(USER_FIELDS.filter((name) => !Object.hasOwn(MANAGED, name)))(
    'user.%s is read with the scope of its claim or account, and with nothing else',
    async (name, { tokenOf, canRead }) => {
      const selection = `user { ${name} ${NESTED[name] ?? ''} }`
      const scope = name === 'id' ? 'openid' : (CLAIM_SCOPES.get(name) ?? 'account')
      const others = ['profile', 'email', 'phone', 'address', 'session', 'offline_access']
      expect(await canRead(await tokenOf(['openid', scope]), selection)).toBe(true)
      expect(await canRead(await tokenOf(['account']), selection)).toBe(true)
      const without = ['openid', ...others].filter((other) => other !== scope)
      expect(await canRead(await tokenOf(without), selection)).toBe(false)
    },
  )

  test.for(Object.entries(MANAGED))(
    'user.%s is read with its management scope only',
    async ([name, nested], { tokenOf, canRead }) => {
      expect(await canRead(await tokenOf(['openid', 'account']), `user { ${name} ${nested} }`)).toBe(false)
    },
  )

  test('session is read with account only', async ({ tokenOf, canRead }) => {
    expect(await canRead(await tokenOf(['openid', 'session']), 'session { id lastSeenIp }')).toBe(false)
    expect(await canRead(await tokenOf(['openid', 'account']), 'session { id lastSeenIp }')).toBe(true)
  })

  test('client has no configuration, in any way that a user can name the client', async ({
    tenant,
    spa,
    gql,
    viewer,
  }) => {
    const fields = (schema.getType('PublicClient') as GraphQLObjectType).getFields()
    expect(Object.keys(fields).sort()).toEqual(['id', 'logoUrl', 'name', 'themeColor'])
    // As a session that was started through the API.
    await sql('UPDATE "Session" SET "clientId" = $3 WHERE "tenantId" = $1 AND "id" = $2', [
      tenant,
      viewer.sessionId,
      spa.id,
    ])
    const query = `query ($id: ID!) {
      viewer { client { id name } session { client { scopes } } }
      node(id: $id) { ... on Client { resources } }
      client(id: $id) { scopes }
    }`
    const { body } = await gql(query, { id: spa.id }, { token: viewer.token })
    expect(body.data).toEqual({
      viewer: { client: { id: spa.id, name: expect.any(String) }, session: { client: null } },
      node: null,
      client: null,
    })
    expect(body.errors).toHaveLength(3)
  })
})

describe('scope account', () => {
  test('ends with its assignment to the client, also for tokens that have been issued', async ({
    tenant,
    spa,
    gql,
    viewer,
  }) => {
    const read = async () =>
      (await gql('{ viewer { user { email } } }', {}, { token: viewer.token })).body.data.viewer.user?.email
    expect(await read()).toBe(viewer.email)
    await updateClient(createPlatformCtx(tenant), spa.id, { scopes: [] })
    expect(await read()).toBeNull()
    await updateClient(createPlatformCtx(tenant), spa.id, { scopes: ['account'] })
  })
})
