import type { Db } from '../database/handle.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'

/** A change: the cache, and the tenant and key of the entry. */
export type RowChange = readonly [cache: string, tenant: string, key: string]

const SELECT_ROW_CHANGES = statement({
  shared: true,
  takes: { since: 'text?', limit: 'int' },
  returns: { snapshot: 'text', server: 'text?', changes: typed<RowChange[]>('jsonb') },
})`
  SELECT pg_current_snapshot()::text AS "snapshot",
    CASE WHEN NOT pg_is_in_recovery() THEN pg_postmaster_start_time()::text END AS "server", (
    SELECT coalesce(jsonb_agg(jsonb_build_array(c."cache", c."tenantId", c."key")), '[]') FROM (
      SELECT "cache", "tenantId", "key" FROM "RowChange"
      WHERE :tenant = 'system' AND "xid" >= (pg_snapshot_xmin(:since::pg_snapshot)::text)::bigint
        AND "xid" < (pg_snapshot_xmax(pg_current_snapshot())::text)::bigint
        AND NOT pg_visible_in_snapshot("xid"::text::xid8, :since::pg_snapshot)
      ORDER BY "xid", "id" LIMIT :limit
    ) c
  ) AS "changes"`

/**
 * Reads the changes of all tenants that have committed since the snapshot `since`, the snapshot in which they were read,
 * and the server: its start, or null if it cannot be written to. Without `since`, there are no changes. Those of
 * transactions that have not begun were restored from another cluster.
 */
export async function selectRowChanges(
  db: Db,
  since: string | null,
  limit: number,
): Promise<RowOf<typeof SELECT_ROW_CHANGES>> {
  const [row] = await db.many(SELECT_ROW_CHANGES, { since, limit })
  if (!row) throw new Error('the row of a SELECT without FROM is missing')
  return row
}
