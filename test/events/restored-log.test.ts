import pg from 'pg'
import { describe, expect } from 'vitest'
import { runMigrations } from '../../src/database/migrate.ts'
import { selectEvents } from '../../src/events/log.sql.ts'
import { decodePosition } from '../../src/model/event-position.ts'
import { type Cluster, dumpAndRestore, serverPrograms, startCluster } from '../support/clusters.ts'
import { databaseUrl, toTx } from '../support/connections.ts'
import { withConnection } from '../support/databases.ts'
import { test } from '../support/written-log.ts'

/** The major version of the PostgreSQL server. */
const readServerVersion = (): Promise<number> =>
  withConnection(databaseUrl(), async (client) => {
    const { rows } = await client.query<{ major: number }>(
      "SELECT current_setting('server_version_num')::int / 10000 AS major",
    )
    return rows[0]?.major ?? 0
  })

const programs = await serverPrograms(await readServerVersion())

describe.skipIf(!programs)('a database that was restored in another cluster', { timeout: 120_000 }, () => {
  test('begins a new era: a reader with an older position receives each newer event once', async ({
    tenant,
    write,
    writeOn,
    start,
    readUntil,
  }) => {
    await write('1', '2', '3', '4')
    const events = (await readUntil(start, 4)).slice(0, 2)
    const at = decodePosition(events[1]?.position ?? '')
    const cluster = (await startCluster({}, '-F')) as Cluster
    try {
      await dumpAndRestore(programs as string, databaseUrl(), cluster.url)
      expect(await runMigrations({ connectionString: cluster.url })).toEqual([])
      const restored = new pg.Client({ connectionString: cluster.url })
      await restored.connect()
      try {
        const db = toTx(restored, tenant)
        const eras = await restored.query('SELECT "era" FROM "_vestibule_cluster"')
        expect(eras.rows).toEqual([{ era: at.era + 1 }])
        const { rows: xids } = await restored.query('SELECT pg_current_xact_id()::text AS xid')
        // The transaction ids of the new cluster are lower than those of the old one.
        expect(BigInt(xids[0].xid)).toBeLessThan(at.xid)
        await writeOn(db, '5')
        await writeOn(db, '6')
        const { rows } = await selectEvents(db, at, 100)
        expect(rows.map(({ subjectIds }) => subjectIds[0])).toEqual(['3', '4', '5', '6'])
        const newest = rows.at(-1)
        const after = { era: newest?.era ?? 0, xid: BigInt(newest?.xid ?? 0), seq: BigInt(newest?.seq ?? 0) }
        await writeOn(db, '7')
        expect((await selectEvents(db, after, 100)).rows.map(({ subjectIds }) => subjectIds[0])).toEqual([
          '7',
        ])
        await runMigrations({ connectionString: cluster.url })
        expect((await restored.query('SELECT "era" FROM "_vestibule_cluster"')).rows).toEqual([
          { era: at.era + 1 },
        ])
      } finally {
        await restored.end()
      }
    } finally {
      await cluster.remove()
    }
  })
})
