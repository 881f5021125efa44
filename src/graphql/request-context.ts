import { initContextCache } from '@pothos/core'
import { budgetSpent, chargeCall } from '../call-budget.ts'
import type { Ctx } from '../ctx.ts'
import { type AppError, describeError } from '../errors.ts'
import type { HeaderReader, RequestMeta } from '../http.ts'
import type { Binding, KeyProof } from '../oidc/client-auth/dpop-binding.ts'
import { issuerOf } from '../oidc/keys/keys.ts'
import { authenticateToken } from '../oidc/token/access-tokens.ts'
import type { GraphQLContext } from './context.ts'
import { createLoaders } from './loaders.ts'

/** Where the surface of a tenant is, as proofs of keys name it (RFC 9449, section 4.2). */
export const urlOf = (tenant: string): string => `${issuerOf(tenant)}/graphql`

/** Who calls: with a good token, with none, or with a bad one (`fault`). */
export type Caller = Pick<GraphQLContext, 'ctx' | 'token' | 'binding' | 'fault'>

const UNBOUND: Binding = { jkt: null, nextNonce: null }

/** Authenticates an Authorization header, where there is one. Throws nothing: what is wrong is part of the answer. */
export async function identifyCaller(
  tenant: string,
  meta: RequestMeta,
  authorization: string | null,
  by: KeyProof,
): Promise<Caller> {
  const anonymous: Ctx = { ...meta, tenant, actor: { kind: 'anonymous' }, scopes: new Set() }
  if (authorization === null) return { ctx: anonymous, token: null, binding: UNBOUND, fault: null }
  try {
    return { ...(await authenticateToken({ tenant, ...meta }, authorization, by)), fault: null }
  } catch (error) {
    const fault: AppError = describeError(error)
    return { ctx: anonymous, token: null, binding: UNBOUND, fault }
  }
}

/** The context of one operation, which is charged to its caller. `headers` are those of an HTTP request. */
export function createContext(caller: Caller, headers?: HeaderReader): GraphQLContext {
  const budget = chargeCall(caller.ctx)
  return {
    ...caller,
    fault: budget.isSpent ? budgetSpent(budget) : caller.fault,
    call: {
      budget,
      idempotencyKey: headers?.get('idempotency-key') ?? null,
      cost: null,
      hasCreated: false,
      mayFareBetter: false,
      isMasked: false,
      isReplayed: false,
      nextNonce: caller.binding.nextNonce,
    },
    loaders: createLoaders(caller.ctx.tenant),
    stream: new AbortController(),
    position: null,
    lastEventId: headers?.get('last-event-id') ?? null,
    ...initContextCache(),
  }
}
