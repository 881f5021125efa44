import type { H3 } from 'h3'
import { findClient } from '../../clients/client-cache.ts'
import type { Ctx } from '../../ctx.ts'
import { OAuthError } from '../../errors.ts'
import { provableOf, readForm } from '../../http.ts'
import { oauthError, uncachedJson, uncachedJwt } from '../answers.routes.ts'
import { addRoute, type Call } from '../call.routes.ts'
import { preflight } from '../client-auth/client-call.routes.ts'
import { recordRefusal } from '../refusals.ts'
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
  const { answer, nextNonce } = await readUserinfo(ctx.tenant, presented, provableOf(event)).catch(
    async (error: unknown) => {
      if (error instanceof OAuthError) await tellMisuse(ctx, presented.token, error)
      throw error
    },
  )
  if (nextNonce) event.res.headers.set('dpop-nonce', nextNonce)
  return typeof answer === 'string' ? uncachedJwt(answer) : uncachedJson(answer)
}

/**
 * Tells the log of a token of ours that is good, but was not presented as it is bound, or lacks a scope: somebody has to mend
 * that. Tokens that are over, or none of ours, come without end from clients that refresh only then: those are not told.
 */
async function tellMisuse(ctx: Ctx, token: string, error: OAuthError): Promise<void> {
  if (Object.keys(error.why).length === 0) return
  await recordRefusal(ctx, 'token.refused', { endpoint: 'userinfo', clientId: clientNamedBy(token) }, error)
}
