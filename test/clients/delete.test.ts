import { describe, expect } from 'vitest'
import { findClient } from '../../src/access/client-cache.ts'
import { deleteClient, updateClient } from '../../src/clients/client-changes.ts'
import { rotateClientSecret } from '../../src/clients/client-secrets.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { ctxFor, newTenant, TENANT_SCOPES } from '../support/actors.ts'
import { NO_CLIENT, SURFACES, test, UNKNOWN_CLIENT_ID } from '../support/client-writers.ts'

describe.each(SURFACES)('a deletion of a client over %s', (surface) => {
  test('deletes the client and its secrets once', async ({
    tenant,
    writers,
    newShop,
    listSecrets,
    listChanges,
  }) => {
    const client = await newShop()
    expect(await writers[surface].remove(client.id)).toEqual(
      surface === 'REST'
        ? { message: 'The client was deleted.', fields: [] }
        : { deletedClientId: client.id },
    )
    expect(await findClient(tenant, client.id)).toBeNull()
    expect(await listSecrets(client.id)).toEqual([])
    expect(await listChanges(client.id)).toEqual([{ type: 'client.deleted', changedFields: [] }])
    expect(await writers[surface].remove(client.id)).toEqual(NO_CLIENT)
  })

  test('rejects a client of another tenant and an unknown client with the same error', async ({
    writers,
    newShop,
  }) => {
    const other = await newTenant()
    const client = await newShop({}, other)
    expect(await writers[surface].remove(client.id)).toEqual(NO_CLIENT)
    expect(await writers[surface].remove(UNKNOWN_CLIENT_ID)).toEqual(NO_CLIENT)
    expect(await findClient(other, client.id)).not.toBeNull()
  })
})

describe('a deletion of a client', () => {
  test('rejects a caller without the scopes of the client, and deletes nothing', async ({
    tenant,
    newShop,
    listSecrets,
  }) => {
    const client = await newShop()
    await expect(deleteClient(await ctxFor(tenant, ['clients:write']), client.id)).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'This needs scopes that the caller lacks: users:read.',
    })
    expect(await findClient(tenant, client.id)).toMatchObject({ name: 'Shop', scopes: ['users:read'] })
    expect(await listSecrets(client.id)).toHaveLength(1)
  })

  test('succeeds for one of ten concurrent callers', async ({ ctx, newShop, listChanges }) => {
    const client = await newShop()
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => deleteClient(ctx, client.id)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'NOT_FOUND' })
    expect(await listChanges(client.id)).toHaveLength(1)
  })

  test('succeeds while the client is updated and its secret rotated', async ({
    ctx,
    newShop,
    listSecrets,
    listChanges,
  }) => {
    for (let round = 0; round < 5; round++) {
      const client = await newShop()
      const results = await Promise.allSettled([
        updateClient(ctx, client.id, { name: 'Renamed' }),
        deleteClient(ctx, client.id),
        rotateClientSecret(ctx, client.id, {}),
      ])
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'NOT_FOUND' })
      expect(await listSecrets(client.id)).toEqual([])
      expect((await listChanges(client.id)).at(-1)).toMatchObject({ type: 'client.deleted' })
    }
  })
})

describe('a client of an operator', () => {
  test('is updated, rotated and deleted by the platform only, not by itself', async ({ newShop }) => {
    const operator = await newShop(
      { appType: 'machine', callbacks: [], allowedLogoutUrls: [], allTenants: true },
      SYSTEM_TENANT,
    )
    const ctx = {
      ...(await ctxFor(SYSTEM_TENANT, [...TENANT_SCOPES, 'tenants:read', 'tenants:write'])),
      actor: { kind: 'client', tenant: SYSTEM_TENANT, clientId: operator.id } as const,
    }
    const rejected = {
      code: 'FORBIDDEN',
      message: "An operator's client is changed and deleted on the command line only.",
    }
    await expect(updateClient(ctx, operator.id, { name: 'x' })).rejects.toMatchObject(rejected)
    await expect(rotateClientSecret(ctx, operator.id, {})).rejects.toMatchObject(rejected)
    await expect(deleteClient(ctx, operator.id)).rejects.toMatchObject(rejected)
    const platform = createPlatformCtx(SYSTEM_TENANT)
    const renamed = await updateClient(platform, operator.id, { name: 'Renamed' })
    expect(renamed).toMatchObject({ name: 'Renamed', allTenants: true })
    await rotateClientSecret(platform, operator.id, {})
    expect(await deleteClient(platform, operator.id)).toEqual({ deletedClientId: operator.id })
  })
})
