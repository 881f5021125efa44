import type { AuthFailure } from '@pothos/plugin-scope-auth'
import { requireOwnAccount } from '../access/require-scope.ts'
import { getAdministeredId, isAdministered } from '../context/administered-organization.ts'
import type { Ctx } from '../context/context.ts'
import { ACCOUNT_SCOPE, ORGANIZATION_SCOPE, SCOPES, type Scope } from '../core/scopes.ts'
import { findOwnUserId, type GraphQLContext, isCallingClient, isOwner, type OwnScope } from './context.ts'

/** The access rule of a field or type, for the contract tests. */
export type AccessRuleExtensions = {
  rule: {
    scopes?: readonly Scope[]
    own?: true
    caller?: true
    account?: true
    open?: true
    organization?: true
  }
}

const toSentence = (description: string): string =>
  /[.!?]$/.test(description) ? description : `${description}.`

const formatScopeRule = (scopes: readonly Scope[]): string => `Requires scope ${scopes.join(' or ')}`

/**
 * Options of a field or type that requires a scope; the description names it. Throws for an unknown scope.
 */
export function withScope(scope: Scope, description: string) {
  if (!Object.hasOwn(SCOPES, scope)) throw new Error(`unknown scope: ${scope}`)
  return {
    description: `${toSentence(description)} ${formatScopeRule([scope])}.`,
    authScopes: { scope },
    extensions: { rule: { scopes: [scope] } } satisfies AccessRuleExtensions,
  }
}

/**
 * True when the caller has one of the scopes; else a rule of the scope plugin that fails for the first one.
 */
const ruleOfAnyScope = (context: GraphQLContext, scopes: readonly Scope[]) =>
  scopes.some((scope) => context.ctx.scopes.has(scope)) ? true : { scope: scopes[0] as Scope }

/** Types call a rule with (parent, context), fields with (parent, args, context). */
const getRuleContext = (second: object, third: object | undefined): GraphQLContext =>
  (third ?? second) as GraphQLContext

/** Options of a field or type that requires one of the scopes. */
export const withAnyScope = (scopes: readonly Scope[], description: string) => ({
  description: `${toSentence(description)} ${formatScopeRule(scopes)}.`,
  authScopes: (_parent: object, second: object, third?: object) =>
    ruleOfAnyScope(getRuleContext(second, third), scopes),
  extensions: { rule: { scopes } } satisfies AccessRuleExtensions,
})

/**
 * Options of a field or type that requires one of the scopes; for the calling user's own, `ownScope` or
 * `account` is enough. `getOwnerId` returns the id of the user that owns the parent.
 */
export function withScopeOrOwner<Parent extends object>(
  scope: Scope | readonly Scope[],
  description: string,
  getOwnerId: (parent: Parent) => string | null | undefined,
  ownScope: OwnScope = ACCOUNT_SCOPE,
) {
  const scopes = typeof scope === 'string' ? [scope] : scope
  return {
    description: `${toSentence(description)} ${formatScopeRule(scopes)}, or ${ownScope} for the caller's own.`,
    authScopes: (parent: Parent, second: object, third?: object) => {
      const context = getRuleContext(second, third)
      return isOwner(context, getOwnerId(parent), ownScope) || ruleOfAnyScope(context, scopes)
    },
    extensions: { rule: { scopes, own: true } } satisfies AccessRuleExtensions,
  }
}

/**
 * Options of a root field with an argument `userId`, the calling user by default. Other users require the
 * scope, the calling user `account`.
 */
export function withScopeOrOwnUser(scope: Scope, description: string) {
  return {
    description: `${toSentence(description)} ${formatScopeRule([scope])}, or ${ACCOUNT_SCOPE} for the caller's own.`,
    authScopes: (_root: object, args: { userId?: string | null }, context: GraphQLContext) =>
      isOwner(context, args.userId ?? findOwnUserId(context), ACCOUNT_SCOPE) ? true : { scope },
    extensions: { rule: { scopes: [scope], own: true } } satisfies AccessRuleExtensions,
  }
}

