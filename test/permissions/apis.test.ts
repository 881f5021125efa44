import { describe, expect } from 'vitest'
import { findDeclaredApis, listApiNames, listDeclaredResources } from '../../src/access/declared-resources.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { env } from '../../src/core/env.ts'
import { createApi, updateApi } from '../../src/permissions/apis.ts'
import { makeClient } from '../support/protocol.ts'
import { test } from '../support/tenant-per-test.ts'

const SHOP = {
  identifier: 'https://api.shop.example',
  name: 'Shop API',
  translations: [{ locale: 'de', name: 'Laden' }],
  permissions: [
    {
      name: 'orders:write',
      description: 'Change orders',
      translations: [{ locale: 'de', description: 'Ändern' }],
      isAllowedInOrganizations: true,
    },
    { name: 'orders:read' },
  ],
}

describe('an API', () => {
  test('is created, read, changed and deleted over REST', async ({ rest, events }) => {
    const created = await rest('POST', '/apis', SHOP)
    expect(created.body).toEqual({
      ...SHOP,
      id: expect.stringMatching(/^api_/),
      description: null,
      tokenExpiryTime: null,
      permissionsInTokens: true,
      groupsInTokens: false,
      claimMappings: [],
      permissions: [
        { name: 'orders:read', description: null, translations: [], isAllowedInOrganizations: false },
        SHOP.permissions[0],
      ],
      updatedAt: expect.any(String),
      createdAt: expect.any(String),
    })
    const path = `/apis/${created.body.id}`
    expect((await rest('GET', path)).body).toEqual(created.body)
    // A client that sends back what it read changes nothing.
    expect((await rest('PATCH', path, created.body)).body).toEqual(created.body)
    const changed = await rest('PATCH', path, {
      tokenExpiryTime: 900,
      permissions: [{ name: 'orders:read', description: 'Read orders' }, { name: 'orders:delete' }],
      expectedUpdatedAt: created.body.updatedAt,
    })
    expect(changed.body).toMatchObject({
      tokenExpiryTime: 900,
      permissions: [
        { name: 'orders:delete' },
        { name: 'orders:read', description: 'Read orders', translations: [] },
      ],
    })
    const stale = await rest('PATCH', path, { name: 'X', expectedUpdatedAt: created.body.updatedAt })
    expect(stale.status).toBe(409)
    expect((await rest('DELETE', path)).status).toBe(200)
    expect((await rest('GET', path)).status).toBe(404)
    const { id } = created.body
    expect(await events({ subjectId: id })).toMatchObject([
      { type: 'api.created' },
      {
        type: 'api.updated',
        changedFields: ['tokenExpiryTime', 'permissions'],
        detail: { added: 1, removed: 1 },
      },
      { type: 'api.deleted' },
    ])
  })

  test('may not have the identifier of another one, nor one of this deployment', async ({ rest, tenant }) => {
    const post = async (identifier: string) => (await rest('POST', '/apis', { ...SHOP, identifier })).body
    await post(SHOP.identifier)
    expect(await post(SHOP.identifier)).toMatchObject({
      code: 'CONFLICT',
      fields: [{ field: 'identifier', description: 'is taken' }],
    })
    for (const path of ['', '/api/v1', '/oidc/userinfo'])
      expect((await post(`${env.baseUrl}/${tenant}${path}`)).fields).toEqual([
        { field: 'identifier', description: 'belongs to this deployment' },
      ])
  })

  test('names each invalid field of its permissions', async ({ tenant }) => {
    const create = (permissions: object[]) =>
      createApi(createPlatformCtx(tenant), { ...SHOP, permissions }).catch(({ fields }) => fields)
    expect(
      await create([{ name: 'a b' }, { name: 'x', translations: [{ locale: '!', description: '' }] }]),
    ).toMatchObject([
      { field: 'permissions.0.name' },
      { field: 'permissions.1.translations.0.locale' },
      { field: 'permissions.1.translations.0.description', description: 'must not be empty' },
    ])
    expect(await create([{ name: 'x' }, { name: 'x' }])).toEqual([
      { field: 'permissions.1.name', description: 'is given twice' },
    ])
    expect(await create(Array.from({ length: 501 }, (_, index) => ({ name: `p${index}` })))).toEqual([
      { field: 'permissions', description: 'must have at most 500 entries' },
    ])
  })

  test('is a resource of the tenant, named on the consent page before the client that serves it', async ({
    tenant,
  }) => {
    const ctx = createPlatformCtx(tenant)
    expect(await listDeclaredResources(tenant)).toEqual([])
    await makeClient(tenant, { name: 'Server', resources: [SHOP.identifier, 'https://other.example'] })
    const { id } = await createApi(ctx, SHOP)
    const audiences = [`${env.baseUrl}/${tenant}/api/v1`, SHOP.identifier]
    expect(await findDeclaredApis(tenant, audiences)).toEqual([
      {
        id,
        identifier: SHOP.identifier,
        tokenExpiryTime: null,
        permissionsInTokens: true,
        groupsInTokens: false,
        claimMappings: [],
      },
    ])
    expect([...(await listDeclaredResources(tenant))].sort()).toEqual([
      SHOP.identifier,
      'https://other.example',
    ])
    const names = (language: string) =>
      listApiNames(tenant, [SHOP.identifier, 'https://other.example', 'urn:unknown'], language)
    expect(await names('de')).toEqual(['Laden', 'Server', 'urn:unknown'])
    expect(await names('fr')).toEqual(['Shop API', 'Server', 'urn:unknown'])
    await updateApi(ctx, id, { identifier: 'https://new.example' })
    expect(await listDeclaredResources(tenant)).toContain('https://new.example')
  })
})
