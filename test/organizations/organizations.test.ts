import { describe, expect } from 'vitest'
import { newId } from '../../src/core/crypto.ts'
import { toAppError } from '../../src/core/to-app-error.ts'
import {
  createMembership,
  deleteMembership,
  listMembers,
  listUserOrganizations,
} from '../../src/organizations/memberships.ts'
import {
  createOrganization,
  deleteOrganization,
  updateOrganization,
} from '../../src/organizations/organizations.ts'
import { test as base } from '../support/account.ts'
import { logOf } from '../support/events.ts'
import { leastStatements } from '../support/statements.ts'

/** The error that the caller sees. */
const asCaller = (made: Promise<unknown>) =>
  made.catch((error) => {
    throw toAppError(error)
  })

let count = 0
const test = base.extend('newOrganization', { scope: 'file' }, ({ ctx }) => (more: object = {}) => {
  count += 1
  return createOrganization(ctx, { slug: `organization-${count}`, name: 'Acme', ...more })
})

describe('an organization', () => {
  test('takes a slug and an externalId once in a tenant', async ({ ctx, newOrganization }) => {
    await newOrganization({ slug: 'taken', externalId: 'crm-1' })
    const taken = (field: string) => ({ code: 'CONFLICT', fields: [{ field, description: 'is taken' }] })
    await expect(asCaller(newOrganization({ slug: 'taken' }))).rejects.toMatchObject(taken('slug'))
    await expect(asCaller(newOrganization({ externalId: 'crm-1' }))).rejects.toMatchObject(
      taken('externalId'),
    )
    const { id } = await newOrganization()
    await expect(asCaller(updateOrganization(ctx, id, { slug: 'taken' }))).rejects.toMatchObject(
      taken('slug'),
    )
  })

  test('is created once by two requests at the same time', async ({ newOrganization }) => {
    const results = await Promise.allSettled([1, 2, 3].map(() => newOrganization({ slug: 'race' })))
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
  })

  test('leaves updatedAt and the log alone when nothing changes', async ({ ctx, newOrganization }) => {
    const { id, name, updatedAt } = await newOrganization({ metadata: { plan: 'pro' } })
    const same = await updateOrganization(ctx, id, { name, metadata: { plan: 'pro' } })
    expect(same.updatedAt).toEqual(updatedAt)
    await updateOrganization(ctx, id, { name: 'Other' })
    const log = (await logOf(ctx.tenant)).filter(({ organizationId }) => organizationId === id)
    expect(log.map(({ type, changedFields }) => [type, changedFields])).toEqual([
      ['organization.created', []],
      ['organization.updated', ['name']],
    ])
  })
})

describe('a membership', () => {
  test('exists once for a user in an organization, whatever arrives together', async ({
    ctx,
    newOrganization,
    newPerson,
  }) => {
    const { id } = await newOrganization()
    const { id: userId } = await newPerson()
    const results = await Promise.allSettled([1, 2, 3].map(() => createMembership(ctx, id, { userId })))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await listMembers(ctx, id, {})).rows).toHaveLength(1)
  })

  test('names the user who does not exist, and no user without the organization', async ({
    ctx,
    newOrganization,
    newPerson,
  }) => {
    const { id } = await newOrganization()
    await expect(createMembership(ctx, id, { userId: newId('user') })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      fields: [{ field: 'userId', description: 'is not a user of this tenant' }],
    })
    const person = await newPerson()
    await expect(createMembership(ctx, newId('organization'), { userId: person.id })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: 'No such organization.',
    })
  })

  test('leads to the organizations of many users, page by page, in few statements', async ({
    ctx,
    gql,
    newOrganization,
    newPerson,
  }) => {
    const organizations = [await newOrganization(), await newOrganization()]
    const people = [await newPerson(), await newPerson(), await newPerson()]
    for (const { id: userId } of people)
      for (const { id } of organizations) await createMembership(ctx, id, { userId })
    const document = `query ($ids: [ID!]!, $after: String) { nodes(ids: $ids) { ... on User {
      organizations(first: 1, after: $after) { totalSize nodes { slug } pageInfo { endCursor hasNextPage } } } } }`
    const read = async (ids: string[], after: string | null = null) =>
      (await gql(document, { ids, after })).body.data.nodes.map(
        ({ organizations: page }: { organizations: object }) => page,
      )
    const [first] = await read([people[0]?.id ?? ''])
    expect(first).toMatchObject({ totalSize: 2, nodes: [{ slug: organizations[0]?.slug }] })
    expect(await read([people[0]?.id ?? ''], first.pageInfo.endCursor)).toMatchObject([
      { nodes: [{ slug: organizations[1]?.slug }], pageInfo: { hasNextPage: false } },
    ])
    const list = `query ($first: Int!) { users(first: $first) { nodes { organizations { nodes { slug } } } } }`
    const count = (first: number) => leastStatements(() => gql(list, { first }))
    expect(await count(50)).toBe(await count(1))
  })

  test('ends with the organization, and no user joins meanwhile', async ({
    ctx,
    newOrganization,
    newPerson,
  }) => {
    const { id } = await newOrganization()
    const { id: userId } = await newPerson()
    const { id: otherId } = await newPerson()
    await createMembership(ctx, id, { userId })
    const [deleted] = await Promise.allSettled([
      deleteOrganization(ctx, id),
      createMembership(ctx, id, { userId: otherId }),
    ])
    expect(deleted.status).toBe('fulfilled')
    await expect(asCaller(createMembership(ctx, id, { userId }))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    for (const member of [userId, otherId])
      expect((await listUserOrganizations(ctx, member, {})).rows).toEqual([])
  })

  test('is in the log of the organization and of the user', async ({ ctx, newOrganization, newPerson }) => {
    const { id } = await newOrganization()
    const { id: userId } = await newPerson()
    const membership = await createMembership(ctx, id, { userId })
    await deleteMembership(ctx, membership.id)
    const log = (await logOf(ctx.tenant))
      .filter((event) => event.organizationId === id && event.userId === userId)
      .map(({ type, subjectIds }) => [type, subjectIds])
    expect(log).toEqual([
      ['membership.created', [membership.id]],
      ['membership.deleted', [membership.id]],
    ])
  })
})

describe('a member with a token of account', () => {
  test('reads the name of the organization, and neither its metadata nor its members', async ({
    ctx,
    gql,
    newOrganization,
    newSignedIn,
  }) => {
    const { id } = await newOrganization({ name: 'Globex', metadata: { plan: 'pro' } })
    const viewer = await newSignedIn()
    await createMembership(ctx, id, { userId: viewer.userId })
    const read = (selection: string) =>
      gql(
        `{ viewer { user { memberships { nodes { joinedVia organization { ${selection} } } } organizations { nodes { ${selection} } } } } }`,
        {},
        { token: viewer.token },
      )
    const { body } = await read('name')
    expect(body.errors).toBeUndefined()
    expect(body.data?.viewer.user).toEqual({
      memberships: { nodes: [{ joinedVia: 'ADMINISTRATOR', organization: { name: 'Globex' } }] },
      organizations: { nodes: [{ name: 'Globex' }] },
    })
    for (const field of ['metadata', 'externalId', 'members { totalSize }'])
      expect((await read(field)).body.errors?.map(({ extensions }) => extensions.code)).toEqual([
        'FORBIDDEN',
        'FORBIDDEN',
      ])
    const direct = await gql(`{ organization(id: "${id}") { name } }`, {}, { token: viewer.token })
    expect(direct.body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
  })
})
