import type { IncomingMessage, ServerResponse } from 'node:http'
import { findClient } from './clients/client-cache.ts'
import { readAuthorization } from './oidc/client-auth/dpop-binding.ts'
import { isListedOrigin } from './oidc/origins.ts'
import { clientNamedBy } from './oidc/userinfo/userinfo.ts'

const METHODS = 'GET, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS = 'authorization, content-type, dpop, idempotency-key, last-event-id, x-request-id'
const RESPONSE_HEADERS = [
  'dpop-nonce',
  'idempotency-replayed',
  'link',
  'location',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'retry-after',
  'updated-at',
  'www-authenticate',
  'x-request-id',
].join(', ')
const PREFLIGHT_MAX_AGE_SECONDS = 600

const readableBy = (response: ServerResponse, origin: string): void => {
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-expose-headers', RESPONSE_HEADERS)
}

/**
 * Lets single-page applications call the management surfaces (GraphQL and REST) from their own origins: a preflight
 * passes for an origin that any client of the tenant lists in allowedOrigins, an answer is readable for the origins of
 * the client whose token came along. No cookie has a say on these surfaces, so credentials are never allowed.
 * Returns true when it was a preflight, which is answered here.
 */
export async function answerCors(
  request: IncomingMessage,
  response: ServerResponse,
  tenant: string,
): Promise<boolean> {
  const { origin, authorization } = request.headers
  if (!origin) return false
  response.setHeader('vary', 'origin')
  if (request.method === 'OPTIONS' && request.headers['access-control-request-method']) {
    if (await isListedOrigin(tenant, origin)) {
      readableBy(response, origin)
      response.setHeader('access-control-allow-methods', METHODS)
      response.setHeader('access-control-allow-headers', REQUEST_HEADERS)
      response.setHeader('access-control-max-age', PREFLIGHT_MAX_AGE_SECONDS)
    }
    response.writeHead(204).end()
    return true
  }
  const presented = readAuthorization(authorization ?? '')
  const client = presented && (await findClient(tenant, clientNamedBy(presented.token)))
  if (client?.allowedOrigins.includes(origin)) readableBy(response, origin)
  return false
}
