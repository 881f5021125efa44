import type { Sql } from '../db.ts'

/**
 * Statements of this transaction are planned as they come, and look rows up by their keys. A plan from when the tenant had
 * few users, or statistics that do not know the tenant yet, would have each batch read all of them, 500 times over. (For
 * the same reason the look-ups below are LATERAL with a LIMIT: such a one cannot become the outer side of its join.)
 */
const PLAN_BY_KEYS = `
  SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_seqscan', 'off', true),
    set_config('jit', 'off', true)
  FROM "Tenant" WHERE "tenantId" = $1`

export const planByKeys = async (sql: Sql, tenant: string): Promise<void> => {
  await sql(PLAN_BY_KEYS, [tenant])
}
