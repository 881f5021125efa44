import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ReadLimit } from '../../../src/core/network/read-limit.ts'
import { readRows } from '../../../src/database/prepared-query.ts'
import { BoundedQuery } from '../../../src/database/rows/bounded-query.ts'
import { databaseUrl } from '../../support/connections.ts'

const NUMBERS = 'SELECT n FROM generate_series(1, $1::int) n'
const UNSENDABLE = {
  toPostgres: () => {
    throw new Error('the value has no text')
  },
}
const UNREADABLE = {
  getTypeParser: () => () => {
    throw new Error('the row cannot be read')
  },
}

describe('a query that arrives in parts', () => {
  test.for<[string, pg.QueryConfig, string]>([
    ['the server', { text: 'SELECT 1 / $1::int', values: [0] }, 'division by zero'],
    ['a value', { text: NUMBERS, values: [UNSENDABLE] }, 'the value has no text'],
    ['a row', { text: NUMBERS, values: [600], types: UNREADABLE }, 'the row cannot be read'],
  ])(
    'leaves the queries that follow their own rows after an error of %s',
    async ([_what, config, message]) => {
      const client = new pg.Client(databaseUrl())
      await client.connect()
      onTestFinished(() => client.end())
      const limit = new ReadLimit(undefined, 1000)
      const failed = readRows(new BoundedQuery(config, limit), (query) => client.query(query))
      const following = [1, 2, 3].map((value) => client.query('SELECT $1::int AS value', [value]))
      await expect(failed).rejects.toThrow(message)
      const results = await Promise.all(following)
      expect(results.map(({ rows }) => rows)).toEqual([[{ value: 1 }], [{ value: 2 }], [{ value: 3 }]])
    },
  )
})
