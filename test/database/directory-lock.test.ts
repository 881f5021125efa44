import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { takeLock } from '../../src/database/embedded/directory-lock.ts'
import { useDirectories } from '../support/embedded-processes.ts'

const directory = useDirectories()

async function rewriteHolder(change: object): Promise<void> {
  const path = join(directory.path(), (await listLocks())[0] ?? '')
  const content = JSON.parse(await readFile(path, 'utf8'))
  await writeFile(path, JSON.stringify({ ...content, ...change }))
}

const listLocks = async () => (await readdir(directory.path())).filter((name) => name.startsWith('lock'))

describe('takeLock', () => {
  test('gives the lock to one of 20 that ask at once, whether it was released or is stale', async () => {
    for (let round = 0; round < 20; round++) {
      const attempts = await Promise.all(Array.from({ length: 20 }, () => takeLock(directory.path())))
      const locks = attempts.flatMap((attempt) => ('lock' in attempt ? [attempt.lock] : []))
      expect(locks).toHaveLength(1)
      if (round % 2) await locks[0]?.release()
      else await rewriteHolder({ started: 'an earlier process/1' })
    }
    expect(await listLocks()).toHaveLength(1)
  })

  test('takes over the lock of an ended process whose pid another process has now', async () => {
    await takeLock(directory.path())
    expect(await takeLock(directory.path())).toHaveProperty('holder.pid', process.pid)
    await rewriteHolder({ started: 'an earlier process/1' })
    expect(await takeLock(directory.path())).toHaveProperty('lock')
  })

  test('takes over the lock of another PID namespace whose socket does not answer', async () => {
    await takeLock(directory.path())
    await rewriteHolder({ namespace: 'pid:[1]', socketDirectory: directory.path() })
    expect(await takeLock(directory.path())).toHaveProperty('lock')
  })

  test('publishes where PostgreSQL listens to those that ask later', async () => {
    const attempt = await takeLock(directory.path())
    if ('lock' in attempt) await attempt.lock.publish('/somewhere')
    expect(await takeLock(directory.path())).toHaveProperty('holder.socketDirectory', '/somewhere')
  })
})
