import { DoneShape, defineRestRoute, type RestRoute, toDoneBody } from '../rest/route.ts'
import { SignInLimitsShape } from './sign-in-limits.fields.ts'
import { listSignInLimits, resetSignInLimits } from './sign-in-limits.ts'

export const signInLimitRoutes: readonly RestRoute[] = [
  defineRestRoute({
    method: 'GET',
    path: '/users/:userId/sign-in-limits',
    operationId: 'getSignInLimits',
    summary: "Wrong guesses at codes and sent codes of a user's addresses.",
    scope: 'users:read',
    response: SignInLimitsShape,
    handle: async (ctx, { params }) => ({
      limits: (await listSignInLimits(ctx, params.userId)).map((limit) => ({
        ...limit,
        longCodesUntil: limit.longCodesUntil?.toISOString() ?? null,
        codesAgainAt: limit.codesAgainAt?.toISOString() ?? null,
      })),
    }),
  }),
  defineRestRoute({
    method: 'DELETE',
    path: '/users/:userId/sign-in-limits',
    operationId: 'resetSignInLimits',
    summary: "Resets the limits of codes of a user's addresses.",
    scope: 'users:write',
    response: DoneShape,
    handle: async (ctx, { params }) => {
      await resetSignInLimits(ctx, params.userId)
      return toDoneBody(ctx, 'The limits were reset.')
    },
  }),
]
