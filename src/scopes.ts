import type { Ctx, Scope } from './ctx.ts'
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
