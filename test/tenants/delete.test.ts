import { describe, expect } from 'vitest'
import { findTenant } from '../../src/access/tenant-cache.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { sql } from '../../src/database/db.ts'
import { createTenant, deleteTenant, getTenant } from '../../src/tenants/tenants.ts'
import { newTenant } from '../support/actors.ts'
import { toTypes } from '../support/events.ts'
import { fillTenantTables, findTablesWithRows, listTenantTables } from '../support/tenant-rows.ts'
import { test } from '../support/tenants.ts'

describe('deleteTenant', () => {
  test('deletes the rows of the tenant in every table, except its changes, which other processes read', async ({
    events,
    system,
  }) => {
    const [gone, kept] = [await newTenant(), await newTenant()]
    for (const tenant of [gone, kept]) await fillTenantTables(tenant)
    const tables = await listTenantTables()
    expect(tables.length).toBeGreaterThanOrEqual(23)
    expect(await findTablesWithRows(tables, gone)).toEqual(tables)
    await deleteTenant(system, gone)
    expect(await findTablesWithRows(tables, gone)).toEqual(['RowChange'])
    expect(await findTablesWithRows(tables, kept)).toEqual(tables)
    expect(await findTenant(gone)).toBeNull()
    expect((await events({ tenant: SYSTEM_TENANT, subjectId: gone })).at(-1)).toMatchObject({
      type: 'tenant.deleted',
      subjectIds: [gone],
    })
    await expect(getTenant(createPlatformCtx(gone))).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('frees the slug for a new tenant with other keys and an empty log', async ({ events, system }) => {
    const tenant = await newTenant()
    const first = await findTenant(tenant)
    await deleteTenant(system, tenant)
    // A request that runs during the deletion can leave an event.
    await sql('INSERT INTO "Event" ("tenantId", "id", "type") VALUES ($1, $2, $3)', [
      tenant,
      'event_late',
      'signin.failed',
    ])
    await createTenant(system, { slug: tenant })
    const second = await findTenant(tenant)
    expect(second?.tokenKey.equals(first?.tokenKey ?? Buffer.alloc(0))).toBe(false)
    expect(toTypes(await events({ tenant }))).toEqual(['tenant.created'])
  })

  test('rejects tenant system, callers of other tenants, and unknown and invalid slugs with the same error', async ({
    ctx,
    system,
  }) => {
    await expect(deleteTenant(system, SYSTEM_TENANT)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    for (const slug of ['never-made', 'No Slug', ''])
      await expect(deleteTenant(system, slug)).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: 'No such tenant.',
      })
    await expect(deleteTenant(ctx, ctx.tenant)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })

  test('succeeds for one of five concurrent callers', async ({ system }) => {
    const tenant = await newTenant()
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => deleteTenant(system, tenant)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})
