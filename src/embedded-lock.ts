import { createHash, randomUUID } from 'node:crypto'
import { link, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// node-postgres and libpq derive the socket's name from the port.
export const SOCKET_PORT = 5432
export const SOCKET_NAME = `.s.PGSQL.${SOCKET_PORT}`
// sun_path holds 108 bytes on Linux and 104 on macOS and the BSDs, the closing zero included.
const SOCKET_PATH_MAX_BYTES = 103

/** Who holds, or last held, the embedded database of a directory. */
export type LockHolder = {
  pid: number
  /** start time of that process and boot of that machine, so that a recycled pid is not taken for it; null = unknown */
  started: string | null
  /** where the holder serves its socket; recorded, because another process may have another TMPDIR */
  socketDirectory: string
  /** true once it closed in good order */
  released: boolean
}

/** Either the lock (`release` gives it back) or the live process that holds it. */
export type LockAttempt = { taken: true; release(): Promise<void> } | { taken: false; holder: LockHolder }

/** Tries once to take the lock of `directory`; a lock whose process is gone is taken over.
 *
 *  There is no flock in Node, and "delete the stale file, then create mine" lets two win: the slower one deletes the
 *  faster one's fresh lock. So a lock is never deleted while it is the newest. Each holder is a file `lock.<n>`; a
 *  takeover of `lock.<n>` is the exclusive creation of `lock.<n+1>`, and counts only if no newer file is there
 *  afterwards. A released lock stays behind as a tombstone; the next holder sweeps the older ones. */
export async function takeLock(directory: string, socketDirectory: string): Promise<LockAttempt> {
  for (;;) {
    const newest = await newestLock(directory)
    if (newest > 0) {
      const holder = await readLock(directory, newest)
      if (!holder) continue // swept meanwhile, so that there is a newer one
      if (await isAlive(holder)) return { taken: false, holder }
    }
    const mine = newest + 1
    const content: LockHolder = {
      pid: process.pid,
      started: await startOf(process.pid),
      socketDirectory,
      released: false,
    }
    if (!(await createLock(directory, mine, content))) continue
    if ((await newestLock(directory)) !== mine) continue
    await sweepLocks(directory, mine)
    return { taken: true, release: () => replaceLock(directory, mine, { ...content, released: true }) }
  }
}

/** Who holds or last held the directory, alive or not; null when nobody ever did. */
export async function findHolder(directory: string): Promise<LockHolder | null> {
  const newest = await newestLock(directory)
  return newest > 0 ? readLock(directory, newest) : null
}

/** A private directory for the socket: in `root`, or below the temporary directory when that path is too long. */
export async function makeSocketDirectory(root: string): Promise<string> {
  const short = join(tmpdir(), `vestibule-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`)
  const path = [join(root, 'socket'), short].find(
    (candidate) => Buffer.byteLength(join(candidate, SOCKET_NAME)) <= SOCKET_PATH_MAX_BYTES,
  )
  if (!path) throw new Error(`Both ${root} and ${tmpdir()} are too long to hold a Unix socket`)
  await mkdir(path, { recursive: true, mode: 0o700 })
  const { mode, uid } = await lstat(path).then((found) => ({ mode: found.mode & 0o170777, uid: found.uid }))
  // The name below /tmp can be guessed: whoever made it first could read everything that is sent.
  if (mode !== 0o040700 || uid !== process.getuid?.())
    throw new Error(`${path} must be a directory of this user, mode 0700`)
  return path
}

/** Whether somebody serves the socket in `socketDirectory`. */
export function accepts(socketDirectory: string): Promise<boolean> {
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

async function sweepLocks(directory: string, mine: number): Promise<void> {
  const older = (await lockGenerations(directory)).filter((generation) => generation < mine)
  await Promise.all(older.map((generation) => rm(lockFile(directory, generation), { force: true })))
}

async function isAlive(holder: LockHolder): Promise<boolean> {
  if (holder.released) return false
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return false
    if (!hasCode(error, 'EPERM')) throw error // EPERM: it lives, as another user
  }
  const started = await startOf(holder.pid)
  return started === null || holder.started === null || started === holder.started
}

/** Boot id and start tick of a process on Linux; 'dead' for a killed one whose parent has not yet asked for its
 *  status (the pid still answers); null where there is no /proc (macOS), or it hides other users' processes. */
async function startOf(pid: number): Promise<string | null> {
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

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === code
