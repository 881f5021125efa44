import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { addIdpUser } from '../../src/idps/idp-links.ts'
import { createUser } from '../../src/users/users.ts'
import { sql } from '../support/database.ts'
import { FULL, NOT_FOUND, newIdpId, SURFACES, test } from '../support/idps.ts'

describe.for(SURFACES)('delete an identity provider over %s', (surface) => {
  test('deletes the provider and its links, and records one event with their number', async ({
    tenant,
    writers,
    readIdpEvents,
  }) => {
    const { create, remove, get } = writers[surface]
    const id = newIdpId()
    await create({ id, ...FULL })
    for (let i = 0; i < 3; i++) {
      const user = await createUser(createPlatformCtx(tenant), {})
      await addIdpUser(createPlatformCtx(tenant), user.id, id, { externalId: `e${i}` })
    }
    const done =
      surface === 'REST'
        ? { message: 'The identity provider was deleted.', fields: [] }
        : { deletedIdentityProviderId: id }
    expect(await remove(id)).toEqual(done)
    expect(await get(id)).toMatchObject(NOT_FOUND)
    expect(await remove(id)).toMatchObject(NOT_FOUND)
    expect((await readIdpEvents(id)).at(-1)).toEqual({
      type: 'idp.deleted',
      changedFields: [],
      detail: { links: 3 },
    })
    const links = await sql(`SELECT 1 FROM "IdpUser" WHERE "tenantId" = $1 AND "idpId" = $2`, [tenant, id])
    expect(links).toEqual([])
  })

  test('rejects a caller with fewer scopes than a linked user', async ({ tenant, writers }) => {
    const { create, remove } = writers[surface]
    const id = newIdpId()
    await create({ id, ...FULL })
    const admin = await createUser(createPlatformCtx(tenant), {})
    await sql(`UPDATE "User" SET "roles" = '{admin}' WHERE "tenantId" = $1 AND "id" = $2`, [tenant, admin.id])
    await addIdpUser(createPlatformCtx(tenant), admin.id, id, { externalId: 'admin' })
    const narrow = { scopes: ['idps:read', 'idps:write'] as const }
    expect(await remove(id, narrow)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await remove(id)).not.toHaveProperty('code')
  })
})
