import { findClient } from '../../clients/client-cache.ts'
import type { Ctx } from '../../ctx.ts'
import { provableOf, readFormParams, singleParams } from '../../http.ts'
import { spend } from '../../limits.ts'
import type { Call } from '../call.routes.ts'
import { isListedOrigin } from '../origins.ts'
import { askedResources } from '../token/asked-resources.ts'
import type { TokenRequest } from '../token/token-response.ts'
import { isPublic } from './auth-methods.ts'
import { authenticateClient, readClientCredentials } from './client-authentication.ts'
import { checkProof, useProof } from './dpop.ts'

/**
 * A request by a client: its form, and who it is. A page of the client's may read the answer, whatever it will be. `resource` is
 * the one parameter that may be repeated (RFC 8707, section 2). A DPoP proof is checked and used up (RFC 9449, section 5).
 * `meet` gets the client_id first, where one may be that is not known here yet.
 */
export async function readClientCall(
  { event, ctx, tenant, readableBy, isOf }: Call,
  meet?: (clientId: string) => Promise<unknown>,
): Promise<TokenRequest> {
  const params = await readFormParams(event)
  const form = singleParams(new URLSearchParams([...params].filter(([name]) => name !== 'resource')))
  const authorization = event.req.headers.get('authorization')
  isOf(form.client_id ?? null)
  if (form.client_id) readableBy(await findClient(ctx.tenant, form.client_id))
  const credentials = readClientCredentials(authorization, form)
  if (credentials) {
    isOf(credentials.clientId)
    await meet?.(credentials.clientId)
  }
  const request = provableOf(event)
  // Before the client's assertion is used up: who only lacks a nonce comes back with the same.
  const proof = request.proof === null ? null : await checkProof(request)
  const client = await authenticateClient(ctx, credentials, {
    endpoint: request.url,
    usedHeader: authorization !== null,
  })
  const by: Ctx = { ...ctx, actor: { kind: 'client', tenant: ctx.tenant, clientId: client.id } }
  isOf(client.id, by)
  if (proof) await useProof(ctx.tenant, proof)
  if (proof?.nextNonce) event.res.headers.set('dpop-nonce', proof.nextNonce)
  return { ctx: by, tenant, client, form, resources: askedResources(params), dpopJkt: proof?.jkt ?? null }
}

/** Of clients that cannot prove who they are, anybody can have us keep something. Throws RateLimited. */
export async function limitUnproven({ ctx, client }: TokenRequest): Promise<void> {
  if (isPublic(client)) await spend('keepRequest', ctx.tenant, ctx.ip)
}

/** A single-page application asks before it calls (Fetch, section 3.2). Whose it is shows with the call itself. */
export async function preflight({ event, ctx, readableBy }: Call): Promise<Response> {
  const origin = event.req.headers.get('origin')
  if (!origin || !(await isListedOrigin(ctx.tenant, origin))) return new Response(null, { status: 204 })
  readableBy({ allowedOrigins: [origin] })
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'authorization, content-type, dpop',
      'access-control-max-age': '600',
    },
  })
}
