import type { Budget } from '../call-budget.ts'
import type { Ctx } from '../ctx.ts'
import { type AppError, Forbidden, Unauthenticated } from '../errors.ts'
import type { Binding } from '../oidc/client-auth/dpop-binding.ts'
import type { Loaders } from './loaders.ts'

/** What an operation comes to, and how much is permitted. */
export type Cost = { requested: number; maximum: number }

/** How an operation was sent and is answered, besides what it asks for. */
export type Call = {
  /** What the caller may still call after it. */
  budget: Budget
  /** The header Idempotency-Key; null without it, and over WebSockets. */
  idempotencyKey: string | null
  /** Known once the operation was looked at. */
  cost: Cost | null
  /** Whether a field of the mutation did what it is there for, and whether one failed that may not fail again. */
  hasCreated: boolean
  mayFareBetter: boolean
  /** The errors of the result are as the caller gets them. */
  isMasked: boolean
  /** The answer was given before. */
  isReplayed: boolean
  /** For the header DPoP-Nonce: what the caller's next proof should have; null when the last one will do. */
  nextNonce: string | null
}

/** What every resolver gets. One operation has one context; a subscription keeps it for all its events. */
export type GraphQLContext = {
  ctx: Ctx
  call: Call
  /** The access token of the caller; null when none was sent. */
  token: { jti: string; expiresAt: Date } | null
  /** The key that the token is bound to, which the caller proved (RFC 9449). */
  binding: Binding
  /** Why nothing is executed: the token that was sent is no good, or the caller called too often. */
  fault: AppError | null
  /** Rows by id. Renewed for each event of a subscription, so that payloads show what is true now. */
  loaders: Loaders
  /** Ends the operation's stream, if it has one. */
  stream: AbortController
  /** Where the stream stands: the position of the event being executed. */
  position: string | null
  /** What an HTTP client sent as Last-Event-ID: stands in for an omitted `after`. */
  lastEventId: string | null
}

/** The id of the person who calls about the tenant they belong to, else null. */
export function ownUserId({ ctx }: GraphQLContext): string | null {
  const { actor } = ctx
  return actor.kind === 'user' && actor.tenant === ctx.tenant ? actor.userId : null
}

/** Whether `id` names the caller: the person, or the client that calls for itself. */
export function isOwn(context: GraphQLContext, id: string | null | undefined): boolean {
  const { actor, tenant } = context.ctx
  if (!id || actor.kind === 'anonymous' || actor.kind === 'platform' || actor.tenant !== tenant) return false
  return (actor.kind === 'user' && id === actor.userId) || id === actor.clientId
}

/** How a missing scope is refused: with what is missing, and as UNAUTHENTICATED when nobody signed in at all. */
export function refusalOf({ ctx }: GraphQLContext, missing: readonly string[]): AppError {
  if (ctx.actor.kind === 'anonymous') return new Unauthenticated()
  if (missing.length === 0) return new Forbidden('This is not permitted.')
  return new Forbidden(`Requires scope ${missing.join(' or ')}.`)
}
