import type { Ctx } from '../context/context.ts'
import { takeChange } from '../coordination/person-budgets.ts'
import { Forbidden, Unauthenticated } from '../core/errors.ts'
import { ACCOUNT_SCOPE, getRoleScopes, type Scope, SYSTEM_SCOPES, SYSTEM_TENANT } from '../core/scopes.ts'
import type { Db } from '../database/handle.ts'
import type { FilterMember } from '../schema/lists.ts'
import { shareKnownRoles } from './held-roles.sql.ts'
import type { TokenBasis } from './token-status.sql.ts'

/**
 * Requires a scope. Throws Unauthenticated for an anonymous caller, Forbidden with the scope when the caller
 * lacks it.
 */
export function requireScope(ctx: Ctx, scope: Scope): void {
  if (ctx.actor.kind === 'anonymous') throw new Unauthenticated()
  if (ctx.actor.kind === 'platform' || ctx.scopes.has(scope)) return
  if (SYSTEM_SCOPES.includes(scope) && ctx.tenant !== SYSTEM_TENANT)
    throw new Forbidden(`This exists in tenant ${SYSTEM_TENANT} only.`, scope)
  throw new Forbidden(`This needs the scope ${scope}.`, scope)
}

/** Requires one of the scopes. Throws the errors of `requireScope` for the first one. */
export function requireAnyScope(ctx: Ctx, scopes: readonly [Scope, ...Scope[]]): void {
  requireScope(ctx, scopes.find((scope) => ctx.scopes.has(scope)) ?? scopes[0])
}

/** Requires the scopes of the members of a filter that are given. Throws the errors of `requireScope`. */
export function requireFilterScopes(
  ctx: Ctx,
  { members, names }: { members: Record<string, FilterMember>; names: readonly string[] },
  given: object,
): void {
  for (const name of names) {
    const scope = members[name]?.scope
    if (scope && name in given) requireScope(ctx, scope)
  }
}

/** Requires that the caller has all scopes that it assigns to others. Throws Forbidden. */
export function requireNoEscalation(ctx: Ctx, wanted: Iterable<Scope>): void {
  if (ctx.actor.kind === 'platform') return
  const lacking = [...wanted].filter((scope) => !ctx.scopes.has(scope))
  if (lacking.length > 0)
    throw new Forbidden(`This needs scopes that the caller lacks: ${lacking.join(', ')}.`)
}

/**
 * Requires all scopes of the tenant: who receives the messages of people, or decides about their sign-ins, can act as any of
 * them. Throws Forbidden.
 */
export const requireEveryScope = (ctx: Ctx): void => requireNoEscalation(ctx, getRoleScopes(['admin']))

/**
 * Requires that users of the tenant can have the roles, and that the caller has all their scopes. The roles do not change
 * before the transaction ends. Throws InvalidInput, NotFound and Forbidden.
 */
export async function requireGrantableRoles(db: Db, ctx: Ctx, roles: readonly string[]): Promise<void> {
  requireNoEscalation(ctx, getRoleScopes(await shareKnownRoles(db, roles)))
}

/**
 * Requires a user's access token with the scope `account`, and returns its user and session. Throws
 * Unauthenticated for an anonymous caller; Forbidden for the token of a client or of another tenant, and
 * without the scope.
 */
export function requireOwnAccount({ actor, tenant }: Ctx): TokenBasis {
  if (actor.kind === 'anonymous') throw new Unauthenticated()
  if (actor.kind !== 'user' || actor.tenant !== tenant)
    throw new Forbidden("This needs the access token of a user; the token is a client's own.")
  if (!actor.oidcScopes?.has(ACCOUNT_SCOPE))
    throw new Forbidden(`This needs the scope ${ACCOUNT_SCOPE}.`, ACCOUNT_SCOPE)
  return { userId: actor.userId, sessionId: actor.sessionId, grantId: actor.grantId }
}

/**
 * Requires the user's access token as `requireOwnAccount` does, and counts a change. Throws Unauthenticated, Forbidden
 * and RateLimited.
 */
export function requireOwnChange(ctx: Ctx): TokenBasis {
  const basis = requireOwnAccount(ctx)
  takeChange(ctx.tenant, basis)
  return basis
}
