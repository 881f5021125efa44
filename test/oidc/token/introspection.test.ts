import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { createApiKey } from '../../../src/api-keys/api-keys.ts'
import { updateClient } from '../../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { RATE_LIMITS } from '../../../src/coordination/rate-limits.ts'
import { issuerOf } from '../../../src/core/issuer.ts'
import { issueAccessToken } from '../../../src/oidc/token/access-tokens.ts'
import { createMembership, deleteMembership } from '../../../src/organizations/memberships.ts'
import { createOrganization, deleteOrganization } from '../../../src/organizations/organizations.ts'
import { createManagementRole, updateManagementRole } from '../../../src/users/management-roles.ts'
import { setUserRoles } from '../../../src/users/roles.ts'
import { createUser, lockUser } from '../../../src/users/users.ts'
import { newTenant } from '../../support/actors.ts'
import { API, INACTIVE, OTHER_API, test } from '../../support/introspection.ts'
import { makeClient } from '../../support/protocol.ts'
import { leastStatements } from '../../support/statements.ts'

describe('the introspection endpoint (RFC 7662, section 2)', () => {
  test("returns every member for a client's own access token", async ({
    tenant,
    client,
    visitor,
    userTokens,
    introspect,
  }) => {
    const { access } = await userTokens()
    const { iat, exp, jti, sid, auth_time, acr, amr } = decodeJwt(access)
    const { status, headers, body } = await introspect(access, client)
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body).toEqual({
      active: true,
      iss: issuerOf(tenant),
      sub: visitor.user.id,
      client_id: client.id,
      aud: [API, `${issuerOf(tenant)}/oidc/userinfo`],
      scope: 'openid offline_access',
      token_type: 'Bearer',
      ...{ iat, exp, jti, sid, auth_time, acr, amr },
    })
  })

  test('returns to a resource server its own audience alone, and no session', async ({
    tenant,
    client,
    visitor,
    userTokens,
    introspect,
    resourceServer,
    otherServer,
  }) => {
    const { access } = await userTokens('openid profile email', [API, OTHER_API])
    const { iat, exp, jti, auth_time, acr, amr } = decodeJwt(access)
    const expected = {
      active: true,
      iss: issuerOf(tenant),
      sub: visitor.user.id,
      client_id: client.id,
      scope: 'openid profile email',
      token_type: 'Bearer',
      ...{ iat, exp, jti, auth_time, acr, amr },
    }
    expect((await introspect(access, resourceServer)).body).toEqual({ ...expected, aud: API })
    expect((await introspect(access, otherServer)).body).toEqual({ ...expected, aud: OTHER_API })
  })

  test('returns the token of a machine client', async ({
    tenant,
    introspect,
    machineToken,
    resourceServer,
    machine,
  }) => {
    const token = await machineToken({ resource: API, scope: 'users:read' })
    const { iat, exp, jti } = decodeJwt(token)
    const expected = {
      active: true,
      iss: issuerOf(tenant),
      sub: machine.id,
      client_id: machine.id,
      aud: API,
      scope: 'users:read',
      token_type: 'Bearer',
      ...{ iat, exp, jti },
    }
    expect((await introspect(token, machine)).body).toEqual(expected)
    expect((await introspect(token, resourceServer)).body).toEqual(expected)
  })

  test('returns the key that a token is bound to (RFC 9449, section 6.2)', async ({
    tenant,
    introspect,
    resourceServer,
    machine,
  }) => {
    const bound = await issueAccessToken(tenant, {
      subject: machine.id,
      clientId: machine.id,
      scopes: [],
      audience: [API],
      lifetimeSeconds: 60,
      dpopJkt: 'a-thumbprint',
    })
    expect((await introspect(bound, resourceServer)).body).toMatchObject({
      active: true,
      token_type: 'DPoP',
      cnf: { jkt: 'a-thumbprint' },
    })
  })

  test("returns a client's own refresh token until it is rotated", async ({
    tenant,
    client,
    oidc,
    visitor,
    userTokens,
    introspect,
  }) => {
    const { refresh } = await userTokens()
    const { body } = await introspect(refresh, client)
    expect(body).toEqual({
      active: true,
      iss: issuerOf(tenant),
      sub: visitor.user.id,
      client_id: client.id,
      scope: 'openid offline_access',
      iat: expect.any(Number),
      exp: (body.iat as number) + 30 * 86_400,
      auth_time: expect.any(Number),
      sid: expect.stringMatching(/^session_/),
    })
    const rotated = await oidc.refresh(refresh)
    expect(await introspect(refresh, client)).toMatchObject(INACTIVE)
    expect((await introspect(rotated.body.refresh_token as string, client)).body.active).toBe(true)
  })

  test('returns the organization of an API key until it or the membership ends', async ({
    introspect,
    ctx,
    resourceServer,
  }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const { id: organizationId } = await createOrganization(ctx, { name: 'Acme', slug: 'acme-keys' })
    const input = { name: 'Orders', organizationId, resources: [API] }
    await expect(createApiKey(ctx, { ...input, userId })).rejects.toMatchObject({ status: 404 })
    const { id: membershipId } = await createMembership(ctx, organizationId, { userId })
    const own = await createApiKey(ctx, { ...input, userId })
    const shared = await createApiKey(ctx, input)
    const read = async ({ key }: { key: string }) => (await introspect(key, resourceServer)).body
    expect(await read(own)).toMatchObject({ sub: userId, org_id: organizationId, owner: 'user' })
    expect(await read(shared)).toMatchObject({
      sub: shared.apiKey.id,
      org_id: organizationId,
      owner: 'organization',
    })
    await expect(
      createApiKey(ctx, { ...input, resources: [], scopes: ['users:read'] }),
    ).rejects.toMatchObject({
      fields: [{ field: 'scopes' }],
    })
    await deleteMembership(ctx, membershipId)
    expect([await read(own), (await read(shared)).active]).toEqual([{ active: false }, true])
    await deleteOrganization(ctx, organizationId)
    expect(await read(shared)).toEqual({ active: false })
  })

  test('returns the facts of an API key to the clients that serve its APIs, by the address of its caller', async ({
    introspect,
    ctx,
    tenant,
    app,
    client,
    resourceServer,
    otherServer,
  }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const { apiKey, key } = await createApiKey(ctx, {
      name: 'Orders',
      userId,
      resources: [API],
      allowedNetworks: ['203.0.113.0/24'],
    })
    const ip = { ip: '203.0.113.9' }
    expect((await introspect(key, resourceServer, ip)).body).toEqual({
      active: true,
      iss: issuerOf(tenant),
      sub: userId,
      aud: API,
      iat: expect.any(Number),
      exp: Math.floor(apiKey.expiresAt.getTime() / 1000),
      jti: apiKey.id,
      token_type: 'Bearer',
      owner: 'user',
    })
    for (const [by, more] of [
      [otherServer, ip],
      [client, ip],
      [resourceServer, {}],
      [resourceServer, { ip: '203.0.114.9' }],
    ] as const)
      expect(await introspect(key, by, more)).toMatchObject(INACTIVE)
    // It is for that API only.
    expect((await app.rest(tenant, key, 'GET', '/users')).status).toBe(401)
    await lockUser(ctx, userId)
    expect(await introspect(key, resourceServer, ip)).toMatchObject(INACTIVE)
    const { key: management } = await createApiKey(ctx, { name: 'Users', scopes: ['users:read'] })
    expect(await introspect(management, resourceServer)).toMatchObject(INACTIVE)
  })

  test.for(['access_token', 'refresh_token', 'unknown'])(
    'finds both kinds of token with the token_type_hint %s (section 2.1)',
    async (token_type_hint, { client, userTokens, introspect }) => {
      const { access, refresh } = await userTokens()
      expect((await introspect(access, client, { token_type_hint })).body.active).toBe(true)
      expect((await introspect(refresh, client, { token_type_hint })).body.active).toBe(true)
    },
  )

  test('returns the scopes that roles and client still permit', async ({
    tenant,
    newClient,
    client,
    oidc,
    visitor,
    userTokens,
    introspect,
    resourceServer,
  }) => {
    await setUserRoles(createPlatformCtx(tenant), visitor.user.id, { roles: ['auditor'] })
    const { access, refresh } = await userTokens('openid offline_access users:read')
    const scopes = async () =>
      Promise.all(
        ([client, resourceServer] as const).map(async (by) => (await introspect(access, by)).body.scope),
      )
    expect(await scopes()).toEqual(Array(2).fill('openid offline_access users:read'))
    const ctx = createPlatformCtx(tenant)
    const reader = await createManagementRole(ctx, { name: 'reader', scopes: ['users:read'] })
    await setUserRoles(ctx, visitor.user.id, { roles: ['reader'] })
    expect(await scopes()).toEqual(Array(2).fill('openid offline_access users:read'))
    await updateManagementRole(ctx, reader.id, { scopes: ['roles:read'] })
    expect(await scopes()).toEqual(Array(2).fill('openid offline_access'))
    await setUserRoles(ctx, visitor.user.id, { roles: [] })
    expect(await scopes()).toEqual(Array(2).fill('openid offline_access'))
    expect((await introspect(refresh, client)).body.scope).toBe('openid offline_access')

    const narrowed = await newClient({ appType: 'machine', callbacks: [], scopes: ['users:read'] })
    const { body } = await oidc.token({ grant_type: 'client_credentials' }, narrowed)
    await updateClient(createPlatformCtx(tenant), narrowed.id, { scopes: [] })
    expect((await introspect(body.access_token as string, narrowed)).body).not.toHaveProperty('scope')
  })

  test('returns no claims about the user', async ({ client, userTokens, introspect, resourceServer }) => {
    const { access, refresh } = await userTokens('openid profile email phone offline_access')
    for (const [token, by] of [
      [access, client],
      [access, resourceServer],
      [refresh, client],
    ] as const)
      expect(JSON.stringify((await introspect(token, by)).body)).not.toMatch(/ada|lovelace/i)
  })

  test('sends one statement for the token of a user, and none for a machine or an invalid token', async ({
    client,
    userTokens,
    introspect,
    machineToken,
    resourceServer,
    otherServer,
  }) => {
    const { access, refresh } = await userTokens()
    const token = await machineToken({ resource: API })
    const cost = (text: string, by: { id: string; secret: string }) =>
      leastStatements(() => introspect(text, by))
    expect(await cost(access, client)).toBe(1)
    expect(await cost(access, resourceServer)).toBe(1)
    expect(await cost(refresh, client)).toBe(1)
    expect(await cost(token, resourceServer)).toBe(0)
    expect(await cost(access, otherServer)).toBe(0)
    expect(await cost(`${access.slice(0, -4)}AAAA`, client)).toBe(0)
  })
})

