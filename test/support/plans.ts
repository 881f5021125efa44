import pg from 'pg'
import { QueryBatch } from '../../src/database/rows/query-batch.ts'

export type Statement = { text: string; values: unknown[] }

/** Statements with their values that were sent while something ran. */
export async function captureStatements(work: () => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = []
  const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown }
  const original = prototype.query
  prototype.query = function (this: unknown, ...args: unknown[]) {
    const [query] = args as [string | Partial<Statement> | QueryBatch]
    // On a busy machine, reads of several requests are sent together.
    const sent = query instanceof QueryBatch ? query.queries : [query]
    for (const one of sent)
      statements.push(
        typeof one === 'string'
          ? { text: one, values: [] }
          : { text: one.text ?? '', values: [...(one.values ?? [])] },
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

/** A node of a plan, as EXPLAIN (FORMAT JSON) returns it. */
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
  /** All nodes, the root first. */
  nodes: PlanNode[]
  /** Tables that are scanned sequentially. */
  sequential: string[]
  /** The distinct indexes that are read. */
  indexes: string[]
  /** Number of pages that the execution read. */
  buffers: number
  /** The whole plan, for messages. */
  text: string
}

/**
 * Planned for the values of the call, or for any values; PostgreSQL chooses after five executions of a
 * statement.
 */
const KINDS = ['force_custom_plan', 'force_generic_plan'] as const

/** Formats a value as a literal. */
function toLiteral(client: pg.Client, value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`
  if (value instanceof Date) return client.escapeLiteral(value.toISOString())
  if (Array.isArray(value)) {
    const elements = value.map((one) => (Buffer.isBuffer(one) ? `\\x${one.toString('hex')}` : one))
    return client.escapeLiteral(`{${elements.map((one) => JSON.stringify(one)).join(',')}}`)
  }
  return client.escapeLiteral(String(value))
}

const flatten = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flatten)]

function toPlan(kind: Plan['kind'], root: PlanNode): Plan {
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

/** SQL that executes a prepared statement. */
export const toExecute = (client: pg.Client, name: string, values: readonly unknown[]): string =>
  `EXECUTE ${name}${values.length > 0 ? `(${values.map((value) => toLiteral(client, value)).join(', ')})` : ''}`

/** Plans a prepared statement for its values and for any values, and executes it unless `isExecuted` is false. */
export async function explain(
  client: pg.Client,
  { text, values }: Statement,
  { isExecuted = true } = {},
): Promise<Plan[]> {
  const options = isExecuted ? 'ANALYZE, BUFFERS, FORMAT JSON' : 'FORMAT JSON'
  const plans: Plan[] = []
  for (const kind of KINDS) {
    await client.query(`SET plan_cache_mode = ${kind}`)
    await client.query(`PREPARE explained AS ${text}`)
    try {
      const { rows } = await client.query(`EXPLAIN (${options}) ${toExecute(client, 'explained', values)}`)
      plans.push(toPlan(kind, rows[0]['QUERY PLAN'][0].Plan))
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

/** Rows of one INSERT. Transactions are short, because each hides newer events from other tests. */
export const BATCH = 1000

/**
 * Fills a tenant with a statement whose parameters are the tenant, the total of rows, and the last row so
 * far.
 */
export async function fillTenant(
  client: pg.Client,
  fill: string,
  tenant: string,
  rows: number,
): Promise<void> {
  for (let from = 0; from < rows; from += BATCH) await client.query(fill, [tenant, rows, from])
}
