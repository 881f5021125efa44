import { describe, expect } from 'vitest'
import { test as base, type Caller, resetCooldown } from '../support/account.ts'
import type { SignedIn } from '../support/people.ts'

const SESSIONS = '{ viewer { session { id } user { sessions(first: 10) { nodes { id clientId } } } } }'

/** With users who sign in with several browsers one after another, and what they do with their sessions. */
const test = base
  .extend('signInTimes', { scope: 'file' }, ({ tenant, newPerson, signIn }) => async (browsers: number) => {
    const { email } = await newPerson()
    const signedIn: SignedIn[] = []
    for (let count = 0; count < browsers; count++) {
      await resetCooldown(tenant, email)
      signedIn.push(await signIn(email, { scope: 'openid account session' }))
    }
    return signedIn
  })
  .extend('listSessions', { scope: 'file' }, ({ gql }) => async ({ token }: Caller) => {
    const { body } = await gql(SESSIONS, {}, { token })
    return body.data.viewer.user.sessions.nodes as { id: string; clientId: string | null }[]
  })
  .extend(
    'revoke',
    { scope: 'file' },
    ({ mutate }) =>
      (caller: Caller, sessionId: string) =>
        mutate(
          caller,
          'revokeViewerSession',
          { sessionId },
          '... on RevokeViewerSessionPayload { revokedSessionId }',
        ),
  )
  .extend(
    'revokeOthers',
    { scope: 'file' },
    ({ mutate }) =>
      async (caller: Caller, includeCurrent = false): Promise<string[]> => {
        const selection = '... on RevokeViewerSessionsPayload { revokedSessionIds }'
        const result = await mutate(caller, 'revokeViewerSessions', { includeCurrent }, selection)
        return result.revokedSessionIds
      },
  )

describe('the sessions of the viewer', () => {
  test('are listed; one of them is revoked with its tokens, which the log records with the actor', async ({
    events,
    spa,
    signInTimes,
    listSessions,
    revoke,
    statusOf,
  }) => {
    const [here, there] = (await signInTimes(2)) as [SignedIn, SignedIn]
    // One session of each browser, and one of the client in each.
    const sessions = await listSessions(here)
    expect(sessions.filter(({ clientId }) => clientId === null).map(({ id }) => id)).toEqual([
      here.sessionId,
      there.sessionId,
    ])
    expect(sessions).toHaveLength(4)
    expect(await revoke(here, there.sessionId)).toEqual({
      __typename: 'RevokeViewerSessionPayload',
      revokedSessionId: there.sessionId,
    })
    expect(await statusOf(there)).toBe(401)
    expect(await listSessions(here)).toHaveLength(2)
    const ended = await events({ type: 'session.ended', userId: here.userId })
    expect(ended).toHaveLength(2)
    for (const event of ended)
      expect(event).toMatchObject({
        actorUserId: here.userId,
        actorClientId: spa.id,
        detail: { reason: 'revoked' },
      })
  })

  test('do not include a session of another user, which is not found like an unknown one', async ({
    signInTimes,
    revoke,
    statusOf,
  }) => {
    const [person] = (await signInTimes(1)) as [SignedIn]
    const [other] = (await signInTimes(1)) as [SignedIn]
    const notFound = { __typename: 'NotFoundError', code: 'NOT_FOUND' }
    expect(await revoke(person, other.sessionId)).toMatchObject(notFound)
    expect(await revoke(person, 'session_01m7xeb1sbendby702xerkqv3p')).toMatchObject(notFound)
    expect(await revoke(person, other.userId)).toMatchObject({ code: 'BAD_USER_INPUT' })
    expect(await statusOf(other)).toBe(200)
  })

  test('include the current one, which is revoked with its token', async ({
    signInTimes,
    revoke,
    statusOf,
  }) => {
    const [person] = (await signInTimes(1)) as [SignedIn]
    expect(await revoke(person, person.sessionId)).toMatchObject({ revokedSessionId: person.sessionId })
    expect(await statusOf(person)).toBe(401)
  })

  test('are revoked except the current one, or with it when includeCurrent is true', async ({
    signInTimes,
    listSessions,
    revokeOthers,
    statusOf,
  }) => {
    const [first, second, here] = (await signInTimes(3)) as [SignedIn, SignedIn, SignedIn]
    const before = await listSessions(here)
    const kept = before.slice(-2).map(({ id }) => id)
    expect(kept).toContain(here.sessionId)
    expect(await revokeOthers(here)).toEqual(before.map(({ id }) => id).filter((id) => !kept.includes(id)))
    expect([await statusOf(first), await statusOf(second), await statusOf(here)]).toEqual([401, 401, 200])
    expect((await listSessions(here)).map(({ id }) => id)).toEqual(kept)
    expect(await revokeOthers(here)).toEqual([])
    expect((await revokeOthers(here, true)).sort()).toEqual([...kept].sort())
    expect(await statusOf(here)).toBe(401)
  })
})
