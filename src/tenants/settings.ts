import type { Ctx } from '../ctx.ts'
import { dbFor, sqlOf } from '../db.ts'
import { recordEvents, wakeReaders } from '../events.ts'
import { parse } from '../fields.ts'
import { forgetTenant } from './tenant-cache.ts'
import { TenantSettings } from './tenants.fields.ts'
import { getTenant, HIDDEN_COLUMNS, type Tenant } from './tenants.ts'

/** The settings of a tenant as the spec's table has them. */
export const toSettings = ({ friendlyName, logoUrl, defaultAudience, loginUrl, supportUrl }: Tenant) => ({
  friendlyName,
  logoUrl,
  defaultAudience,
  loginUrl,
  supportUrl,
})

/** The settings as they are stored now. Throws NotFound. */
export const getSettings = async (ctx: Ctx) => toSettings(await getTenant(ctx))

/**
 * Changes the settings that are given; '' and null unset. Four round trips. Throws InvalidInput.
 * Requests on every process see the change within a second.
 */
export async function updateSettings(ctx: Ctx, input: unknown): Promise<Tenant> {
  const settings = parse(TenantSettings, input)
  const changedFields = Object.entries(settings).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  )
  if (changedFields.length === 0) return getTenant(ctx)
  const tenant = await dbFor(ctx.tenant).$transaction(async (tx) => {
    const where = { tenantId: ctx.tenant }
    const changed = await tx.tenant.update({
      where,
      data: { ...settings, updatedAt: new Date() },
      omit: HIDDEN_COLUMNS,
    })
    await recordEvents(sqlOf(tx), ctx, [{ type: 'tenant.updated', changedFields }])
    return changed
  })
  forgetTenant(ctx.tenant)
  wakeReaders(ctx.tenant)
  return tenant
}
