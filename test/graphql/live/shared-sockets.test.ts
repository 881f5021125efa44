import { describe, expect } from 'vitest'
import { revokeSession } from '../../../src/sessions/revoke-sessions.ts'
import { EVENTS, NUMBERS, numberOf, SESSIONS, test } from '../../support/subscriptions.ts'

const READERS = 12
const NUMBERS_SENT = 40

describe('subscribers of one caller', () => {
  test('receive each event once and in order over sockets and event streams, while they join', async ({
    follow,
    followBySocket,
    recordNumbers,
  }) => {
    const sent = Array.from({ length: NUMBERS_SENT }, (_, index) => index)
    const early = await Promise.all(Array.from({ length: READERS }, () => follow(EVENTS, NUMBERS)))
    const sockets = Array.from({ length: READERS }, () => followBySocket(EVENTS, NUMBERS))
    const pending = sockets.map(({ next }) => next())
    const recording = (async () => {
      for (const number of sent) await recordNumbers(number)
    })()
    const read = async (next: () => Promise<number>): Promise<number[]> => {
      const received: number[] = []
      while (received.at(-1) !== NUMBERS_SENT - 1) received.push(await next())
      return received
    }
    const bySse = early.map(({ next }) => read(async () => numberOf((await next())?.data)))
    const bySocket = sockets.map(({ next }, index) => {
      let first = pending[index]
      return read(async () => {
        const body = await (first ?? next())
        first = undefined
        return numberOf(body)
      })
    })
    await recording
    for (const received of await Promise.all(bySse)) expect(received).toEqual(sent)
    // A socket may be open after the first events.
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
