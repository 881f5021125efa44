import { type Ctx, ROLE_NAMES, scopesOfRoles } from '../ctx.ts'
import { dbFor, inTransaction, type Sql, sql } from '../db.ts'
import { InvalidInput, NotFound } from '../errors.ts'
import { toEventRow, wakeReaders } from '../events.ts'
import { assertExpected } from '../expected-updated-at.ts'
import { parse } from '../fields.ts'
import type { IdentityProvider as IdpRow } from '../generated/prisma/client.ts'
import { type Page, type PageArgs, parsePaging, toPage } from '../page.ts'
import { requireNoEscalation } from '../scopes.ts'
import { openSecrets, type SecretColumn, sealSecrets } from './idp-secrets.ts'
import { IdpCreate, type IdpFields, idpPatch, isIdpId } from './idps.fields.ts'
import {
  CHANGEABLE,
  deleteIdpRow,
  deleteLinks,
  holdIdp,
  type IdpColumns,
  insertIdp,
  selectRolesOfLinked,
  updateIdpRow,
} from './idps.sql.ts'

/** An identity provider as callers see it: of its secrets, only whether they are there. */
export type Idp = Omit<IdpRow, SecretColumn> & { hasClientSecret: boolean; hasIdTokenSigningKey: boolean }

/** Takes the secrets out of a row. */
export function toIdp({ clientSecret, idTokenSigningKey, ...row }: IdpRow): Idp {
  return {
    ...row,
    hasClientSecret: clientSecret !== null,
    hasIdTokenSigningKey: idTokenSigningKey !== null,
  }
}

/**
 * Creates an identity provider (spec: Create identity provider). Its id is chosen by the caller and, with its type, never
 * changes. Secrets are sealed and never answered. Throws InvalidInput, or Conflict (id taken).
 */
export async function createIdentityProvider(ctx: Ctx, input: unknown): Promise<Idp> {
  const fields = parse(IdpCreate, input)
  // `node(id:)` finds the tenant by its slug.
  if (fields.id === ctx.tenant)
    throw new InvalidInput([{ field: 'id', description: 'is the name of the tenant' }])
  const event = toEventRow(ctx, { type: 'idp.created', subjectIds: [fields.id] })
  const row = await insertIdp(sql, ctx.tenant, sealSecrets(ctx.tenant, fields.id, fields), event)
  wakeReaders(ctx.tenant)
  return toIdp(row)
}

/** One identity provider. Throws NotFound. */
export async function getIdentityProvider(ctx: Ctx, idpId: string): Promise<Idp> {
  const where = { tenantId_id: { tenantId: ctx.tenant, id: idpId } }
  const row = isIdpId(idpId) ? await dbFor(ctx.tenant).identityProvider.findUnique({ where }) : null
  if (!row) throw new NotFound('identity provider')
  return toIdp(row)
}

/** Those of some identity providers that are there, for a loader: one statement. */
export async function findIdentityProviders(tenant: string, ids: string[]): Promise<Idp[]> {
  const where = { tenantId: tenant, id: { in: ids } }
  return (await dbFor(tenant).identityProvider.findMany({ where })).map(toIdp)
}

/** The identity providers, by id: one statement, and one more for totalSize. Throws InvalidInput about the paging. */
export async function listIdentityProviders(ctx: Ctx, args: PageArgs): Promise<Page<Idp>> {
  const name = `${ctx.tenant}:idps`
  const paging = parsePaging(args, name)
  const backward = paging.mode === 'cursor' && paging.backward
  const seek = paging.mode === 'cursor' ? paging.seek : null
  const tenantId = ctx.tenant
  const db = dbFor(tenantId)
  const rows = await db.identityProvider.findMany({
    where: seek ? { tenantId, id: backward ? { lt: seek.id } : { gt: seek.id } } : { tenantId },
    orderBy: { id: backward ? 'desc' : 'asc' },
    skip: paging.mode === 'offset' ? paging.page * paging.pageSize : 0,
    take: paging.pageSize + 1,
  })
  return toPage(paging, rows.map(toIdp), {
    name,
    keyOf: ({ id }) => ({ value: null, id }),
    countAll: () => db.identityProvider.count({ where: { tenantId } }),
  })
}

