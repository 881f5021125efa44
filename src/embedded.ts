import { chmod, mkdir, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PGlite } from '@electric-sql/pglite'
import { createGate } from './embedded-gate.ts'
import {
  accepts,
  findHolder,
  makeSocketDirectory,
  SOCKET_NAME,
  SOCKET_PORT,
  takeLock,
} from './embedded-lock.ts'

export type EmbeddedDatabase = {
  /** what node-postgres needs: `host` is the socket's directory */
  connection: { host: string; port: number; user: string; database: string }
  /** false when another process serves it */
  owner: boolean
  close(): Promise<void>
}

// A first start runs initdb: 3 to 5 s on a busy laptop.
const OWNER_WAIT_MS = 30_000
const OWNER_POLL_MS = 50

/** Opens the embedded database below `directory` and serves it on a Unix socket; when a live process already holds it,
 *  returns a connection to that one's socket. Throws when that process does not accept within `ownerWaitMs`.
 *  Development and trial only: survives kill -9 of this process, not a power cut (PGlite runs with fsync off). */
export async function openEmbedded(
  directory: string,
  ownerWaitMs = OWNER_WAIT_MS,
): Promise<EmbeddedDatabase> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const root = await realpath(directory)
  const deadline = Date.now() + ownerWaitMs
  for (;;) {
    // Asked before the pid, because the holder may live where our /proc does not show it (another container).
    const holder = await findHolder(root)
    if (holder && !holder.released && (await accepts(holder.socketDirectory))) {
      return { connection: connectionTo(holder.socketDirectory), owner: false, close: async () => {} }
    }
    const socketDirectory = await makeSocketDirectory(root)
    const lock = await takeLock(root, socketDirectory)
    if (lock.taken) {
      try {
        return await own(root, socketDirectory, lock.release)
      } catch (error) {
        await lock.release()
        throw error
      }
    }
    if (Date.now() > deadline) {
      throw new Error(
        `The embedded database in ${root} belongs to process ${lock.holder.pid}, which does not answer on ` +
          `${join(lock.holder.socketDirectory, SOCKET_NAME)}. Stop that process, or set DATABASE_URL.`,
      )
    }
    await sleep(OWNER_POLL_MS)
  }
}

async function own(root: string, host: string, release: () => Promise<void>): Promise<EmbeddedDatabase> {
  const database = await openDatabase(join(root, 'db'))
  const path = join(host, SOCKET_NAME)
  await rm(path, { force: true }) // left by a killed holder; the lock says that nobody serves it
  const gate = createGate(database)
  const server = createServer(gate.accept)
  try {
    await listen(server, path)
    await chmod(path, 0o600)
  } catch (error) {
    await database.close()
    throw error
  }
  let closed: Promise<void> | undefined
  const shutDown = async () => {
    const stopped = new Promise((resolve) => server.close(resolve))
    await gate.close()
    await stopped
    await database.close()
    await release()
  }
  return { connection: connectionTo(host), owner: true, close: () => (closed ??= shutDown()) }
}

/** PGlite on `path`. A directory without our mark was cut off while initdb's files were copied, before anybody could
 *  write to it, and is made anew. */
async function openDatabase(path: string): Promise<PGlite> {
  const mark = join(path, 'vestibule.ready')
  const fresh = !(await exists(mark))
  if (fresh) await rm(path, { recursive: true, force: true })
  await mkdir(path, { recursive: true, mode: 0o700 })
  const { PGlite } = await import('@electric-sql/pglite')
  // Not relaxed: a commit's write-ahead log is handed to the kernel before the commit is acknowledged.
  const database = await PGlite.create({ dataDir: path, relaxedDurability: false })
  if (fresh) {
    await restrict(path) // initdb's files arrive as 0666 less the umask
    await writeFile(mark, '', { mode: 0o600 })
  }
  return database
}

async function restrict(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true })
  await chmod(path, 0o700)
  for (const entry of entries) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await restrict(child)
    else await chmod(child, 0o600)
  }
}

const connectionTo = (host: string): EmbeddedDatabase['connection'] => ({
  host,
  port: SOCKET_PORT,
  user: 'postgres',
  database: 'postgres',
})

const listen = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
