import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { newId } from '../../src/core/crypto.ts'
import { addIdpUser, linkIdpUser, unlinkIdpUser } from '../../src/idps/idp-links.ts'
import { getIdpUser, listIdpUsers } from '../../src/idps/idp-users.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { createUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import type { CallOptions } from '../support/calls.ts'
import { test as base } from '../support/idp-links.ts'
import { newIdpId } from '../support/idps.ts'
import type { Json } from '../support/json.ts'
import { countStatements, leastStatements } from '../support/statements.ts'

/** With a user who has five links. */
const test = base
  .extend('owner', { scope: 'file' }, async ({ tenant, newUserId }) => {
    const ctx = createPlatformCtx(tenant)
    const userId = await newUserId()
    const ids: string[] = []
    for (let index = 0; index < 5; index++) {
      const { id } = await createIdentityProvider(ctx, { id: newIdpId(), type: 'google', name: 'Upstream' })
      ids.push(id)
      await addIdpUser(ctx, userId, id, { externalId: `list-${index}` })
    }
    return { userId, ids }
  })
  .extend('readPage', { scope: 'file' }, ({ rest }) => async (path: string) => {
    const { status, body } = await rest('GET', `/users/${path}`)
    return { ...body, status }
  })

describe('concurrent links', () => {
  test('of ten users to one identity succeed for one', async ({
    tenant,
    upstream,
    newIdp,
    newUserId,
    claims,
  }) => {
    const idpId = await newIdp()
    const ctx = createPlatformCtx(tenant)
    const users = await Promise.all(Array.from({ length: 10 }, () => newUserId()))
    const idToken = await upstream.sign(claims(`race-${idpId}`))
    const results = await Promise.allSettled(
      users.map((userId, i) =>
        i % 2
          ? linkIdpUser(ctx, userId, idpId, { idToken })
          : addIdpUser(ctx, userId, idpId, { externalId: `race-${idpId}` }),
      ),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'CONFLICT', status: 409 })
  })

  test('by one proof make one link', async ({
    tenant,
    upstream,
    newIdp,
    newUserId,
    claims,
    readLinkEvents,
  }) => {
    const [userId, idpId] = [await newUserId(), await newIdp()]
    const idToken = await upstream.sign(claims(`same-${idpId}`))
    const links = await Promise.all(
      Array.from({ length: 10 }, () => linkIdpUser(createPlatformCtx(tenant), userId, idpId, { idToken })),
    )
    expect(new Set(links.map(({ id }) => id)).size).toBe(1)
    expect(await readLinkEvents(userId)).toHaveLength(1)
  })
})

describe('lists of links', () => {
  test('of a user are read by page over REST', async ({ newUserId, owner, readPage }) => {
    const first = await readPage(`${owner.userId}/idps?page=0&pageSize=2`)
    expect(first).toMatchObject({ status: 200, page: 0, pageSize: 2, totalSize: 5 })
    expect(first.idpUsers.map((link: Json) => link.idpId)).toEqual(owner.ids.slice(0, 2))
    expect((await readPage(`${owner.userId}/idps?page=2&pageSize=2`)).idpUsers).toHaveLength(1)
    expect(await readPage(`${await newUserId()}/idps`)).toMatchObject({ totalSize: 0, idpUsers: [] })
    expect(await readPage(`${newId('user')}/idps`)).toMatchObject({ status: 404 })
  })

  test('of a user are read by cursor over GraphQL, with the provider and the user', async ({
    gql,
    owner,
  }) => {
    const list = async (args: string) =>
      (
        await gql(
          `{ user(id: "${owner.userId}") { idpUsers(${args}) { totalSize nodes { id externalId idp { id name } user { id } }
             pageInfo { endCursor hasNextPage } } } }`,
        )
      ).body.data.user.idpUsers
    const first = await list('first: 3')
    expect(first).toMatchObject({ totalSize: 5, pageInfo: { hasNextPage: true } })
    expect(first.nodes[0]).toMatchObject({
      idp: { id: owner.ids[0], name: 'Upstream' },
      user: { id: owner.userId },
    })
    const second = await list(`first: 3, after: "${first.pageInfo.endCursor}"`)
    expect([...first.nodes, ...second.nodes].map(({ idp }: Json) => idp.id)).toEqual(owner.ids)
  })

  test('include links that Query.node finds in the same tenant with the scope', async ({
    gql,
    findStored,
    owner,
  }) => {
    const [stored] = await findStored(owner.userId)
    const read = async (options: CallOptions = {}) =>
      (await gql(`{ node(id: "${stored?.id}") { id __typename } }`, {}, options)).body
    expect((await read()).data).toEqual({ node: { id: stored?.id, __typename: 'IdpUser' } })
    expect((await read({ scopes: ['users:read'] })).errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    const other = await newTenant()
    expect((await read({ tenant: other })).data).toEqual({ node: null })
  })
})

describe('round trips of links', () => {
  test('are one for a list, one more for totalSize and one for a link', async ({
    ctx,
    upstream,
    newIdp,
    newUserId,
    claims,
  }) => {
    const [userId, idpId] = [await newUserId(), await newIdp()]
    expect(await countStatements(() => addIdpUser(ctx, userId, idpId, { externalId: 'counted' }))).toBe(7)
    expect(await countStatements(() => listIdpUsers(ctx, userId, {}))).toBe(1)
    const page = await listIdpUsers(ctx, userId, {})
    expect(await countStatements(() => page.countAll())).toBe(1)
    expect(await countStatements(() => getIdpUser(ctx, userId, idpId))).toBe(1)
    const idToken = await upstream.sign(claims('counted'))
    expect(await countStatements(() => linkIdpUser(ctx, userId, idpId, { idToken }))).toBe(9)
    expect(await countStatements(() => unlinkIdpUser(ctx, userId, idpId))).toBe(6)
  })

  test('are one for fifty users with their links', async ({ gql }) => {
    const slug = await newTenant()
    const ctx = createPlatformCtx(slug)
    await createIdentityProvider(ctx, { id: 'up', type: 'google', name: 'Up' })
    for (let i = 0; i < 50; i++) {
      const { id } = await createUser(ctx, {})
      await addIdpUser(ctx, id, 'up', { externalId: `e${i}` })
    }
    const query = '{ users(first: 50) { nodes { id idpUsers(first: 5) { nodes { externalId metadata } } } } }'
    let body: Json
    const ask = async () => {
      body = (await gql(query, {}, { tenant: slug })).body
    }
    await ask()
    expect(await leastStatements(ask)).toBe(1)
    expect(body.data.users.nodes).toHaveLength(50)
    expect(body.data.users.nodes[7].idpUsers.nodes).toEqual([{ externalId: 'e7', metadata: {} }])
  })
})
