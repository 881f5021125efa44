import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { previewToken } from '../../../src/oidc/explain/preview-token.ts'
import { createMembership } from '../../../src/organizations/memberships.ts'
import { createOrganization } from '../../../src/organizations/organizations.ts'
import { createApi } from '../../../src/permissions/apis.ts'
import { createAppRole } from '../../../src/permissions/app-roles.ts'
import { addGroupMembers, createGroup } from '../../../src/permissions/groups.ts'
import {
  setGroupAppRoles,
  setMembershipAppRoles,
  setUserAppRoles,
} from '../../../src/permissions/role-assignments.ts'
import { countWarmStatements, leastStatements } from '../../support/statements.ts'
import { test as base } from '../../support/visitor.ts'

const SHOP = 'https://api.shop.example'
const STOCK = 'https://api.stock.example'
const BOTH = ['id_token', 'userinfo']
const MAPPINGS = [
  { claim: 'roles', source: 'roles', targets: BOTH },
  { claim: 'shop_roles', source: 'roles', path: SHOP, targets: ['access_token'] },
  { claim: 'teams', source: 'groups', path: 'organization', targets: BOTH },
  { claim: 'company', source: 'organization', path: 'name', targets: BOTH },
  { claim: 'plan', source: 'organization', path: '/plan', scope: 'billing', targets: ['id_token'] },
]
const SCOPE = 'openid offline_access billing'

const test = base
  .extend('shop', { scope: 'file' }, ({ newClient }) =>
    newClient({ claimMappings: MAPPINGS, groupsClaim: true }),
  )
  .extend('world', { scope: 'file' }, async ({ ctx, newVisitor }) => {
    const api = (identifier: string, more: object = {}) =>
      createApi(ctx, { identifier, name: identifier, permissions: [{ name: 'read' }], ...more })
    const [shopApi, stockApi] = [
      await api(SHOP, {
        groupsInTokens: true,
        claimMappings: [
          { claim: 'company', source: 'organization', path: 'externalId', targets: ['access_token'] },
          { claim: 'bio', source: 'userMetadata', path: '/bio', targets: ['access_token'] },
        ],
      }),
      await api(STOCK),
    ]
    const role = (name: string, apiId: string) =>
      createAppRole(ctx, { name, assignableTo: ['user', 'member'], permissions: [{ apiId, name: 'read' }] })
    const [clerk, keeper, guest] = [
      await role('clerk', shopApi.id),
      await role('keeper', stockApi.id),
      await role('guest', shopApi.id),
    ]
    const ada = await newVisitor({ userMetadata: { bio: 'x'.repeat(5000) } })
    const acme = await createOrganization(ctx, {
      ...{ name: 'Acme', slug: 'acme', externalId: 'A-1', metadata: { plan: 'gold' } },
    })
    const { id } = await createMembership(ctx, acme.id, { userId: ada.user.id })
    await setUserAppRoles(ctx, ada.user.id, { appRoleIds: [clerk.id] })
    await setMembershipAppRoles(ctx, id, { appRoleIds: [guest.id] })
    const outer = await createGroup(ctx, { name: 'outer' })
    const inner = await createGroup(ctx, { name: 'inner', parentId: outer.id })
    // A group of an organization cannot be mistaken for one of the tenant.
    const own = await createGroup(ctx, { name: 'admins', organizationId: acme.id })
    await setGroupAppRoles(ctx, outer.id, { appRoleIds: [keeper.id] })
    for (const group of [inner, own]) await addGroupMembers(ctx, group.id, { userIds: [ada.user.id] })
    return { ada, acme, shopApi }
  })

describe('claims of roles, groups and the organization', () => {
  test('come out for the organization of the token, and in a preview', async ({ ctx, shop, world, oidc }) => {
    const { ada, acme } = world
    const inAcme = {
      roles: ['clerk', 'guest', 'keeper'],
      teams: ['admins'],
      groups: ['inner', 'outer'],
      company: 'Acme',
    }
    const tokens = await ada.newTokens({ scope: SCOPE, organization: 'acme' }, shop)
    expect(decodeJwt(tokens.id_token)).toMatchObject({ ...inAcme, plan: 'gold' })
    expect(decodeJwt(tokens.access_token)).toMatchObject({ shop_roles: ['clerk', 'guest'] })
    expect(decodeJwt(tokens.access_token)).not.toHaveProperty('groups')
    expect(await (await oidc.userinfo(tokens.access_token)).json()).toMatchObject(inAcme)
    const about = { userId: ada.user.id, clientId: shop.id, scope: SCOPE, organization: acme.id }
    expect((await previewToken(ctx, about)).idToken).toMatchObject({ ...inAcme, plan: 'gold' })
    const alone = await oidc.refresh((await ada.newTokens({ scope: SCOPE }, shop)).refresh_token, {}, shop)
    const idToken = decodeJwt(alone.body.id_token as string)
    expect(idToken).toMatchObject({ roles: ['clerk', 'keeper'], teams: [], groups: ['inner', 'outer'] })
    expect(idToken).not.toHaveProperty('company')
  })

  test('cost no statement', async ({ shop, world: { ada }, oidc }) => {
    const request = { scope: SCOPE, organization: 'acme', resource: SHOP }
    const { refresh_token: token, access_token } = await ada.newTokens(
      { scope: SCOPE, organization: 'acme' },
      shop,
    )
    expect(await leastStatements(() => oidc.refresh(token, {}, shop))).toBe(1)
    expect(await leastStatements(() => oidc.userinfo(access_token))).toBe(1)
    const [code, earlier] = [await ada.newCode(request, shop), await ada.newCode(request, shop)]
    expect(
      await countWarmStatements(
        () => oidc.exchange(earlier, {}, shop),
        () => oidc.exchange(code, {}, shop),
      ),
    ).toBe(1)
  })
})

