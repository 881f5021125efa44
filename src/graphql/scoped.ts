import type { AuthFailure } from '@pothos/plugin-scope-auth'
import { ACCOUNT_SCOPE, SCOPES, type Scope } from '../ctx.ts'
import { requireOwnAccount } from '../scopes.ts'
import { type GraphQLContext, isOwn, ownUserId } from './context.ts'

/** Where the contract test finds the rule of a field or type. */
export type RuleExtensions = {
  rule: { scopes?: readonly Scope[]; own?: true; caller?: true; account?: true; open?: true }
}

const sentence = (description: string): string =>
  /[.!?]$/.test(description) ? description : `${description}.`

const scopeList = (scopes: readonly Scope[]): string => `Requires scope ${scopes.join(' or ')}`

/** A field or type that needs a scope, and says so: spread it into the options. */
export function scoped(scope: Scope, description: string) {
  if (!Object.hasOwn(SCOPES, scope)) throw new Error(`no such scope: ${scope}`)
  return {
    description: `${sentence(description)} ${scopeList([scope])}.`,
    authScopes: { scope },
    extensions: { rule: { scopes: [scope] } } satisfies RuleExtensions,
  }
}

/** Null when permitted, else the map that the scope plugin refuses with. */
const anyOf = (context: GraphQLContext, scopes: readonly Scope[]) =>
  scopes.some((scope) => context.ctx.scopes.has(scope)) ? true : { scope: scopes[0] as Scope }

/**
 * The same, where whoever it is about needs no scope. `ownerOf` gives the id of a user, or of a client that calls for
 * itself. Of several scopes, one will do.
 */
export function scopedOrOwn<Parent extends object>(
  scope: Scope | readonly Scope[],
  description: string,
  ownerOf: (parent: Parent) => string | null | undefined,
) {
  const scopes = typeof scope === 'string' ? [scope] : scope
  return {
    description: `${sentence(description)} ${scopeList(scopes)}, except for one's own.`,
    // One function serves types, called with (parent, context), and fields, called with (parent, args, context).
    authScopes: (parent: Parent, second: object, third?: object) => {
      const context = (third ?? second) as GraphQLContext
      return isOwn(context, ownerOf(parent)) || anyOf(context, scopes)
    },
    extensions: { rule: { scopes, own: true } } satisfies RuleExtensions,
  }
}

/** For root fields with an argument `userId`, which is the caller's own when it is omitted. */
export function scopedOrOwnUser(scope: Scope, description: string) {
  return {
    description: `${sentence(description)} ${scopeList([scope])}, except for one's own.`,
    authScopes: (_root: object, args: { userId?: string | null }, context: GraphQLContext) => {
      const own = ownUserId(context)
      return own !== null && (args.userId ?? own) === own ? true : { scope }
    },
    extensions: { rule: { scopes: [scope], own: true } } satisfies RuleExtensions,
  }
}

/** A field for every caller with an access token, about themselves. */
export function caller(description: string) {
  return {
    description: `${sentence(description)} Requires an access token.`,
    authScopes: { caller: true },
    extensions: { rule: { caller: true } } satisfies RuleExtensions,
  }
}

/** A mutation of what is the caller's own: for a person whose token carries scope `account`. */
export function ownAccount(description: string) {
  return {
    description: `${sentence(description)} Requires a person's access token with scope ${ACCOUNT_SCOPE}.`,
    authScopes: (_root: object, _args: object, { ctx }: GraphQLContext) => {
      requireOwnAccount(ctx) // says what is missing
      return true
    },
    extensions: { rule: { account: true } } satisfies RuleExtensions,
  }
}

/**
 * A field or type without a rule of its own: `why` it needs none goes to the contract test's list, which has to name
 * it. Use it where the members carry the rule, or where the service decides.
 */
export function open(description: string) {
  return { description: sentence(description), extensions: { rule: { open: true } } satisfies RuleExtensions }
}

/** The scopes out of a refusal of the scope plugin. */
export function missingScopes(failure: AuthFailure): string[] {
  if ('failures' in failure) return failure.failures.flatMap(missingScopes)
  return 'parameter' in failure && failure.scope === 'scope' ? [String(failure.parameter)] : []
}
