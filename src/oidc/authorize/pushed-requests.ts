import { isClientId } from '../../access/client-ids.ts'
import { computeMac, randomToken, sha256 } from '../../core/crypto.ts'
import { type Diagnostics, OAuthError } from '../../core/oauth-error.ts'
import { addSeconds } from '../../core/time.ts'
import type { Db } from '../../database/handle.ts'
import { hashHandle, type ResumableSignIn } from '../interactions/interactions.ts'
import {
  createInvalidRequestError,
  createUnredirectableError,
  readParameter,
} from '../model/request-parameters.ts'
import type { TokenRequest } from '../model/token-request.ts'
import { insertPushedRequest, selectPushedRequest, usePushedRequest } from './pushed-requests.sql.ts'

/**
 * The client redirects the browser at once; the lifetime allows for slow networks. RFC 9126, section 2.2
 * suggests 5 to 600 s.
 */
export const PUSHED_REQUEST_LIFETIME_SECONDS = 90

/** The prefix of a request_uri (RFC 9126, section 2.2); 256 random bits follow. */
const REQUEST_URI_PREFIX = 'urn:ietf:params:oauth:request_uri:'

/** Client authentication is not part of the authorize request. */
const CREDENTIAL_PARAMETERS = new Set(['client_secret', 'client_assertion', 'client_assertion_type'])

/**
 * The pushed parameters of an authorize request (RFC 9126, section 2.1), not yet validated. The key of a DPoP
 * proof becomes dpop_jkt (RFC 9449, section 10.1). Throws OAuthError invalid_request for a request_uri, and
 * for a dpop_jkt of another key.
 */
export function extractPushedParameters({ client, form, resources, dpopJkt }: TokenRequest): URLSearchParams {
  if (form.request_uri !== undefined)
    throw createInvalidRequestError('A pushed request cannot have a request_uri.')
  if (dpopJkt !== null && (form.dpop_jkt ?? dpopJkt) !== dpopJkt)
    throw createInvalidRequestError('The dpop_jkt is not that of the DPoP proof.', {
      dpop_jkt: form.dpop_jkt ?? null,
      dpopJkt,
    })
  const params = new URLSearchParams(
    Object.entries(form).filter(([name]) => !CREDENTIAL_PARAMETERS.has(name)),
  )
  params.set('client_id', client.id)
  if (dpopJkt !== null) params.set('dpop_jkt', dpopJkt)
  for (const resource of resources) params.append('resource', resource)
  return params
}

/** The successful response to a pushed request (RFC 9126, section 2.2). */
export type PushedRequestResponse = { request_uri: string; expires_in: number }

/** Stores a validated request for 90 s. One statement. */
export async function storePushedRequest(
  db: Db,
  clientId: string,
  params: URLSearchParams,
): Promise<PushedRequestResponse> {
  const now = new Date()
  const reference = randomToken()
  await insertPushedRequest(db, {
    requestHash: sha256(reference),
    clientId,
    parameters: [...params],
    expiresAt: addSeconds(now, PUSHED_REQUEST_LIFETIME_SECONDS),
    now,
  })
  return { request_uri: REQUEST_URI_PREFIX + reference, expires_in: PUSHED_REQUEST_LIFETIME_SECONDS }
}

/** Whether an authorize request refers to a pushed request. */
export const isPushedRequest = (params: URLSearchParams): boolean =>
  readParameter(params, 'request_uri')?.startsWith(REQUEST_URI_PREFIX) ?? false

/**
 * The handle of the sign-in that a pushed request starts. It is computed, so that the request_uri leads back to the
 * sign-in. Only this server knows it from the request_uri, as that of any other sign-in.
 */
const computeHandle = (reference: string): string =>
  computeMac('pushed-request-handle', reference).toString('base64url')

/**
 * A request_uri in use: its parameters and the sign-in that it starts, or `pendingHandle`, the sign-in that it started
 * before.
 */
type RequestInUse = { params: URLSearchParams; signIn?: ResumableSignIn } | { pendingHandle: string }

/**
 * Uses the pushed request that a request_uri refers to; other parameters of the authorize request are ignored, except
 * client_id (RFC 9126, section 4; RFC 9101, section 5). The first use returns the parameters. Until the request_uri
 * expires, a later one leads back to the sign-in that the first one started, while it is not finished (section 7.3).
 * Throws OAuthError invalid_request_uri, not redirected, because the redirect_uri is unknown. One statement.
 * See docs/decisions/0125.
 */
export async function openPushedRequest(db: Db, params: URLSearchParams): Promise<RequestInUse> {
  const clientId = readParameter(params, 'client_id')
  if (!clientId || !isClientId(clientId))
    throw createUnredirectableError('client_id is missing, repeated or malformed.')
  const reference = (readParameter(params, 'request_uri') ?? '').slice(REQUEST_URI_PREFIX.length)
  const handle = computeHandle(reference)
  const requestHash = sha256(reference)
  const { parameters, expiresAt, isPending } = await usePushedRequest(db, {
    ...{ requestHash, handleHash: hashHandle({ handle }), clientId, now: new Date() },
  })
  if (parameters && expiresAt)
    return { params: new URLSearchParams(parameters), signIn: { handle, resumableUntil: expiresAt } }
  if (isPending) return { pendingHandle: handle }
  throw new OAuthError('invalid_request_uri', 'The request_uri is unknown, expired or already used.', {
    redirect: false,
    diagnostics: await diagnosePushedRequest(db, requestHash, clientId),
  })
}

/** Explains why a request_uri was rejected: one statement, only after a rejection. */
async function diagnosePushedRequest(db: Db, requestHash: Buffer, clientId: string): Promise<Diagnostics> {
  const found = await selectPushedRequest(db, requestHash)
  if (!found) return { reason: 'it was used before, was never pushed here, or expired long ago' }
  if (found.clientId !== clientId)
    return { reason: 'another client pushed it', pushed_by: found.clientId, client_id: clientId }
  return { reason: 'it has expired', expired_at: found.expiresAt.toISOString() }
}
