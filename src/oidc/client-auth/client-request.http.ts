import { findClient } from '../../access/client-cache.ts'
import { assertPermittedAlgorithm, consumeProof, verifyProof } from '../../access/dpop/dpop.ts'
import type { TenantCall } from '../../access/endpoint.http.ts'
import type { Ctx } from '../../context/context.ts'
import { takePendingRequest } from '../../coordination/person-budgets.ts'
import { requireStorage } from '../../coordination/storage-budgets.ts'
import { measureJson } from '../../core/json/json-size.ts'
import { toProvableRequest } from '../../http/request.http.ts'
import { readFormParams, requireSingleParams } from '../../http/request-body.http.ts'
import { parseRequestedResources } from '../model/requested-resources.ts'
import type { TokenRequest } from '../model/token-request.ts'
import { isOpenToStrangers } from '../model/unreviewed-clients.ts'
import { authenticateClient, readClientCredentials } from './client-authentication.ts'

/** A hash and a time, with their indexes. */
const USED_PROOF_BYTES = 300

/**
 * Reads the form of a client's request and authenticates the client. Pages of the client's origins may read
 * the response in every case. Only `resource` may be repeated (RFC 8707, section 2). A DPoP proof is
 * verified and recorded as used (RFC 9449, section 5). `prepareClient` gets the claimed client_id first, so
 * that it can load a client that is not stored yet. Throws OAuthError and RateLimited.
 */
export async function readTokenRequest(
  { event, ctx, tenant, allowCorsFor, setClient }: TenantCall,
  prepareClient?: (clientId: string) => Promise<unknown>,
): Promise<TokenRequest> {
  const params = await readFormParams(event)
  const form = requireSingleParams(params, 'resource')
  const authorization = event.req.headers.get('authorization')
  setClient(form.client_id ?? null)
  if (form.client_id) allowCorsFor(await findClient(ctx.tenant, form.client_id))
  const credentials = readClientCredentials(authorization, form)
  if (credentials) {
    setClient(credentials.clientId)
    await prepareClient?.(credentials.clientId)
  }
  const request = toProvableRequest(event)
  // Before the assertion is used: a client that only lacks a nonce repeats the request with the same one.
  const proof = request.proof === null ? null : await verifyProof(request)
  const client = await authenticateClient(ctx, credentials, {
    endpoint: request.url,
    usedHeader: authorization !== null,
  })
  const clientCtx: Ctx = { ...ctx, actor: { kind: 'client', tenant: ctx.tenant, clientId: client.id } }
  setClient(client.id, clientCtx)
  if (proof) {
    assertPermittedAlgorithm(proof, client)
    if (isOpenToStrangers(client)) await requireStorage('usedProof', ctx, { bytes: USED_PROOF_BYTES })
    await consumeProof(ctx.tenant, proof)
  }
  if (proof?.nextNonce) event.res.headers.set('dpop-nonce', proof.nextNonce)
  return {
    ctx: clientCtx,
    tenant,
    client,
    form,
    resources: parseRequestedResources(ctx.tenant, params),
    dpopJkt: proof?.jkt ?? null,
  }
}

/**
 * Counts a request that is stored until a user continues it: in the budget of the client, or of the network where anyone
 * can make requests as the client. Throws RateLimited.
 */
export async function limitPendingRequest({ ctx, client, form, resources }: TokenRequest): Promise<void> {
  const bytes = measureJson([form, resources])
  if (isOpenToStrangers(client)) await requireStorage('pendingRequest', ctx, { bytes })
  else takePendingRequest(ctx.tenant, client.id, bytes)
}
