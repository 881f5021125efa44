import { randomUUID } from 'node:crypto'
import { describe, expect } from 'vitest'
import { createApiKey, rotateApiKey } from '../../src/api-keys/api-keys.ts'
import type { Ctx } from '../../src/context/context.ts'
import { Forbidden } from '../../src/core/errors.ts'
import type { Scope } from '../../src/core/scopes.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { addIdpUser } from '../../src/idps/idp-links.ts'
import { createIdentityProvider, updateIdentityProvider } from '../../src/idps/idps.ts'
import { createMembership, updateMembership } from '../../src/organizations/memberships.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import { setMembershipAppRoles, setUserAppRoles } from '../../src/permissions/role-assignments.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { createUser, lockUser, unlockUser, updateUser } from '../../src/users/users.ts'
import { ctxFor } from '../support/actors.ts'
import type { CallOptions } from '../support/calls.ts'
import { toTypes } from '../support/events.ts'
import { test } from '../support/fixtures.ts'
import { startMigration } from '../support/sign-in-methods.ts'
import { importLines } from '../support/user-lines.ts'

describe('scopes of the caller', () => {
  test('rejects a caller without the scope on every route and field, and names the scope', async ({
    rest,
    gql,
    create,
  }) => {
    const user = await create('/users')
    const reader = { scopes: ['users:read'] } as const
    const writer = { scopes: ['users:write'] } as const
    const rejected: [string, string, object | undefined, CallOptions, string][] = [
      ['POST', '/users', {}, reader, 'users:write'],
      ['PATCH', `/users/${user.id}`, {}, reader, 'users:write'],
      ['DELETE', `/users/${user.id}`, undefined, reader, 'users:write'],
      ['GET', '/users', undefined, writer, 'users:read'],
      ['GET', `/users/${user.id}`, undefined, writer, 'users:read'],
      ['GET', '/users/by-email?email=a@example.com', undefined, writer, 'users:read'],
      ['GET', '/users/by-phone-number?phoneNumber=1', undefined, writer, 'users:read'],
    ]
    for (const [method, path, body, options, scope] of rejected) {
      const answer = await rest(method, path, body, options)
      expect([answer.status, answer.body.code, answer.body.message]).toEqual([
        403,
        'FORBIDDEN',
        expect.stringContaining(scope),
      ])
    }
    for (const field of [
      'users { page }',
      `user(id: "${user.id}") { id }`,
      'userByEmail(email: "a@b.c") { id }',
      'userByPhoneNumber(phoneNumber: "1") { id }',
    ])
      expect((await gql(`{ ${field} }`, {}, writer)).body.errors).toMatchObject([
        { extensions: { code: 'FORBIDDEN' }, message: expect.stringContaining('users:read') },
      ])
    for (const field of [
      'createUser(input: {})',
      `updateUser(input: { userId: "${user.id}" })`,
      `deleteUser(input: { userId: "${user.id}" })`,
      `lockUser(input: { userId: "${user.id}" })`,
      `unlockUser(input: { userId: "${user.id}" })`,
    ])
      expect((await gql(`mutation { ${field} { __typename } }`, {}, reader)).body.errors).toMatchObject([
        { extensions: { code: 'FORBIDDEN' }, message: expect.stringContaining('users:write') },
      ])
    expect((await rest('GET', `/users/${user.id}`)).body).toEqual(user)
  })

  test('shows appMetadata to callers with users:read:app_metadata only', async ({ rest, gql, create }) => {
    const user = await create('/users', { appMetadata: { tier: 1 } })
    const reader = { scopes: ['users:read', 'users:write'] } as const
    const { appMetadata: _, ...rest_ } = user
    expect((await rest('GET', `/users/${user.id}`, undefined, reader)).body).toEqual(rest_)
    const list = await rest('GET', '/users?pageSize=1000', undefined, reader)
    expect(JSON.stringify(list.body)).not.toContain('appMetadata')
    const { body } = await gql(`{ user(id: "${user.id}") { id appMetadata } }`, {}, reader)
    expect(body).toMatchObject({
      data: { user: { id: user.id, appMetadata: null } },
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    })
    // A write requires users:write only, and its answer omits appMetadata.
    const written = await rest('PATCH', `/users/${user.id}`, { appMetadata: { tier: 2 } }, reader)
    expect(written.body).not.toHaveProperty('appMetadata')
    expect((await rest('GET', `/users/${user.id}`)).body.appMetadata).toEqual({ tier: 2 })
  })

  test('confirms a write to a caller that has users:write alone, without the user', async ({ gql }) => {
    const writer = { scopes: ['users:write'] } as const
    const { body } = await gql(
      'mutation { createUser(input: {}) { __typename ... on CreateUserPayload { user { id } } } }',
      {},
      writer,
    )
    expect(body).toMatchObject({
      data: { createUser: { __typename: 'CreateUserPayload', user: null } },
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    })
  })

  test('keeps callers without the scope from taking over holders of roles at APIs and administrators of organizations', async ({
    tenant,
    ctx,
    create,
    email,
  }) => {
    await startMigration(ctx)
    const role = await createAppRole(ctx, { name: 'payer', assignableTo: ['user', 'member'] })
    const user = await create('/users', { email: email('payer') })
    const { id } = await createOrganization(ctx, { name: 'Acme', slug: 'acme' })
    const membership = await createMembership(ctx, id, { userId: user.id })
    const proof = { hash: { algorithm: 'md5', value: '900150983cd24fb0d6963f7d28e17f72' } }
    const scopes: Scope[] = ['users:read', 'users:write', 'credentials:write', 'idps:write', 'api_keys:write']
    const support = await ctxFor(tenant, scopes)
    for (const idpId of ['corp', 'other'])
      await createIdentityProvider(ctx, { id: idpId, type: 'oauth2', name: 'Corp' })
    await addIdpUser(ctx, user.id, 'corp', { externalId: 'victim' })
    const { apiKey } = await createApiKey(ctx, { name: 'Own', userId: user.id })
    const takeovers = (by: Ctx) => [
      () => updateUser(by, user.id, { email: email('evil'), emailVerified: true }),
      () => createCredentialEnrollmentToken(by, user.id, {}),
      () => addIdpUser(by, user.id, 'other', { externalId: 'attacker' }),
      () => updateIdentityProvider(by, 'corp', { clientId: `c-${randomUUID()}` }),
      () => createApiKey(by, { name: 'K', userId: user.id }),
      () => rotateApiKey(by, apiKey.id, {}),
      ...[{ emailVerified: true }, { proof }].map((fields) => async () => {
        const [result] = await importLines(by, [{ email: email('payer'), ...fields }])
        if (result?.status === 'error') throw new Forbidden(result.message)
      }),
    ]
    const toIds = (isGiven: boolean) => ({ appRoleIds: isGiven ? [role.id] : [] })
    const rights: [Scope, (isGiven: boolean) => Promise<unknown>][] = [
      ['roles:write', (isGiven) => setUserAppRoles(ctx, user.id, toIds(isGiven))],
      ['roles:write', (isGiven) => setMembershipAppRoles(ctx, membership.id, toIds(isGiven))],
      ['organizations:write', (isAdministrator) => updateMembership(ctx, membership.id, { isAdministrator })],
    ]
    for (const [scope, give] of rights) {
      await give(true)
      const lacking = (['roles:write', 'organizations:write'] as const).filter((each) => each !== scope)
      for (const take of takeovers(await ctxFor(tenant, [...scopes, ...lacking])))
        await expect(take()).rejects.toBeInstanceOf(Forbidden)
      await give(false)
    }
    await createCredentialEnrollmentToken(support, user.id, { send: false })
    const countLinks = () =>
      ctx.db.prisma.enrollmentToken.count({
        where: { tenantId: tenant, userId: user.id, usedAt: null, expiresAt: { gt: new Date() } },
      })
    expect(await countLinks()).toBe(1)
    for (const [, give] of rights) await give(true)
    expect(await countLinks()).toBe(0)
    expect(await lockUser(support, user.id)).toMatchObject({ email: email('payer'), locked: true })
    await unlockUser(support, user.id)
    const able = await ctxFor(tenant, [...scopes, 'roles:write', 'organizations:write'])
    for (const take of takeovers(able).reverse()) await take()
  })

  test("rejects changes of the addresses, roles and lock of a user whose roles exceed the caller's scopes, and the deletion", async ({
    ctx,
    rest,
    gql,
    create,
    events,
    email,
  }) => {
    const admin = await createUser(ctx, { email: email('admin') })
    await setUserRoles(ctx, admin.id, { roles: ['admin'] })
    const helper = { scopes: ['users:read', 'users:write'] } as const
    for (const change of [
      { email: 'evil@example.com' },
      { emailVerified: true },
      { phoneNumber: '+14155550001' },
    ])
      expect(await rest('PATCH', `/users/${admin.id}`, change, helper)).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN', fields: [] },
      })
    expect((await rest('PATCH', `/users/${admin.id}`, { locked: true }, helper)).status).toBe(403)
    expect((await rest('DELETE', `/users/${admin.id}`, undefined, helper)).status).toBe(403)
    expect((await rest('PATCH', `/users/${admin.id}`, { nickname: 'Boss' }, helper)).status).toBe(200)
    const mine = await create('/users')
    const promote =
      'mutation ($id: ID!, $roles: [String!]!) { setUserRoles(input: { userId: $id, roles: $roles }) { __typename ... on SetUserRolesPayload { user { roles } } } }'
    for (const [id, roles] of [
      [mine.id, ['admin']],
      [admin.id, []],
    ] as const)
      expect((await gql(promote, { id, roles }, helper)).body.errors).toMatchObject([
        { extensions: { code: 'FORBIDDEN' } },
      ])
    expect(
      (await gql(promote, { id: mine.id, roles: ['support', 'auditor'] })).body.data.setUserRoles.user,
    ).toEqual({ roles: ['auditor', 'support'] })
    expect(await events({ userId: mine.id })).toMatchObject([
      { type: 'user.created' },
      { type: 'role.changed', detail: { roles: 'auditor support' } },
    ])
    const path = `/users/${mine.id}/roles`
    expect(await rest('GET', path)).toMatchObject({ status: 200, body: { roles: ['auditor', 'support'] } })
    expect((await rest('PUT', path, { roles: ['admin'] }, helper)).status).toBe(403)
    expect(await rest('PUT', path, { roles: ['Chief'], x: 1 })).toMatchObject({
      status: 400,
      body: { fields: [{ field: 'roles.0' }, { field: 'x' }] },
    })
    expect(await rest('PUT', path, { roles: ['support', 'support'] })).toMatchObject({
      status: 200,
      body: { roles: ['support'] },
    })
    expect(toTypes(await events({ userId: admin.id }))).toEqual([
      'user.created',
      'role.changed',
      'user.updated',
    ])
  })
})
