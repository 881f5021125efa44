import { test as base, type Caller, resetCooldown } from './account.ts'
import type { SignedIn } from './people.ts'

const SESSIONS = '{ viewer { session { id } user { sessions(first: 10) { nodes { id clientId } } } } }'

/** With users who sign in with several browsers one after another, and what they do with their sessions. */
export const test = base
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
