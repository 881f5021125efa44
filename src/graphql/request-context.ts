import { initContextCache } from '@pothos/core'
import type { Ctx } from '../ctx.ts'
import { type AppError, describeError } from '../errors.ts'
import type { RequestMeta } from '../http.ts'
import { authenticateBearer } from '../oidc/access-tokens.ts'
import type { GraphQLContext } from './context.ts'
import { createLoaders } from './loaders.ts'

/** Who calls: with a good token, with none, or with a bad one (`fault`). */
export type Caller = Pick<GraphQLContext, 'ctx' | 'token' | 'fault'>

/** Authenticates an Authorization header, where there is one. Throws nothing: what is wrong is part of the answer. */
export async function identifyCaller(
  tenant: string,
  meta: RequestMeta,
  authorization: string | null,
): Promise<Caller> {
  const anonymous: Ctx = { ...meta, tenant, actor: { kind: 'anonymous' }, scopes: new Set() }
  if (authorization === null) return { ctx: anonymous, token: null, fault: null }
  try {
    return { ...(await authenticateBearer({ tenant, ...meta }, authorization)), fault: null }
  } catch (error) {
    const fault: AppError = describeError(error)
    return { ctx: anonymous, token: null, fault }
  }
}

/** The context of one operation. */
export const createContext = (caller: Caller, lastEventId: string | null = null): GraphQLContext => ({
  ...caller,
  loaders: createLoaders(caller.ctx.tenant),
  stream: new AbortController(),
  position: null,
  lastEventId,
  ...initContextCache(),
})
