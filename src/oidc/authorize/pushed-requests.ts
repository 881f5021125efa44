import { isClientId } from '../../clients/client-ids.ts'
import { randomToken, sha256 } from '../../crypto.ts'
import { sql } from '../../db.ts'
import { OAuthError, type Why } from '../../errors.ts'
import { after } from '../../time.ts'
import type { TokenRequest } from '../token/token-response.ts'
import { invalid, single, unproven } from './parameters.ts'
import { deletePushedRequest, insertPushedRequest, selectPushedRequest } from './pushed-requests.sql.ts'

/** The browser is sent on at once, over however slow a network. RFC 9126, section 2.2 names 5 to 600 s. */
export const PUSHED_REQUEST_LIFETIME_SECONDS = 90

/** What a request_uri of ours begins with (RFC 9126, section 2.2); behind it stand 256 random bits. */
const PREFIX = 'urn:ietf:params:oauth:request_uri:'

/** How the client authenticated is no part of what it asks for. */
const CREDENTIALS = new Set(['client_secret', 'client_assertion', 'client_assertion_type'])

/**
 * What a client pushes as the parameters of an authorize request (RFC 9126, section 2.1), to be checked as one. The key of a
 * DPoP proof becomes its dpop_jkt (RFC 9449, section 10.1). Throws OAuthError invalid_request for a request_uri, and for a
 * dpop_jkt of another key.
 */
export function pushedParameters({ client, form, resources, dpopJkt }: TokenRequest): URLSearchParams {
  if (form.request_uri !== undefined) throw invalid('A pushed request cannot have a request_uri.')
  if (dpopJkt !== null && (form.dpop_jkt ?? dpopJkt) !== dpopJkt)
    throw invalid('The dpop_jkt is not that of the DPoP proof.', { dpop_jkt: form.dpop_jkt ?? null, dpopJkt })
  const params = new URLSearchParams(Object.entries(form).filter(([name]) => !CREDENTIALS.has(name)))
  params.set('client_id', client.id)
  if (dpopJkt !== null) params.set('dpop_jkt', dpopJkt)
  for (const resource of resources) params.append('resource', resource)
  return params
}

/** The successful answer to a push (RFC 9126, section 2.2). */
export type PushedRequestAnswer = { request_uri: string; expires_in: number }

/** Keeps a request that was checked, for 90 s. One statement. */
export async function keepPushedRequest(
  tenant: string,
  clientId: string,
  params: URLSearchParams,
  now = new Date(),
): Promise<PushedRequestAnswer> {
  const reference = randomToken()
  await insertPushedRequest(sql, tenant, {
    requestHash: sha256(reference),
    clientId,
    parameters: [...params],
    expiresAt: after(now, PUSHED_REQUEST_LIFETIME_SECONDS),
    now,
  })
  return { request_uri: PREFIX + reference, expires_in: PUSHED_REQUEST_LIFETIME_SECONDS }
}

/** Whether an authorize request refers to one that was pushed here. */
export const isPushedRequest = (params: URLSearchParams): boolean =>
  single(params, 'request_uri')?.startsWith(PREFIX) ?? false

/**
 * The parameters that the request_uri of an authorize request stands for; what else its URL says does not count, but for
 * client_id (RFC 9126, section 4; RFC 9101, section 5). Works once (section 7.3), whatever the request then comes to: the
 * browser is sent on from authorize, so that a person who reloads a page reloads that of the interaction. Throws OAuthError
 * invalid_request_uri that is not redirected, since where to is what it does not tell. One statement.
 */
export async function takePushedRequest(
  tenant: string,
  params: URLSearchParams,
  now = new Date(),
): Promise<URLSearchParams> {
  const clientId = single(params, 'client_id')
  if (!clientId || !isClientId(clientId)) throw unproven('client_id is missing, repeated or malformed.')
  const reference = (single(params, 'request_uri') ?? '').slice(PREFIX.length)
  const pushed = await deletePushedRequest(sql, tenant, sha256(reference), clientId, now)
  if (!pushed)
    throw new OAuthError('invalid_request_uri', 'The request_uri is unknown, expired or used up.', {
      redirect: false,
      why: await whyRefused(tenant, sha256(reference), clientId),
    })
  return new URLSearchParams(pushed)
}

/** Why a request_uri was refused, for the log: one statement, only after a refusal. */
async function whyRefused(tenant: string, requestHash: Buffer, clientId: string): Promise<Why> {
  const found = await selectPushedRequest(sql, tenant, requestHash)
  if (!found) return { reason: 'it was used before, was never pushed here, or expired a while ago' }
  if (found.clientId !== clientId)
    return { reason: 'another client pushed it', pushed_by: found.clientId, client_id: clientId }
  return { reason: 'it has expired', expired_at: found.expiresAt.toISOString() }
}
