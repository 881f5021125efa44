import type { H3 } from 'h3'
import type { TenantCall } from '../../access/endpoint.http.ts'
import { RATE_LIMITS, takeFromLimit } from '../../coordination/rate-limits.ts'
import { equalsConstantTime, sha256Hex } from '../../core/crypto.ts'
import { readTextBody } from '../../http/request-body.http.ts'
import { buildSignalsUrl } from '../../idps/callback-url.ts'
import { findProviderRow } from '../../idps/sign-in-providers.ts'
import { addOAuthRoute, createUncachedJson } from '../../pages/responses.http.ts'
import { limitUnauthenticated, requireNetworkWithinLimit } from '../../passcodes/network-limits.ts'
import { receiveSignals } from './receive-signals.ts'
import { RejectedSignal, verifySignal } from './received-signal.ts'

/** A token has an identity, and no more. */
const LIMIT_BYTES = 20_000

/** Whether the request has the secret that was made for the provider; without one, the signature suffices. */
const isAuthorized = (authorization: string | null, secretHash: string | null): boolean =>
  secretHash === null ||
  equalsConstantTime(sha256Hex(/^Bearer +(.+)$/i.exec(authorization ?? '')?.[1] ?? ''), secretHash)

async function takeToken({ event, ctx }: TenantCall): Promise<void> {
  const idpId = event.context.params?.idp ?? ''
  const token = await readTextBody(event, { type: 'application/secevent+jwt', limitBytes: LIMIT_BYTES })
  const row = await findProviderRow(ctx.db, idpId)
  const signalsIssuer = row?.signalsIssuer
  if (!row || !signalsIssuer)
    throw new RejectedSignal('invalid_request', 'no signals of such a provider are accepted')
  if (!isAuthorized(event.req.headers.get('authorization'), row.signalsSecretHash))
    throw new RejectedSignal('authentication_failed', 'the Authorization header lacks the secret')
  await takeFromLimit('receiveSignal', `${ctx.tenant}:${idpId}`, RATE_LIMITS.receiveSignal.points)
  const endpoint = buildSignalsUrl(ctx.tenant, idpId)
  await receiveSignals(ctx, row, await verifySignal({ ...row, signalsIssuer }, token.trim(), { endpoint }))
}

/** Takes a token of a provider (RFC 8935, section 2.2). A rejection has a code and a description (section 2.3). */
async function handleToken(call: TenantCall): Promise<Response> {
  // The keys of the provider are not fetched for a network whose tokens were rejected too often.
  await requireNetworkWithinLimit('rejectIdentity', call.ctx)
  try {
    await takeToken(call)
    return new Response(null, { status: 202, headers: { 'cache-control': 'no-store' } })
  } catch (error) {
    if (!(error instanceof RejectedSignal)) throw error
    await limitUnauthenticated('rejectIdentity', call.ctx)
    const status = error.err === 'authentication_failed' ? 401 : 400
    const headers = { 'content-language': 'en', ...(status === 401 && { 'www-authenticate': 'Bearer' }) }
    return createUncachedJson({ err: error.err, description: error.message }, { status, headers })
  }
}

/** Where identity providers push shared signals (OpenID SSF 1.0, RFC 8935). */
export const addSignalReceiverRoutes = (app: H3): void =>
  addOAuthRoute(app, '/:tenant/ssf/events/:idp', { POST: handleToken })
