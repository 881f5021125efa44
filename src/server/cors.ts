import type { IncomingMessage, ServerResponse } from 'node:http'
import { findClient } from '../access/client-cache.ts'
import { parseAuthorization } from '../access/dpop/dpop-binding.ts'
import { isListedOrigin } from '../access/origins.ts'
import { API_PATHS } from '../access/protected-resources.ts'
import { type OriginRules, recordRejectedOrigin } from '../access/rejected-origins.ts'
import { findTenant } from '../access/tenant-cache.ts'
import { createCtx } from '../context/context.ts'
import { readRequestMeta } from '../http/request.http.ts'
import { readUnverifiedClientId } from '../oidc/userinfo/userinfo.ts'

const ALLOWED_METHODS = 'GET, POST, PUT, PATCH, DELETE'
const ALLOWED_HEADERS = 'authorization, content-type, dpop, idempotency-key, last-event-id, x-request-id'
const EXPOSED_HEADERS = [
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

const setCorsHeaders = (response: ServerResponse, origin: string): void => {
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-expose-headers', EXPOSED_HEADERS)
}

/**
 * CORS of the management API (GraphQL and REST). A preflight succeeds for an origin that any client of the
 * tenant lists in allowedOrigins. A response is readable for the origins of the client that the access token
 * was issued to. The API reads no cookies, so credentials are never allowed. Returns true for a preflight,
 * which is answered here.
 */
export async function applyCors(
  request: IncomingMessage,
  response: ServerResponse,
  tenant: string,
): Promise<boolean> {
  const { origin, authorization } = request.headers
  if (!origin) return false
  response.setHeader('vary', 'origin')
  if (request.method === 'OPTIONS' && request.headers['access-control-request-method']) {
    if (await isListedOrigin(tenant, origin)) {
      setCorsHeaders(response, origin)
      response.setHeader('access-control-allow-methods', ALLOWED_METHODS)
      response.setHeader('access-control-allow-headers', ALLOWED_HEADERS)
      response.setHeader('access-control-max-age', PREFLIGHT_MAX_AGE_SECONDS)
    } else await recordOrigin(request, tenant, { allowedOrigins: [] }, origin)
    response.writeHead(204).end()
    return true
  }
  const presented = parseAuthorization(authorization ?? '')
  const client = presented && (await findClient(tenant, readUnverifiedClientId(presented.token)))
  if (client?.allowedOrigins.includes(origin)) setCorsHeaders(response, origin)
  else if (client) await recordOrigin(request, tenant, client, origin)
  return false
}

/** Records that pages of an origin may not call the API; nothing for a tenant that does not exist. */
async function recordOrigin(
  request: IncomingMessage,
  tenant: string,
  rules: OriginRules,
  origin: string,
): Promise<void> {
  if (!(await findTenant(tenant))) return
  const headers = { get: (name: string) => request.headers[name]?.toString() ?? null }
  const meta = readRequestMeta(headers, request.socket.remoteAddress ?? null)
  const ctx = createCtx({ tenant, actor: { kind: 'anonymous' }, scopes: new Set(), ...meta })
  const api = API_PATHS.find((path) => request.url?.startsWith(`/${tenant}/${path}`)) ?? 'api'
  await recordRejectedOrigin(ctx, 'token.refused', api, rules, origin)
}
