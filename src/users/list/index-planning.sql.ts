import type { Db } from '../../database/handle.ts'
import { statement } from '../../database/statement.ts'

/**
 * Statements of this transaction are planned for the tables as they are now, not as they were when the tenant
 * had few users. In an import of a million lines, 500 a batch, a look-up uses its key only if it also:
 * - is LATERAL with a LIMIT: the planner may reverse any other join and read all users for each key;
 * - compares with TENANT, not with the parameter: statistics do not know a new tenant, so that the planner
 *   expects one user in it and takes any index. For an unknown value it expects the average.
 */
export const TENANT = '(SELECT :tenant::text)'

const PLAN_BY_KEYS = statement({
  returns: { planCacheMode: 'text', seqScan: 'text', jit: 'text' },
})`
  SELECT set_config('plan_cache_mode', 'force_custom_plan', true) AS "planCacheMode",
    set_config('enable_seqscan', 'off', true) AS "seqScan", set_config('jit', 'off', true) AS "jit"
  FROM "Tenant" WHERE "tenantId" = :tenant`

export const planByKeys = (db: Db): Promise<void> => db.run(PLAN_BY_KEYS)
