import type { H3 } from 'h3'
import { FastResponse } from 'srvx'
import { findClient } from '../../clients/client-cache.ts'
import { provableOf, readForm } from '../../http.ts'
import { addRoute, type Call, oauthError, uncachedJson } from '../answers.routes.ts'
import { preflight } from '../client-auth/client-call.routes.ts'
import { accessTokenOf, clientNamedBy, readUserinfo } from './userinfo.ts'

/** What an access token says about its person (OIDC Core, section 5.3). */
export function addUserinfoRoutes(app: H3): void {
  addRoute(app, '/:tenant/oidc/userinfo', { GET: userinfo, POST: userinfo, OPTIONS: preflight }, oauthError)
}

async function userinfo({ event, ctx, readableBy }: Call): Promise<Response> {
  const { headers, method } = event.req
  const isForm = method === 'POST' && headers.get('content-type') !== null
  const form = isForm ? await readForm(event) : {}
  const presented = accessTokenOf(ctx.tenant, headers.get('authorization'), form.access_token ?? null)
  if (headers.get('origin')) readableBy(await findClient(ctx.tenant, clientNamedBy(presented.token)))
  const { answer, nextNonce } = await readUserinfo(ctx.tenant, presented, provableOf(event))
  if (nextNonce) event.res.headers.set('dpop-nonce', nextNonce)
  return typeof answer === 'string' ? uncachedJwt(answer) : uncachedJson(answer)
}

/** A signed answer (OIDC Core, section 5.3.2). */
const uncachedJwt = (token: string): Response =>
  new FastResponse(token, {
    headers: {
      'content-type': 'application/jwt',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'x-content-type-options': 'nosniff',
    },
  })
