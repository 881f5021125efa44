import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { platformCtx, SYSTEM_TENANT } from '../../src/ctx.ts'
import { dbFor } from '../../src/db.ts'
import { authenticateToken } from '../../src/oidc/token/access-tokens.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { newTenant } from '../support/actors.ts'
import { logOf } from '../support/events.ts'
import { makeClient, type Provider, startProvider, tokenRequest } from './provider.ts'

let provider: Provider
let tenant: string
let machine: Awaited<ReturnType<typeof makeClient>>
let operator: Awaited<ReturnType<typeof makeClient>>
const fields = { appType: 'machine', callbacks: [] }
const issuer = (of: string) => `http://localhost:3000/${of}`

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  machine = await makeClient(tenant, {
    ...fields,
    scopes: ['users:read', 'users:write'],
    tokenExpiryTime: 120,
  })
  operator = await makeClient(SYSTEM_TENANT, { ...fields, scopes: ['users:read', 'tenants:read'] })
  await dbFor(SYSTEM_TENANT).client.update({
    where: { tenantId_id: { tenantId: SYSTEM_TENANT, id: operator.id } },
    data: { allTenants: true },
  })
})
afterAll(() => provider.close())

const ask = (form: Record<string, string> = {}, who = machine, of = tenant) =>
  tokenRequest(provider, of, who, { grant_type: 'client_credentials', ...form })
const bearer = (of: string, token: string) =>
  authenticateToken({ tenant: of, requestId: 'r', ip: null, userAgent: null }, `Bearer ${token}`)

describe('client_credentials (RFC 6749, section 4.4)', () => {
  test('gives a management token with all scopes of the client, or fewer', async () => {
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

  test.each(['users:read clients:write', 'openid', 'tenants:read', 'unknown', 'offline_access'])(
    'refuses the scope %s that the client was not given (security row 38)',
    async (scope) => {
      expect(await ask({ scope })).toMatchObject({ status: 400, body: { error: 'invalid_scope' } })
    },
  )

  test('tells the log which scope the client was not given, and what it may ask for', async () => {
    const { headers } = await ask({ scope: 'users:read user:write' })
    const id = headers.get('x-request-id')
    expect((await logOf(tenant)).find(({ requestId }) => requestId === id)).toMatchObject({
      type: 'token.refused',
      detail: { error: 'invalid_scope', not_given: 'user:write', allowed: 'users:read users:write' },
    })
  })

  test('takes the tenant default audience, and its own resources only (RFC 8707)', async () => {
    const other = await newTenant()
    const client = await makeClient(other, { ...fields, scopes: ['users:read'] })
    await updateSettings(platformCtx(other), { defaultAudience: 'urn:orders' })
    const audience = async (form: Record<string, string>) => {
      const { body } = await ask(form, client, other)
      return body.access_token ? decodeJwt(body.access_token).aud : body.error
    }
    expect(await audience({})).toEqual(['urn:orders', `${issuer(other)}/api`])
    expect(await audience({ resource: 'urn:orders' })).toBe('urn:orders')
    expect(await audience({ resource: `${issuer(other)}/api` })).toBe(`${issuer(other)}/api`)
    expect(await audience({ resource: `${issuer(tenant)}/api` })).toBe('invalid_target')
    expect(await audience({ resource: 'https://elsewhere.example' })).toBe('invalid_target')
  })
})

describe("an operator's token", () => {
  test('works in every tenant', async () => {
    const { body } = await ask({}, operator, SYSTEM_TENANT)
    expect(decodeJwt(body.access_token as string).aud).toBe(`${issuer(SYSTEM_TENANT)}/api`)
    const { ctx } = await bearer(tenant, body.access_token as string)
    expect(ctx.actor).toEqual({ kind: 'client', tenant: SYSTEM_TENANT, clientId: operator.id })
    // What belongs to tenant system stays there.
    expect([...ctx.scopes]).toEqual(['users:read'])
  })

  test('is narrowed by resource to one tenant', async () => {
    const other = await newTenant()
    const { body } = await ask({ resource: `${issuer(tenant)}/api` }, operator, SYSTEM_TENANT)
    expect(decodeJwt(body.access_token as string).aud).toBe(`${issuer(tenant)}/api`)
    await expect(bearer(tenant, body.access_token as string)).resolves.toBeDefined()
    await expect(bearer(other, body.access_token as string)).rejects.toThrow('invalid')
  })

  test.each([
    'http://localhost:3000/nobody/api',
    'http://localhost:3000/api',
    'http://localhost:3000//api',
    'http://evil.example/x/api',
  ])('is not given for the resource %s', async (resource) => {
    expect(await ask({ resource }, operator, SYSTEM_TENANT)).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    })
  })

  test("is an operator's only: another client of system gets none for a tenant", async () => {
    const plain = await makeClient(SYSTEM_TENANT, { ...fields, scopes: ['users:read'] })
    const { body } = await ask({}, plain, SYSTEM_TENANT)
    await expect(bearer(tenant, body.access_token as string)).rejects.toThrow('invalid')
    expect(await ask({ resource: `${issuer(tenant)}/api` }, plain, SYSTEM_TENANT)).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    })
  })
})
