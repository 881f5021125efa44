import type { H3 } from 'h3'
import { findClient } from '../access/client-cache.ts'
import { allowCorsForPages, answerPreflight, type TenantCall } from '../access/endpoint.http.ts'
import { InvalidInput } from '../core/errors.ts'
import { OAuthError } from '../core/oauth-error.ts'
import { readJson } from '../http/request-body.http.ts'
import { addOAuthRoute, createUncachedJson } from '../pages/responses.http.ts'
import { deleteRegistration, readRegistration, replaceRegistration } from './client-configuration.ts'
import { registerClient } from './registration.ts'

/**
 * The client registration endpoint (RFC 7591, section 3) and the client configuration endpoint (RFC 7592,
 * section 2). Pages of every origin may call the former where registration is open to all; the latter is for the
 * origins of the client.
 */
export function addRegistrationRoutes(app: H3): void {
  addOAuthRoute(app, '/:tenant/oidc/register', {
    POST: handleRegister,
    OPTIONS: (call) => answerPreflight(call, { methods: 'POST', isOpen: call.tenant.openRegistration }),
  })
  addOAuthRoute(app, '/:tenant/oidc/register/:clientId', {
    GET: forClientPages(handleRead),
    PUT: forClientPages(handleReplace),
    DELETE: forClientPages(handleDelete),
    OPTIONS: (call) => answerPreflight(call, { methods: 'GET, PUT, DELETE' }),
  })
}

/** Permits pages of the client to read the responses of `handle`. */
const forClientPages =
  (handle: (call: TenantCall) => Promise<Response>) =>
  async (call: TenantCall): Promise<Response> => {
    call.allowCorsFor(await findClient(call.ctx.tenant, readClientIdParam(call)))
    return handle(call)
  }

const readAuthorizationHeader = ({ event }: TenantCall): string | null =>
  event.req.headers.get('authorization')
const readClientIdParam = ({ event }: TenantCall): string => event.context.params?.clientId ?? ''

/** Creates a reader of the JSON body, which throws OAuthError invalid_client_metadata when it is not JSON. */
const createMetadataReader =
  ({ event }: TenantCall) =>
  (): Promise<unknown> =>
    readJson(event).catch((error: unknown) => {
      if (!(error instanceof InvalidInput)) throw error
      throw new OAuthError('invalid_client_metadata', 'The body is not valid JSON.')
    })

async function handleRegister(call: TenantCall): Promise<Response> {
  await allowCorsForPages(call, { isOpen: call.tenant.openRegistration })
  return createUncachedJson(
    await registerClient(call.ctx, call.tenant, readAuthorizationHeader(call), createMetadataReader(call)),
    { status: 201 },
  )
}

const handleRead = async (call: TenantCall): Promise<Response> =>
  createUncachedJson(
    await readRegistration(call.ctx, call.tenant, readAuthorizationHeader(call), readClientIdParam(call)),
  )

const handleReplace = async (call: TenantCall): Promise<Response> =>
  createUncachedJson(
    await replaceRegistration(
      call.ctx,
      call.tenant,
      readAuthorizationHeader(call),
      readClientIdParam(call),
      createMetadataReader(call),
    ),
  )

async function handleDelete(call: TenantCall): Promise<Response> {
  await deleteRegistration(call.ctx, call.tenant, readAuthorizationHeader(call), readClientIdParam(call))
  return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } })
}
