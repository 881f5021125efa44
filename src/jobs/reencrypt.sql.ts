import type { Sql } from '../database/db.ts'
import { statement, typed } from '../database/statement.ts'

export type SealedRow = { tenantId: string; id: string | Buffer; sealed: string }

/** Reads and replaces the sealed values of a column. `key` is the primary key besides the tenant. */
const sealedColumn = (table: string, column: string, key: string, type: 'text' | 'bytea' = 'text') => {
  const id = typed<SealedRow['id']>(type)
  return {
    select: statement({
      takes: { afterTenant: 'text', afterId: id, limit: 'int' },
      returns: { tenantId: 'text', id, sealed: 'text' },
    })`
  SELECT "tenantId", "${key}" AS "id", "${column}" AS "sealed" FROM "${table}"
  WHERE :tenant = 'system' AND ("tenantId", "${key}") > (:afterTenant, :afterId) AND "${column}" IS NOT NULL
  ORDER BY "tenantId", "${key}" LIMIT :limit`,
    replace: statement({
      takes: { id, old: 'text', sealed: 'text' },
      returns: { replaced: 'int' },
    })`
  UPDATE "${table}" SET "${column}" = :sealed WHERE "tenantId" = :tenant AND "${key}" = :id AND "${column}" = :old
  RETURNING 1 AS "replaced"`,
  }
}

/** Columns with sealed values. */
const SEALED_COLUMNS = {
  Tenant: sealedColumn('Tenant', 'tokenKey', 'tenantId'),
  SigningKey: sealedColumn('SigningKey', 'privateKey', 'id'),
  IdempotencyKey: sealedColumn('IdempotencyKey', 'answer', 'keyHash', 'bytea'),
  IdpClientSecret: sealedColumn('IdentityProvider', 'clientSecret', 'id'),
  IdpSigningKey: sealedColumn('IdentityProvider', 'idTokenSigningKey', 'id'),
  ProviderIdToken: sealedColumn('ProviderSession', 'idToken', 'sessionId'),
  ProviderAccessToken: sealedColumn('IdpUserToken', 'accessToken', 'linkId'),
  ProviderRefreshToken: sealedColumn('IdpUserToken', 'refreshToken', 'linkId'),
  TotpSecret: sealedColumn('Credential', 'secret', 'id'),
} as const
export type SealedTable = keyof typeof SEALED_COLUMNS
export const SEALED_TABLES = Object.keys(SEALED_COLUMNS) as SealedTable[]

/** Rows of all tenants after a row, in the order of their keys. Requires the tenant `system`. */
export const selectSealedRows = (
  sql: Sql,
  system: string,
  name: SealedTable,
  after: Pick<SealedRow, 'tenantId' | 'id'>,
  limit: number,
): Promise<SealedRow[]> =>
  SEALED_COLUMNS[name].select.all(sql, {
    tenant: system,
    afterTenant: after.tenantId,
    afterId: after.id,
    limit,
  })

/** Writes the new text; false when the row was changed concurrently. */
export async function replaceSealedValue(
  sql: Sql,
  name: SealedTable,
  row: SealedRow,
  sealed: string,
): Promise<boolean> {
  const values = { tenant: row.tenantId, id: row.id, old: row.sealed, sealed }
  return (await SEALED_COLUMNS[name].replace.first(sql, values)) !== null
}
