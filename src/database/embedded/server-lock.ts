import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../../core/start-error.ts'
import { type DirectoryLock, takeLock } from './directory-lock.ts'

/** How long a server takes to stop at most. */
const PREDECESSOR_WAIT_MS = 5000
const POLL_MS = 100

/**
 * Takes the place of the one server of a data directory; commands need none. Waits for a predecessor that stops. Throws
 * StartError while another server runs: its inbox, its limits and its issuer would not be those of this one.
 */
export async function takeServerLock(
  dataDir: string,
  { waitMs = PREDECESSOR_WAIT_MS } = {},
): Promise<DirectoryLock> {
  const directory = join(dataDir, 'server')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  for (const deadline = Date.now() + waitMs; ; await sleep(POLL_MS)) {
    const attempt = await takeLock(directory)
    if ('lock' in attempt) return attempt.lock
    if (Date.now() > deadline)
      throw new StartError(
        `Another server (process ${attempt.holder.pid}) runs on ${dataDir}. Stop it, or set another DATA_DIR.`,
      )
  }
}
