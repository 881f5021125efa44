import type { AuthenticatedToken } from '../access/authenticate.ts'
import type { TokenBinding } from '../access/dpop/dpop-binding.ts'
import type { Ctx } from '../context/context.ts'
import type { CallBudget } from '../coordination/call-budget.ts'
import { type AppError, Forbidden, Unauthenticated } from '../core/errors.ts'
import { ACCOUNT_SCOPE, type Scope, SYSTEM_SCOPES, SYSTEM_TENANT } from '../core/scopes.ts'
import type { Stream } from './live/stream.ts'
import type { Loaders } from './loaders.ts'

/** What a user's token must have for the user's own data: a scope of userinfo, or `account`. */
export type OwnScope = 'openid' | 'profile' | 'email' | 'phone' | 'address' | 'account'

/** The cost of an operation, and the maximum. */
export type OperationCost = { requested: number; maximum: number }

/** State of one operation apart from its document. */
export type OperationCall = {
  /** The call budget after this operation. */
  budget: CallBudget
  /** The Idempotency-Key header; null without it, and over WebSockets. */
  idempotencyKey: string | null
  /** Null until the operation has been checked. */
  cost: OperationCost | null
  /** A field of the mutation has succeeded. */
  hasSucceeded: boolean
  /** A field of the mutation has failed with a transient error. */
  isRetryable: boolean
  /** The errors of the result are already masked. */
  isMasked: boolean
  /** The response was stored under the Idempotency-Key. */
  isReplayed: boolean
  /** The value of the DPoP-Nonce response header; null when the nonce of the proof stays valid. */
  nextNonce: string | null
}

/** The context of the resolvers of one operation. A subscription keeps it for all its events. */
export type GraphQLContext = {
  ctx: Ctx
  call: OperationCall
  /** The verified access token or API key; null for an anonymous caller. */
  token: AuthenticatedToken['token'] | null
  /** The key that the token is bound to (RFC 9449). */
  binding: TokenBinding
  /**
   * The error that the operation is answered with instead of being executed: an invalid token or an exhausted
   * budget.
   */
  rejection: AppError | null
  /** Replaced for each event of a subscription, so that payloads have current rows. */
  loaders: Loaders
  /**
   * The position of the event log before a query that asks for it: before its lists are read, so that no event between
   * them and a subscription is missed.
   */
  eventPosition: string | null
  /** The stream of a subscription; other operations do not use it. */
  readonly stream: Stream
}

/** The id of a user who calls the user's own tenant; null for other callers. */
export function findOwnUserId({ ctx }: GraphQLContext): string | null {
  const { actor } = ctx
  return actor.kind === 'user' && actor.tenant === ctx.tenant ? actor.userId : null
}

/** True for a client that calls its own tenant on its own behalf, with its own id. */
export const isCallingClient = ({ ctx: { actor, tenant } }: GraphQLContext, id: string): boolean =>
  actor.kind === 'client' && actor.tenant === tenant && actor.clientId === id

/** True when the access token of a user has the scope `scope`, or `account`, which includes it. */
export const hasOwnScope = ({ ctx: { actor } }: GraphQLContext, scope: OwnScope): boolean =>
  actor.kind === 'user' && [scope, ACCOUNT_SCOPE].some((name) => actor.oidcScopes?.has(name))

/** True when `id` is that of the calling user and the token permits to read what `scope` stands for. */
export const isOwner = (context: GraphQLContext, id: string | null | undefined, scope: OwnScope): boolean =>
  Boolean(id) && id === findOwnUserId(context) && hasOwnScope(context, scope)

/** The error for missing scopes: Unauthenticated for an anonymous caller, else Forbidden with the scopes. */
export function createScopeError({ ctx }: GraphQLContext, missing: readonly string[]): AppError {
  if (ctx.actor.kind === 'anonymous') return new Unauthenticated()
  if (missing.length === 0) return new Forbidden('This is not permitted.')
  if (ctx.tenant !== SYSTEM_TENANT && missing.some((scope) => SYSTEM_SCOPES.includes(scope as Scope)))
    return new Forbidden(`This exists in tenant ${SYSTEM_TENANT} only.`)
  return new Forbidden(`Requires scope ${missing.join(' or ')}.`)
}
