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
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  'Shared Hit Blocks'?: number
  'Shared Read Blocks'?: number
  Plans?: PlanNode[]
}

export type Plan = {
  kind: (typeof KINDS)[number]
  /** All steps, the outermost first. */
  nodes: PlanNode[]
  /** Tables that are read from one end to the other. */
  sequential: string[]
  /** Indexes that are read, each once. */
  indexes: string[]
  /** Pages of the database that the run looked at. */
  buffers: number
  /** The whole, for messages. */
  text: string
}

/** With the values of the call at hand, or for any values: PostgreSQL chooses when a statement was run five times. */
const KINDS = ['force_custom_plan', 'force_generic_plan'] as const

/** A value as a literal of the same statement would have it. */
function literalOf(client: pg.Client, value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (value instanceof Date) return client.escapeLiteral(value.toISOString())
  if (Array.isArray(value))
    return client.escapeLiteral(`{${value.map((one) => JSON.stringify(one)).join(',')}}`)
  return client.escapeLiteral(String(value))
}

const flatten = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flatten)]

function planOf(kind: Plan['kind'], root: PlanNode): Plan {
  const nodes = flatten(root)
  return {
    kind,
    nodes,
    sequential: nodes.flatMap((node) =>
      node['Node Type'] === 'Seq Scan' ? (node['Relation Name'] ?? '') : [],
    ),
    indexes: [...new Set(nodes.flatMap((node) => node['Index Name'] ?? []))],
    buffers: (root['Shared Hit Blocks'] ?? 0) + (root['Shared Read Blocks'] ?? 0),
    text: JSON.stringify(root, null, 1),
  }
}

/** Plans a statement in both ways that prepared ones are planned in, and runs it. */
export async function explain(client: pg.Client, { text, values }: Statement): Promise<Plan[]> {
  const call = values.length > 0 ? `(${values.map((value) => literalOf(client, value)).join(', ')})` : ''
  const plans: Plan[] = []
  for (const kind of KINDS) {
    await client.query(`SET plan_cache_mode = ${kind}`)
    await client.query(`PREPARE explained AS ${text}`)
    try {
      const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE explained${call}`)
      plans.push(planOf(kind, rows[0]['QUERY PLAN'][0].Plan))
    } finally {
      await client.query('DEALLOCATE explained')
    }
  }
  return plans
}

/** The plan of a statement for its values: lists are planned each time (`plannedSql`). */
export async function explainForValues(client: pg.Client, statement: Statement): Promise<Plan> {
  const plans = await explain(client, statement)
  return plans.find(({ kind }) => kind === 'force_custom_plan') as Plan
}

/** Rows of one INSERT: entries of the log stay hidden from other tests while a transaction is open, so none is long. */
export const BATCH = 1000

/** Fills a tenant by a statement that takes `$1` the tenant, `$2` how many rows in all, and `$3` after which to go on. */
export async function fillTenant(
  client: pg.Client,
  fill: string,
  tenant: string,
  rows: number,
): Promise<void> {
  for (let from = 0; from < rows; from += BATCH) await client.query(fill, [tenant, rows, from])
}
