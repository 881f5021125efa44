import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { listRoles, ROLE_NAMES, SCOPE_NAMES, SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { addIdpUser } from '../../src/idps/idp-links.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { startBrowserSession } from '../../src/sessions/sessions.ts'
import { grantRole, setUserRoles } from '../../src/users/roles.ts'
import { TENANT_SCOPES } from '../support/actors.ts'
import { dbFor } from '../support/database.ts'
import { FULL, newIdpId } from '../support/idps.ts'
import { makeSpa } from '../support/people.ts'
import { makeUser } from '../support/protocol.ts'
import { test as base, newSlug } from '../support/tenants.ts'

let people = 0
const roleOfUser = async (tenant: string, id: string) =>
  (await dbFor(tenant).user.findFirstOrThrow({ where: { tenantId: tenant, id } })).roles

const test = base
  /** Makes a user of tenant `system` with roles, and an access token with every scope for the user. */
  .extend(
    'newHolder',
    { scope: 'file' },
    ({ system, tenant }) =>
      async (roles: string[], at: string = SYSTEM_TENANT) => {
        const { id } = await makeUser(at, `operator${++people}@${tenant}.example`)
        await dbFor(at).user.update({ where: { tenantId_id: { tenantId: at, id } }, data: { roles } })
        const client = await makeSpa(at, { scopes: at === SYSTEM_TENANT ? SCOPE_NAMES : TENANT_SCOPES })
        const { session } = await system.db.transaction((tx) =>
          startBrowserSession(tx.forTenant(at), createPlatformCtx(at), {
            userId: id,
            proof: { method: 'passcode', amr: ['otp'] },
          }),
        )
        const token = await issueAccessToken(at, {
          subject: id,
          clientId: client.id,
          scopes: SCOPE_NAMES,
          audience: [apiAudienceOf(at)],
          lifetimeSeconds: 600,
          sessionId: session.id,
        })
        return { id, client, tenant: at, token }
      },
  )

describe('a user with the role operator', () => {
  test('reads, creates and deletes tenants of the deployment, and nothing else', async ({
    rest,
    gql,
    newHolder,
  }) => {
    const operator = await newHolder(['operator'])
    const slug = newSlug()
    const settings = { friendlyName: 'Made by a person' }
    expect((await rest('POST', '/tenants', { slug, settings }, operator)).status).toBe(201)
    const query = `query ($slug: String!) { viewer { scopes }
      tenants(filter: { search: $slug }) { nodes { id settings { friendlyName } setup { item } } } }`
    const { body } = await gql(query, { slug }, operator)
    expect(body.data.viewer.scopes).toEqual(['tenants:read', 'tenants:write'])
    expect(body.data.tenants.nodes).toEqual([{ id: slug, settings, setup: expect.any(Array) }])
    for (const path of ['/users', '/clients', '/settings', '/events', '/setup'])
      expect([path, (await rest('GET', path, undefined, operator)).status]).toEqual([path, 403])
    expect((await rest('DELETE', `/tenants/${slug}`, undefined, operator)).status).toBe(200)
  })

  test('is not accepted by another tenant', async ({ tenant, rest, newHolder }) => {
    const { token } = await newHolder(['admin', 'operator'])
    for (const path of ['/tenants', '/users'])
      expect((await rest('GET', path, undefined, { tenant, token })).status).toBe(401)
  })
})

describe('the role operator outside tenant system', () => {
  test('is neither listed nor given, by the command line either', async ({
    tenant,
    ctx,
    rest,
    gql,
    newHolder,
  }) => {
    const { id } = await newHolder([], tenant)
    const listed = await rest('GET', '/roles')
    expect(listed.body.roles.map(({ role }: { role: string }) => role)).toEqual(listRoles(tenant))
    expect(listRoles(tenant)).toEqual(['admin', 'support', 'auditor'])
    expect(listRoles(SYSTEM_TENANT)).toEqual(ROLE_NAMES)
    const rejected = { fields: [{ field: 'roles', description: 'operator exists in tenant system only' }] }
    for (const caller of [ctx, createPlatformCtx(tenant)]) {
      await expect(setUserRoles(caller, id, { roles: ['admin', 'operator'] })).rejects.toMatchObject(rejected)
      await expect(grantRole(caller, `new@${tenant}.example`, 'operator')).rejects.toMatchObject(rejected)
    }
    expect(await rest('PUT', `/users/${id}/roles`, { roles: ['operator'] })).toMatchObject({ status: 400 })
    const invited = await rest('POST', '/invitations', { email: 'eve@example.com', roles: ['operator'] })
    expect(invited).toMatchObject({ status: 400, body: rejected })
    const { body } = await gql(
      `mutation ($id: ID!) { setUserRoles(input: { userId: $id, roles: ["operator"] }) { __typename } }`,
      { id },
    )
    expect(body.data.setUserRoles).toEqual({ __typename: 'ValidationError' })
    expect(await roleOfUser(tenant, id)).toEqual([])
  })

  test('permits nothing where a row has it', async ({ tenant, rest, gql, newHolder }) => {
    const { token } = await newHolder(['operator'], tenant)
    expect((await gql('{ viewer { scopes } }', {}, { token })).body.data.viewer.scopes).toEqual([])
    const slug = newSlug()
    expect((await rest('POST', '/tenants', { slug }, { token })).status).toBe(403)
    expect((await rest('POST', '/tenants', { slug }, { tenant: SYSTEM_TENANT, token })).status).toBe(401)
  })
})

describe('an administrator of tenant system without the role operator', () => {
  test('neither gets it nor controls what acts with it', async ({ tenant, system, rest, newHolder }) => {
    const admin = await newHolder(['admin'])
    const operator = await newHolder(['operator'])
    const idpId = newIdpId()
    await createIdentityProvider(system, { id: idpId, ...FULL })
    await addIdpUser(system, operator.id, idpId, { externalId: 'operator' })
    const email = `stolen@${tenant}.example`
    for (const [method, path, body] of [
      ['PUT', `/users/${admin.id}/roles`, { roles: ['admin', 'operator'] }],
      ['PUT', `/users/${operator.id}/roles`, { roles: [] }],
      ['PATCH', `/users/${operator.id}`, { email }],
      ['PATCH', `/users/${operator.id}`, { locked: true }],
      ['DELETE', `/users/${operator.id}`, undefined],
      ['POST', `/users/${operator.id}/credentials/enrollment-tokens`, {}],
      ['POST', '/invitations', { email, roles: ['operator'] }],
      ['POST', '/clients', { name: 'Eve', appType: 'machine', type: 'login', scopes: ['tenants:write'] }],
      ['PATCH', `/clients/${operator.client.id}`, { callbacks: ['https://evil.example/'] }],
      ['PATCH', `/idps/${idpId}`, { issuer: 'https://evil.example' }],
      ['DELETE', `/idps/${idpId}`, undefined],
      ['POST', '/tenants', { slug: newSlug() }],
    ] as const)
      expect([method, path, (await rest(method, path, body, admin)).status]).toEqual([method, path, 403])
    expect(await roleOfUser(SYSTEM_TENANT, admin.id)).toEqual(['admin'])
    expect(await roleOfUser(SYSTEM_TENANT, operator.id)).toEqual(['operator'])
  })

  test('gets it from an administrator who has it', async ({ rest, newHolder }) => {
    const admin = await newHolder(['admin'])
    const both = await newHolder(['admin', 'operator'])
    const roles = ['admin', 'operator']
    expect(await rest('PUT', `/users/${admin.id}/roles`, { roles }, both)).toMatchObject({
      status: 200,
      body: { roles },
    })
    expect((await rest('GET', '/tenants', undefined, admin)).status).toBe(200)
  })
})
