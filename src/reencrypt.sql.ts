import type { Sql } from './db.ts'

export type SealedRow = { tenantId: string; id: string | Buffer; sealed: string }

/** Columns that hold what `seal` made, and what names a row of theirs besides the tenant. */
const SEALED = {
  Tenant: { table: 'Tenant', column: 'tokenKey', key: 'tenantId' },
  SigningKey: { table: 'SigningKey', column: 'privateKey', key: 'id' },
  IdempotencyKey: { table: 'IdempotencyKey', column: 'answer', key: 'keyHash' },
  IdpClientSecret: { table: 'IdentityProvider', column: 'clientSecret', key: 'id' },
  IdpSigningKey: { table: 'IdentityProvider', column: 'idTokenSigningKey', key: 'id' },
} as const
export type SealedTable = keyof typeof SEALED
export const SEALED_TABLES = Object.keys(SEALED) as SealedTable[]

/** Rows of all tenants after a row, in the order of their keys. Tenant `system` as `$1` alone may see them all. */
export function selectSealed(
  sql: Sql,
  system: string,
  name: SealedTable,
  after: Pick<SealedRow, 'tenantId' | 'id'>,
  limit: number,
): Promise<SealedRow[]> {
  const { table, column, key } = SEALED[name]
  return sql(
    `SELECT "tenantId", "${key}" AS "id", "${column}" AS "sealed" FROM "${table}"
     WHERE $1 = 'system' AND ("tenantId", "${key}") > ($2, $3) AND "${column}" IS NOT NULL ORDER BY "tenantId", "${key}" LIMIT $4::int`,
    [system, after.tenantId, after.id, limit],
  )
}

/** Writes the new text, unless somebody changed the row meanwhile; false then. */
export async function replaceSealed(
  sql: Sql,
  name: SealedTable,
  row: SealedRow,
  sealed: string,
): Promise<boolean> {
  const { table, column, key } = SEALED[name]
  const rows = await sql(
    `UPDATE "${table}" SET "${column}" = $4 WHERE "tenantId" = $1 AND "${key}" = $2 AND "${column}" = $3 RETURNING 1`,
    [row.tenantId, row.id, row.sealed, sealed],
  )
  return rows.length > 0
}
