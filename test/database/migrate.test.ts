import { test as base, describe, expect, inject } from 'vitest'
import { runMigrations } from '../../src/database/migrate.ts'
import { createDatabase, dropDatabase, withConnection } from '../support/databases.ts'

let count = 0

/** With a database that has no tables. */
const test = base
  .extend('databaseName', () => `${inject('database').prefix}_migrate_${process.pid}_${++count}`)
  .extend('url', async ({ databaseName: name }, { onCleanup }) => {
    const { adminUrl } = inject('database')
    await withConnection(adminUrl, (admin) => createDatabase(admin, name))
    onCleanup(() => withConnection(adminUrl, (admin) => dropDatabase(admin, name)))
    const url = new URL(adminUrl)
    url.pathname = `/${name}`
    return url.href
  })
  .extend(
    'query',
    ({ url }) =>
      (text: string) =>
        withConnection(url, (client) => client.query(text)),
  )

const TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"

describe('the migrations', () => {
  test('are applied once, in order, also by processes that start at once', async ({ url, query }) => {
    const applied = await Promise.all([1, 2, 3].map(() => runMigrations({ connectionString: url })))
    const [names = [], ...others] = applied.sort((a, b) => b.length - a.length)
    expect([names.length > 40, names.toSorted(), others]).toEqual([true, names, [[], []]])
    const { rows } = await query('SELECT migration_name FROM "_prisma_migrations" ORDER BY finished_at')
    expect(rows.map(({ migration_name }) => migration_name)).toEqual(names)
    expect(await runMigrations({ connectionString: url })).toEqual([])
  })

  test('are applied all or none, and the error names the one that failed', async ({ url, query }) => {
    // A later migration creates it.
    await query('CREATE TABLE "UserRange" (x int)')
    await expect(runMigrations({ connectionString: url })).rejects.toThrow(
      'migration 20261124100000_user_ranges failed; nothing was applied',
    )
    expect((await query(TABLES)).rows).toEqual([{ tablename: 'UserRange' }])
    await query('DROP TABLE "UserRange"')
    expect((await runMigrations({ connectionString: url })).length).toBeGreaterThan(40)
  })

  test('are not applied when one was changed after it had been applied', async ({ url, query }) => {
    const [first] = await runMigrations({ connectionString: url })
    await query(`UPDATE "_prisma_migrations" SET checksum = 'other' WHERE migration_name = '${first}'`)
    await expect(runMigrations({ connectionString: url })).rejects.toThrow(
      `migration ${first} was changed after it had been applied`,
    )
  })
})
