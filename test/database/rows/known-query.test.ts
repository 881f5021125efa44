import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { KnownQuery } from '../../../src/database/rows/known-query.ts'
import { type RowStyle, TEXT_DATES } from '../../../src/database/rows/row-reader.ts'
import { databaseUrl } from '../../support/connections.ts'

const TYPES = `SELECT 'a'::text AS "text", '{a,NULL,"b c"}'::text[] AS "texts", '\\x0aff'::bytea AS bytes, 7 AS number,
  9007199254740993::bigint AS large, 1.5::float8 AS fraction, 1.50::numeric AS exact, true AS yes,
  '{"a": [1, null]}'::jsonb AS data, '{1,2}'::int[] AS numbers, NULL::timestamptz AS never,
  '2026-02-03 04:05:06.789123+00'::timestamptz AS at, '2026-02-03 04:05:06+00'::timestamptz AS second,
  '0044-03-15 00:00:00+00 BC'::timestamptz AS ides, '12026-01-01 00:00:00+00'::timestamptz AS late,
  'infinity'::timestamptz AS endless, '2026-02-03'::date AS "day", 'x''"\\ y' AS "a ""quoted"" name", $1::text AS given`

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl(), options: '-c timezone=UTC' })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

const send = (
  client: pg.Client,
  text: string,
  values: unknown[] = [],
  name = text.slice(0, 40),
  style: RowStyle = {},
) =>
  new Promise<pg.QueryResultRow[]>((resolve, reject) => {
    client.query(
      new KnownQuery(name, text, values, style, (error, result) =>
        error ? reject(error) : resolve(result?.rows ?? []),
      ),
    )
  })

/** The messages from the server while `work` runs. */
async function countDescriptions(client: pg.Client, work: () => Promise<unknown>): Promise<number> {
  let count = 0
  const note = () => void count++
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter }
  connection.on('rowDescription', note)
  await work()
  connection.off('rowDescription', note)
  return count
}

describe('a query that is known', () => {
  test('reads every type like the driver, the first time and later', async () => {
    const client = await connect()
    const expected = (await client.query(TYPES, ['x'])).rows
    for (const time of ['first', 'second', 'third'])
      expect([time, ...(await send(client, TYPES, ['x']))]).toEqual([time, ...expected])
    expect(Object.keys((await send(client, TYPES, ['x']))[0] ?? {})).toEqual(Object.keys(expected[0]))
  })

  test('reads timestamps as the text of toISOString in the style of lists, by itself and by the driver', async () => {
    const client = await connect()
    const times = `SELECT * FROM (VALUES ('2026-02-03 04:05:06+00'::timestamptz), ('2026-02-03 04:05:06.7+00'),
      ('2026-02-03 04:05:06.78+00'), ('2026-02-03 04:05:06.789+00'), ('2026-02-03 04:05:06.789123+00'),
      ('0044-03-15 00:00:00+00 BC'), ('12026-01-01 00:00:00+00'), (NULL)) AS times(at)`
    const expected = (await client.query<{ at: Date | null }>(times)).rows.map(({ at }) => ({
      at: at?.toISOString() ?? null,
    }))
    for (let time = 0; time < 2; time++) {
      expect(await send(client, times, [], 'times', { datesAsText: true })).toEqual(expected)
      expect((await send(client, times, [], 'times'))[0]).toEqual({ at: new Date('2026-02-03T04:05:06Z') })
    }
    expect((await client.query({ text: times, types: TEXT_DATES })).rows).toEqual(expected)
  })

  test('is described once for each connection', async () => {
    const [client, other] = [await connect(), await connect()]
    const once = (by: pg.Client) => countDescriptions(by, () => send(by, 'SELECT 1 AS one'))
    expect([await once(client), await once(client), await once(other), await once(other)]).toEqual([
      1, 0, 1, 0,
    ])
  })

  test('reads no, one and many rows, and statements without columns', async () => {
    const client = await connect()
    await client.query('CREATE TEMPORARY TABLE numbers (n int)')
    for (const count of [0, 1, 1000]) {
      const rows = await send(client, 'SELECT n FROM generate_series(1, $1::int) n', [count])
      expect(rows).toEqual(Array.from({ length: count }, (_, index) => ({ n: index + 1 })))
      expect(await send(client, 'INSERT INTO numbers VALUES ($1)', [count])).toEqual([])
    }
    expect(await send(client, 'SELECT sum(n)::int AS sum FROM numbers')).toEqual([{ sum: 1001 }])
  })

  test('reports errors, and the connection answers the next statement', async () => {
    const client = await connect()
    const divide = (by: unknown) => send(client, 'SELECT 10 / $1::int AS result', [by])
    await expect(divide(0)).rejects.toMatchObject({ code: '22012' })
    expect(await divide(5)).toEqual([{ result: 2 }])
    await expect(divide(0)).rejects.toMatchObject({ code: '22012' })
    await expect(divide('x')).rejects.toMatchObject({ code: '22P02' })
    expect(await divide(2)).toEqual([{ result: 5 }])
    await expect(send(client, 'SELEC 1')).rejects.toMatchObject({ code: '42601' })
    await expect(send(client, 'SELEC 1')).rejects.toMatchObject({ code: '42601' })
    const circle: Record<string, unknown> = {}
    circle.self = circle
    await expect(divide(circle)).rejects.toThrow('circular')
    expect(await divide(1)).toEqual([{ result: 10 }])
  })

  test('is rejected by the server when its columns have changed, and is described anew on a new connection', async () => {
    const client = await connect()
    const table = `changing_${process.pid}`
    await client.query(
      `DROP TABLE IF EXISTS ${table}; CREATE TABLE ${table} (v int); INSERT INTO ${table} VALUES (1)`,
    )
    const read = (by: pg.Client) => send(by, `SELECT v FROM ${table}`)
    expect([await read(client), await read(client)]).toEqual([[{ v: 1 }], [{ v: 1 }]])
    await client.query(`ALTER TABLE ${table} ALTER v TYPE text USING 'text ' || v`)
    await expect(read(client)).rejects.toThrow('cached plan must not change result type')
    expect(await read(await connect())).toEqual([{ v: 'text 1' }])
    await client.query(`DROP TABLE ${table}`)
  })

  test('fails with the connection', async () => {
    const client = await connect()
    client.on('error', () => {})
    const admin = await connect()
    const [{ pid } = { pid: 0 }] = await send(client, 'SELECT pg_backend_pid() AS pid')
    const waiting = send(client, 'SELECT pg_sleep(10)')
    const rejected = expect(waiting).rejects.toThrow()
    await expect
      .poll(() => admin.query('SELECT pg_terminate_backend($1)', [pid]).then(({ rowCount }) => rowCount))
      .toBe(1)
    await rejected
    await expect(send(client, 'SELECT 1')).rejects.toThrow()
  })
})
