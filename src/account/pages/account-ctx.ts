import { type Ctx, toUserCtx } from '../../context/context.ts'
import { ACCOUNT_SCOPE, getRoleScopes } from '../../core/scopes.ts'

/**
 * The context of an action on an account page: the signed-in user, with the scope `account` and the scopes of the
 * user's roles, because no application stands between the user and this server. It permits no more than a token
 * with every scope: the services still require a recent sign-in.
 */
export function toAccountPageCtx(
  ctx: Ctx,
  user: { id: string; roles: readonly string[] },
  sessionId: string,
): Ctx {
  const { actor, ...rest } = toUserCtx(ctx, { userId: user.id, sessionId })
  if (actor.kind !== 'user') throw new Error('the context of a user has no user')
  return {
    ...rest,
    actor: { ...actor, oidcScopes: new Set([ACCOUNT_SCOPE]) },
    scopes: getRoleScopes(user.roles),
  }
}
