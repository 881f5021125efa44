import { afterAll, beforeAll, expect, test } from 'vitest'
import { dbFor } from '../src/db.ts'
import { makeUser } from './oidc/provider.ts'
import { newTenant } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'
import { logOf } from './support/events.ts'
import { makeSpa, type PersonClient, type SignedIn, signInAs } from './support/people.ts'

let app: TestApp
let tenant: string
let spa: PersonClient
let people = 0
beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  spa = await makeSpa(tenant)
})
afterAll(() => app.close())

/** A person who signed in with so many browsers, one after the other. */
async function newPerson(browsers = 1, scope = 'openid account session'): Promise<SignedIn[]> {
  const email = `person${people++}@${tenant}.example`
  await makeUser(tenant, email)
  const signedIn: SignedIn[] = []
  for (let i = 0; i < browsers; i++) {
    await dbFor(tenant).passcode.updateMany({
      where: { tenantId: tenant, address: email },
      data: { sentAt: new Date(0) },
    })
    signedIn.push(await signInAs(app, tenant, spa, email, { scope }))
  }
  return signedIn
}

const SESSIONS = '{ viewer { session { id } user { sessions(first: 10) { nodes { id clientId } } } } }'
async function sessionsOf({ token }: SignedIn): Promise<{ id: string; clientId: string | null }[]> {
  const { body } = await app.gql(tenant, token, SESSIONS)
  return body.data.viewer.user.sessions.nodes
}
const revoke = async ({ token }: SignedIn, sessionId: string) => {
  const { body } = await app.gql(
    tenant,
    token,
    `mutation ($sessionId: ID!) { revokeViewerSession(input: {sessionId: $sessionId}) {
       __typename ... on RevokeViewerSessionPayload { revokedSessionId } ... on UserError { code }
     } }`,
    { sessionId },
  )
  return body.data?.revokeViewerSession
}
const revokeOthers = async ({ token }: SignedIn, includeCurrent = false): Promise<string[]> => {
  const { body } = await app.gql(
    tenant,
    token,
    `mutation ($includeCurrent: Boolean) { revokeViewerSessions(input: {includeCurrent: $includeCurrent}) {
       ... on RevokeViewerSessionsPayload { revokedSessionIds }
     } }`,
    { includeCurrent },
  )
  return body.data.revokeViewerSessions.revokedSessionIds
}
const statusOf = async ({ token }: SignedIn) => (await app.gql(tenant, token, '{ viewer { scopes } }')).status

test('a person sees their sessions, and ends one: its tokens end with it, and the log says who did', async () => {
  const [here, there] = (await newPerson(2)) as [SignedIn, SignedIn]
  // Each browser's own, and the one handed to the client in it.
  const sessions = await sessionsOf(here)
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
  expect(await sessionsOf(here)).toHaveLength(2)
  const ended = (await logOf(tenant)).filter(
    ({ type, userId }) => type === 'session.ended' && userId === here.userId,
  )
  expect(ended).toHaveLength(2)
  for (const event of ended)
    expect(event).toMatchObject({
      actorUserId: here.userId,
      actorClientId: spa.id,
      detail: { reason: 'revoked' },
    })
})

test('a session of somebody else is one of nobody', async () => {
  const [person] = (await newPerson()) as [SignedIn]
  const [other] = (await newPerson()) as [SignedIn]
  const nobody = { __typename: 'NotFoundError', code: 'NOT_FOUND' }
  expect(await revoke(person, other.sessionId)).toEqual(nobody)
  expect(await revoke(person, 'session_01m7xeb1sbendby702xerkqv3p')).toEqual(nobody)
  expect(await revoke(person, other.userId)).toMatchObject({ code: 'BAD_USER_INPUT' })
  expect(await statusOf(other)).toBe(200)
})

test('the current session can be ended too, and the token with it', async () => {
  const [person] = (await newPerson()) as [SignedIn]
  expect(await revoke(person, person.sessionId)).toMatchObject({ revokedSessionId: person.sessionId })
  expect(await statusOf(person)).toBe(401)
})

test('all other sessions are ended at once: here everything goes on', async () => {
  const [first, second, here] = (await newPerson(3)) as [SignedIn, SignedIn, SignedIn]
  const before = await sessionsOf(here)
  const kept = before.slice(-2).map(({ id }) => id)
  expect(kept).toContain(here.sessionId)
  expect(await revokeOthers(here)).toEqual(before.map(({ id }) => id).filter((id) => !kept.includes(id)))
  expect([await statusOf(first), await statusOf(second), await statusOf(here)]).toEqual([401, 401, 200])
  expect((await sessionsOf(here)).map(({ id }) => id)).toEqual(kept)
  expect(await revokeOthers(here)).toEqual([])
  expect((await revokeOthers(here, true)).sort()).toEqual([...kept].sort())
  expect(await statusOf(here)).toBe(401)
})
