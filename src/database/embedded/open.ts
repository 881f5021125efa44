import { existsSync } from 'node:fs'
import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../../core/start-error.ts'
import { findPackage, prepareBinaries } from './binaries.ts'
import { type DirectoryLock, takeLock } from './directory-lock.ts'
import { dataIn, makeHome } from './home.ts'
import { endOrphan } from './orphan.ts'
import {
  connectionTo,
  createCluster,
  type EmbeddedConnection,
  isReady,
  type ServerPlan,
  startServer,
} from './server.ts'
import { findServerUser } from './server-user.ts'
import { makeSocketDirectory } from './socket-directory.ts'

export type EmbeddedDatabase = {
  connection: EmbeddedConnection
  /** false when another process runs it */
  owner: boolean
  close(): Promise<void>
}

// A first start runs initdb: 1 s, and several on a busy laptop.
const OWNER_WAIT_MS = 30_000
/** How long a server takes to stop at most. */
const PREDECESSOR_WAIT_MS = 5000
const OWNER_POLL_MS = 50

/**
 * Starts PostgreSQL on the data below `directory`, which is made at the first start; when another live
 * process runs it, returns a connection to that one. It ends with this process, even by kill -9, and is
 * started again when it ends by itself. `settings` are PostgreSQL's own, as `name=value`. Throws when the
 * other process does not answer within `ownerWaitMs`, for data that this version does not read, and where
 * there is no PostgreSQL for this platform. A server is not `isShared`: it waits for a predecessor that stops, and throws
 * StartError when another process keeps running, whose inbox, limits and issuer would not be those of this one. See
 * docs/decisions/0042.
 */
export async function openEmbedded(
  directory: string,
  {
    isShared = true,
    ownerWaitMs = isShared ? OWNER_WAIT_MS : PREDECESSOR_WAIT_MS,
    settings = [],
    onRestart = () => {},
  }: { isShared?: boolean; ownerWaitMs?: number; settings?: string[]; onRestart?: () => void } = {},
): Promise<EmbeddedDatabase> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const root = await realpath(directory)
  const deadline = Date.now() + ownerWaitMs
  for (;;) {
    const attempt = await takeLock(root)
    if ('lock' in attempt) {
      return start(root, attempt.lock, { settings, onRestart }).catch(async (error: unknown) => {
        await attempt.lock.release()
        throw error
      })
    }
    const { pid, socketDirectory } = attempt.holder
    if (isShared && socketDirectory && (await isReady(socketDirectory)))
      return { connection: connectionTo(socketDirectory), owner: false, close: async () => {} }
    if (Date.now() > deadline && !isShared)
      throw new StartError(
        `Another server or command (process ${pid}) runs on ${directory}. Stop it, or set another DATA_DIR.`,
      )
    if (Date.now() > deadline)
      throw new Error(
        `The embedded database in ${root} belongs to process ${pid}, which does not answer. ` +
          'Stop that process, or set DATABASE_URL.',
      )
    await sleep(OWNER_POLL_MS)
  }
}

/** True when an earlier start created the database below `directory`. */
export const hasEmbedded = (directory: string): boolean => existsSync(dataIn(directory))

async function start(
  root: string,
  lock: DirectoryLock,
  options: Pick<ServerPlan, 'settings' | 'onRestart'>,
): Promise<EmbeddedDatabase> {
  const user = await findServerUser(dataIn(root))
  const home = await makeHome(root, user)
  const native = await prepareBinaries(findPackage(), home, user)
  const socketDirectory = await makeSocketDirectory(home, user)
  const plan = { native, home, socketDirectory, user, ...options }
  await createCluster(plan)
  await endOrphan(join(home, 'data'))
  const server = await startServer(plan)
  await lock.publish(socketDirectory)
  let closed: Promise<void> | undefined
  const close = async () => {
    await server.stop()
    await lock.release()
  }
  return { connection: connectionTo(socketDirectory), owner: true, close: () => (closed ??= close()) }
}
