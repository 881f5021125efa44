import { randomBytes } from 'node:crypto'
import { requireScope } from '../access/require-scope.ts'
import { invalidateTenant, sealTokenKey } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import { createPlatformCtx, toTenantCtx } from '../context/context.ts'
import { Forbidden, NotFound } from '../core/errors.ts'
import type { Scope } from '../core/scopes.ts'
import { SYSTEM_TENANT } from '../core/scopes.ts'
import type { Db, Tx } from '../database/handle.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { Tenant as TenantModel } from '../generated/prisma/client.ts'
import { createSigningKey } from '../keys/key-rotation.ts'
import { invalidateKeys } from '../keys/keys.ts'
import { addStandards } from '../schema/fields.ts'
import { isSlug } from '../schema/slug.ts'
import { toServerColumns } from './message-servers.fields.ts'
import { TENANT_SETTINGS, type TenantSettings } from './tenants.fields.ts'
import { allowLongStatements, DELETION_TIMEOUT_MS, deleteUnreferencedRows } from './tenants.sql.ts'

/** A tenant without its internal columns. Its id is its slug. */
export type Tenant = Omit<TenantModel, keyof typeof HIDDEN_COLUMNS>

/** Columns that no caller receives. */
export const HIDDEN_COLUMNS = {
  tokenKey: true,
  eventsTrimmedTo: true,
  mailServerPassword: true,
  smsGatewayToken: true,
  mailFailingSince: true,
  smsFailingSince: true,
} as const

const TOKEN_KEY_BYTES = 32

/**
 * Throws Forbidden unless the caller is the platform or an operator of tenant `system`, acting on `system`.
 */
export function requireOperator(ctx: Ctx, scope: Scope): void {
  requireScope(ctx, scope)
  const { actor } = ctx
  const isOperator =
    actor.kind === 'platform' || (actor.kind !== 'anonymous' && actor.tenant === SYSTEM_TENANT)
  if (!isOperator || ctx.tenant !== SYSTEM_TENANT)
    throw new Forbidden('Tenants are managed in tenant system only.')
}

/** A tenant that is created again under the same slug has other settings and keys. */
function invalidateTenantCaches(db: Db): void {
  invalidateTenant(db)
  invalidateKeys(db)
}

/**
 * Inserts the tenant of the context with its signing key, the key of its refresh tokens and its first event. False when
 * the slug is taken.
 */
export async function insertTenantWithKey(tx: Tx, ctx: Ctx, settings: TenantSettings): Promise<boolean> {
  const { tenant: slug } = ctx
  const tokenKey = sealTokenKey(slug, randomBytes(TOKEN_KEY_BYTES))
  // Waits for a concurrent insertion of the same slug.
  const { count } = await tx.prisma.tenant.createMany({
    data: [
      {
        tenantId: slug,
        tokenKey,
        ...addStandards(TENANT_SETTINGS, settings),
        ...toServerColumns(slug, settings, settings, settings),
      },
    ],
    skipDuplicates: true,
  })
  if (count === 0) return false
  await deleteUnreferencedRows(tx)
  await createSigningKey(tx)
  await recordEvents(tx, ctx, [createEvent('tenant.created', { tenantId: slug })])
  invalidateTenantCaches(tx)
  return true
}

/**
 * Creates a tenant if it does not exist, as the platform. True when this call created it. Processes may call
 * it concurrently.
 */
export function ensureTenant(slug: string, settings: TenantSettings = {}): Promise<boolean> {
  const ctx = createPlatformCtx(slug)
  return ctx.db.transaction((tx) => insertTenantWithKey(tx, ctx, settings))
}

/**
 * Deletes a tenant and all its data permanently, in one transaction. The event log of tenant `system` records
 * it. Throws NotFound, or Forbidden for tenant `system`, which always exists.
 */
export async function deleteTenant(ctx: Ctx, slug: string): Promise<void> {
  requireOperator(ctx, 'tenants:write')
  if (slug === SYSTEM_TENANT) throw new Forbidden('The tenant system cannot be deleted.')
  if (!isSlug(slug)) throw new NotFound('tenant')
  await ctx.db.transaction(
    async (tx) => {
      const deleted = tx.forTenant(slug)
      await allowLongStatements(deleted)
      // Foreign keys delete what refers to it.
      const { count } = await deleted.prisma.tenant.deleteMany({ where: { tenantId: slug } })
      if (count === 0) throw new NotFound('tenant')
      await deleteUnreferencedRows(deleted)
      await recordEvents(tx, ctx, [createEvent('tenant.deleted', { tenantId: slug })])
      invalidateTenantCaches(deleted)
    },
    { longestMs: DELETION_TIMEOUT_MS },
  )
}

/** Returns the tenant of the call. Throws NotFound. */
export async function getTenant(ctx: Ctx): Promise<Tenant> {
  const where = { tenantId: ctx.tenant }
  const tenant = await ctx.db.prisma.tenant.findUnique({ where, omit: HIDDEN_COLUMNS })
  if (!tenant) throw new NotFound('tenant')
  return tenant
}

/** Returns any tenant, for operators. Throws NotFound or Forbidden. */
export function getTenantBySlug(ctx: Ctx, slug: string): Promise<Tenant> {
  requireOperator(ctx, 'tenants:read')
  return isSlug(slug) ? getTenant(toTenantCtx(ctx, slug)) : Promise.reject(new NotFound('tenant'))
}
