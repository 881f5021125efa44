import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { AuthenticatedSessionShape, toSessionBody } from '../sessions/sessions.fields.ts'
import { toUserBody } from '../users/user-body.ts'
import { authenticatePasscode } from './authenticate-passcode.ts'
import { AuthenticatePasscode, SendPasscode, SentPasscodeShape } from './passcodes.fields.ts'
import { sendPasscode } from './send-passcode.ts'

export const passcodeRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'POST',
    path: '/passcodes/email',
    operationId: 'sendEmailPasscode',
    summary: 'Sends a one-time passcode by e-mail.',
    scope: 'passcodes:write',
    idempotent: true,
    body: SendPasscode.email,
    response: SentPasscodeShape,
    handle: (ctx, { body }) => sendPasscode(ctx, 'email', body),
  }),
  defineRestRoute({
    method: 'POST',
    path: '/passcodes/sms',
    operationId: 'sendSmsPasscode',
    summary: 'Sends a one-time passcode by text message.',
    scope: 'passcodes:write',
    idempotent: true,
    body: SendPasscode.sms,
    response: SentPasscodeShape,
    handle: (ctx, { body }) => sendPasscode(ctx, 'sms', body),
  }),
  defineRestRoute({
    method: 'POST',
    path: '/passcodes/authenticate',
    operationId: 'authenticatePasscode',
    summary: 'Authenticates a passcode; starts a session on request.',
    scope: 'passcodes:write',
    body: AuthenticatePasscode,
    response: AuthenticatedSessionShape,
    handle: async (ctx, { body }) => {
      const { session, sessionToken, user } = await authenticatePasscode(ctx, body)
      return { session: session && toSessionBody(session), sessionToken, user: toUserBody(ctx, user) }
    },
  }),
]
