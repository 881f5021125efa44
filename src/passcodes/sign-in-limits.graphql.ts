import { InvalidInput, NotFound } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withPublicAccess, withScope } from '../graphql/field-access.ts'
import { requireNodeId } from '../graphql/node.graphql.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { SIGN_IN_LIMIT_DESCRIPTIONS as DESCRIPTIONS } from './sign-in-limits.fields.ts'
import { listSignInLimits, resetSignInLimits, type SignInLimit } from './sign-in-limits.ts'

const SignInLimitRef = builder.objectRef<SignInLimit>('SignInLimit').implement({
  ...withScope('users:read', 'The limits of codes of an address of a user.'),
  fields: (t) => ({
    channel: t.exposeString('channel', { description: DESCRIPTIONS.channel }),
    wrongGuesses: t.exposeInt('wrongGuesses', { description: DESCRIPTIONS.wrongGuesses }),
    longCodesUntil: t.expose('longCodesUntil', {
      type: 'DateTime',
      nullable: true,
      description: DESCRIPTIONS.longCodesUntil,
    }),
    sentCodes: t.exposeInt('sentCodes', { description: DESCRIPTIONS.sentCodes }),
    codesAgainAt: t.expose('codesAgainAt', {
      type: 'DateTime',
      nullable: true,
      description: DESCRIPTIONS.codesAgainAt,
    }),
  }),
})

builder.queryField('signInLimits', (t) =>
  t.field({
    ...withScope('users:read', "Wrong guesses at codes and sent codes of a user's addresses."),
    type: [SignInLimitRef],
    nullable: true,
    args: { userId: t.arg.id({ required: true, description: 'Id of the user.' }) },
    resolve: (_root, { userId }, { ctx }) => listSignInLimits(ctx, requireNodeId('user', userId, 'userId')),
  }),
)

const ResetSignInLimitsPayload = builder.objectRef<{ userId: string }>('ResetSignInLimitsPayload').implement({
  ...withPublicAccess('The limits were reset.'),
  fields: (t) => ({ userId: t.exposeID('userId', { description: 'Id of the user.' }) }),
})

const ResetSignInLimitsInput = builder.inputType('ResetSignInLimitsInput', {
  description: 'Input of resetSignInLimits.',
  fields: (t) => ({ userId: t.id({ required: true, description: 'Id of the user.' }) }),
})

builder.mutationField('resetSignInLimits', (t) =>
  t.field({
    ...withScope('users:write', "Resets the limits of codes of a user's addresses."),
    ...toResultOptions(InvalidInput, NotFound),
    type: ResetSignInLimitsPayload,
    args: { input: t.arg({ type: ResetSignInLimitsInput, required: true, description: 'The user.' }) },
    resolve: (_root, { input: { userId } }, { ctx }) =>
      resetSignInLimits(ctx, requireNodeId('user', userId, 'userId')),
  }),
)
