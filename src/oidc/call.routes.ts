import type { H3, H3Event } from 'h3'
import type { Ctx } from '../ctx.ts'
import { MethodNotAllowed, NotFound, OAuthError } from '../errors.ts'
import { requestMeta, targetOf } from '../http.ts'
import { type CachedTenant, findTenant } from '../tenants/tenant-cache.ts'
import { type RefusedAs, recordRefusal } from './refusals.ts'

/** A request to one tenant, by nobody known yet. */
export type Call = {
  event: H3Event
  tenant: CachedTenant
  ctx: Ctx
  /** Lets a page of this client's own origin read the answer, whatever it will be. */
  readableBy: (client: { allowedOrigins: readonly string[] } | null) => void
  /** Says whose request it is, for the log: the client that it names, and who that proved to be. */
  isOf: (clientId: string | null, proven?: Ctx) => void
  /** Tells the log why the request is refused by another answer than an error. */
  tellRefusal: (error: OAuthError) => Promise<void>
}
type Handle = (call: Call) => Promise<Response>
/** How errors are answered. `clientId` is the client that the request named, who need not have sent it. */
export type Render = (
  error: unknown,
  event: H3Event,
  tenant: CachedTenant | null,
  clientId: string | null,
) => Response | Promise<Response>
type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'

/**
 * Adds a path with its methods. Whatever a handler throws is rendered by `render`; other methods are 405. Of what is refused,
 * the log is told as `refusedAs`.
 */
export function addRoute(
  app: H3,
  path: string,
  handlers: Partial<Record<Method, Handle>>,
  render: Render,
  refusedAs?: RefusedAs,
): void {
  const endpoint = path.replace('/:tenant/oidc/', '').replace(/^\/:tenant\/signin.*/, 'signin')
  const allowed = Object.keys(handlers)
  app.all(path, async (event) => {
    const { method, headers } = event.req
    const origin = headers.get('origin')
    let isReadable = false
    let tenant: CachedTenant | null = null
    let response: Response
    let whose: { clientId: string | null; by?: Ctx } = { clientId: null }
    let tellRefusal = async (_: OAuthError) => {}
    try {
      if (!targetOf(event).isCanonical) throw new NotFound('page')
      tenant = await findTenant(event.context.params?.tenant ?? '')
      if (!tenant) throw new NotFound('tenant at this address')
      const handle = handlers[method as Method]
      if (!handle) throw new MethodNotAllowed(allowed)
      const ctx = ctxOf(event, tenant.tenantId)
      if (refusedAs)
        tellRefusal = (error) =>
          recordRefusal(whose.by ?? ctx, refusedAs, { endpoint, clientId: whose.clientId }, error)
      response = await handle({
        event,
        tenant,
        ctx,
        isOf: (clientId, by) => {
          whose = { clientId, by }
        },
        tellRefusal,
        readableBy: (client) => {
          isReadable = origin !== null && (client?.allowedOrigins.includes(origin) ?? false)
        },
      })
    } catch (error) {
      if (error instanceof OAuthError) await tellRefusal(error)
      response = await render(error, event, tenant, whose.clientId)
    }
    response.headers.set('x-request-id', requestMeta(event).requestId)
    if (isReadable) {
      response.headers.set('access-control-allow-origin', origin as string)
      response.headers.set('access-control-expose-headers', 'dpop-nonce, www-authenticate, x-request-id')
      response.headers.append('vary', 'origin')
    }
    return method === 'HEAD' ? new Response(null, response) : response
  })
}

const ctxOf = (event: H3Event, tenant: string): Ctx => ({
  tenant,
  actor: { kind: 'anonymous' },
  scopes: new Set(),
  ...requestMeta(event),
})
