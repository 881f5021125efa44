import { InvalidCredential, NotFound, RateLimited, UserLocked } from '../core/errors.ts'
import { defineMutation } from '../operations/mutation.ts'
import type { Resource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import type { AuthenticatedSession } from '../sessions/authenticate-session.ts'
import { AuthenticatedSessionShape, toSessionBody } from '../sessions/sessions.fields.ts'
import { SESSION } from '../sessions/sessions.graphql.ts'
import { toUserBody } from '../users/user-body.ts'
import { USER } from '../users/users.operations.ts'
import { authenticatePasscode } from './authenticate-passcode.ts'
import { AuthenticatePasscode, SendPasscode, SentPasscodeShape } from './passcodes.fields.ts'
import { sendPasscode } from './send-passcode.ts'

const SESSION_IF_REQUESTED: Resource<AuthenticatedSession['session'] | null> = {
  ...(SESSION as Resource<AuthenticatedSession['session'] | null>),
  nullWhen: 'none was requested',
}
const { sessionToken } = AuthenticatedSessionShape.shape

/** The parts that both kinds of messages share. */
const SENDING = {
  scope: 'passcodes:write',
  isCreation: true,
  errors: [NotFound, UserLocked, RateLimited],
  output: SentPasscodeShape.shape,
  loaded: { user: { resource: USER, by: 'userId' } },
} as const

export const passcodeOperations: readonly RestRoute[] = [
  ...defineMutation({
    ...SENDING,
    name: 'sendEmailPasscode',
    summary: 'Sends a one-time passcode by e-mail.',
    input: SendPasscode.email,
    rest: { method: 'POST', path: '/passcodes/email', response: SentPasscodeShape },
    run: (ctx, _ids, input) => sendPasscode(ctx, 'email', input),
  }),
  ...defineMutation({
    ...SENDING,
    name: 'sendSmsPasscode',
    summary: 'Sends a one-time passcode by text message.',
    input: SendPasscode.sms,
    rest: { method: 'POST', path: '/passcodes/sms', response: SentPasscodeShape },
    run: (ctx, _ids, input) => sendPasscode(ctx, 'sms', input),
  }),
  ...defineMutation({
    name: 'authenticatePasscode',
    summary: 'Authenticates a passcode; starts a session on request.',
    scope: 'passcodes:write',
    input: AuthenticatePasscode,
    errors: [InvalidCredential, RateLimited],
    output: { session: SESSION_IF_REQUESTED, sessionToken, user: USER },
    rest: {
      method: 'POST',
      path: '/passcodes/authenticate',
      response: AuthenticatedSessionShape,
      toBody: (ctx, { session, user, ...token }) => ({
        session: session && toSessionBody(session),
        ...token,
        user: toUserBody(ctx, user),
      }),
    },
    run: (ctx, _ids, input) => authenticatePasscode(ctx, input),
  }),
]
