import { isDeepStrictEqual } from 'node:util'
import { shareKnownRoles } from '../access/held-roles.sql.ts'
import { requireEveryScope } from '../access/require-scope.ts'
import { invalidateTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import { InvalidInput, NotFound } from '../core/errors.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { assertExpectedUpdatedAt, moveForward } from '../schema/expected-updated-at.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { createBodyMapper } from '../schema/response-shapes.ts'
import {
  findDeliveryIssues,
  findSecretIssues,
  messageServerSettings,
  SERVER_SECRET_NAMES,
  toServerColumns,
} from './message-servers.fields.ts'
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

/** What decides who receives the codes of people. */
const SERVER_FIELDS: string[] = [...Object.keys(messageServerSettings), ...SERVER_SECRET_NAMES]

/** The settings that `findDeliveryIssues` compares. */
const DELIVERY_SETTINGS: string[] = [
  'mailServer',
  'mailServerUser',
  'smsGatewayUrl',
  'mailSenderAddress',
  'passcodeChannels',
]

const SETTING_NAMES = Object.keys(TENANT_SETTINGS) as (keyof typeof TENANT_SETTINGS)[]

/**
 * Updates the given settings; null and, for text, '' unset. An update without a difference changes neither
 * updatedAt nor the event log. Five round trips; one when no setting is given. Throws InvalidInput, and
 * Conflict when the tenant has changed since `expectedUpdatedAt`, and Forbidden for servers of messages without every scope.
 * Every process uses the new settings within a second.
 */
export async function updateSettings(ctx: Ctx, input: unknown): Promise<Tenant> {
  const {
    expectedUpdatedAt: _,
    mailServerPassword,
    smsGatewayToken,
    ...settings
  } = parseInput(TenantSettingsPatch, input)
  const secrets = { mailServerPassword, smsGatewayToken }
  if ([...Object.values(settings), ...Object.values(secrets)].every((value) => value === undefined)) {
    const tenant = await getTenant(ctx)
    assertExpectedUpdatedAt(input, tenant.updatedAt)
    return tenant
  }
  return ctx.db.transaction(async (tx) => {
    const current = await lockTenant(tx)
    if (!current) throw new NotFound('tenant')
    assertExpectedUpdatedAt(input, current.updatedAt)
    const changedSettings = SETTING_NAMES.filter(
      (name) => settings[name] !== undefined && !isDeepStrictEqual(settings[name], current[name]),
    )
    const changed = Object.fromEntries(changedSettings.map((name) => [name, settings[name]]))
    const changedFields = [...changedSettings, ...SERVER_SECRET_NAMES.filter((name) => secrets[name])]
    const next = { ...current, ...changed }
    const issues = [...findSettingIssues(next), ...findSecretIssues(next, changed, secrets)]
    // A domain may have left MAIL_DOMAINS meanwhile.
    if (changedSettings.some((name) => DELIVERY_SETTINGS.includes(name)))
      issues.push(...findDeliveryIssues(next))
    if (changedFields.length === 0 && issues.length === 0) return current
    if (issues.length > 0) throw new InvalidInput(issues)
    if (changedFields.some((name) => SERVER_FIELDS.includes(name))) requireEveryScope(ctx)
    await shareKnownRoles(tx, settings.secondFactorRoles ?? [], 'secondFactorRoles')
    await recordEvents(tx, ctx, [createEvent('tenant.updated', { changedFields })])
    invalidateTenant(tx)
    return tx.prisma.tenant.update({
      where: { tenantId: ctx.tenant },
      data: {
        ...changed,
        ...toServerColumns(ctx.tenant, next, changed, secrets),
        updatedAt: moveForward(current.updatedAt),
      },
      omit: HIDDEN_COLUMNS,
    })
  })
}
