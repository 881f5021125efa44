import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { authenticateToken } from '../../../src/access/authenticate.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../../src/core/scopes.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { newTenant } from '../../support/actors.ts'
import { test as base } from '../../support/fixtures.ts'
import { makeClient, tokenRequest } from '../../support/protocol.ts'

const MACHINE = { appType: 'machine', callbacks: [] }
const issuer = (of: string) => `http://localhost:3000/${of}`
const bearer = (of: string, token: string) =>
  authenticateToken({ tenant: of, requestId: 'r', ip: null, userAgent: null }, `Bearer ${token}`)

const test = base
  .extend('machine', { scope: 'file' }, ({ newClient }) =>
    newClient({ ...MACHINE, scopes: ['users:read', 'users:write'], tokenExpiryTime: 120 }),
  )
  .extend('operator', { scope: 'file' }, async () => {
    await newTenant()
    return makeClient(SYSTEM_TENANT, { ...MACHINE, scopes: ['users:read', 'tenants:read'], allTenants: true })
  })
  .extend(
    'ask',
    { scope: 'file' },
    ({ app, tenant, machine }) =>
      (form: Record<string, string> = {}, by = machine, of = tenant) =>
        tokenRequest(app, of, by, { grant_type: 'client_credentials', ...form }),
  )

describe('client_credentials (RFC 6749, section 4.4)', () => {
  test('issues a management token with all scopes of the client or with the requested ones', async ({
    tenant,
    machine,
    ask,
  }) => {
    const all = await ask()
    expect(all).toMatchObject({ status: 200 })
    expect(all.body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 120,
      scope: 'users:read users:write',
    })
    expect(decodeJwt(all.body.access_token as string)).toMatchObject({
      iss: issuer(tenant),
      sub: machine.id,
      client_id: machine.id,
      aud: `${issuer(tenant)}/api`,
      scope: 'users:read users:write',
    })
    const one = await ask({ scope: 'users:read' })
    expect(one.body.scope).toBe('users:read')
    const { ctx } = await bearer(tenant, one.body.access_token as string)
    expect([...ctx.scopes]).toEqual(['users:read'])
  })

  test.for(['users:read clients:write', 'openid', 'tenants:read', 'unknown', 'offline_access'])(
    'rejects the scope %s that the client does not have',
    async (scope, { ask }) => {
      expect(await ask({ scope })).toMatchObject({ status: 400, body: { error: 'invalid_scope' } })
    },
  )

  test('records the rejected scope and the allowed scopes', async ({ events, ask }) => {
    const { headers } = await ask({ scope: 'users:read user:write' })
    const id = headers.get('x-request-id')
    expect((await events()).find(({ requestId }) => requestId === id)).toMatchObject({
      type: 'token.refused',
      detail: { error: 'invalid_scope', not_allowed: 'user:write', allowed: 'users:read users:write' },
    })
  })

  test('has the API alone in aud with management scopes, and accepts only resources of its tenant (RFC 8707)', async ({
    tenant,
    ask,
  }) => {
    const other = await newTenant()
    const client = await makeClient(other, { ...MACHINE, scopes: ['users:read'] })
    await updateSettings(createPlatformCtx(other), { defaultAudience: 'urn:orders' })
    const audience = async (form: Record<string, string>) => {
      const { body } = await ask(form, client, other)
      return body.access_token ? decodeJwt(body.access_token).aud : body.error
    }
    // Management scopes are of no use at another API.
    expect(await audience({})).toBe(`${issuer(other)}/api`)
    expect(await audience({ resource: 'urn:orders' })).toBe('urn:orders')
    expect(await audience({ resource: `${issuer(other)}/api` })).toBe(`${issuer(other)}/api`)
    expect(await audience({ resource: `${issuer(tenant)}/api` })).toBe('invalid_target')
    expect(await audience({ resource: 'https://elsewhere.example' })).toBe('invalid_target')
  })
})

describe('a token of an operator', () => {
  test('is accepted in every tenant', async ({ tenant, operator, ask }) => {
    const { body } = await ask({}, operator, SYSTEM_TENANT)
    expect(decodeJwt(body.access_token as string).aud).toBe(`${issuer(SYSTEM_TENANT)}/api`)
    const { ctx } = await bearer(tenant, body.access_token as string)
    expect(ctx.actor).toMatchObject({ kind: 'client', tenant: SYSTEM_TENANT, clientId: operator.id })
    // What belongs to tenant system stays there.
    expect([...ctx.scopes]).toEqual(['users:read'])
  })

  test('is restricted to one tenant by resource', async ({ tenant, operator, ask }) => {
    const other = await newTenant()
    const { body } = await ask({ resource: `${issuer(tenant)}/api` }, operator, SYSTEM_TENANT)
    expect(decodeJwt(body.access_token as string).aud).toBe(`${issuer(tenant)}/api`)
    await expect(bearer(tenant, body.access_token as string)).resolves.toBeDefined()
    await expect(bearer(other, body.access_token as string)).rejects.toThrow('invalid')
  })

  test.for([
    'http://localhost:3000/unknown-tenant/api',
    'http://localhost:3000/api',
    'http://localhost:3000//api',
    'http://evil.example/x/api',
  ])('is not issued for the resource %s', async (resource, { operator, ask }) => {
    expect(await ask({ resource }, operator, SYSTEM_TENANT)).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    })
  })

  test('is not issued to another client of tenant system', async ({ tenant, ask }) => {
    const plain = await makeClient(SYSTEM_TENANT, { ...MACHINE, scopes: ['users:read'] })
    const { body } = await ask({}, plain, SYSTEM_TENANT)
    await expect(bearer(tenant, body.access_token as string)).rejects.toThrow('invalid')
    expect(await ask({ resource: `${issuer(tenant)}/api` }, plain, SYSTEM_TENANT)).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    })
  })
})
