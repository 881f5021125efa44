import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { createUser } from '../../src/users/users.ts'
import { countStatements, recordStatements } from '../support/statements.ts'
import { EVENTS, NUMBERS, SESSIONS, test } from '../support/subscriptions.ts'

describe('many subscribers', () => {
  test('have their tokens and the log checked by one statement each time', async ({ follow }) => {
    const readers = await Promise.all(Array.from({ length: 20 }, () => follow(EVENTS, NUMBERS)))
    await sleep(100)
    const statements = await countStatements(() => sleep(2000))
    for (const reader of readers) reader.close()
    // The tokens are checked every 0.8 s and the log every second.
    expect(statements).toBeGreaterThanOrEqual(3)
    expect(statements).toBeLessThanOrEqual(6)
  })

  test('share one read of the log and one read of each row', async ({
    ctx,

    startApiSession,
    follow,
  }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const readers = await Promise.all(Array.from({ length: 20 }, () => follow(SESSIONS, { userId })))
    await sleep(100)
    const statements = await recordStatements(async () => {
      await startApiSession(userId)
      await Promise.all(readers.map((reader) => reader.next()))
    })
    // The number of reads of the log and of checks of the tokens depends on time, not on readers.
    const ofLog = statements.filter((text) => text.includes('pg_snapshot_xmin'))
    const ofTokens = statements.filter((text) => text.includes('unnest('))
    expect(ofLog.length).toBeLessThan(readers.length)
    expect(ofTokens.length).toBeLessThan(readers.length)
    // BEGIN, INSERT, COMMIT, session and user; tenant, client and keys where their cache has expired.
    expect(statements.length - ofLog.length - ofTokens.length).toBeLessThanOrEqual(8)
  })
})
