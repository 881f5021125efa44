import type { H3 } from 'h3'
import { InvalidInput, OAuthError } from '../errors.ts'
import { readJson } from '../http.ts'
import { oauthError, uncachedJson } from '../oidc/answers.routes.ts'
import { addRoute, type Call } from '../oidc/call.routes.ts'
import { deleteRegistration, readRegistration, replaceRegistration } from './own-registration.ts'
import { registerClient } from './registration.ts'

/** Where clients register themselves (RFC 7591, section 3), and manage what they registered (RFC 7592, section 2). */
export function addRegistrationRoutes(app: H3): void {
  addRoute(app, '/:tenant/oidc/register', { POST: register }, oauthError)
  addRoute(app, '/:tenant/oidc/register/:clientId', { GET: read, PUT: replace, DELETE: remove }, oauthError)
}

const authorizationOf = ({ event }: Call): string | null => event.req.headers.get('authorization')
const clientIdOf = ({ event }: Call): string => event.context.params?.clientId ?? ''

/** The metadata of a call. Throws OAuthError invalid_client_metadata for what is not JSON. */
const metadataOf =
  ({ event }: Call) =>
  (): Promise<unknown> =>
    readJson(event).catch((error: unknown) => {
      if (!(error instanceof InvalidInput)) throw error
      throw new OAuthError('invalid_client_metadata', 'The body is not valid JSON.')
    })

const register = async (call: Call): Promise<Response> =>
  uncachedJson(await registerClient(call.ctx, call.tenant, authorizationOf(call), metadataOf(call)), {
    status: 201,
  })

const read = async (call: Call): Promise<Response> =>
  uncachedJson(await readRegistration(call.ctx, call.tenant, authorizationOf(call), clientIdOf(call)))

const replace = async (call: Call): Promise<Response> =>
  uncachedJson(
    await replaceRegistration(
      call.ctx,
      call.tenant,
      authorizationOf(call),
      clientIdOf(call),
      metadataOf(call),
    ),
  )

async function remove(call: Call): Promise<Response> {
  await deleteRegistration(call.ctx, call.tenant, authorizationOf(call), clientIdOf(call))
  return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } })
}
