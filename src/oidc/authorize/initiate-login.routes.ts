import type { H3 } from 'h3'
import { singleParams, targetOf } from '../../http.ts'
import { errorPage, seeOther } from '../answers.routes.ts'
import { addRoute, type Call } from '../call.routes.ts'
import { initiatedLogin } from './initiate-login.ts'

/** Has a client start a sign-in, whoever sent the person here: a portal, an e-mail, a page of ours (OIDC Core, section 4). */
export function addInitiateLoginRoutes(app: H3): void {
  addRoute(app, '/:tenant/oidc/initiate', { GET: initiate }, errorPage, 'authorize.refused')
}

async function initiate({ event, ctx, isOf }: Call): Promise<Response> {
  const { query } = targetOf(event)
  isOf(query.get('client_id'))
  return seeOther(await initiatedLogin(ctx.tenant, singleParams(query)))
}
