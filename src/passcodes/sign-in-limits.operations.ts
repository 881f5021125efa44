import { NotFound } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { deprecate } from '../graphql/deprecation.ts'
import { withScope } from '../graphql/field-access.ts'
import { requireNodeId } from '../graphql/node.graphql.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { RESET_LIMITS, SignInLimitShape, SignInLimitsShape } from './sign-in-limits.fields.ts'
import { findSignInLimits, listSignInLimits, resetSignInLimits, type SignInLimit } from './sign-in-limits.ts'

const LIST = {
  summary: "Wrong guesses at codes and sent codes of a user's addresses.",
  scope: 'users:read',
} as const

const SignInLimitRef = defineObjectType<SignInLimit>(
  SignInLimitShape,
  withScope(LIST.scope, 'The limits of codes of an address of a user.'),
)

// The list of one user has no pages, so that its field and its route are declared by hand.
builder.prismaObjectField('User', 'signInLimits', (t) =>
  t.field({
    ...withScope(LIST.scope, LIST.summary),
    type: [SignInLimitRef],
    nullable: true,
    select: { id: true },
    resolve: async ({ id }, _args, { loaders }) =>
      (await loaders.over(findSignInLimits).load(id))?.limits ?? [],
  }),
)

builder.queryField('signInLimits', (t) =>
  t.field({
    ...withScope(LIST.scope, LIST.summary),
    ...deprecate('2026-11-26', 'Use `User.signInLimits`.'),
    type: [SignInLimitRef],
    nullable: true,
    args: { userId: t.arg.id({ required: true, description: 'Id of the user.' }) },
    resolve: (_root, { userId }, { ctx }) => listSignInLimits(ctx, requireNodeId('user', userId, 'userId')),
  }),
)

export const signInLimitOperations: readonly RestRoute[] = [
  defineRestRoute({
    ...LIST,
    method: 'GET',
    path: '/users/:userId/sign-in-limits',
    operationId: 'getSignInLimits',
    response: SignInLimitsShape,
    handle: async (ctx, { params }) => ({ limits: await listSignInLimits(ctx, params.userId) }),
  }),
  ...defineMutation({
    name: 'resetSignInLimits',
    summary: "Resets the limits of codes of a user's addresses.",
    scope: 'users:write',
    targets: ['userId'],
    errors: [NotFound],
    output: RESET_LIMITS,
    rest: {
      method: 'DELETE',
      path: '/users/:userId/sign-in-limits',
      message: 'The limits were reset.',
    },
    run: (ctx, { userId }) => resetSignInLimits(ctx, userId),
  }),
]
