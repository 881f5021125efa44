import { access, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startCluster } from '../support/clusters.ts'
import { expectNothingLost, report, startFaultScene } from '../support/fault-scene.ts'

const RECOVERY_LIMIT_MS = 15_000
/** libfaketime. */
const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'
const HOUR_MS = 3_600_000

/** The clock of a server by its Date header, relative to the one here. */
async function readOffsetMs(origin: string): Promise<number> {
  const { headers } = await fetch(`${origin}/health/live`)
  return Date.parse(headers.get('date') ?? '') - Date.now()
}

describe('a server whose clock, with that of PostgreSQL, is set back by an hour', () => {
  test('works on, accepts no wrong code, and neither skips nor repeats an event', async ({ skip }) => {
    const isInstalled = await access(LIBRARY).then(
      () => true,
      () => false,
    )
    if (!isInstalled) return skip('libfaketime is not installed')
    const directory = await mkdtemp(join(tmpdir(), 'vestibule-clock-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    // PostgreSQL reads it as another user.
    await chmod(directory, 0o755)
    const offset = join(directory, 'offset')
    await writeFile(offset, '+0s', { mode: 0o644 })
    // Monotonic clocks go on, as when an operator or NTP sets the time.
    const clock = {
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: offset,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    }
    const cluster = await startCluster(clock)
    if (!cluster) return skip('PostgreSQL is not installed')
    const scene = await startFaultScene({ DATABASE_URL: cluster.url, ...clock })
    await writeFile(offset, '-1h')
    await expect.poll(() => readOffsetMs(scene.server.origin), { timeout: 5000 }).toBeLessThan(-HOUR_MS / 2)
    const recoveryMs = await scene.load.untilWorking(RECOVERY_LIMIT_MS)
    await sleep(3000)
    await expectNothingLost(scene, cluster.url)
    report('clock set back', scene, recoveryMs)
  })
})
