import type { Sql } from '../db.ts'

/**
 * Statements of this transaction are planned for the tables as they are now, not as they were when the tenant had few
 * users. What else it takes for a look-up to go by its key, in an import of a million lines, 500 times a batch:
 * - it is LATERAL with a LIMIT, as the planner may turn any other join around, and go through all users for each key;
 * - it asks for TENANT, not for $1: statistics do not know a tenant that is new, so that the planner expects one user in it
 *   and takes any index. Of a value that it does not know, it expects what is usual.
 */
export const TENANT = '(SELECT $1::text)'

const PLAN_BY_KEYS = `
  SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_seqscan', 'off', true),
    set_config('jit', 'off', true)
  FROM "Tenant" WHERE "tenantId" = $1`

export const planByKeys = async (sql: Sql, tenant: string): Promise<void> => {
  await sql(PLAN_BY_KEYS, [tenant])
}
