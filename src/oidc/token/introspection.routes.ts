import type { H3 } from 'h3'
import { oauthError, uncachedJson } from '../answers.routes.ts'
import { addRoute, type Call } from '../call.routes.ts'
import { readClientCall } from '../client-auth/client-call.routes.ts'
import { introspect } from './introspection.ts'

/** Where servers ask what a token is worth (RFC 7662, section 2). No page may: there is no preflight. */
export function addIntrospectionRoutes(app: H3): void {
  addRoute(app, '/:tenant/oidc/introspect', { POST: answer }, oauthError, 'token.refused')
}

const answer = async (call: Call): Promise<Response> =>
  uncachedJson(await introspect(await readClientCall(call)))
