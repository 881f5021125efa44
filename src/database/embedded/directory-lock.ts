import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { SOCKET_NAME } from './socket-directory.ts'

/** The process that uses, or last used, the embedded database of a directory. */
export type LockHolder = {
  pid: number
  /**
   * the PID namespace (Linux) that `pid` counts in: containers that share a directory may differ; null =
   * unknown
   */
  namespace: string | null
  /**
   * start time of that process and boot of that machine, so that a recycled pid is not taken for it; null =
   * unknown
   */
  started: string | null
  /** where PostgreSQL listens; null until that is known */
  socketDirectory: string | null
  /** true once the holder closed in good order */
  released: boolean
}

/** The lock of a directory, held by this process. */
export type DirectoryLock = {
  /** Records where PostgreSQL listens, for the processes that share it. */
  publish(socketDirectory: string): Promise<void>
  release(): Promise<void>
}

/** Either the lock or the live process that holds it. */
export type LockAttempt = { lock: DirectoryLock } | { holder: LockHolder }

/**
 * Tries once to take the lock of `directory`; a lock whose process has ended is taken over.
 *
 * There is no flock in Node, and "delete the stale file, then create mine" lets two win: the slower one
 * deletes the faster one's fresh lock. So a lock is never deleted while it is the newest. Each holder is a
 * file `lock.<n>`; a takeover of `lock.<n>` is the exclusive creation of `lock.<n+1>`, and counts only if no
 * newer file is there afterwards. A released lock stays behind; the next holder deletes the older ones.
 */
export async function takeLock(directory: string): Promise<LockAttempt> {
  for (;;) {
    const newest = await newestLock(directory)
    if (newest > 0) {
      const holder = await readLock(directory, newest)
      if (!holder) continue // deleted since, so that there is a newer one
      if (await isAlive(holder)) return { holder }
    }
    const mine = newest + 1
    const content: LockHolder = {
      pid: process.pid,
      namespace: await findNamespace(),
      started: await findStart(process.pid),
      socketDirectory: null,
      released: false,
    }
    if (!(await createLock(directory, mine, content))) continue
    if ((await newestLock(directory)) !== mine) continue
    await deleteOlderLocks(directory, mine)
    const write = (change: Partial<LockHolder>) =>
      replaceLock(directory, mine, Object.assign(content, change))
    return {
      lock: {
        publish: (socketDirectory) => write({ socketDirectory }),
        release: () => write({ released: true }),
      },
    }
  }
}

/** Whether a server accepts connections on the socket in `socketDirectory`, ready or not. */
function isListening(socketDirectory: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(join(socketDirectory, SOCKET_NAME))
    probe.once('connect', () => resolve(true)).once('error', () => resolve(false))
    probe.once('connect', () => probe.destroy())
  })
}

const lockFile = (directory: string, generation: number): string => join(directory, `lock.${generation}`)

async function lockGenerations(directory: string): Promise<number[]> {
  const names = await readdir(directory)
  return names.flatMap((name) => /^lock\.(\d+)$/.exec(name)?.[1] ?? []).map(Number)
}

const newestLock = async (directory: string): Promise<number> =>
  Math.max(0, ...(await lockGenerations(directory)))

async function readLock(directory: string, generation: number): Promise<LockHolder | null> {
  try {
    return JSON.parse(await readFile(lockFile(directory, generation), 'utf8')) as LockHolder
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw new Error(`Cannot read the lock ${lockFile(directory, generation)} of the embedded database`, {
      cause: error,
    })
  }
}

/** link() creates the name with its content in one step: no reader sees a half-written lock. */
async function createLock(directory: string, generation: number, content: LockHolder): Promise<boolean> {
  const draft = await writeDraft(directory, content)
  try {
    await link(draft, lockFile(directory, generation))
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

async function replaceLock(directory: string, generation: number, content: LockHolder): Promise<void> {
  await rename(await writeDraft(directory, content), lockFile(directory, generation))
}

async function writeDraft(directory: string, content: LockHolder): Promise<string> {
  const draft = join(directory, `lock-draft.${randomUUID()}`)
  await writeFile(draft, JSON.stringify(content), { mode: 0o600, flag: 'wx' })
  return draft
}

async function deleteOlderLocks(directory: string, mine: number): Promise<void> {
  const older = (await lockGenerations(directory)).filter((generation) => generation < mine)
  await Promise.all(older.map((generation) => rm(lockFile(directory, generation), { force: true })))
}

async function isAlive(holder: LockHolder): Promise<boolean> {
  if (holder.released) return false
  // A pid of another container says nothing here, but its socket is reachable.
  if (holder.namespace !== (await findNamespace()))
    return holder.socketDirectory !== null && isListening(holder.socketDirectory)
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false
    if (!hasCode(error, 'EPERM')) throw error // EPERM: it runs, as another user
  }
  const started = await findStart(holder.pid)
  return started === null || holder.started === null || started === holder.started
}

/**
 * Boot id and start tick of a process on Linux; 'dead' for a killed one whose parent has not yet read
 * its status (the pid still answers); null where there is no /proc (macOS), or it hides the processes of
 * other users.
 */
async function findStart(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The second field is the program's name in parentheses and may hold anything: count from its end.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return 'dead'
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8')
    return `${boot.trim()}/${fields[19]}`
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH') || hasCode(error, 'EACCES')) return null
    throw error
  }
}

const findNamespace = (): Promise<string | null> => readlink('/proc/self/ns/pid').catch(() => null)

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === code
