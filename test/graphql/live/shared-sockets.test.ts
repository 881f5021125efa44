import { describe, expect } from 'vitest'
import { revokeSession } from '../../../src/sessions/revoke-sessions.ts'
import type { GraphqlBody } from '../../support/app.ts'
import { EVENTS, NUMBERS, numberOf, SESSIONS, test } from '../../support/subscriptions.ts'

const READERS = 12
const NUMBERS_SENT = 40
const LAST = -1

/** Reads the numbers of a stream until the last one. */
async function readNumbers(next: () => Promise<GraphqlBody | null | undefined>): Promise<number[]> {
  const received: number[] = []
  while (received.at(-1) !== LAST) {
    const body = await next()
    if (!body) throw new Error(`the stream ended after ${received.join()}`)
    received.push(numberOf(body))
  }
  return received
}

describe('subscribers of one caller', () => {
  test('receive each event once and in order over sockets and event streams, while they join', async ({
    follow,
    followBySocket,
    recordNumbers,
  }) => {
    const early = await Promise.all(Array.from({ length: READERS }, () => follow(EVENTS, NUMBERS)))
    const sockets = Array.from({ length: READERS }, () => followBySocket(EVENTS, NUMBERS))
    let joined = 0
    const bySocket = sockets.map(async ({ next }) => {
      const first = await next()
      joined += 1
      let isFirst = true
      return readNumbers(async () => {
        const body = isFirst ? first : await next()
        isFirst = false
        return body
      })
    })
    const bySse = early.map(({ next }) => readNumbers(async () => (await next())?.data))
    const sent: number[] = []
    // A socket may be open after any of the first events.
    for (let number = 0; number < NUMBERS_SENT || joined < READERS; number++) {
      await recordNumbers(number)
      sent.push(number)
    }
    await recordNumbers(LAST)
    sent.push(LAST)
    for (const received of await Promise.all(bySse)) expect(received).toEqual(sent)
    for (const received of await Promise.all(bySocket)) expect(received).toEqual(sent.slice(received[0]))
  })

  test('are all ended when their session is revoked, and others go on', async ({
    ctx,
    newSubscriber,
    startApiSession,
    follow,
  }) => {
    const [user, other] = [await newSubscriber(), await newSubscriber()]
    const open = ({ token }: { token: string }, count: number) =>
      Promise.all(Array.from({ length: count }, () => follow(SESSIONS, { kinds: ['STARTED'] }, { token })))
    const [ended, kept] = [await open(user, 5), await open(other, 2)]
    const expectSession = async (readers: typeof ended, { userId }: { userId: string }) => {
      const sessionId = await startApiSession(userId)
      for (const reader of readers)
        expect((await reader.next())?.data?.data.sessionChanged).toMatchObject({ sessionId, userId })
    }
    await expectSession(ended, user)
    await expectSession(kept, other)
    await revokeSession(ctx, user.sessionId)
    for (const reader of ended) {
      expect((await reader.next())?.data?.errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED')
      expect((await reader.next())?.event).toBe('complete')
    }
    await expectSession(kept, other)
  })
})
