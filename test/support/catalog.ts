import type pg from 'pg'
import { withConnection } from './databases.ts'
import { test as base } from './fixtures.ts'

/** `test` with reads of PostgreSQL's catalog, which has no tenants. */
export const test = base.extend(
  'readCatalog',
  { scope: 'file' },
  ({ app: _ }) =>
    async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> =>
      withConnection(process.env.DATABASE_URL ?? '', async (client) => (await client.query<Row>(text)).rows),
)
