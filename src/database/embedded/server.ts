import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chown, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { programAt, USE_DATABASE_URL } from './binaries.ts'
import type { ServerUser } from './server-user.ts'
import { SOCKET_NAME, SOCKET_PORT } from './socket-directory.ts'

const run = promisify(execFile)

// Crash recovery replays at most max_wal_size, 1 GB.
const START_LIMIT_MS = 60_000
const POLL_MS = 20
/** The pause before PostgreSQL is started again. */
const RESTART_PAUSE_MS = 1000
/** Connections of other processes are cut after this. */
const CONNECTIONS_LIMIT_MS = 500

/** What PostgreSQL is started with, and where. */
export type ServerPlan = {
  /** directory of bin, lib and share */
  native: string
  /** Directory of this process, with `data` and the log. */
  home: string
  socketDirectory: string
  user: ServerUser | null
  /** settings, as `name=value` */
  settings: string[]
  /** Called when PostgreSQL has ended by itself and is started again. */
  onRestart: () => void
}

/** What node-postgres needs; `host` is the directory of the socket. */
export type EmbeddedConnection = { host: string; port: number; user: string; database: string }

export const connectionTo = (host: string): EmbeddedConnection => ({
  host,
  port: SOCKET_PORT,
  user: 'postgres',
  database: 'postgres',
})

/** Whether the server on the socket in `host` runs statements. */
export async function isReady(host: string): Promise<boolean> {
  const client = new pg.Client({ ...connectionTo(host), connectionTimeoutMillis: 2000 })
  client.on('error', () => {}) // a server that stops: connect() rejects
  try {
    await client.connect()
    await client.end()
    return true
  } catch {
    return false
  }
}

/** Makes the cluster unless it exists. One that was cut off before initdb ended is made anew. */
export async function createCluster({ native, home, user }: ServerPlan): Promise<void> {
  const data = join(home, 'data')
  if (existsSync(data)) return
  const draft = `${data}.draft`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  if (user) await chown(draft, user.uid, user.gid)
  // The builtin locale behaves the same on every system and needs none installed there.
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const access = ['--username=postgres', '--auth-local=trust', '--auth-host=reject']
  const program = await programAt(native, 'initdb')
  await run(program, [`--pgdata=${draft}`, ...locale, ...access], asUser(user)).catch((error: unknown) => {
    const { code, stderr, message } = error as { code?: unknown; stderr?: string; message: string }
    const reason = stderr?.trim() || `${code ?? message}`
    throw new Error(`PostgreSQL's initdb does not run on this machine: ${reason}. ${USE_DATABASE_URL}`, {
      cause: error,
    })
  })
  await rename(draft, data)
}

/**
 * Runs postgres. It shuts down when `lifeline` closes, which `stop` does and the end of this process, kill -9
 * included. The reader of the lifeline is started by the shell that becomes postgres: no moment is without
 * it.
 */
const SCRIPT = '{ read -r _ <&3; kill -INT $$ 2>/dev/null; } & exec "$0" "$@" 3<&-'

/** A running postgres. `exited` resolves when it has ended, for whatever reason. */
type Running = { child: ChildProcess; exited: Promise<unknown>; stop(): Promise<void> }

const logIn = (home: string): string => join(home, 'postgres.log')

async function spawnPostgres(plan: ServerPlan, logFlags: 'w' | 'a'): Promise<Running> {
  const { native, home, socketDirectory, user } = plan
  for (const name of [SOCKET_NAME, `${SOCKET_NAME}.lock`])
    await rm(join(socketDirectory, name), { force: true }) // left by a killed server
  const settings = [
    'listen_addresses=',
    `port=${SOCKET_PORT}`,
    `unix_socket_directories="${socketDirectory.replaceAll('"', '""')}"`,
    'unix_socket_permissions=0700',
    'log_timezone=UTC',
    // Rejected statements are expected (unique constraints) and reach the caller; values do not belong in a
    // file.
    'log_min_messages=log',
    'log_checkpoints=off',
    ...plan.settings,
  ]
  const file = await open(logIn(home), logFlags, 0o600)
  const program = await programAt(native, 'postgres')
  const child = spawn(
    '/bin/sh',
    ['-c', SCRIPT, program, '-D', join(home, 'data'), ...settings.flatMap((each) => ['-c', each])],
    {
      ...asUser(user),
      // Ctrl-C goes to the whole process group; PostgreSQL stops after the server, not with it.
      detached: true,
      stdio: ['ignore', file.fd, file.fd, 'pipe'],
    },
  )
  // Listens at once: PostgreSQL may end while the file is closed.
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve())).finally(() =>
    getLifeline(child).destroy(),
  )
  await once(child, 'spawn').finally(() => file.close())
  const stop = async () => {
    child.kill('SIGTERM') // waits for connections, which this process is closing
    const timer = setTimeout(() => getLifeline(child).destroy(), CONNECTIONS_LIMIT_MS)
    await exited
    clearTimeout(timer)
  }
  return { child, exited, stop }
}

/**
 * Starts PostgreSQL on its Unix socket and waits until it runs statements. The caller holds the lock of the
 * directory. Throws with the end of its log when it does not start. Afterwards it is started again whenever
 * it ends by itself, as on a full disk, until `stop`.
 */
export async function startServer(plan: ServerPlan): Promise<{ stop(): Promise<void> }> {
  let running = await spawnPostgres(plan, 'w')
  const { child, stop } = running
  const deadline = Date.now() + START_LIMIT_MS
  while (!(await isReady(plan.socketDirectory))) {
    if (child.exitCode === null && child.signalCode === null && Date.now() < deadline) {
      await sleep(POLL_MS)
      continue
    }
    await stop()
    const lines = (await readFile(logIn(plan.home), 'utf8')).trim().split('\n').slice(-5)
    throw new Error(`The embedded database did not start: ${lines.join('\n')}`)
  }
  let stopping = false
  const superviseServer = async (): Promise<void> => {
    for (;;) {
      await running.exited
      if (stopping) return
      plan.onRestart()
      await sleep(RESTART_PAUSE_MS)
      if (stopping) return
      // It cannot be started without a process or a file descriptor: the next attempt follows.
      running = await spawnPostgres(plan, 'a').catch(() => running)
    }
  }
  const supervised = superviseServer()
  return {
    stop: async () => {
      stopping = true
      await running.stop()
      await supervised
      // It may have been started again meanwhile.
      await running.stop()
    },
  }
}

const getLifeline = (child: ChildProcess) => child.stdio[3] as NonNullable<(typeof child.stdio)[3]>

/** The environment of PostgreSQL's programs: no PG* variable or locale of this process reaches them. */
function asUser(user: ServerUser | null) {
  return { ...user, cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } }
}