/**
 * Whoever decides what a provider says decides who its linked people are: throws Forbidden where one of them has roles
 * that permit what the caller may not.
 */
async function requireControl(sql: Sql, ctx: Ctx, idpId: string): Promise<void> {
  const all = scopesOfRoles(ROLE_NAMES)
  if (ctx.actor.kind === 'platform' || [...all].every((scope) => ctx.scopes.has(scope))) return
  requireNoEscalation(ctx, scopesOfRoles(await selectRolesOfLinked(sql, ctx.tenant, idpId)))
}

/** What people see of a provider. Everything else decides whose word is taken for who somebody is. */
const PRESENTATION: readonly string[] = ['name', 'scopes']

/**
 * Changes an identity provider: omitted fields are unchanged, '' and null unset; response-only fields, and `type`, are
 * ignored where they are as they were. It must be valid as a whole afterwards. Links stay, under the issuer that they were
 * made with. A change that changes nothing leaves updatedAt and the log alone. Throws NotFound, InvalidInput, Conflict
 * (`expectedUpdatedAt`), and Forbidden where linked people have roles that permit what the caller may not.
 */
export async function updateIdentityProvider(ctx: Ctx, idpId: string, input: unknown): Promise<Idp> {
  if (!isIdpId(idpId)) throw new NotFound('identity provider')
  const { row, isChanged } = await inTransaction(async (sql) => {
    const held = await holdIdp(sql, ctx.tenant, idpId)
    if (!held) throw new NotFound('identity provider')
    assertExpected(input, held.updatedAt)
    const before = openSecrets(held)
    const patch = parse(idpPatch({ ...toIdp(held), ...(before as IdpFields) }), input)
    const changedFields = CHANGEABLE.filter(
      (column) => patch[column] !== undefined && patch[column] !== before[column],
    )
    if (changedFields.length === 0) return { row: held, isChanged: false }
    if (changedFields.some((field) => !PRESENTATION.includes(field))) await requireControl(sql, ctx, idpId)
    const changed = Object.fromEntries(changedFields.map((column) => [column, patch[column]]))
    const columns: IdpColumns = { ...held, ...sealSecrets(ctx.tenant, idpId, changed) }
    const event = toEventRow(ctx, { type: 'idp.updated', subjectIds: [idpId], changedFields })
    return { row: await updateIdpRow(sql, ctx.tenant, idpId, columns, event), isChanged: true }
  })
  if (isChanged) wakeReaders(ctx.tenant)
  return toIdp(row)
}

/** Links of one statement: a provider may have very many, and a statement has 10 s. */
const LINK_BATCH = 20_000

/**
 * Deletes an identity provider with all links to it, for ever, in one transaction. The log has one entry, with the number
 * of links. Throws NotFound, and Forbidden where linked people have roles that permit what the caller may not.
 */
export async function deleteIdentityProvider(
  ctx: Ctx,
  idpId: string,
): Promise<{ deletedIdentityProviderId: string }> {
  if (!isIdpId(idpId)) throw new NotFound('identity provider')
  await inTransaction(async (sql) => {
    if (!(await holdIdp(sql, ctx.tenant, idpId))) throw new NotFound('identity provider')
    await requireControl(sql, ctx, idpId)
    let links = 0
    let batch = { count: LINK_BATCH, lastUserId: '' as string | null }
    while (batch.count === LINK_BATCH) {
      batch = await deleteLinks(sql, ctx.tenant, idpId, {
        afterUserId: batch.lastUserId ?? '',
        limit: LINK_BATCH,
      })
      links += batch.count
    }
    const event = toEventRow(ctx, { type: 'idp.deleted', subjectIds: [idpId], detail: { links } })
    await deleteIdpRow(sql, ctx.tenant, idpId, event)
  })
  wakeReaders(ctx.tenant)
  return { deletedIdentityProviderId: idpId }
}