/** Options of a type that requires a scope, except for the client that calls on its own behalf. */
export function withScopeOrOwnClient(scope: Scope, description: string) {
  return {
    description: `${toSentence(description)} ${formatScopeRule([scope])}, except for a client that reads itself.`,
    authScopes: (client: { id: string }, context: GraphQLContext) =>
      isCallingClient(context, client.id) ? true : { scope },
    extensions: { rule: { scopes: [scope], own: true } } satisfies AccessRuleExtensions,
  }
}

type AccessOptions = {
  description: string
  authScopes: { scope: Scope } | ((...args: never[]) => { scope: Scope } | boolean)
  extensions: AccessRuleExtensions
}

const checkOtherwise = ({ authScopes }: AccessOptions, ...args: unknown[]): { scope: Scope } | boolean =>
  typeof authScopes === 'function' ? authScopes(...(args as never[])) : authScopes

const addOrganizationRule = ({ description, extensions }: AccessOptions) => ({
  description: `${description.slice(0, -1)}, or ${ORGANIZATION_SCOPE} for an administrator of the organization.`,
  extensions: { rule: { ...extensions.rule, organization: true } } satisfies AccessRuleExtensions,
})

/** Adds to the rule of a type or field that administrators of the organization of the parent may read it. */
export const orAdministrator = <Parent extends object>(
  options: AccessOptions,
  getOrganizationId: (parent: Parent, ctx: Ctx) => string | null | undefined,
) => ({
  ...addOrganizationRule(options),
  authScopes: (parent: Parent, second: object, third?: object): { scope: Scope } | boolean => {
    const { ctx } = getRuleContext(second, third)
    if (isAdministered(ctx, getOrganizationId(parent, ctx))) return true
    return checkOtherwise(options, parent, second, third)
  },
})

/** Adds to the rule of a root field that administrators of the organization in its argument `organizationId` may call it. */
export const orAdministratorOfArgument = (options: AccessOptions) => ({
  ...addOrganizationRule(options),
  authScopes: (root: object, args: { organizationId?: string | null }, context: GraphQLContext) =>
    isAdministered(context.ctx, args.organizationId) || checkOtherwise(options, root, args, context),
})

/**
 * Options of a root field that requires a scope. An administrator of an organization without it needs `requireCall`, which
 * throws Forbidden.
 */
export const withScopeOrAdministrator = (
  scope: Scope,
  description: string,
  requireCall: (ctx: Ctx, args: never) => Promise<void>,
) => ({
  ...addOrganizationRule(withScope(scope, description)),
  authScopes: (_root: object, args: object, { ctx }: GraphQLContext) =>
    ctx.scopes.has(scope) || getAdministeredId(ctx) === null
      ? { scope }
      : requireCall(ctx, args as never).then(() => true),
})

/** Options of a field about the caller, for every authenticated caller. */
export function withToken(description: string) {
  return {
    description: `${toSentence(description)} Requires an access token.`,
    authScopes: { caller: true },
    extensions: { rule: { caller: true } } satisfies AccessRuleExtensions,
  }
}

/** Options of a mutation of the calling user's own account, which requires the scope `account`. */
export function withAccountScope(description: string) {
  return {
    description: `${toSentence(description)} Requires a user's access token with scope ${ACCOUNT_SCOPE}.`,
    authScopes: (_root: object, _args: object, { ctx }: GraphQLContext) => {
      requireOwnAccount(ctx) // throws the specific error
      return true
    },
    extensions: { rule: { account: true } } satisfies AccessRuleExtensions,
  }
}

/**
 * Options of a field or type without a rule, because its members have rules or the service checks access. The
 * contract test lists these fields and types with a reason.
 */
export function withPublicAccess(description: string) {
  return {
    description: toSentence(description),
    extensions: { rule: { open: true } } satisfies AccessRuleExtensions,
  }
}

/** Returns the missing scopes of a failed authorization. */
export function listMissingScopes(failure: AuthFailure): string[] {
  if ('failures' in failure) return failure.failures.flatMap(listMissingScopes)
  return 'parameter' in failure && failure.scope === 'scope' ? [String(failure.parameter)] : []
}
