import { storedColumns } from '../database/columns.ts'
import type { Sql } from '../database/db.ts'
import { statement } from '../database/statement.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'
import type { IdentityProvider } from '../generated/prisma/client.ts'
import { IDP_FIELD_NAMES } from './idps.fields.ts'

/** The fields that callers write, secrets sealed, and what follows from them. */
const WRITTEN_IDP_COLUMNS = [...IDP_FIELD_NAMES, 'clientSecretExpiresAt'] as const
export type IdpColumns = Pick<IdentityProvider, (typeof WRITTEN_IDP_COLUMNS)[number]>

const toIdpColumnList = (of = ''): string =>
  WRITTEN_IDP_COLUMNS.map((column) => `${of}"${column}"`).join(', ')

const INSERT_IDP = statement({
  takes: { idp: 'jsonb', events: 'jsonb' },
  returns: storedColumns('IdentityProvider'),
})`
  WITH made AS (
    INSERT INTO "IdentityProvider" ("tenantId", "id", "type", ${toIdpColumnList()})
    SELECT :tenant, n."id", n."type", ${toIdpColumnList('n.')} FROM jsonb_populate_record(NULL::"IdentityProvider", :idp) n
    RETURNING *
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'made' })})
  SELECT * FROM made WHERE "tenantId" = :tenant`

/** Inserts an identity provider with its event: one statement. An existing id violates the primary key. */
export async function insertIdp(
  sql: Sql,
  tenant: string,
  idp: Partial<IdpColumns> & { id: string; type: string; name: string },
  event: object,
): Promise<IdentityProvider> {
  const row = await INSERT_IDP.first(sql, { tenant, idp, events: [event] })
  if (!row) throw new Error('the identity provider was not written')
  return row
}

const LOCK_IDP = statement({ takes: { id: 'text' }, returns: storedColumns('IdentityProvider') })`
  SELECT * FROM "IdentityProvider" WHERE "tenantId" = :tenant AND "id" = :id FOR UPDATE`

/**
 * Locks the provider's row: other changes of it, and new links to it, wait. Null when there is no such
 * provider.
 */
export const lockIdp = (sql: Sql, tenant: string, id: string): Promise<IdentityProvider | null> =>
  LOCK_IDP.first(sql, { tenant, id })

const UPDATE_IDP = statement({
  takes: { id: 'text', columns: 'jsonb', events: 'jsonb' },
  returns: storedColumns('IdentityProvider'),
})`
  WITH event_log AS (${buildInsertEventsSql(':events')})
  UPDATE "IdentityProvider" t SET ${WRITTEN_IDP_COLUMNS.map((column) => `"${column}" = n."${column}"`).join(', ')},
    "updatedAt" = GREATEST(now(), t."updatedAt" + interval '1 millisecond')
  FROM jsonb_populate_record(NULL::"IdentityProvider", :columns) n
  WHERE t."tenantId" = :tenant AND t."id" = :id RETURNING t.*`

/** Writes all changeable columns of a locked provider with the event: one statement. */
export async function updateIdpRow(
  sql: Sql,
  tenant: string,
  id: string,
  columns: IdpColumns,
  event: object,
): Promise<IdentityProvider> {
  const row = await UPDATE_IDP.first(sql, { tenant, id, columns, events: [event] })
  if (!row) throw new Error('the identity provider was not written')
  return row
}

const SELECT_ROLES_OF_LINKED = statement({ takes: { id: 'text' }, returns: { role: 'text' } })`
  SELECT DISTINCT r."role" FROM "IdpUser" l
  JOIN "User" u ON u."tenantId" = :tenant AND u."id" = l."userId", unnest(u."roles") AS r("role")
  WHERE l."tenantId" = :tenant AND l."idpId" = :id`

/** The roles of the users who are linked to a provider. */
export async function selectLinkedUserRoles(sql: Sql, tenant: string, id: string): Promise<string[]> {
  return (await SELECT_ROLES_OF_LINKED.all(sql, { tenant, id })).map(({ role }) => role)
}

// In the order of an index, from where the last batch ended: deleted entries are still in the index.
const DELETE_LINKS = statement({
  takes: { id: 'text', afterUserId: 'text', limit: 'int' },
  returns: { count: 'int', lastUserId: 'text?' },
})`
  WITH batch AS (
    SELECT "id", "userId" FROM "IdpUser" WHERE "tenantId" = :tenant AND "idpId" = :id AND "userId" > :afterUserId
    ORDER BY "userId" LIMIT :limit
  ), deleted AS (
    DELETE FROM "IdpUser" WHERE "tenantId" = :tenant AND "id" IN (SELECT "id" FROM batch)
  )
  SELECT count(*)::int AS "count", max("userId") AS "lastUserId" FROM batch`

/**
 * Deletes up to `limit` links to a locked provider, of users after one; returns how many there were, and the
 * last user.
 */
export async function deleteIdpLinks(
  sql: Sql,
  tenant: string,
  id: string,
  after: { afterUserId: string; limit: number },
): Promise<{ count: number; lastUserId: string | null }> {
  const row = await DELETE_LINKS.first(sql, { tenant, id, ...after })
  return row ?? { count: 0, lastUserId: null }
}

const DELETE_IDP = statement({ takes: { id: 'text', events: 'jsonb' } })`
  WITH event_log AS (${buildInsertEventsSql(':events')})
  DELETE FROM "IdentityProvider" WHERE "tenantId" = :tenant AND "id" = :id`

/** Deletes a locked provider, with the event. */
export const deleteIdpRow = (sql: Sql, tenant: string, id: string, event: object): Promise<void> =>
  DELETE_IDP.run(sql, { tenant, id, events: [event] })
