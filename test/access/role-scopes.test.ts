import { describe, expect } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../src/core/context.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { SCOPE_NAMES, SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { dbFor } from '../../src/database/db.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { newTenant } from '../support/actors.ts'
import { logOf } from '../support/events.ts'
import { makeSpa, signInAs } from '../support/people.ts'
import { AUDITOR, CALLS, EVERY, SOME, TABLE, test } from '../support/role-scopes.ts'

describe('the scopes of a user at a single-page application', () => {
  test.for(TABLE)(
    'are issued by role, client and request: %s',
    async ([_name, roles, allowed, asked, expected], { signInWith, readScopes, listPermitted }) => {
      const { token, answer } = await signInWith(roles, allowed, asked)
      expect((answer.scope ?? '').split(' ').sort()).toEqual(['openid', ...expected].sort())
      expect(await readScopes(token)).toEqual(expected)
      const callable = CALLS.map(([scope]) => scope).filter((scope) => expected.includes(scope))
      expect(await listPermitted(token)).toEqual(callable)
    },
  )
})

describe('the scopes of an issued token', () => {
  test('are withdrawn with a role, from issued and refreshed tokens', async ({
    app,
    tenant,
    oidc,
    signInWith,
    readScopes,
  }) => {
    const { token, answer, person, spaClient } = await signInWith(
      ['admin'],
      EVERY,
      EVERY,
      'openid offline_access',
    )
    expect(await readScopes(token)).toEqual(EVERY)
    await setUserRoles(createPlatformCtx(tenant), person.id, { roles: ['auditor'] })
    expect(await readScopes(token)).toEqual(AUDITOR)
    expect((await app.rest(tenant, token, 'POST', '/users', {})).status).toBe(403)
    const refreshed = await oidc.refresh(answer.refresh_token ?? '', {}, spaClient)
    expect(refreshed.body.scope?.split(' ').sort()).toEqual(['offline_access', 'openid', ...AUDITOR].sort())
    await setUserRoles(createPlatformCtx(tenant), person.id, { roles: [] })
    for (const one of [token, refreshed.body.access_token ?? '']) expect(await readScopes(one)).toEqual([])
    // The user stays signed in, without a role.
    expect((await app.gql(tenant, token, '{ viewer { user { id } } }')).body.data.viewer.user.id).toBe(
      person.id,
    )
  })

  test('are not extended by a role that is granted later', async ({ tenant, signInWith, readScopes }) => {
    const { token, person } = await signInWith(['auditor'], EVERY, EVERY)
    await setUserRoles(createPlatformCtx(tenant), person.id, { roles: ['admin'] })
    expect(await readScopes(token)).toEqual(AUDITOR)
  })

  test('are withdrawn with a scope of the client', async ({ tenant, signInWith, readScopes }) => {
    const { token, spaClient } = await signInWith(['admin'], SOME, EVERY)
    await updateClient(createPlatformCtx(tenant), spaClient.id, { scopes: ['users:read'] })
    expect(await readScopes(token)).toEqual(['users:read'])
  })

  test('do not permit a user to take a role', async ({ app, tenant, signInWith }) => {
    const { token, person } = await signInWith(['support'], EVERY, EVERY)
    const { body } = await app.gql(
      tenant,
      token,
      `mutation { setUserRoles(input: {userId: "${person.id}", roles: [ADMIN]}) { __typename } }`,
    )
    expect(body.errors?.[0]?.extensions.code).toBe('FORBIDDEN')
    const { roles } = await dbFor(tenant).user.findFirstOrThrow({
      where: { tenantId: tenant, id: person.id },
    })
    expect(roles).toEqual(['support'])
  })
})

describe('a token of the operator', () => {
  test('is accepted in every tenant, without the scopes of tenant system, and recorded as the actor', async ({
    app,
    tenant,
    newOperatorToken,
  }) => {
    const { token, clientId } = await newOperatorToken()
    const other = await newTenant()
    for (const slug of [tenant, other]) {
      const { body } = await app.gql(slug, token, '{ viewer { user { id } client { id } scopes } }')
      expect(body.data.viewer).toEqual({ user: null, client: null, scopes: EVERY })
    }
    const { status } = await app.rest(other, token, 'POST', '/users', {})
    expect(status).toBe(201)
    expect((await logOf(other)).at(-1)).toMatchObject({
      type: 'user.created',
      actorTenantId: SYSTEM_TENANT,
      actorClientId: clientId,
    })
    expect((await app.rest(SYSTEM_TENANT, token, 'GET', '/tenants')).status).toBe(200)
    expect((await app.rest(other, token, 'GET', '/tenants')).status).toBe(403)
  })

  test('is limited to one tenant by resource (RFC 8707)', async ({
    app,
    tenant,
    readScopes,
    newOperatorToken,
  }) => {
    const { token } = await newOperatorToken(apiAudienceOf(tenant))
    const other = await newTenant()
    expect(await readScopes(token)).toEqual(EVERY)
    for (const slug of [other, SYSTEM_TENANT]) {
      expect((await app.gql(slug, token, '{ viewer { scopes } }')).status).toBe(401)
      expect((await app.rest(slug, token, 'GET', '/users')).status).toBe(401)
    }
  })

  test('is not issued to a user: an administrator of tenant system is rejected by other tenants', async ({
    app,
    tenant,
    newRolePerson,
  }) => {
    const { email } = await newRolePerson(['admin'], SYSTEM_TENANT)
    const spa = await makeSpa(SYSTEM_TENANT, { scopes: SCOPE_NAMES })
    const { token } = await signInAs(app, SYSTEM_TENANT, spa, email, {
      scope: `openid ${SCOPE_NAMES.join(' ')}`,
    })
    expect((await app.gql(SYSTEM_TENANT, token, '{ viewer { scopes } }')).status).toBe(200)
    expect((await app.gql(tenant, token, '{ viewer { scopes } }')).status).toBe(401)
  })
})
