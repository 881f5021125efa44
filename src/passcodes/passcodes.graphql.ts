import { InvalidCredential, InvalidInput, NotFound, RateLimited, UserLocked } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { markCreation } from '../graphql/idempotency.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { AuthenticateSessionPayload, RequestMetadataInput } from '../sessions/session-mutations.graphql.ts'
import { UserRef } from '../users/users.graphql.ts'
import { authenticatePasscode } from './authenticate-passcode.ts'
import { type SentPasscode, sendPasscode } from './send-passcode.ts'

const SendPasscodePayload = builder.objectRef<SentPasscode>('SendPasscodePayload').implement({
  ...withPublicAccess('The code was sent.'),
  fields: (t) => ({
    to: t.exposeString('to', { description: 'Where the code was sent.' }),
    userId: t.exposeID('userId', { description: 'Id of the user whose address it is.' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user; null, with an error, for callers without users:read.',
      resolve: ({ userId }, _args, { loaders }) => loaders.user.load(userId),
    }),
    userCreated: t.exposeBoolean('userCreated', { description: 'Whether this operation created the user.' }),
  }),
})

const SendPasscodeInput = builder.inputType('SendPasscodeInput', {
  description: 'Input of sendEmailPasscode and sendSmsPasscode.',
  fields: (t) => ({
    to: t.string({ required: true, description: 'E-mail address, or phone number with its country code.' }),
    createUser: t.boolean({ description: 'Create a user when no user has the address.' }),
    metadata: t.field({ type: RequestMetadataInput, description: "Metadata of the user's request." }),
  }),
})

const SEND_ERRORS = [InvalidInput, NotFound, UserLocked, RateLimited] as const

builder.mutationField('sendEmailPasscode', (t) =>
  t.field({
    ...markCreation(withScope('passcodes:write', 'Sends a one-time passcode by e-mail.')),
    ...toResultOptions(...SEND_ERRORS),
    type: SendPasscodePayload,
    args: { input: t.arg({ type: SendPasscodeInput, required: true, description: 'Where to.' }) },
    resolve: (_root, { input }, { ctx }) => sendPasscode(ctx, 'email', input),
  }),
)

builder.mutationField('sendSmsPasscode', (t) =>
  t.field({
    ...markCreation(withScope('passcodes:write', 'Sends a one-time passcode by text message.')),
    ...toResultOptions(...SEND_ERRORS),
    type: SendPasscodePayload,
    args: { input: t.arg({ type: SendPasscodeInput, required: true, description: 'Where to.' }) },
    resolve: (_root, { input }, { ctx }) => sendPasscode(ctx, 'sms', input),
  }),
)

const AuthenticatePasscodeInput = builder.inputType('AuthenticatePasscodeInput', {
  description: 'Input of authenticatePasscode.',
  fields: (t) => ({
    to: t.string({
      required: true,
      description: 'E-mail address or phone number that the code was sent to.',
    }),
    code: t.string({ required: true, description: 'The code.' }),
    sessionExpirationMinutes: t.int({
      description: 'Starts a session of this number of minutes; 0 to 129600, none when omitted or 0.',
    }),
    metadata: t.field({ type: RequestMetadataInput, description: "Metadata of the user's request." }),
  }),
})

builder.mutationField('authenticatePasscode', (t) =>
  t.field({
    ...withScope('passcodes:write', 'Authenticates a passcode; starts a session on request.'),
    ...toResultOptions(InvalidInput, InvalidCredential, RateLimited),
    type: AuthenticateSessionPayload,
    args: { input: t.arg({ type: AuthenticatePasscodeInput, required: true, description: 'The code.' }) },
    resolve: (_root, { input }, { ctx }) => authenticatePasscode(ctx, input),
  }),
)
