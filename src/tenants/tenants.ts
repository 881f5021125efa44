import { randomBytes } from 'node:crypto'
import { type Ctx, platformCtx, type Scope, SYSTEM_TENANT } from '../ctx.ts'
import { dbFor, inTransaction, type Sql } from '../db.ts'
import { Conflict, Forbidden, NotFound } from '../errors.ts'
import { recordEvents, wakeReaders } from '../events.ts'
import { parse } from '../fields.ts'
import type { Tenant as TenantModel } from '../generated/prisma/client.ts'
import { createSigningKey } from '../oidc/keys/key-rotation.ts'
import { forgetKeys } from '../oidc/keys/keys.ts'
import { type Page, type PageArgs, parsePaging, toPage } from '../page.ts'
import { requireScope } from '../scopes.ts'
import { forgetTenant, sealTokenKey } from './tenant-cache.ts'
import { isSlug, TenantCreate, type TenantSettings } from './tenants.fields.ts'
import { deleteLooseRows, deleteTenantRow, insertTenant } from './tenants.sql.ts'

/** A tenant as callers see it; its id is its slug. */
export type Tenant = Omit<TenantModel, 'tokenKey' | 'eventsTrimmedTo'>

/** What must never leave the service. */
const HIDDEN_COLUMNS = { tokenKey: true, eventsTrimmedTo: true } as const

const TOKEN_KEY_BYTES = 32

/** Tenants are the platform's own and the operators' affair: callers of `system`, acting on `system`. */
function requireOperator(ctx: Ctx, scope: Scope): void {
  requireScope(ctx, scope)
  const { actor } = ctx
  const isOperator =
    actor.kind === 'platform' || (actor.kind !== 'anonymous' && actor.tenant === SYSTEM_TENANT)
  if (!isOperator || ctx.tenant !== SYSTEM_TENANT)
    throw new Forbidden('Tenants are managed in tenant system only.')
}

/** A slug that begins anew has other settings and other keys than before. */
function forget(slug: string): void {
  forgetTenant(slug)
  forgetKeys(slug)
}

/** Row, keys and first event, unless the slug is taken: then nothing, and false. */
async function insertWhole(sql: Sql, ctx: Ctx, slug: string, settings: TenantSettings): Promise<boolean> {
  const tokenKey = sealTokenKey(slug, randomBytes(TOKEN_KEY_BYTES))
  if (!(await insertTenant(sql, slug, { ...settings, tokenKey }))) return false
  await deleteLooseRows(sql, slug)
  await createSigningKey(sql, slug)
  await recordEvents(sql, { ...ctx, tenant: slug }, [{ type: 'tenant.created', subjectIds: [slug] }])
  return true
}

/**
 * Makes a tenant with its signing key and the key of its refresh tokens, in one transaction. Both logs, the new
 * tenant's and the operators', tell of it. Throws InvalidInput, Conflict (slug taken) or Forbidden.
 */
export async function createTenant(ctx: Ctx, input: unknown): Promise<Tenant> {
  requireOperator(ctx, 'tenants:write')
  const { slug, settings } = parse(TenantCreate, input)
  await inTransaction(async (sql) => {
    if (!(await insertWhole(sql, ctx, slug, settings)))
      throw new Conflict([{ field: 'slug', description: 'is taken' }], 'The slug is taken.')
    await recordEvents(sql, ctx, [{ type: 'tenant.created', subjectIds: [slug] }])
  })
  forget(slug)
  wakeReaders(ctx.tenant)
  return getTenant({ ...ctx, tenant: slug })
}

/** Makes a tenant if it is not there, as the platform; true when it was made by this call. Several processes may race. */
export async function ensureTenant(slug: string, settings: TenantSettings = {}): Promise<boolean> {
  const made = await inTransaction((sql) => insertWhole(sql, platformCtx(slug), slug, settings))
  if (made) forget(slug)
  return made
}

/**
 * Deletes a tenant with everything in it, for ever, in one transaction; the operators' log tells of it.
 * Throws NotFound, or Forbidden for `system`, which always exists.
 */
export async function deleteTenant(ctx: Ctx, slug: string): Promise<void> {
  requireOperator(ctx, 'tenants:write')
  if (slug === SYSTEM_TENANT) throw new Forbidden('The tenant system cannot be deleted.')
  if (!isSlug(slug)) throw new NotFound('tenant')
  await inTransaction(async (sql) => {
    if (!(await deleteTenantRow(sql, slug))) throw new NotFound('tenant')
    await deleteLooseRows(sql, slug)
    await recordEvents(sql, ctx, [{ type: 'tenant.deleted', subjectIds: [slug] }])
  })
  forget(slug)
  wakeReaders(ctx.tenant)
}

/** The tenant that the call is about. Throws NotFound. */
export async function getTenant(ctx: Ctx): Promise<Tenant> {
  const where = { tenantId: ctx.tenant }
  const tenant = await dbFor(ctx.tenant).tenant.findUnique({ where, omit: HIDDEN_COLUMNS })
  if (!tenant) throw new NotFound('tenant')
  return tenant
}

/** One of all tenants, for operators. Throws NotFound or Forbidden. */
export function getAnyTenant(ctx: Ctx, slug: string): Promise<Tenant> {
  requireOperator(ctx, 'tenants:read')
  return isSlug(slug) ? getTenant({ ...ctx, tenant: slug }) : Promise.reject(new NotFound('tenant'))
}

/** All tenants, by slug. Throws InvalidInput (paging) or Forbidden. */
export async function listTenants(ctx: Ctx, args: PageArgs): Promise<Page<Tenant>> {
  requireOperator(ctx, 'tenants:read')
  const name = 'tenants'
  const paging = parsePaging(args, name)
  const backward = paging.mode === 'cursor' && paging.backward
  const seek = paging.mode === 'cursor' ? paging.seek : null
  const db = dbFor(SYSTEM_TENANT)
  const read = await db.tenant.findMany({
    where: seek ? { tenantId: backward ? { lt: seek.id } : { gt: seek.id } } : {},
    orderBy: { tenantId: backward ? 'desc' : 'asc' },
    skip: paging.mode === 'offset' ? paging.page * paging.pageSize : 0,
    take: paging.pageSize + 1,
    omit: HIDDEN_COLUMNS,
  })
  return toPage(paging, read, {
    name,
    keyOf: (tenant) => ({ value: null, id: tenant.tenantId }),
    countAll: () => db.tenant.count(),
  })
}
