import type { ClientRow } from '../access/client.sql.ts'
import type { Sql } from '../database/db.ts'
import { statement } from '../database/statement.ts'

/** Columns that an ensured client has; the others keep their defaults. */
export type EnsuredClient = Pick<
  ClientRow,
  | 'id'
  | 'name'
  | 'description'
  | 'appType'
  | 'type'
  | 'callbacks'
  | 'allowedLogoutUrls'
  | 'scopes'
  | 'allTenants'
  | 'requireConsent'
>
const ENSURED_COLUMNS = [
  'name',
  'description',
  'appType',
  'type',
  'callbacks',
  'allowedLogoutUrls',
  'scopes',
  'allTenants',
  'requireConsent',
] as const satisfies (keyof EnsuredClient)[]

const toColumnList = (prefix = ''): string => ENSURED_COLUMNS.map((name) => `${prefix}"${name}"`).join(', ')

const UPSERT_CLIENT = statement({
  takes: {
    id: 'text',
    name: 'text',
    description: 'text?',
    appType: 'text',
    type: 'text',
    callbacks: 'text[]',
    allowedLogoutUrls: 'text[]',
    scopes: 'text[]',
    allTenants: 'boolean',
    requireConsent: 'boolean',
  },
  returns: { created: 'boolean' },
})`
  INSERT INTO "Client" AS c ("tenantId", "id", ${toColumnList()})
  VALUES (:tenant, :id, ${ENSURED_COLUMNS.map((name) => `:${name}`).join(', ')})
  ON CONFLICT ("tenantId", "id") DO UPDATE SET (${toColumnList()}, "updatedAt") = (${toColumnList('EXCLUDED.')}, now())
  WHERE (${toColumnList('c.')}) IS DISTINCT FROM (${toColumnList('EXCLUDED.')})
  RETURNING xmax = 0 AS "created"`

/**
 * Creates the client, or resets the ensured columns if they differ. Concurrent calls wait. 'same' when
 * nothing differed.
 */
export async function upsertClient(
  sql: Sql,
  tenant: string,
  client: EnsuredClient,
): Promise<'created' | 'changed' | 'same'> {
  const row = await UPSERT_CLIENT.first(sql, { tenant, ...client })
  return row ? (row.created ? 'created' : 'changed') : 'same'
}

const LOCK_CLIENT = statement({ takes: { clientId: 'text' }, returns: { id: 'text' } })`
  SELECT "id" FROM "Client" WHERE "tenantId" = :tenant AND "id" = :clientId FOR UPDATE`

const REPLACE_SECRETS = statement({
  takes: { clientId: 'text', secretHash: 'bytea' },
  returns: { secretHash: 'bytea' },
})`
  WITH removed AS (
    DELETE FROM "ClientSecret" WHERE "tenantId" = :tenant AND "clientId" = :clientId
    AND ("secretHash" <> :secretHash OR "expiresAt" IS NOT NULL) RETURNING "secretHash"
  ), added AS (
    INSERT INTO "ClientSecret" ("tenantId", "clientId", "secretHash") VALUES (:tenant, :clientId, :secretHash)
    ON CONFLICT ("tenantId", "secretHash") DO NOTHING RETURNING "secretHash"
  )
  SELECT "secretHash" FROM removed UNION ALL SELECT "secretHash" FROM added`

/** Makes `secretHash` the only secret of the client; false when it already was. */
export async function replaceClientSecrets(
  sql: Sql,
  tenant: string,
  clientId: string,
  secretHash: Buffer,
): Promise<boolean> {
  // The lock orders processes that start at the same time, so that none of them undoes half of another's
  // work.
  await LOCK_CLIENT.run(sql, { tenant, clientId })
  return (await REPLACE_SECRETS.first(sql, { tenant, clientId, secretHash })) !== null
}
