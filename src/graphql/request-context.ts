import { initContextCache } from '@pothos/core'
import { authenticateToken } from '../access/authenticate.ts'
import { type KeyProof, UNBOUND } from '../access/dpop/dpop-binding.ts'
import { createCtx } from '../context/context.ts'
import { chargeCall, createBudgetError } from '../coordination/call-budget.ts'
import { toAppError } from '../core/to-app-error.ts'
import type { HeaderReader, RequestMeta } from '../http/request.http.ts'
import type { GraphQLContext } from './context.ts'
import { createStream } from './live/stream.ts'
import { Loaders } from './loaders.ts'

/** The caller of an operation. `rejection` is the error of an invalid token; the caller is anonymous then. */
export type IdentifiedCaller = Pick<GraphQLContext, 'ctx' | 'token' | 'binding' | 'rejection'>

/** Authenticates the caller by the Authorization header. Never throws: errors are returned as `rejection`. */
export async function identifyCaller(
  tenant: string,
  meta: RequestMeta,
  authorization: string | null,
  keyProof: KeyProof,
): Promise<IdentifiedCaller> {
  const anonymous = createCtx({
    ...meta,
    tenant,
    actor: { kind: 'anonymous' },
    scopes: new Set(),
    workload: 'change',
  })
  if (authorization === null) return { ctx: anonymous, token: null, binding: UNBOUND, rejection: null }
  try {
    return {
      ...(await authenticateToken({ tenant, workload: 'change', ...meta }, authorization, keyProof)),
      rejection: null,
    }
  } catch (error) {
    return { ctx: anonymous, token: null, binding: UNBOUND, rejection: toAppError(error) }
  }
}

/**
 * Creates the context of one operation, and charges the operation to the caller's budget. `headers` are those
 * of HTTP requests.
 */
export function createContext(caller: IdentifiedCaller, headers?: HeaderReader): GraphQLContext {
  const budget = chargeCall(caller.ctx)
  return {
    ...caller,
    rejection: budget.isExhausted ? createBudgetError(budget) : caller.rejection,
    call: {
      budget,
      idempotencyKey: headers?.get('idempotency-key') ?? null,
      cost: null,
      hasSucceeded: false,
      isRetryable: false,
      isMasked: false,
      isReplayed: false,
      nextNonce: caller.binding.nextNonce,
    },
    loaders: new Loaders(caller.ctx.db),
    eventPosition: null,
    stream: createStream(headers?.get('last-event-id') ?? null),
    ...initContextCache(),
  }
}
