import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { createUser } from '../../src/users/users.ts'
import { captureTexts, isCheckOfCaches, isReadOfTail } from '../support/statements.ts'
import { EVENTS, NUMBERS, SESSIONS, test } from '../support/subscriptions.ts'

const isCheckOfTokens = (text: string): boolean => text.includes('unnest(')

describe('many subscribers', () => {
  test('have their tokens and the log checked by one statement each time', async ({ follow }) => {
    const readers = await Promise.all(Array.from({ length: 20 }, () => follow(EVENTS, NUMBERS)))
    await sleep(100)
    const statements = await captureTexts(() => sleep(2000))
    for (const reader of readers) reader.close()
    // The tokens are checked every 0.8 s and the log every second.
    const checks = statements.filter((text) => isReadOfTail(text) || isCheckOfTokens(text))
    expect(checks.length).toBeGreaterThanOrEqual(3)
    expect(checks.length).toBeLessThanOrEqual(6)
  })

  test('share one read of the log and one read of each row', async ({
    ctx,

    startApiSession,
    follow,
  }) => {
    const { id: userId } = await createUser(ctx, { name: 'Ada' })
    const readers = await Promise.all(Array.from({ length: 20 }, () => follow(SESSIONS, { userId })))
    await sleep(100)
    const statements = await captureTexts(async () => {
      await startApiSession(userId)
      await Promise.all(readers.map((reader) => reader.next()))
    })
    // The number of reads of the log and of checks of the tokens depends on time, not on readers.
    const ofLog = statements.filter(isReadOfTail)
    const ofTokens = statements.filter(isCheckOfTokens)
    expect(ofLog.length).toBeLessThan(readers.length)
    expect(ofTokens.length).toBeLessThan(readers.length)
    const ofCaches = statements.filter(isCheckOfCaches)
    // BEGIN, INSERT, COMMIT, session and user; tenant, client and keys where their cache has expired.
    expect(statements.length - ofLog.length - ofTokens.length - ofCaches.length).toBeLessThanOrEqual(8)
  })
})
