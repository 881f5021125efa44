import { isDeepStrictEqual } from 'node:util'
import { shareKnownRoles } from '../access/held-roles.sql.ts'
import { invalidateTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import { InvalidInput, NotFound } from '../core/errors.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { assertExpectedUpdatedAt, moveForward } from '../schema/expected-updated-at.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { createBodyMapper } from '../schema/response-shapes.ts'
import {
  findSettingIssues,
  TENANT_SETTINGS,
  TenantSettingsPatch,
  TenantSettingsShape,
} from './tenants.fields.ts'
import { lockTenant } from './tenants.sql.ts'
import { getTenant, HIDDEN_COLUMNS, type Tenant } from './tenants.ts'

const toSettingsFields = createBodyMapper(TenantSettingsShape)

/** The settings of a tenant, in the order of the API. */
export const toSettings = (tenant: Tenant) => toSettingsFields(tenant)

/** Returns the stored settings. Throws NotFound. */
export const getSettings = async (ctx: Ctx) => toSettings(await getTenant(ctx))

const SETTING_NAMES = Object.keys(TENANT_SETTINGS) as (keyof typeof TENANT_SETTINGS)[]

/**
 * Updates the given settings; null and, for text, '' unset. An update without a difference changes neither
 * updatedAt nor the event log. Five round trips; one when no setting is given. Throws InvalidInput, and
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
  return ctx.db.transaction(async (tx) => {
    const current = await lockTenant(tx)
    if (!current) throw new NotFound('tenant')
    assertExpectedUpdatedAt(input, current.updatedAt)
    const changedFields = SETTING_NAMES.filter(
      (name) => settings[name] !== undefined && !isDeepStrictEqual(settings[name], current[name]),
    )
    if (changedFields.length === 0) return current
    const changed = Object.fromEntries(changedFields.map((name) => [name, settings[name]]))
    const issues = findSettingIssues({ ...current, ...changed })
    if (issues.length > 0) throw new InvalidInput(issues)
    await shareKnownRoles(tx, settings.secondFactorRoles ?? [], 'secondFactorRoles')
    await recordEvents(tx, ctx, [createEvent('tenant.updated', { changedFields })])
    invalidateTenant(tx)
    return tx.prisma.tenant.update({
      where: { tenantId: ctx.tenant },
      data: { ...changed, updatedAt: moveForward(current.updatedAt) },
      omit: HIDDEN_COLUMNS,
    })
  })
}
