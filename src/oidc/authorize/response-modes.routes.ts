import { type CachedClient, findClient } from '../../clients/client-cache.ts'
import { NotFound } from '../../errors.ts'
import { type CachedTenant, findTenant } from '../../tenants/tenant-cache.ts'
import { pageOf, seeOther, withCookies } from '../answers.routes.ts'
import { FormPostPage } from './form-post.pages.tsx'
import { unproven } from './parameters.ts'
import { destinationsOf, withParameters } from './redirect-uris.ts'
import { type AuthorizationAnswer, messageOriginOf, type ResponseMode } from './response-modes.ts'
import { WebMessagePage } from './web-message.pages.tsx'

type Parties = { tenant: CachedTenant; client: CachedClient }
type SendByPage = (answer: AuthorizationAnswer, parties: Parties) => Response

/** Those that are there, in their order. */
const given = ({ parameters }: AuthorizationAnswer): [name: string, value: string][] =>
  Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null)

/** Response modes whose answers are pages. A new one is one line here, and one in RESPONSE_MODES. */
const PAGES: Record<Exclude<ResponseMode, 'query'>, SendByPage> = {
  form_post: (answer, { tenant, client }) => {
    const { redirectUri } = answer
    return pageOf(
      FormPostPage,
      { tenant, client, redirectUri, fields: given(answer) },
      { runsScript: true, formActionOrigins: destinationsOf(client, redirectUri) },
    )
  },
  web_message: (answer, { tenant, client }) => {
    const origin = messageOriginOf(client, answer.redirectUri)
    // Checked with the request; the client may have been changed since.
    if (origin === null) throw unproven('The origin of the redirect_uri is not one of the webOrigins.')
    const response = Object.fromEntries(given(answer))
    return pageOf(
      WebMessagePage,
      { tenant, client, origin, response },
      { runsScript: true, frameAncestor: origin },
    )
  },
}

/** Sends an authorization response on its way through the browser. Throws OAuthError when it must not be told. */
export async function sendAnswer(answer: AuthorizationAnswer, cookies: string[] = []): Promise<Response> {
  const { tenant: slug, clientId, redirectUri, responseMode, parameters } = answer
  if (responseMode === 'query') return seeOther(withParameters(redirectUri, parameters), cookies)
  const tenant = await findTenant(slug)
  const client = await findClient(slug, clientId)
  if (!tenant || !client) throw new NotFound('application')
  return withCookies(PAGES[responseMode](answer, { tenant, client }), cookies)
}
