import { type ChildProcess, spawn } from 'node:child_process'
import { access, chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { withConnection } from './databases.ts'
import { type FaultCluster, findOwner, makeDirectory } from './fault-cluster.ts'
import { freePort } from './process.ts'

const PROGRAM = '/usr/sbin/pgbouncer'

/** PgBouncer in transaction mode before a cluster. */
export type Pgbouncer = { url: string; start: () => Promise<void>; kill: () => void }

/** Starts it as operations.md says; null where it is not installed. */
export async function startPgbouncer(cluster: FaultCluster): Promise<Pgbouncer | null> {
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
