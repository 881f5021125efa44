import { readdirSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listStatements, type Shape, statement } from '../../src/database/statement.ts'
import { listVariants } from '../support/list-statements.ts'

type Described = { parameters: number[]; columns: { name: string; oid: number }[] }

type Field = { name: string; dataTypeID: number }
type Connection = {
  parse(query: { text: string; types: number[] }): void
  describe(what: { type: 'S' }): void
  sync(): void
  on(event: 'parameterDescription', listener: (message: { dataTypeIDs: number[] }) => void): void
  off(event: 'parameterDescription', listener: (message: { dataTypeIDs: number[] }) => void): void
}

/** Prepares a statement and describes its parameters and columns by type oids. Nothing is executed. */
function describeStatement(client: pg.Client, text: string): Promise<Described> {
  return new Promise((resolve, reject) => {
    const described: Described = { parameters: [], columns: [] }
    let failure: Error | undefined
    let connection: Connection | undefined
    const setParameters = ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
      described.parameters = dataTypeIDs
    }
    client.query({
      submit(given: unknown) {
        connection = given as Connection
        connection.on('parameterDescription', setParameters)
        connection.parse({ text, types: [] })
        connection.describe({ type: 'S' })
        connection.sync()
      },
      handleRowDescription({ fields }: { fields: Field[] }) {
        described.columns = fields.map(({ name, dataTypeID }) => ({ name, oid: dataTypeID }))
      },
      handleError(error: Error) {
        failure = error
        // The client waits for the connection to be in sync, and then for readyForQuery.
        connection?.off('parameterDescription', setParameters)
        reject(error)
      },
      handleReadyForQuery() {
        connection?.off('parameterDescription', setParameters)
        if (!failure) resolve(described)
      },
    } as unknown as pg.Submittable)
  })
}

const SOURCE = new URL('../../src/', import.meta.url)
const FILES = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.sql.ts'),
)
for (const file of FILES) await import(/* @vite-ignore */ new URL(file, SOURCE).pathname)
const STATEMENTS = [...listStatements()]

let client: pg.Client
/** Types by their oid; and by `"Table"."column"` those of columns, as `storedColumns` names them. */
const names = new Map<number, string>()
const columnTypes = new Map<string, string>()

/** A type as PostgreSQL spells it; what is declared may be an alias, or the column of a table. */
const ALIASES: Record<string, string> = {
  int: 'integer',
  float8: 'double precision',
  timestamptz: 'timestamp with time zone',
}
const typeOf = (declared: unknown): string => {
  const type = String(declared).replace('?', '')
  return columnTypes.get(type) ?? ALIASES[type] ?? type
}

beforeAll(async () => {
  client = new pg.Client(process.env.DATABASE_URL)
  await client.connect()
  const types = await client.query('SELECT oid::int, oid::regtype::text AS "name" FROM pg_type')
  for (const { oid, name } of types.rows) names.set(oid, name)
  const columns = await client.query(
    `SELECT format('"%s"."%s"', c.relname, a.attname) AS "name", a.atttypid::regtype::text AS "type"
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0`,
  )
  for (const { name, type } of columns.rows) columnTypes.set(name, type)
})
afterAll(() => client.end())

/** The columns that PostgreSQL returns, and those that are declared, as sorted lines of name and type. */
async function compareColumns({ text, returns }: { text: string; returns: Shape }) {
  const { columns } = await describeStatement(client, text)
  return {
    returned: columns.map(({ name, oid }) => `${name} ${names.get(oid)}`).sort(),
    declared: Object.entries(returns)
      .map(([name, type]) => `${name} ${typeOf(type)}`)
      .sort(),
  }
}

const titled = <One extends { text: string }>(one: One) =>
  [one.text.replace(/\s+/g, ' ').trim().slice(0, 110), one] as const

describe('a declared statement', () => {
  test.each(STATEMENTS.map(titled))('takes the parameters that it declares: %s', async (_, declared) => {
    const { parameters } = await describeStatement(client, declared.text)
    expect(parameters.map((oid) => names.get(oid))).toEqual(
      declared.parameters.map(({ type }) => typeOf(type)),
    )
  })

  test.each(STATEMENTS.map(titled))('returns the columns that it declares: %s', async (_, declared) => {
    const { returned, declared: expected } = await compareColumns(declared)
    expect(returned).toEqual(expected)
  })

  test.each(listVariants().map(titled))(
    'of a list returns the columns that it declares: %s',
    async (_, one) => {
      const { returned, declared } = await compareColumns(one)
      expect(returned).toEqual(declared)
    },
  )
})

describe('the comparison', () => {
  const select = (returns: Shape) => statement({ returns })`
    SELECT "tenantId", "createdAt" FROM "Tenant" WHERE "tenantId" = :tenant`

  test.each([
    ['a missing column', { tenantId: 'text', createdAt: 'timestamptz', name: 'text' }],
    ['a column too many', { tenantId: 'text' }],
    ['a column of another type', { tenantId: 'text', createdAt: 'text' }],
  ] as const)('finds %s', async (_, returns) => {
    const { returned, declared } = await compareColumns(select(returns))
    expect(returned).not.toEqual(declared)
  })

  test('fails for a text that PostgreSQL cannot prepare', async () => {
    await expect(describeStatement(client, 'SELECT "nothing"')).rejects.toThrow('does not exist')
    expect((await describeStatement(client, 'SELECT 1 AS "one"')).columns).toHaveLength(1)
  })
})
