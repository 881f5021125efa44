import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { KnownQuery } from '../../../src/database/rows/known-query.ts'
import { QueryBatch } from '../../../src/database/rows/query-batch.ts'
import { databaseUrl } from '../../support/connections.ts'

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl(), options: '-c timezone=UTC' })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

type Sent = [text: string, values?: unknown[]]
const DIVIDE = 'SELECT 10 / $1::int AS result'

/** Sends statements in one batch. Resolves with the rows or the error of each, and the texts that were skipped. */
function sendBatch(client: pg.Client, statements: Sent[]) {
  const results: unknown[] = statements.map(() => null)
  const queries = statements.map(
    ([text, values = []], index) =>
      new KnownQuery(text.slice(0, 40), text, values, {}, (error, result) => {
        results[index] = error ? error.message : result?.rows
      }),
  )
  return new Promise<{ results: unknown[]; error: Error | null; skipped: string[] }>((resolve) => {
    client.query(
      new QueryBatch(queries, (error, skipped) =>
        resolve({ results, error, skipped: skipped.map(({ text }) => text) }),
      ),
    )
  })
}

describe('a batch of queries', () => {
  const STATEMENTS: Sent[] = [
    ['SELECT $1::text AS name', ['a']],
    ['SELECT n, n * n AS square FROM generate_series(1, $1::int) n', [3]],
    ['SELECT 1 AS one WHERE false'],
    ["SELECT '2026-02-03 04:05:06+00'::timestamptz AS at"],
    ['SELECT $1::text AS name', ['b']],
  ]
  const ROWS = [
    [{ name: 'a' }],
    [1, 2, 3].map((n) => ({ n, square: n * n })),
    [],
    [{ at: new Date('2026-02-03T04:05:06Z') }],
    [{ name: 'b' }],
  ]

  test('returns the rows of each statement, the first time and later', async () => {
    const client = await connect()
    for (let time = 0; time < 3; time++)
      expect(await sendBatch(client, STATEMENTS)).toEqual({ results: ROWS, error: null, skipped: [] })
  })

  test('is sent with one Sync and answered with one ReadyForQuery', async () => {
    const client = await connect()
    let answers = 0
    const { connection } = client as unknown as { connection: NodeJS.EventEmitter }
    connection.on('readyForQuery', () => void answers++)
    await sendBatch(client, STATEMENTS)
    expect(answers).toBe(1)
  })

  test('names the statements that are skipped after an error, which can be sent again', async () => {
    const client = await connect()
    const statements: Sent[] = [[DIVIDE, [5]], [DIVIDE, [0]], ['SELECT 3 AS three'], ['SELECT 4 AS four']]
    for (let time = 0; time < 2; time++) {
      const { results, error, skipped } = await sendBatch(client, statements)
      expect(results).toEqual([[{ result: 2 }], 'division by zero', null, null])
      expect(error).toMatchObject({ code: '22012' })
      expect(skipped).toEqual(['SELECT 3 AS three', 'SELECT 4 AS four'])
    }
    expect((await sendBatch(client, statements.slice(2))).results).toEqual([[{ three: 3 }], [{ four: 4 }]])
  })

  test('reports a statement that cannot be prepared', async () => {
    const client = await connect()
    const { results, skipped } = await sendBatch(client, [['SELEC 1'], ['SELECT 1 AS one']])
    expect([results[0], skipped]).toEqual(['syntax error at or near "SELEC"', ['SELECT 1 AS one']])
    expect((await sendBatch(client, [['SELECT 1 AS one'], ['SELEC 1']])).results).toEqual([
      [{ one: 1 }],
      'syntax error at or near "SELEC"',
    ])
  })

  test('fails only the statement whose value has no text', async () => {
    const client = await connect()
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const { results, error } = await sendBatch(client, [
      [DIVIDE, [5]],
      [DIVIDE, [circle]],
      [DIVIDE, [2]],
    ])
    expect([results[0], results[2], error]).toEqual([[{ result: 2 }], [{ result: 5 }], null])
    expect(results[1]).toContain('circular')
  })

  test('fails with the connection', async () => {
    const [client, admin] = [await connect(), await connect()]
    const pid = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid
    const sent = sendBatch(client, [['SELECT 1 AS one'], ['SELECT pg_sleep(10)'], ['SELECT 2 AS two']])
    const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'`
    await expect.poll(() => admin.query(terminate, [pid]).then(({ rowCount }) => rowCount)).toBe(1)
    const { results, error, skipped } = await sent
    expect(error).not.toBeNull()
    expect(skipped).toEqual(['SELECT 2 AS two'])
    expect(results[1]).not.toBeNull()
  })
})
