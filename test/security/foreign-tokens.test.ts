import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import type { Scope } from '../../src/core/scopes.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { ACCEPTED, REJECTED, test } from '../support/forgeries.ts'
import { makeClient, makeUser } from '../support/protocol.ts'

const SYSTEM_SCOPES: Scope[] = ['users:read', 'tenants:write']
const makeMachine = (tenant: string, more: object = {}) =>
  makeClient(tenant, { appType: 'machine', callbacks: [], scopes: SYSTEM_SCOPES, ...more })
/** A token of tenant system for an audience. */
const issue = (subject: string, clientId: string, audience: string) =>
  issueAccessToken('system', {
    subject,
    clientId,
    scopes: SYSTEM_SCOPES,
    audience: [apiAudienceOf(audience)],
    lifetimeSeconds: 600,
  })

describe('a token of another tenant', () => {
  test('is rejected for every audience that it claims', async ({ tenant, present }) => {
    const other = await newTenant()
    expect(await present(await tokenFor(other))).toEqual(REJECTED)
    const client = await makeMachine(other, { scopes: ['users:read'] })
    const claiming = await issueAccessToken(other, {
      subject: client.id,
      clientId: client.id,
      scopes: ['openid', 'users:read'],
      audience: [apiAudienceOf(tenant), `http://localhost:3000/${tenant}/oidc/userinfo`],
      lifetimeSeconds: 600,
    })
    expect(await present(claiming)).toEqual(REJECTED)
  })
})

describe('a token of tenant system', () => {
  test('is rejected at other tenants unless its client is for all tenants', async ({ present }) => {
    const { id } = await makeMachine('system')
    expect(await present(await issue(id, id, 'system'))).toEqual(REJECTED)
  })

  test('is rejected at other tenants when it belongs to a user', async ({ tenant, present }) => {
    const operator = await makeMachine('system', { allTenants: true })
    const user = await makeUser('system', `root-${tenant}@system.example`)
    await setUserRoles(createPlatformCtx('system'), user.id, { roles: ['admin'] })
    expect(await present(await issue(user.id, operator.id, 'system'))).toEqual(REJECTED)
  })

  test('is accepted for an operator for all tenants, without the scopes of tenant system', async ({
    rest,
    gql,
    present,
  }) => {
    const { id } = await makeMachine('system', { allTenants: true })
    const token = await issue(id, id, 'system')
    expect(await present(token)).toEqual({ ...ACCEPTED, userinfo: 401 })
    expect((await gql('{ viewer { scopes } }', {}, { token })).body.data).toEqual({
      viewer: { scopes: ['users:read'] },
    })
    expect((await rest('POST', '/tenants', { slug: 'forged' }, { token })).status).toBe(403)
  })

  test('is accepted at the one tenant of its audience only', async ({ tenant, present }) => {
    const { id } = await makeMachine('system', { allTenants: true })
    const token = await issue(id, id, tenant)
    expect(await present(token)).toEqual({ ...ACCEPTED, userinfo: 401 })
    for (const other of [await newTenant(), 'system']) expect(await present(token, other)).toEqual(REJECTED)
  })
})
