import type { Ctx } from '../ctx.ts'
import { inTransaction } from '../db.ts'
import { NotFound } from '../errors.ts'
import { recordEvents, wakeReaders } from '../events.ts'
import { assertExpected } from '../expected-updated-at.ts'
import { parse } from '../fields.ts'
import { toBodyOf } from '../shapes.ts'
import { forgetTenant } from './tenant-cache.ts'
import { TenantSettingsPatch, TenantSettingsShape } from './tenants.fields.ts'
import { updateSettingsRow } from './tenants.sql.ts'
import { getTenant, type Tenant } from './tenants.ts'

const toBody = toBodyOf(TenantSettingsShape)

/** The settings of a tenant as the spec's table has them. */
export const toSettings = (tenant: Tenant) => toBody(tenant)

/** The settings as they are stored now. Throws NotFound. */
export const getSettings = async (ctx: Ctx) => toSettings(await getTenant(ctx))

/**
 * Changes the settings that are given; '' and null unset. A change that changes nothing leaves updatedAt and the log alone.
 * Four round trips; one when nothing is given. Throws InvalidInput, and Conflict for a tenant that was changed since `expectedUpdatedAt`.
 * Requests on every process see the change within a second.
 */
export async function updateSettings(ctx: Ctx, input: unknown): Promise<Tenant> {
  const { expectedUpdatedAt: _, ...settings } = parse(TenantSettingsPatch, input)
  if (Object.values(settings).every((value) => value === undefined)) {
    const tenant = await getTenant(ctx)
    assertExpected(input, tenant.updatedAt)
    return tenant
  }
  const { tenant, changed } = await inTransaction(async (sql) => {
    const updated = await updateSettingsRow<Tenant>(sql, ctx.tenant, settings)
    if (!updated) throw new NotFound('tenant')
    assertExpected(input, updated.oldUpdatedAt)
    if (updated.changed.length > 0)
      await recordEvents(sql, ctx, [{ type: 'tenant.updated', changedFields: updated.changed }])
    return updated
  })
  if (changed.length > 0) {
    forgetTenant(ctx.tenant)
    wakeReaders(ctx.tenant)
  }
  return tenant
}
