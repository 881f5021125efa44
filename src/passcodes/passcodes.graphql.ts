import { InvalidCredential, InvalidInput, NotFound, RateLimited, UserLocked } from '../errors.ts'
import { builder } from '../graphql/builder.ts'
import { creation } from '../graphql/idempotency.ts'
import { resultOf } from '../graphql/result.ts'
import { open, scoped } from '../graphql/scoped.ts'
import { AuthenticateSessionPayload, RequestMetadataInput } from '../sessions/session-mutations.graphql.ts'
import { UserRef } from '../users/users.graphql.ts'
import { authenticatePasscode } from './passcodes.ts'
import { type SentPasscode, sendPasscode } from './send-passcode.ts'

const SendPasscodePayload = builder.objectRef<SentPasscode>('SendPasscodePayload').implement({
  ...open('The code is on its way.'),
  fields: (t) => ({
    to: t.exposeString('to', { description: 'Where the code was sent.' }),
    userId: t.exposeID('userId', { description: 'Id of the user whose address it is.' }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user; null, with an error, for callers without users:read.',
      resolve: ({ userId }, _args, { loaders }) => loaders.user.load(userId),
    }),
    userCreated: t.exposeBoolean('userCreated', { description: 'Whether the user was created by this.' }),
  }),
})

const SendPasscodeInput = builder.inputType('SendPasscodeInput', {
  description: 'Input of sendEmailPasscode and sendSmsPasscode.',
  fields: (t) => ({
    to: t.string({ required: true, description: 'E-mail address, or phone number with its country code.' }),
    createUser: t.boolean({ description: 'Create a user when nobody has the address.' }),
    metadata: t.field({ type: RequestMetadataInput, description: "The person's request." }),
  }),
})

const SEND_ERRORS = [InvalidInput, NotFound, UserLocked, RateLimited] as const

builder.mutationField('sendEmailPasscode', (t) =>
  t.field({
    ...creation(scoped('passcodes:write', 'Sends a one-time passcode by e-mail.')),
    ...resultOf(...SEND_ERRORS),
    type: SendPasscodePayload,
    args: { input: t.arg({ type: SendPasscodeInput, required: true, description: 'Where to.' }) },
    resolve: (_root, { input }, { ctx }) => sendPasscode(ctx, 'email', input),
  }),
)

builder.mutationField('sendSmsPasscode', (t) =>
  t.field({
    ...creation(scoped('passcodes:write', 'Sends a one-time passcode by text message.')),
    ...resultOf(...SEND_ERRORS),
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
      description: 'Starts a session of so many minutes; 0 to 129600, none when omitted or 0.',
    }),
    metadata: t.field({ type: RequestMetadataInput, description: "The person's request." }),
  }),
})

builder.mutationField('authenticatePasscode', (t) =>
  t.field({
    ...scoped('passcodes:write', 'Authenticates a passcode; starts a session when asked to.'),
    ...resultOf(InvalidInput, InvalidCredential, RateLimited),
    type: AuthenticateSessionPayload,
    args: { input: t.arg({ type: AuthenticatePasscodeInput, required: true, description: 'The code.' }) },
    resolve: (_root, { input }, { ctx }) => authenticatePasscode(ctx, input),
  }),
)
