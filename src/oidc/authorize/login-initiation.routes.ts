import type { H3 } from 'h3'
import { addRoute, type TenantCall } from '../../access/endpoint.http.ts'
import { readTarget } from '../../http/request.http.ts'
import { requireSingleParams } from '../../http/request-body.http.ts'
import { LeavePage } from '../../pages/external-redirect.pages.tsx'
import { redirectTo, renderComponent, renderErrorPage } from '../../pages/responses.http.ts'
import { isUnreviewed } from '../model/unreviewed-clients.ts'
import { buildLoginInitiationUrl } from './login-initiation.ts'

/**
 * Third-party initiated login (OIDC Core, section 4): a portal, an e-mail or a hosted page asks a client to
 * start a sign-in.
 */
export function addInitiateLoginRoutes(app: H3): void {
  addRoute(app, '/:tenant/oidc/initiate', { GET: handleInitiate }, renderErrorPage, 'authorize.refused')
}

async function handleInitiate({ event, ctx, tenant, setClient }: TenantCall): Promise<Response> {
  const { query } = readTarget(event)
  setClient(query.get('client_id'))
  const { client, url } = await buildLoginInitiationUrl(ctx.tenant, requireSingleParams(query))
  return isUnreviewed(client) ? renderComponent(ctx, LeavePage, { tenant, client, url }) : redirectTo(url)
}
