import type { H3, H3Event } from 'h3'
import { type Ctx, createCtx } from '../context/context.ts'
import { MethodNotAllowed, NotFound } from '../core/errors.ts'
import { OAuthError } from '../core/oauth-error.ts'
import { noteCaller } from '../core/requests/record.ts'
import { getLanguageSources } from '../http/language.http.ts'
import { addHeader } from '../http/node-response/answer.ts'
import { getRequestMeta, isCanonicalPath } from '../http/request.http.ts'
import { addTenantLanguage } from '../languages/request-language.ts'
import { isListedOrigin } from './origins.ts'
import { type OriginRules, recordRejectedOrigin } from './rejected-origins.ts'
import { type RejectionEventType, recordRejection } from './rejections.ts'
import { type CachedTenant, findTenant } from './tenant-cache.ts'

/** A request to an endpoint of a tenant, before the client is authenticated. */
export type TenantCall = {
  event: H3Event
  tenant: CachedTenant
  ctx: Ctx
  /** Permits the origins of the client to read the response, errors included (CORS). Another origin is recorded. */
  allowCorsFor: (client: OriginRules | null) => void
  /** Sets the client for the event log: the id in the request, and the context once it is authenticated. */
  setClient: (clientId: string | null, authenticated?: Ctx) => void
  /** Records a rejection that is answered otherwise than by throwing. */
  logRejection: (error: OAuthError) => Promise<unknown>
}
type CallHandler = (call: TenantCall) => Promise<Response>
/** Renders an error. `clientId` is that of the request; it need not be authenticated. */
export type RenderError = (
  error: unknown,
  event: H3Event,
  tenant: CachedTenant | null,
  clientId: string | null,
) => Response | Promise<Response>
type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/**
 * The handlers of a path by method. HEAD has the handler of GET; null rejects it, where GET changes something.
 */
export type Handlers = Partial<Record<Exclude<Method, 'HEAD'>, CallHandler>> & { HEAD?: null }

/**
 * Adds a path with its methods; other methods are answered with 405. `render` renders errors that a handler
 * throws. With `rejectionType`, each OAuthError is recorded as an event of that type.
 */
export function addRoute(
  app: H3,
  path: string,
  handlers: Handlers,
  render: RenderError,
  rejectionType?: RejectionEventType,
): void {
  const endpoint = path.replace('/:tenant/oidc/', '').replace(/^\/:tenant\/signin.*/, 'signin')
  const handlersByMethod: Partial<Record<string, CallHandler | null>> = {
    ...handlers,
    HEAD: handlers.HEAD === null ? null : handlers.GET,
  }
  const allowed = Object.keys(handlersByMethod).filter((method) => handlersByMethod[method])
  app.all(path, answer)
  async function answer(event: H3Event): Promise<Response> {
    const { method, headers } = event.req
    const origin = headers.get('origin')
    let isReadable = false
    let originRules: OriginRules | null = null
    let ctx: Ctx | null = null
    let tenant: CachedTenant | null = null
    let response: Response
    let client: { clientId: string | null; ctx?: Ctx } = { clientId: null }
    let logRejection: TenantCall['logRejection'] = async () => null
    try {
      if (!isCanonicalPath(event)) throw new NotFound('page')
      tenant = await findTenant(event.context.params?.tenant ?? '')
      if (!tenant) throw new NotFound('tenant at this address')
      addTenantLanguage(getLanguageSources(event), tenant)
      const handle = Object.hasOwn(handlersByMethod, method) ? handlersByMethod[method] : null
      if (!handle) throw new MethodNotAllowed(allowed)
      const anonymous = createAnonymousCtx(event, tenant.tenantId)
      ctx = anonymous
      if (rejectionType)
        logRejection = (error) =>
          recordRejection(
            client.ctx ?? anonymous,
            rejectionType,
            { endpoint, clientId: client.clientId },
            error,
          )
      response = await handle({
        event,
        tenant,
        ctx: anonymous,
        setClient: (clientId, authenticated) => {
          client = { clientId, ctx: authenticated }
          if (authenticated) noteCaller(authenticated)
        },
        logRejection,
        allowCorsFor: (requested) => {
          originRules = requested
          isReadable = origin !== null && (requested?.allowedOrigins.includes(origin) ?? false)
        },
      })
    } catch (error) {
      if (error instanceof OAuthError) await logRejection(error)
      response = await render(error, event, tenant, client.clientId)
    }
    addHeader(response, 'x-request-id', getRequestMeta(event).requestId)
    if (origin && originRules && ctx && !isReadable)
      await recordRejectedOrigin(
        client.ctx ?? ctx,
        rejectionType ?? 'token.refused',
        endpoint,
        originRules,
        origin,
      )
    if (isReadable) {
      addHeader(response, 'access-control-allow-origin', origin as string)
      addHeader(response, 'access-control-expose-headers', 'dpop-nonce, www-authenticate, x-request-id')
      addHeader(response, 'vary', 'origin')
    }
    return method === 'HEAD' ? new Response(null, response) : response
  }
}

/**
 * Answers a CORS preflight request (Fetch, section 3.2) of any allowed origin of the tenant: it does not
 * identify the client, whose origins are checked with the request itself. `isOpen` permits the pages of every origin.
 */
export async function answerPreflight(
  call: TenantCall,
  { methods = 'GET, POST', isOpen = false }: { methods?: string; isOpen?: boolean } = {},
): Promise<Response> {
  if (!(await allowCorsForPages(call, { isOpen }))) return new Response(null, { status: 204 })
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': methods,
      'access-control-allow-headers': 'authorization, content-type, dpop',
      'access-control-max-age': '600',
    },
  })
}

/**
 * Permits a page to read the response to a request that names no client: of an origin that any client of the tenant
 * lists, or, with `isOpen`, of every origin but `null`, which many pages share. Returns whether it may.
 */
export async function allowCorsForPages(
  { event, ctx, allowCorsFor }: TenantCall,
  { isOpen }: { isOpen: boolean },
): Promise<boolean> {
  const origin = event.req.headers.get('origin')
  if (origin === null) return false
  const isAllowed = isOpen ? origin !== 'null' : await isListedOrigin(ctx.tenant, origin)
  allowCorsFor({ allowedOrigins: isAllowed ? [origin] : [] })
  return isAllowed
}

const createAnonymousCtx = (event: H3Event, tenant: string): Ctx =>
  createCtx({
    tenant,
    actor: { kind: 'anonymous' },
    scopes: new Set(),
    ...getRequestMeta(event),
    language: getLanguageSources(event),
  })
