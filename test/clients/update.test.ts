import { describe, expect } from 'vitest'
import { findClient, isCurrentClientSecret } from '../../src/access/client-cache.ts'
import { deleteClient, updateClient } from '../../src/clients/client-changes.ts'
import { rotateClientSecret } from '../../src/clients/client-secrets.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { randomToken, sha256 } from '../../src/core/crypto.ts'
import { newTenant } from '../support/actors.ts'
import type { CallOptions } from '../support/calls.ts'
import { NO_CLIENT, SHOP, SURFACES, test, UNKNOWN_CLIENT_ID } from '../support/client-writers.ts'
import { dbFor } from '../support/database.ts'
import { invalidFields } from '../support/issues.ts'
import { countStatements } from '../support/statements.ts'

describe.each(SURFACES)('an update of a client over %s', (surface) => {
  test('changes the given fields only, and records their names', async ({
    tenant,
    writers,
    newShop,
    listChanges,
  }) => {
    const client = await newShop()
    const { name, callbacks, ...others } = SHOP
    const changed = await writers[surface].update(client.id, {
      name: 'Store',
      callbacks: ['https://store.example/callback'],
      description: SHOP.description,
    })
    expect(changed).toMatchObject({
      ...others,
      id: client.id,
      type: 'login',
      name: 'Store',
      callbacks: ['https://store.example/callback'],
      createdAt: client.createdAt.toISOString(),
    })
    expect(changed).not.toHaveProperty('secret')
    expect(Date.parse(changed.updatedAt)).toBeGreaterThan(client.updatedAt.getTime())
    expect(await listChanges(client.id)).toEqual([
      { type: 'client.updated', changedFields: ['name', 'callbacks'] },
    ])
    expect(await findClient(tenant, client.id)).toMatchObject({ name: 'Store', jwks: null })
  })

  test.for([null, ''])('unsets text that is given as %j', async (nothing, { writers, newShop }) => {
    const client = await newShop()
    const unset = {
      description: nothing,
      themeColor: nothing,
      logoUrl: nothing,
      initiateLoginUrl: nothing,
      callbacks: null,
      allowedOrigins: null,
      webOrigins: null,
      allowedLogoutUrls: [],
      scopes: null,
      tokenExpiryTime: null,
      requireConsent: null,
    }
    expect(await writers[surface].update(client.id, unset)).toMatchObject({
      name: 'Shop',
      description: null,
      themeColor: null,
      logoUrl: null,
      initiateLoginUrl: null,
      callbacks: [],
      allowedOrigins: [],
      webOrigins: [],
      allowedLogoutUrls: [],
      scopes: [],
      tokenExpiryTime: null,
      requireConsent: false,
    })
  })

  test('records nothing when every field keeps its value', async ({ writers, newShop, listChanges }) => {
    const client = await newShop()
    for (const same of [{}, SHOP, { callbacks: [...SHOP.callbacks, ...SHOP.callbacks] }])
      expect(await writers[surface].update(client.id, same)).toMatchObject({
        updatedAt: client.updatedAt.toISOString(),
      })
    expect(await listChanges(client.id)).toEqual([])
  })

  test('reports every invalid field at once, those that the app type forbids included', async ({
    tenant,
    writers,
    newShop,
    listChanges,
  }) => {
    const client = await newShop()
    const common = {
      name: '',
      themeColor: 'red',
      logoUrl: 'http://shop.example/logo.png',
      callbacks: ['com.example.app:/cb', '/relative'],
      webOrigins: ['https://shop.example/'],
      tokenExpiryTime: 59,
      scopes: ['everything', 'tenants:write'],
    }
    expect(await writers[surface].update(client.id, common)).toEqual(
      invalidFields(
        ['name', 'must not be empty'],
        ['themeColor', 'must be a color such as #0a7c66'],
        ['logoUrl', 'must be an https URL (http on this machine only)'],
        ['callbacks.1', 'must be an absolute URL'],
        ['webOrigins.0', 'must be an origin such as https://example.com'],
        ['tokenExpiryTime', 'must be a whole number from 60 to 86400'],
        ['scopes.0', expect.stringContaining('must be one of: users:read')],
        ['callbacks.0', 'must be an http or https URL'],
        ['scopes.1', 'belongs to tenant system'],
      ),
    )
    expect(await findClient(tenant, client.id)).toMatchObject(SHOP)
    expect(await listChanges(client.id)).toEqual([])
  })

  test('accepts another app type when the client is valid as a whole', async ({
    writers,
    newShop,
    listSecrets,
  }) => {
    const client = await newShop()
    expect(await writers[surface].update(client.id, { appType: 'machine' })).toEqual(
      invalidFields(
        ['callbacks.0', 'a machine client has no browser to send anywhere'],
        ['allowedLogoutUrls.0', 'a machine client has no browser to send anywhere'],
      ),
    )
    expect(await listSecrets(client.id)).toHaveLength(1)
    const machine = { appType: 'machine', callbacks: [], allowedLogoutUrls: [] }
    expect(await writers[surface].update(client.id, machine)).toMatchObject(machine)
    // Both app types are confidential: the secret is kept.
    expect((await listSecrets(client.id)).map(({ hash }) => hash)).toEqual([
      sha256(client.secret ?? '').toString('hex'),
    ])
    expect(
      await writers[surface].update(client.id, { callbacks: ['https://shop.example/cb'] }),
    ).toMatchObject(invalidFields(['callbacks.0', 'a machine client has no browser to send anywhere']))
    expect(
      await writers[surface].update(client.id, { appType: 'native', callbacks: ['com.example.app:/cb'] }),
    ).toMatchObject({
      appType: 'native',
      callbacks: ['com.example.app:/cb'],
    })
  })

  test('deletes the secrets of a client that becomes public, and issues none to a client that becomes confidential', async ({
    tenant,
    writers,
    newShop,
    listSecrets,
    listChanges,
  }) => {
    const client = await newShop()
    await rotateClientSecret(createPlatformCtx(tenant), client.id, {})
    await findClient(tenant, client.id)
    await writers[surface].update(client.id, { appType: 'single-page' })
    expect(await listSecrets(client.id)).toEqual([])
    const found = await findClient(tenant, client.id)
    expect(found).toMatchObject({ appType: 'single-page', secretHashes: [] })
    await writers[surface].update(client.id, { appType: 'web' })
    expect(await listSecrets(client.id)).toEqual([])
    expect((await listChanges(client.id)).slice(1)).toEqual([
      { type: 'client.updated', changedFields: ['appType', 'secret'] },
      { type: 'client.updated', changedFields: ['appType'] },
    ])
    const { secret, previousSecretExpiresAt } = await rotateClientSecret(
      createPlatformCtx(tenant),
      client.id,
      {},
    )
    expect(previousSecretExpiresAt).toBeNull()
    const confidential = await findClient(tenant, client.id)
    expect(confidential && isCurrentClientSecret(confidential, secret)).toBe(true)
  })

  test('rejects changes of scopes and redirect URIs by a caller that lacks the scopes of the client', async ({
    writers,
    newShop,
  }) => {
    const as: CallOptions = { scopes: ['clients:write', 'clients:read', 'users:read'] }
    const client = await newShop()
    const forbidden = (scopes: string) =>
      expect.objectContaining({
        code: 'FORBIDDEN',
        message: `This needs scopes that the caller lacks: ${scopes}.`,
      })
    expect(
      await writers[surface].update(client.id, { scopes: ['users:read', 'users:write', 'events:read'] }, as),
    ).toEqual(forbidden('users:write, events:read'))
    const powerful = await newShop({ scopes: ['users:write'] })
    // A redirect URI decides who receives the codes, and by them the tokens, of the client.
    expect(
      await writers[surface].update(powerful.id, { callbacks: ['https://mine.example/cb'] }, as),
    ).toEqual(forbidden('users:write'))
    expect(await writers[surface].update(powerful.id, { scopes: [] }, as)).toEqual(forbidden('users:write'))
    expect(await writers[surface].update(powerful.id, { name: 'Renamed' }, as)).toMatchObject({
      name: 'Renamed',
    })
    expect(await writers[surface].update(client.id, { callbacks: [] }, as)).toMatchObject({ callbacks: [] })
  })

  test('rejects a client of another tenant and an unknown client with the same error', async ({
    writers,
    newShop,
  }) => {
    const other = await newTenant()
    const client = await newShop({}, other)
    expect(await writers[surface].update(client.id, { name: 'Mine' })).toEqual(NO_CLIENT)
    expect(await writers[surface].update(UNKNOWN_CLIENT_ID, { name: '' })).toEqual(NO_CLIENT)
    expect(await findClient(other, client.id)).toMatchObject({ name: 'Shop' })
  })
})

