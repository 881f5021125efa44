import type { AuthFailure } from '@pothos/plugin-scope-auth'
import { SCOPES, type Scope } from '../ctx.ts'
import { type GraphQLContext, ownUserId } from './context.ts'

/** Where the contract test finds the rule of a field or type. */
export type RuleExtensions = { rule: { scope?: Scope; own?: true; signedIn?: true; open?: true } }

const sentence = (description: string): string =>
  /[.!?]$/.test(description) ? description : `${description}.`

/** A field or type that needs a scope, and says so: spread it into the options. */
export function scoped(scope: Scope, description: string) {
  if (!Object.hasOwn(SCOPES, scope)) throw new Error(`no such scope: ${scope}`)
  return {
    description: `${sentence(description)} Requires scope ${scope}.`,
    authScopes: { scope },
    extensions: { rule: { scope } } satisfies RuleExtensions,
  }
}

/** The same, where the person whose data it is needs no scope. `ownerOf` gives the user's id. */
export function scopedOrOwn<Parent extends object>(
  scope: Scope,
  description: string,
  ownerOf: (parent: Parent) => string | null | undefined,
) {
  return {
    description: `${sentence(description)} Requires scope ${scope}, except for one's own.`,
    // One function serves types, called with (parent, context), and fields, called with (parent, args, context).
    authScopes: (parent: Parent, second: object, third?: object) => {
      const context = (third ?? second) as GraphQLContext
      const own = ownUserId(context)
      return own !== null && ownerOf(parent) === own ? true : { scope }
    },
    extensions: { rule: { scope, own: true } } satisfies RuleExtensions,
  }
}

/** A field that any signed-in person of the tenant may use, on their own data. */
export function signedIn(description: string) {
  return {
    description: `${sentence(description)} Requires a signed-in person's access token.`,
    authScopes: { signedIn: true },
    extensions: { rule: { signedIn: true } } satisfies RuleExtensions,
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
