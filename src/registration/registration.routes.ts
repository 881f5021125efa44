import type { H3 } from 'h3'
import { addRoute, type TenantCall } from '../access/endpoint.http.ts'
import { InvalidInput } from '../core/errors.ts'
import { OAuthError } from '../core/oauth-error.ts'
import { readJson } from '../http/request-body.http.ts'
import { createUncachedJson, renderOAuthError } from '../pages/responses.http.ts'
import { deleteRegistration, readRegistration, replaceRegistration } from './client-configuration.ts'
import { registerClient } from './registration.ts'

/**
 * The client registration endpoint (RFC 7591, section 3) and the client configuration endpoint (RFC 7592,
 * section 2).
 */
export function addRegistrationRoutes(app: H3): void {
  addRoute(app, '/:tenant/oidc/register', { POST: handleRegister }, renderOAuthError)
  addRoute(
    app,
    '/:tenant/oidc/register/:clientId',
    { GET: handleRead, PUT: handleReplace, DELETE: handleDelete },
    renderOAuthError,
  )
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

const handleRegister = async (call: TenantCall): Promise<Response> =>
  createUncachedJson(
    await registerClient(call.ctx, call.tenant, readAuthorizationHeader(call), createMetadataReader(call)),
    {
      status: 201,
    },
  )

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
