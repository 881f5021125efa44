import { execFile } from 'node:child_process'
import { chmod, chown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { withConnection } from './databases.ts'
import { closers } from './environment.ts'
import { freePort } from './process.ts'

const run = promisify(execFile)
const MINIMUM_VERSION = 15
const VERSIONS = '/usr/lib/postgresql'

/**
 * Where initdb and pg_dump are; null when they are not installed here or older than `version`, which they
 * cannot dump.
 */
export async function serverPrograms(version: number): Promise<string | null> {
  const versions = await readdir(VERSIONS).catch(() => [])
  const newest = versions.map(Number).sort((a, b) => b - a)[0]
  return newest && newest >= version ? join(VERSIONS, String(newest), 'bin') : null
}

/** A PostgreSQL server that a test stops and starts. It is removed with the environment. */
export type Cluster = {
  url: string
  port: number
  start: () => Promise<void>
  stop: (mode: 'fast' | 'immediate') => Promise<void>
  /** Ends a backend as a crash does: the server resets all others. */
  crash: () => Promise<void>
  /** Starts a streaming replica of it. */
  addReplica: () => Promise<Cluster>
  /** Makes commits wait for the replica from now on, as where nothing that was acknowledged may be lost. */
  waitForReplica: () => Promise<void>
  promote: () => Promise<void>
  /** Ends it, with its files. */
  remove: () => Promise<void>
}

type Owner = { uid?: number; gid?: number }

const idOf = async (flag: '-u' | '-g') => Number((await run('id', [flag, 'postgres'])).stdout)

/** The user of the programs, which do not run as root. */
export async function findOwner(): Promise<Owner> {
  return process.getuid?.() === 0 ? { uid: await idOf('-u'), gid: await idOf('-g') } : {}
}

/** Calls a program of PostgreSQL. */
async function createCaller(programs: string, variables: Record<string, string> = {}) {
  const owner = await findOwner()
  return {
    owner,
    call: (program: string, args: string[], cwd: string) =>
      run(join(programs, program), args, {
        ...owner,
        cwd,
        env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', ...variables },
      }),
  }
}

/** A directory that the programs may write. */
export async function makeDirectory({ uid, gid }: Owner): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-fault-'))
  await chmod(directory, 0o700)
  if (uid !== undefined && gid !== undefined) await chown(directory, uid, gid)
  return directory
}

/**
 * Starts a server with these variables and command line options; null where PostgreSQL's programs are not installed.
 */
export async function startCluster(
  variables: Record<string, string> = {},
  options = '',
): Promise<Cluster | null> {
  const programs = await serverPrograms(MINIMUM_VERSION)
  if (!programs) return null
  const { owner, call } = await createCaller(programs)
  const directory = await makeDirectory(owner)
  const data = join(directory, 'data')
  await call('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8'], directory)
  const cluster = await runCluster(programs, directory, variables, options)
  await cluster.start()
  return cluster
}

async function runCluster(
  programs: string,
  directory: string,
  variables: Record<string, string> = {},
  more = '',
): Promise<Cluster> {
  const { owner, call } = await createCaller(programs, variables)
  const data = join(directory, 'data')
  const port = await freePort()
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${directory}`
  // Commits wait for the disk of the machine, as those of production do.
  const options = `${settings} -c max_connections=60 -c wal_level=replica -c max_wal_senders=4 -c hot_standby=on ${more}`
  const control = (...args: string[]) => call('pg_ctl', ['-D', data, '-w', ...args], directory)
  const cluster: Cluster = {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    port,
    start: async () => void (await control('-o', options, '-l', join(directory, 'log'), 'start')),
    stop: async (mode) => void (await control('-m', mode, 'stop')),
    crash: async () => {
      const pid = await withConnection(cluster.url, async (client) => {
        const { rows } = await client.query<{ pid: number }>(
          "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1",
        )
        return rows[0]?.pid
      })
      if (pid) process.kill(pid, 'SIGKILL')
      await sleep(100)
    },
    addReplica: async () => {
      const target = await makeDirectory(owner)
      const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres']
      await call(
        'pg_basebackup',
        [...from, '-D', join(target, 'data'), '-R', '-X', 'stream', '--no-sync'],
        target,
      )
      const replica = await runCluster(programs, target)
      await replica.start()
      return replica
    },
    waitForReplica: () =>
      withConnection(cluster.url, async (client) => {
        await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
        await client.query('SELECT pg_reload_conf()')
      }),
    promote: async () => void (await control('promote')),
    remove: async () => {
      const isRunning = await readFile(join(data, 'postmaster.pid')).catch(() => null)
      if (isRunning) await cluster.stop('immediate').catch(() => {})
      await rm(directory, { recursive: true, force: true })
    },
  }
  closers.push(cluster.remove)
  return cluster
}

/** Copies a database of any size, as a backup and its restore do. */
export async function dumpAndRestore(programs: string, from: string, to: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-dump-'))
  try {
    const file = join(directory, 'dump.sql')
    await run(join(programs, 'pg_dump'), ['--no-owner', '--file', file, from])
    await run(join(programs, 'psql'), ['-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-f', file, to])
  } finally {
    await rm(directory, { recursive: true })
  }
}
