import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import '../../src/generated/prisma/client.ts'
import { createIdentityProvider, listIdentityProviders } from '../../src/idps/idps.ts'
import { isIdpId } from '../../src/schema/idp-id.ts'
import { ctxFor, newTenant, TENANT_SCOPES } from '../support/actors.ts'
import { test as base, newIdpId } from '../support/idps.ts'
import type { Json } from '../support/json.ts'
import { countStatements } from '../support/statements.ts'

const IDS = ['Zeta', 'a.b', 'alpha', 'beta_1', 'gamma-2']

/** With five identity providers, which only their own tenant has. */
const test = base.extend('idps', { scope: 'file' }, async () => {
  const slug = await newTenant()
  for (const id of [...IDS].reverse())
    await createIdentityProvider(createPlatformCtx(slug), { id, type: 'google', name: id })
  return { tenant: slug }
})

describe('createIdentityProvider without scope idps:read', () => {
  test('creates the provider and reports FORBIDDEN for reading it', async ({ gql, findStored }) => {
    const scopes = TENANT_SCOPES.filter((scope) => scope !== 'idps:read')
    const id = newIdpId()
    const { body } = await gql(
      `mutation { createIdentityProvider(input: {id: "${id}", type: GOOGLE, name: "x"}) {
        __typename ... on CreateIdentityProviderPayload { identityProvider { id } } } }`,
      {},
      { scopes },
    )
    expect(body.data.createIdentityProvider).toEqual({
      __typename: 'CreateIdentityProviderPayload',
      identityProvider: null,
    })
    expect(body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    expect(await findStored(id)).toMatchObject({ id })
  })
})

describe('lists of identity providers', () => {
  test('are in order of id, by page over REST', async ({ rest, idps }) => {
    const page = (query: string) => rest('GET', `/idps${query}`, undefined, idps)
    const first = await page('?page=0&pageSize=2')
    expect(first.body).toMatchObject({ page: 0, pageSize: 2, totalSize: 5 })
    expect(first.body.idps.map(({ id }: Json) => id)).toEqual(IDS.slice(0, 2))
    const third = await page('?page=2&pageSize=2')
    expect(third.body.idps.map(({ id }: Json) => id)).toEqual(IDS.slice(4))
    expect((await page('')).body).toMatchObject({ page: 0, pageSize: 50, totalSize: 5 })
  })

  test('are in order of id, by cursor over GraphQL in both directions', async ({ gql, idps }) => {
    const list = async (args: string) =>
      (
        await gql(
          `{ identityProviders(${args}) { totalSize nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
          {},
          idps,
        )
      ).body.data.identityProviders
    const first = await list('first: 3')
    expect(first).toMatchObject({ totalSize: 5, nodes: IDS.slice(0, 3).map((id) => ({ id })) })
    const second = await list(`first: 3, after: "${first.pageInfo.endCursor}"`)
    expect(second.nodes).toEqual(IDS.slice(3).map((id) => ({ id })))
    expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true })
    const back = await list(`last: 2, before: "${second.pageInfo.startCursor}"`)
    expect(back.nodes).toEqual(IDS.slice(1, 3).map((id) => ({ id })))
  })

  test('need one round trip, and one more for totalSize; a creation needs four', async ({ idps }) => {
    const ctx = await ctxFor(idps.tenant)
    expect(await countStatements(() => listIdentityProviders(ctx, {}))).toBe(1)
    const page = await listIdentityProviders(ctx, {})
    expect(await countStatements(() => page.countAll())).toBe(1)
    expect(
      await countStatements(async () =>
        createIdentityProvider(ctx, { id: 'counted', type: 'google', name: 'x' }),
      ),
    ).toBe(4)
  })
})

describe('Query.node of an identity provider', () => {
  test('finds a provider by its id, and the tenant by its slug', async ({ tenant, gql, writers }) => {
    await writers.REST.create({ id: 'google', type: 'google', name: 'Google' })
    const { body } = await gql(`{ node(id: "google") { __typename id ... on IdentityProvider { name } }
         tenant: node(id: "${tenant}") { __typename id }
         nodes(ids: ["google", "nothing", "${tenant}"]) { __typename } }`)
    expect(body.data).toEqual({
      node: { __typename: 'IdentityProvider', id: 'google', name: 'Google' },
      tenant: { __typename: 'Tenant', id: tenant },
      nodes: [{ __typename: 'IdentityProvider' }, null, { __typename: 'Tenant' }],
    })
  })

  test('requires the scope before it looks up the id', async ({ gql }) => {
    const options = { scopes: ['users:read', 'tenant:read'] as const }
    for (const id of ['google', 'nothing']) {
      const { body } = await gql(`{ node(id: "${id}") { id } }`, {}, options)
      expect(body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    }
    const { body } = await gql('{ node(id: "no id") { id } }', {}, options)
    expect(body.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
  })

  test.each([
    ['google', true],
    ['AzureAD', true],
    ['a', true],
    ['6b1f0f3e-9a0c-4a55-8f0e-2a1d5f1c9a11', true],
    ['user_1', false],
    ['grant_x', false],
    ['a..b', true],
    ['a~b', false],
  ])('accepts id %s: %s', (id, expected) => {
    expect(isIdpId(id)).toBe(expected)
  })
})
