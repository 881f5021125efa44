import { execFile } from 'node:child_process'
import { chmod, chown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A new, empty PostgreSQL cluster on a free port of this machine. */
export type Cluster = { url: string; stop: () => Promise<void> }

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

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}

/** PostgreSQL does not run as root: root starts its programs as the user `postgres`. */
async function idOf(user: string, flag: '-u' | '-g'): Promise<number> {
  const { stdout } = await run('id', [flag, user])
  return Number(stdout)
}

/** Makes and starts a cluster. Stop it when done; its files go too. */
export async function startCluster(programs: string): Promise<Cluster> {
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-cluster-'))
  const isRoot = process.getuid?.() === 0
  const [uid, gid] = isRoot ? [await idOf('postgres', '-u'), await idOf('postgres', '-g')] : []
  await chmod(directory, 0o700)
  if (uid !== undefined && gid !== undefined) await chown(directory, uid, gid)
  const call = (program: string, args: string[]) =>
    run(join(programs, program), args, { uid, gid, cwd: directory })
  const data = join(directory, 'data')
  const port = await freePort()
  await call('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8'])
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${directory} -c fsync=off`
  await call('pg_ctl', ['-D', data, '-o', options, '-l', join(directory, 'log'), '-w', 'start'])
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await call('pg_ctl', ['-D', data, '-m', 'immediate', '-w', 'stop'])
      await rm(directory, { recursive: true, force: true })
    },
  }
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