describe('the caller of the introspection endpoint (RFC 7662, section 2.1)', () => {
  test('authenticates with a secret, as at the token endpoint', async ({
    client,
    userTokens,
    introspect,
  }) => {
    const { access } = await userTokens()
    const posted = { client_id: client.id, client_secret: client.secret }
    expect((await introspect(access, null, posted)).body.active).toBe(true)
    const rejected = { status: 401, body: { error: 'invalid_client' } }
    expect(await introspect(access, null)).toMatchObject(rejected)
    expect(await introspect(access, null, { client_id: client.id })).toMatchObject(rejected)
    expect(await introspect(access, { ...client, secret: 'wrong' })).toMatchObject(rejected)
  })

  test.for(['single-page', 'native'])(
    'is rejected as a %s client, even for its own tokens',
    async (appType, { newClient, userTokens, introspect }) => {
      const open = await newClient({ appType })
      const { access } = await userTokens('openid', [], open)
      const answer = await introspect(access, null, { client_id: open.id })
      expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    },
  )

  test('is rejected with a preflight or GET request', async ({ app, tenant }) => {
    for (const method of ['OPTIONS', 'GET']) {
      const response = await app.fetch(`/${tenant}/oidc/introspect`, { method })
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
    }
  })

  test('must send a token', async ({ client, introspect }) => {
    for (const token of ['', 'a\u0000'])
      expect(await introspect(token, client)).toMatchObject({
        status: 400,
        body: { error: 'invalid_request' },
      })
  })

  test('finds endpoint and authentication methods in discovery (RFC 8414, section 2)', async ({
    app,
    tenant,
  }) => {
    const metadata = await (await app.fetch(`/${tenant}/.well-known/openid-configuration`)).json()
    expect(metadata).toMatchObject({
      introspection_endpoint: `${issuerOf(tenant)}/oidc/introspect`,
      introspection_endpoint_auth_methods_supported: expect.not.arrayContaining(['none']),
    })
  })

  test('is answered 429 after too many failed authentications', async ({ introspect }) => {
    // The period of the limit starts with the first failure in a tenant.
    const limited = await newTenant()
    const open = await makeClient(limited, { appType: 'native' })
    const machine = await makeClient(limited, { appType: 'machine', callbacks: [], scopes: [] })
    const token = await issueAccessToken(limited, {
      subject: machine.id,
      clientId: machine.id,
      scopes: [],
      audience: [API],
      lifetimeSeconds: 600,
    })
    const answers = await Promise.all(
      Array.from({ length: RATE_LIMITS.clientAuthentication.points + 1 }, () =>
        introspect(token, null, { client_id: open.id }, limited),
      ),
    )
    expect(answers.map(({ status }) => status)).toContain(429)
    expect((await introspect(token, machine, {}, limited)).body.active).toBe(true)
  })
})
