import type { H3 } from 'h3'
import { oauthError, uncachedJson } from '../answers.routes.ts'
import { addRoute, type Call } from '../call.routes.ts'
import { preflight, readClientCall } from '../client-auth/client-call.routes.ts'
import { revokeToken } from './revocation.ts'
import { answerTokenRequest } from './token.ts'

/** Where clients get tokens, and give them back (RFC 6749, section 3.2; RFC 7009). */
export function addTokenRoutes(app: H3): void {
  addRoute(app, '/:tenant/oidc/token', { POST: token, OPTIONS: preflight }, oauthError, 'token.refused')
  addRoute(app, '/:tenant/oidc/revoke', { POST: revoke, OPTIONS: preflight }, oauthError, 'token.refused')
}

const token = async (call: Call): Promise<Response> =>
  uncachedJson(await answerTokenRequest(await readClientCall(call)))

async function revoke(call: Call): Promise<Response> {
  const { ctx, tenant, client, form } = await readClientCall(call)
  await revokeToken(ctx, tenant, client, form)
  return uncachedJson({})
}
