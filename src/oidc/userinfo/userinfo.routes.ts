import type { H3 } from 'h3'
import { findClient } from '../../access/client-cache.ts'
import { answerPreflight, type TenantCall } from '../../access/endpoint.http.ts'
import { recordRejection } from '../../access/rejections.ts'
import type { Ctx } from '../../context/context.ts'
import { OAuthError } from '../../core/oauth-error.ts'
import { toProvableRequest } from '../../http/request.http.ts'
import { readForm } from '../../http/request-body.http.ts'
import { addOAuthRoute, createUncachedJson, createUncachedJwt } from '../../pages/responses.http.ts'
import { recordOmittedClaims } from '../token/user-claims.ts'
import { buildUserinfoResponse, readAccessToken, readUnverifiedClientId } from './userinfo.ts'

/** The userinfo endpoint (OIDC Core, section 5.3). */
export function addUserinfoRoutes(app: H3): void {
  addOAuthRoute(app, '/:tenant/oidc/userinfo', {
    GET: handleUserinfo,
    POST: handleUserinfo,
    OPTIONS: answerPreflight,
  })
}

async function handleUserinfo({ event, ctx, allowCorsFor }: TenantCall): Promise<Response> {
  const { headers, method } = event.req
  const isForm = method === 'POST' && headers.get('content-type') !== null
  const form = isForm ? await readForm(event) : {}
  const presented = readAccessToken(ctx.tenant, headers.get('authorization'), form.access_token ?? null)
  if (headers.get('origin'))
    allowCorsFor(await findClient(ctx.tenant, readUnverifiedClientId(presented.token)))
  const { answer, nextNonce, omitted } = await buildUserinfoResponse(
    ctx.tenant,
    presented,
    toProvableRequest(event),
  ).catch(async (error: unknown) => {
    if (error instanceof OAuthError) await recordMisuse(ctx, presented.token, error)
    throw error
  })
  await recordOmittedClaims(ctx, omitted, omitted.claims)
  if (nextNonce) event.res.headers.set('dpop-nonce', nextNonce)
  return typeof answer === 'string' ? createUncachedJwt(answer) : createUncachedJson(answer)
}

/**
 * Records the rejection of a valid token that was presented without its binding or lacks a scope: a client
 * has to be corrected. Expired and foreign tokens are not recorded, since many clients refresh only after a
 * rejection.
 */
async function recordMisuse(ctx: Ctx, token: string, error: OAuthError): Promise<void> {
  if (Object.keys(error.diagnostics).length === 0) return
  await recordRejection(
    ctx,
    'token.refused',
    { endpoint: 'userinfo', clientId: readUnverifiedClientId(token) },
    error,
  )
}
