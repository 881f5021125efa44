import pg from 'pg'

export type Statement = { text: string; values: unknown[] }

/** Statements with their values that were sent while something ran. */
export async function captureStatements(work: () => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = []
  const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown }
  const original = prototype.query
  prototype.query = function (this: unknown, ...args: unknown[]) {
    const [query] = args as [string | Partial<Statement>]
    statements.push(
      typeof query === 'string'
        ? { text: query, values: [] }
        : { text: query.text ?? '', values: query.values ?? [] },
    )
    return original.apply(this, args)
  }
  try {
    await work()
  } finally {
    prototype.query = original
  }
  return statements
}

/** One step of a plan, as EXPLAIN (FORMAT JSON) tells it. */
export type PlanNode = {
  'Node Type': string
  'Index Name'?: string
  'Index Cond'?: string
  'Relation Name'?: string
  'Actual Rows'?: number
  'Rows Removed by Filter'?: number
  'Shared Hit Blocks'?: number
  'Shared Read Blocks'?: number
  Plans?: PlanNode[]
}

/** A value as a literal of the same statement would have it. */
function literalOf(client: pg.Client, value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (value instanceof Date) return client.escapeLiteral(value.toISOString())
  if (Array.isArray(value))
    return client.escapeLiteral(`{${value.map((one) => JSON.stringify(one)).join(',')}}`)
  return client.escapeLiteral(String(value))
}

/** All steps of a plan, the outermost first. */
export const flatten = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flatten)]

/**
 * Plans and runs a statement as the program's prepared ones are: with the values of the call at hand, or for any values;
 * PostgreSQL chooses when a statement was run five times.
 */
export async function explain(
  client: pg.Client,
  { text, values }: Statement,
  mode: 'force_custom_plan' | 'force_generic_plan',
): Promise<PlanNode> {
  await client.query(`SET plan_cache_mode = ${mode}`)
  await client.query(`PREPARE explained AS ${text}`)
  try {
    const call = values.length > 0 ? `(${values.map((value) => literalOf(client, value)).join(', ')})` : ''
    const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE explained${call}`)
    return rows[0]['QUERY PLAN'][0].Plan
  } finally {
    await client.query('DEALLOCATE explained')
  }
}
