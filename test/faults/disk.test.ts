import { execFile } from 'node:child_process'
import { chmod, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openEmbedded } from '../../src/database/embedded/open.ts'
import { withConnection } from '../support/databases.ts'
import { expectNothingLost, report, startFaultScene } from '../support/fault-scene.ts'

const run = promisify(execFile)
const RECOVERY_LIMIT_MS = 15_000

/** A file system of its own; null where this user may not mount one. */
async function mountDisk(size: string): Promise<string | null> {
  const directory = await mkdtemp(join(tmpdir(), 'vestibule-disk-'))
  const isMounted = await run('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=${size},mode=711`,
    'tmpfs',
    directory,
  ]).then(
    () => true,
    () => false,
  )
  onTestFinished(async () => {
    if (isMounted) await run('umount', ['-l', directory])
    await rm(directory, { recursive: true, force: true })
  })
  if (isMounted) await chmod(directory, 0o711)
  return isMounted ? directory : null
}

/** Writes zeros until the disk is full. */
async function fillDisk(path: string): Promise<void> {
  const file = await open(path, 'w')
  for (const size of [1 << 20, 1 << 12]) {
    const zeros = Buffer.alloc(size)
    while ((await file.write(zeros).catch(() => null))?.bytesWritten === size);
  }
  await file.close()
}

describe('a server with the embedded database', () => {
  test('answers 503 while the disk is full, works again by itself and has lost nothing', async ({ skip }) => {
    const directory = await mountDisk('300m')
    if (!directory) return skip('a file system cannot be mounted')
    const ballast = join(directory, 'ballast')
    const scene = await startFaultScene({ DATA_DIR: directory, DATABASE_URL: '', REDIS_URL: '' })
    // The server owns the database; this connects to it.
    const { connection } = await openEmbedded(directory)
    const { host, port, user, database } = connection
    const url = `postgresql:///${database}?${new URLSearchParams({ host, port: `${port}`, user })}`
    await fillDisk(ballast)
    // The log needs its next files, too: PostgreSQL itself ends.
    for (let n = 0; n < 8; n++) {
      await withConnection(url, (client) =>
        client.query("SELECT pg_logical_emit_message(true, '', 'x'); SELECT pg_switch_wal()"),
      ).catch(() => null)
      await fillDisk(`${ballast}${n}`)
    }
    await expect.poll(() => scene.load.unavailable, { timeout: 60_000 }).toBeGreaterThan(0)
    await sleep(5000)
    await Promise.all(['', 0, 1, 2, 3, 4, 5, 6, 7].map((n) => rm(`${ballast}${n}`)))
    const recoveryMs = await scene.load.untilWorking(RECOVERY_LIMIT_MS)
    await sleep(1000)
    await expectNothingLost(scene, url)
    report(
      `disk full (PostgreSQL was started again: ${scene.server.output().includes('is started again')})`,
      scene,
      recoveryMs,
    )
  })
})