describe('the claims of an API', () => {
  test('are in access tokens for it alone, and leave out what is too large', async ({
    ctx,
    client,
    world: { ada },
    oidc,
    events,
  }) => {
    const request = { scope: 'openid offline_access', organization: 'acme' }
    const tokens = await ada.newTokens({ ...request, resource: SHOP })
    const given = { groups: ['inner', 'outer'], company: 'A-1' }
    expect(decodeJwt(tokens.access_token)).toMatchObject(given)
    expect(decodeJwt(tokens.access_token)).not.toHaveProperty('bio')
    expect(decodeJwt(tokens.id_token)).not.toHaveProperty('company')
    const { body } = await oidc.refresh(tokens.refresh_token)
    expect(decodeJwt(body.access_token as string)).toMatchObject(given)
    const [omitted] = await events({ type: 'token.claims_omitted', userId: ada.user.id })
    expect(omitted?.detail).toEqual({ target: 'access_token', claims: 'bio' })
    const about = { userId: ada.user.id, clientId: client.id, organization: 'acme', resource: SHOP }
    expect(await previewToken(ctx, about)).toMatchObject({
      accessToken: given,
      omitted: [{ target: 'access_token', claims: ['bio'] }],
    })
    for (const more of [{}, { resource: STOCK }] as Record<string, string>[]) {
      const { access_token } = await ada.newTokens({ ...request, ...more })
      expect(decodeJwt(access_token)).not.toHaveProperty('company')
    }
  })

  test('are asked for by a client that needs consent', async ({ world, newClient, oidc, rest }) => {
    const { ada, shopApi } = world
    const client = await newClient({ requireConsent: true })
    const request = { scope: 'openid offline_access', resource: SHOP }
    const page = await ada.browser.open(oidc.authorizePath(request, client))
    const html = await page.response.text()
    expect(html).toContain('See “groups”')
    await ada.browser.submit({ ...page, html }, { step: 'allow' })
    const tokens = await ada.newTokens(request, client)
    expect(decodeJwt(tokens.access_token)).toMatchObject({ groups: ['inner', 'outer'] })
    const size = { claim: 'size', source: 'user', path: 'locale', targets: ['access_token'] }
    const path = `/apis/${shopApi.id}`
    const { claimMappings } = (await rest('GET', path)).body as { claimMappings: object[] }
    await rest('PATCH', path, { claimMappings: [...claimMappings, size] })
    expect(await ada.authorize(request, client)).toMatchObject({ error: 'consent_required' })
    await rest('PATCH', path, { claimMappings })
  })

  test('are set by callers who may read them, for access tokens alone', async ({
    rest,
    world: { shopApi },
  }) => {
    const path = `/apis/${shopApi.id}`
    const scopes = ['roles:read', 'roles:write'] as const
    for (const change of [
      { identifier: 'https://other.example' },
      { groupsInTokens: false, claimMappings: [] },
    ])
      expect((await rest('PATCH', path, change, { scopes: ['roles:read', 'roles:write'] })).status).toBe(
        change.identifier ? 403 : 200,
      )
    const claim = { claim: 'name', source: 'user', path: 'name', targets: ['access_token'] }
    expect((await rest('PATCH', path, { claimMappings: [claim] }, { scopes: [...scopes] })).status).toBe(403)
    const set = (mapping: object) => rest('PATCH', path, { claimMappings: [{ ...claim, ...mapping }] })
    expect((await set({ targets: BOTH })).body.fields).toMatchObject([{ field: 'claimMappings.0.targets' }])
    expect((await set({ claim: 'permissions' })).body.fields).toMatchObject([
      { field: 'claimMappings.0.claim' },
    ])
    // Users change their profile themselves.
    expect((await set({ claim: 'groups' })).body.fields).toMatchObject([{ field: 'claimMappings.0.claim' }])
    expect((await set({ claim: 'groups', source: 'groups', path: null })).status).toBe(200)
  })
})
