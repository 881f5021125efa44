import { setTimeout as sleep } from 'node:timers/promises'
import { describe, test } from 'vitest'
import { withConnection } from '../support/databases.ts'
import { type FaultCluster, startFaultCluster } from '../support/fault-cluster.ts'
import { expectNothingLost, report, startFaultScene } from '../support/fault-scene.ts'
import { type Pgbouncer, startPgbouncer } from '../support/pgbouncer.ts'

const RECOVERY_LIMIT_MS = 15_000

/** As operations.md says. */
const ROLE_SETTINGS = {
  timezone: 'UTC',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  statement_timeout: '10000',
  lock_timeout: '3000',
  idle_in_transaction_session_timeout: '10000',
}

type Parts = { cluster: FaultCluster; pooler: Pgbouncer }

const FAULTS: [string, (parts: Parts) => Promise<void>][] = [
  ['does not fail', () => sleep(3000)],
  [
    'is killed and started',
    async ({ pooler }) => {
      pooler.kill()
      await sleep(2000)
      await pooler.start()
    },
  ],
  [
    'loses PostgreSQL, which is started again',
    async ({ cluster }) => {
      await cluster.stop('immediate')
      await sleep(3000)
      await cluster.start()
    },
  ],
]

describe('a server behind PgBouncer in transaction mode', () => {
  test.for(FAULTS)(
    'works, or works again by itself, and loses nothing when PgBouncer %s',
    async ([what, fail], { skip }) => {
      const cluster = await startFaultCluster()
      if (!cluster) return skip('PostgreSQL is not installed')
      await withConnection(cluster.url, async (client) => {
        for (const [name, value] of Object.entries(ROLE_SETTINGS))
          await client.query(`ALTER ROLE postgres SET ${name} = '${value}'`)
      })
      const pooler = await startPgbouncer(cluster)
      if (!pooler) return skip('PgBouncer is not installed')
      const scene = await startFaultScene({ DATABASE_URL: pooler.url, DATABASE_POOLER: '1' })
      await fail({ cluster, pooler })
      const recoveryMs = await scene.load.untilWorking(RECOVERY_LIMIT_MS)
      await sleep(1000)
      await expectNothingLost(scene, cluster.url)
      report(`PgBouncer ${what}`, scene, recoveryMs)
    },
  )
})
