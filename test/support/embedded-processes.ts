import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, afterEach, beforeEach } from 'vitest'
import { type EmbeddedDatabase, openEmbedded } from '../../src/database/embedded/open.ts'

const run = promisify(execFile)

let current = ''
let made: string | undefined
let cleanUps: (() => unknown)[] = []

/**
 * Gives each test of the file its own directory, and closes afterwards the databases that it opened there.
 */
export function useDirectories(): { path: () => string } {
  beforeEach(async () => {
    current = await makeDirectory()
  })
  afterAll(async () => {
    if (made) await rm(made, { recursive: true, force: true })
  })
  afterEach(async () => {
    for (const cleanUp of cleanUps.reverse()) await cleanUp()
    cleanUps = []
  })
  return { path: () => current }
}

/** A directory that is deleted after the test. PostgreSQL runs as another user for root, and may enter it. */
async function makeDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'vestibule-test-'))
  await chmod(path, 0o711)
  cleanUps.push(() => rm(path, { recursive: true, force: true }))
  return path
}

/** Gives the directory of the test a closed database, by a copy: it takes less time than initdb. */
export async function copyDatabase(): Promise<void> {
  if (!made) {
    made = await mkdtemp(join(tmpdir(), 'vestibule-test-'))
    await chmod(made, 0o711)
    await (await openEmbedded(made)).close()
  }
  await run('cp', ['-a', join(made, 'postgres'), current]) // fs.cp gives everything to this user
}

export const cleanUp = (action: () => unknown): void => void cleanUps.push(action)

export async function open(path = current): Promise<EmbeddedDatabase> {
  const embedded = await openEmbedded(path)
  cleanUps.push(() => embedded.close())
  return embedded
}

export async function connectTo(
  embedded: Pick<EmbeddedDatabase, 'connection'>,
  config: pg.ClientConfig = {},
): Promise<pg.Client> {
  const client = new pg.Client({ ...embedded.connection, ...config })
  client.on('error', () => {}) // the tests cut connections on purpose
  await client.connect()
  cleanUps.push(() => client.end())
  return client
}

/** Starts a process that writes `rows` rows into the database of the test, as `uid` where that is given. */
export function startChild(name: string, rows: number, options: { directory?: string; uid?: number } = {}) {
  const { directory = current, uid } = options
  const script = join(import.meta.dirname, 'embedded-child.mjs')
  const child = spawn(process.execPath, ['--import', 'tsx', script, directory, name, `${rows}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(uid !== undefined && { uid, gid: uid }),
  })
  const lines: string[] = []
  const ended = once(child, 'close')
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  cleanUps.push(async () => {
    child.kill('SIGKILL')
    await ended
  })
  /** Waits for the process to print this; throws when it exits first. */
  const until = async (isSeen: (lines: string[]) => boolean) => {
    while (!isSeen(lines)) {
      if (child.exitCode !== null)
        throw new Error(`${name} exited with ${child.exitCode}: ${lines.slice(-3).join('; ')}`)
      await sleep(5)
    }
  }
  return {
    child,
    lines,
    ended,
    until,
    untilDone: () => until((printed) => printed.includes('done')),
    isOwner: () => lines[0]?.startsWith('owner true') ?? false,
    written: () => lines.filter((line) => line.startsWith('wrote ')).map((line) => line.slice(6)),
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
    finish: async () => {
      child.stdin.end()
      await ended
    },
  }
}

export async function listStoredIds(embedded: Pick<EmbeddedDatabase, 'connection'>): Promise<string[]> {
  const client = await connectTo(embedded)
  const { rows } = await client.query<{ id: string }>('SELECT id FROM row ORDER BY id')
  return rows.map(({ id }) => id)
}

/** The process id of the PostgreSQL that serves, or served, `directory`; null after an orderly stop. */
export async function findPostmaster(directory = current): Promise<number | null> {
  const home = await realpath(join(directory, 'postgres'))
  const text = await readFile(join(home, 'data/postmaster.pid'), 'utf8').catch(() => null)
  return text === null ? null : Number.parseInt(text, 10)
}

/** The process that ends `postmaster` with its parent: the only child of it that runs no postgres. */
export async function findWatcher(postmaster: number): Promise<number> {
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')
  for (const pid of children.trim().split(' ').map(Number)) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (command.startsWith('/bin/sh')) return pid
  }
  throw new Error(`PostgreSQL ${postmaster} has no watcher`)
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
