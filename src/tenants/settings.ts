import { invalidateTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import { InvalidInput, NotFound } from '../core/errors.ts'
import { inTransactionFor } from '../database/db.ts'
import { recordEvents, wakeReaders } from '../events/log.ts'
import { tenantUpdated } from '../events/management-events.ts'
import { assertExpectedUpdatedAt } from '../schema/expected-updated-at.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { createBodyMapper } from '../schema/response-shapes.ts'
import { findSettingIssues, TenantSettingsPatch, TenantSettingsShape } from './tenants.fields.ts'
import { updateSettingsRow } from './tenants.sql.ts'
import { getTenant, type Tenant } from './tenants.ts'

const toSettingsFields = createBodyMapper(TenantSettingsShape)

/** The settings of a tenant, in the order of the API. */
export const toSettings = (tenant: Tenant) => toSettingsFields(tenant)

/** Returns the stored settings. Throws NotFound. */
export const getSettings = async (ctx: Ctx) => toSettings(await getTenant(ctx))

/**
 * Updates the given settings; null and, for text, '' unset. An update without a difference changes neither
 * updatedAt nor the event log. Four round trips; one when no setting is given. Throws InvalidInput, and
 * Conflict when the tenant has changed since `expectedUpdatedAt`. Every process uses the new settings within a
 * second.
 */
export async function updateSettings(ctx: Ctx, input: unknown): Promise<Tenant> {
  const { expectedUpdatedAt: _, ...settings } = parseInput(TenantSettingsPatch, input)
  if (Object.values(settings).every((value) => value === undefined)) {
    const tenant = await getTenant(ctx)
    assertExpectedUpdatedAt(input, tenant.updatedAt)
    return tenant
  }
  const { tenant, changed } = await inTransactionFor(ctx, async (sql) => {
    const updated = await updateSettingsRow(sql, ctx.tenant, settings)
    if (!updated) throw new NotFound('tenant')
    assertExpectedUpdatedAt(input, updated.oldUpdatedAt)
    const issues = findSettingIssues(updated.tenant)
    if (issues.length > 0) throw new InvalidInput(issues)
    if (updated.changed.length > 0) await recordEvents(sql, ctx, [tenantUpdated(updated.changed)])
    return updated
  })
  if (changed.length > 0) {
    invalidateTenant(ctx.db)
    wakeReaders(ctx.tenant)
  }
  return tenant
}
