import { type CachedClient, findClient } from '../../access/client-cache.ts'
import { type CachedTenant, findTenant } from '../../access/tenant-cache.ts'
import { NotFound } from '../../core/errors.ts'
import { addQueryParameters } from '../../http/redirects.ts'
import type { Reader } from '../../model/language-sources.ts'
import { addCookies, redirectTo, renderComponent } from '../../pages/responses.http.ts'
import type { ResponseMode } from '../model/authorize-request.ts'
import { createUnredirectableError } from '../model/request-parameters.ts'
import { FormPostPage, WebMessagePage } from './response.pages.tsx'
import { type AuthorizationResponse, selectMessageOrigin } from './response-modes.ts'

type ResponseParties = { reader: Reader; tenant: CachedTenant; client: CachedClient }
type RenderResponsePage = (answer: AuthorizationResponse, parties: ResponseParties) => Response

/** The parameters that are present, in their order. */
const listParameters = ({ parameters }: AuthorizationResponse): [name: string, value: string][] =>
  Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null)

/** The response modes that are rendered as pages. */
const RESPONSE_PAGES: Record<Exclude<ResponseMode, 'query'>, RenderResponsePage> = {
  form_post: (answer, { reader, tenant, client }) => {
    const { redirectUri } = answer
    return renderComponent(
      reader,
      FormPostPage,
      { tenant, client, redirectUri, fields: listParameters(answer) },
      { runsScript: true, leadsElsewhere: true, languageReturn: null },
    )
  },
  web_message: (answer, { reader, tenant, client }) => {
    const origin = selectMessageOrigin(client, answer.redirectUri)
    // Validated with the request, but the client may have changed since.
    if (origin === null)
      throw createUnredirectableError('The origin of the redirect_uri is not one of the webOrigins.')
    const response = Object.fromEntries(listParameters(answer))
    return renderComponent(
      reader,
      WebMessagePage,
      { tenant, client, origin, response },
      { runsScript: true, frameAncestor: origin, languageReturn: null },
    )
  },
}

/**
 * Sends an authorization response through the browser. Throws OAuthError, not redirected, when the client may
 * no longer receive it, and NotFound when the client or tenant no longer exists.
 */
export async function sendAuthorizationResponse(
  reader: Reader,
  answer: AuthorizationResponse,
  cookies: string[] = [],
): Promise<Response> {
  const { tenant: slug, clientId, redirectUri, responseMode, parameters } = answer
  if (responseMode === 'query') return redirectTo(addQueryParameters(redirectUri, parameters), cookies)
  const tenant = await findTenant(slug)
  const client = await findClient(slug, clientId)
  if (!tenant || !client) throw new NotFound('application')
  return addCookies(RESPONSE_PAGES[responseMode](answer, { reader, tenant, client }), cookies)
}