describe('an update of a client', () => {
  test('accepts the body of GET, and of POST with its secret', async ({ rest, listChanges }) => {
    const created = await rest('POST', '/clients', { ...SHOP, type: 'payment' })
    const { id } = created.body
    const read = await rest('GET', `/clients/${id}`)
    for (const body of [read.body, created.body, { ...read.body, name: 'Other' }]) {
      const { status } = await rest('PATCH', `/clients/${id}`, body)
      expect(status).toBe(200)
    }
    expect(await listChanges(id)).toEqual([{ type: 'client.updated', changedFields: ['name'] }])
  })

  test('rejects members that cannot be changed, and unknown members, by name', async ({
    tenant,
    writers,
    newShop,
  }) => {
    const client = await newShop()
    const body = {
      id: UNKNOWN_CLIENT_ID,
      name: null,
      appType: '',
      type: 'payment',
      secret: randomToken(),
      updatedAt: '2001-01-01T00:00:00.000Z',
      createdAt: null,
      allTenants: true,
      tenantId: tenant,
      registeredBy: 'registration',
    }
    expect(await writers.REST.update(client.id, body)).toEqual(
      invalidFields(
        ['id', 'is set by the service'],
        ['name', 'must be a string'],
        ['appType', 'must be one of: single-page, web, native, machine'],
        ['type', 'cannot be changed'],
        ['secret', 'is set by the service'],
        ['registeredBy', 'is set by the service'],
        ['updatedAt', 'is set by the service'],
        ['createdAt', 'is set by the service'],
        ['allTenants', 'is not a field of this request'],
        ['tenantId', 'is not a field of this request'],
      ),
    )
    for (const body of [null, [], 'x', 7])
      expect(await writers.REST.update(client.id, body as never)).toEqual(
        invalidFields(['', 'must be an object']),
      )
    expect(await writers.REST.update(client.id, { secret: null })).toEqual(
      invalidFields(['secret', 'is set by the service']),
    )
  })

  test('does not validate fields that keep their value', async ({ tenant, ctx, newShop }) => {
    const client = await newShop({
      appType: 'native',
      callbacks: ['com.example.app:/cb'],
      allowedLogoutUrls: [],
    })
    // A client that was ensured at the start, or stored under older rules, can have such a value.
    await dbFor(tenant).client.update({
      where: { tenantId_id: { tenantId: tenant, id: client.id } },
      data: { callbacks: ['http://app.example/cb'] },
    })
    expect(await updateClient(ctx, client.id, { name: 'Renamed' })).toMatchObject({ name: 'Renamed' })
    await expect(
      updateClient(ctx, client.id, { callbacks: ['http://app.example/cb'] }),
    ).rejects.toMatchObject({
      fields: [{ field: 'callbacks.0', description: 'must be an https URL (http on this machine only)' }],
    })
  })

  test('takes six round trips, four without a change; a rotation takes eight, and a deletion nine', async ({
    ctx,
    newShop,
  }) => {
    const client = await newShop()
    expect(await countStatements(() => updateClient(ctx, client.id, { name: 'Renamed' }))).toBe(6)
    expect(await countStatements(() => updateClient(ctx, client.id, { name: 'Renamed' }))).toBe(4)
    expect(await countStatements(() => rotateClientSecret(ctx, client.id, {}))).toBe(8)
    expect(await countStatements(() => deleteClient(ctx, client.id))).toBe(9)
  })

  test('stores every one of several concurrent changes', async ({ tenant, ctx, newShop, listChanges }) => {
    const client = await newShop()
    await Promise.all([
      updateClient(ctx, client.id, { name: 'One' }),
      updateClient(ctx, client.id, { description: 'Two' }),
      updateClient(ctx, client.id, { tokenExpiryTime: 900 }),
      rotateClientSecret(ctx, client.id, {}),
    ])
    expect(await findClient(tenant, client.id)).toMatchObject({
      name: 'One',
      description: 'Two',
      tokenExpiryTime: 900,
    })
    expect((await listChanges(client.id)).map(({ changedFields }) => changedFields.join()).sort()).toEqual([
      'description',
      'name',
      'secret',
      'tokenExpiryTime',
    ])
  })
})
