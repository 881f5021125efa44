import { describe, expect } from 'vitest'
import type { Scope } from '../../src/core/scopes.ts'
import { listEvents } from '../../src/events/list.ts'
import { createMembership, deleteMembership } from '../../src/organizations/memberships.ts'
import { createOrganization, listOrganizations } from '../../src/organizations/organizations.ts'
import { listUsers } from '../../src/users/list/user-list.ts'
import { createUser } from '../../src/users/users.ts'
import { ownTokenFor } from '../support/actors.ts'
import { awaitVisible, test as base } from '../support/subscriptions.ts'

const NAMES = ['Zebra AG', 'acme corp', 'Äpfel & Söhne', '山田商事', 'Acme Labs']

const test = base.extend('organizations', { scope: 'file' }, async ({ ctx }) => {
  const made = []
  for (const [index, name] of NAMES.entries())
    made.push(await createOrganization(ctx, { name, slug: `o-${index}`, externalId: `crm-${index}` }))
  return made
})

describe('the list of organizations', () => {
  test('is searched by the beginnings of words, without case and accents', async ({ ctx, organizations }) => {
    expect(organizations).toHaveLength(NAMES.length)
    const find = async (search: string) => {
      const page = await listOrganizations(ctx, { filter: { search } })
      expect(await page.countAll()).toBe(page.rows.length)
      return page.rows.map(({ name }) => name)
    }
    expect(await find('acm')).toEqual(['acme corp', 'Acme Labs'])
    expect(await find('acme LAB')).toEqual(['Acme Labs'])
    expect(await find('apfel sohne')).toEqual(['Äpfel & Söhne'])
    expect(await find('商事')).toEqual(['山田商事'])
    expect(await find('o-0')).toEqual(['Zebra AG'])
    expect(await find('nobody')).toEqual([])
  })

  test('is read page by page, by name and in a search', async ({ ctx, organizations: _ }) => {
    for (const args of [{ orderBy: 'name' }, { filter: { search: 'acme' } }]) {
      const all = (await listOrganizations(ctx, args)).rows.map(({ name }) => name)
      const found: string[] = []
      let after: string | null = null
      do {
        const page = await listOrganizations(ctx, { ...args, first: 1, after })
        found.push(...page.rows.map(({ name }) => name))
        const [row] = page.rows
        after = page.hasNextPage && row ? page.encodeRowCursor(row) : null
      } while (after)
      expect(found).toEqual(all)
    }
    const byName = await listOrganizations(ctx, { orderBy: 'name', direction: 'desc', first: 2 })
    expect(byName.rows.map(({ name }) => name)).toEqual(['山田商事', 'Zebra AG'])
  })

  test('has no order besides that of a search', async ({ ctx }) => {
    await expect(
      listOrganizations(ctx, { filter: { search: 'acme' }, orderBy: 'name' }),
    ).rejects.toMatchObject({ fields: [{ field: 'orderBy' }] })
  })
})

describe('the filter by an organization', () => {
  test('selects its members and the events about it', async ({ ctx, organizations }) => {
    const [organization] = organizations
    const organizationId = organization?.id ?? ''
    const { id: userId } = await createUser(ctx, {})
    const { id } = await createMembership(ctx, organizationId, { userId })
    const listMembers = async () =>
      (await listUsers(ctx, { filter: { organizationId } })).rows.map((user) => user.id)
    expect(await listMembers()).toEqual([userId])
    await awaitVisible(ctx.tenant)
    const { rows } = await listEvents(ctx, { filter: { organizationId, types: ['membership.created'] } })
    expect(rows.map((event) => event.userId)).toEqual([userId])
    await deleteMembership(ctx, id)
    expect(await listMembers()).toEqual([])
  })

  test('of users requires the scope that reads members', async ({ ctx, organizations }) => {
    const filter = { organizationId: organizations[0]?.id }
    const limited = { ...ctx, actor: { ...ctx.actor }, scopes: new Set<Scope>(['users:read']) }
    await expect(listUsers(limited, { filter })).rejects.toThrow('organizations:read')
  })
})

describe('a subscription to memberships', () => {
  const QUERY = `subscription { membershipChanged { ... on MembershipEvent {
    kind userId organizationId membership { joinedVia organization { name } } } } }`

  test('has those of the own user only with a token of account', async ({
    tenant,
    ctx,
    appId,
    organizations,
    follow,
  }) => {
    const organizationId = organizations[1]?.id ?? ''
    const { id: userId } = await createUser(ctx, {})
    const { id: otherId } = await createUser(ctx, {})
    const stream = await follow(QUERY, {}, { token: await ownTokenFor(tenant, userId, appId) })
    await createMembership(ctx, organizationId, { userId: otherId })
    const { id } = await createMembership(ctx, organizationId, { userId })
    expect((await stream.next())?.data).toMatchObject({
      data: {
        membershipChanged: {
          kind: 'CREATED',
          userId,
          organizationId,
          membership: { joinedVia: 'ADMINISTRATOR', organization: { name: 'acme corp' } },
        },
      },
    })
    await deleteMembership(ctx, id)
    expect((await stream.next())?.data?.data.membershipChanged).toMatchObject({
      kind: 'DELETED',
      membership: null,
    })
  })
})
