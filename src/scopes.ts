import { ACCOUNT_SCOPE, type Ctx, type Scope } from './ctx.ts'
import { Forbidden, Unauthenticated } from './errors.ts'

/** Throws Forbidden, naming the scope, when the caller lacks it; Unauthenticated when there is no caller. */
export function requireScope(ctx: Ctx, scope: Scope): void {
  if (ctx.actor.kind === 'anonymous') throw new Unauthenticated()
  if (ctx.actor.kind !== 'platform' && !ctx.scopes.has(scope))
    throw new Forbidden(`This needs the scope ${scope}.`, scope)
}

/** Throws Forbidden when `wanted` holds scopes that the caller lacks: nobody gives away what they do not have. */
export function requireNoEscalation(ctx: Ctx, wanted: Iterable<Scope>): void {
  if (ctx.actor.kind === 'platform') return
  const lacking = [...wanted].filter((scope) => !ctx.scopes.has(scope))
  if (lacking.length > 0)
    throw new Forbidden(`This needs scopes that the caller lacks: ${lacking.join(', ')}.`)
}

/**
 * Whose account the caller may change: their own, with a token that carries the scope `account`. Throws Unauthenticated
 * without a caller, Forbidden for a client that calls for itself, for an operator elsewhere, and without the scope.
 */
export function requireOwnAccount({ actor, tenant }: Ctx): { userId: string; sessionId: string | null } {
  if (actor.kind === 'anonymous') throw new Unauthenticated()
  if (actor.kind !== 'user' || actor.tenant !== tenant)
    throw new Forbidden("This is a person's to do: the access token is a client's own.")
  if (!actor.mayChangeOwn) throw new Forbidden(`This needs the scope ${ACCOUNT_SCOPE}.`, ACCOUNT_SCOPE)
  return { userId: actor.userId, sessionId: actor.sessionId }
}
