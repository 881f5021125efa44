import { type ChildProcess, spawn } from 'node:child_process'
import { access, chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, onTestFinished, test } from 'vitest'
import { type Cluster, findOwner, makeDirectory, startCluster } from '../support/clusters.ts'
import { withConnection } from '../support/databases.ts'
import { expectNothingLost, report, startFaultScene } from '../support/fault-scene.ts'
import { freePort } from '../support/process.ts'

const PROGRAM = '/usr/sbin/pgbouncer'

/** PgBouncer in transaction mode before a cluster. */
type Pgbouncer = { url: string; start: () => Promise<void>; kill: () => void }

/** Starts it as operations.md says; null where it is not installed. */
async function startPgbouncer(cluster: Cluster): Promise<Pgbouncer | null> {
  const isInstalled = await access(PROGRAM).then(
    () => true,
    () => false,
  )
  if (!isInstalled) return null
  const owner = await findOwner()
  const directory = await makeDirectory(owner)
  const port = await freePort()
  const file = join(directory, 'pgbouncer.ini')
  await writeFile(
    file,
    `[databases]
postgres = host=127.0.0.1 port=${cluster.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
query_wait_timeout = 5
server_login_retry = 1
`,
  )
  if (owner.uid !== undefined && owner.gid !== undefined) await chown(file, owner.uid, owner.gid)
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  let child: ChildProcess | undefined
  const pooler: Pgbouncer = {
    url,
    start: async () => {
      child = spawn(PROGRAM, ['-q', file], { ...owner, cwd: directory, stdio: 'ignore' })
      const isReady = () =>
        withConnection(url, (client) => client.query('SELECT 1')).then(
          () => true,
          () => false,
        )
      while (!(await isReady())) {
        if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}`)
        await sleep(50)
      }
    },
    kill: () => void child?.kill('SIGKILL'),
  }
  onTestFinished(pooler.kill)
  await pooler.start()
  return pooler
}

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

type Parts = { cluster: Cluster; pooler: Pgbouncer }

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
      const cluster = await startCluster()
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
