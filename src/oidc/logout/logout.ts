import { type CachedClient, findClient } from '../../access/client-cache.ts'
import { addQueryParameters } from '../../http/redirects.ts'
import { diagnoseUnregisteredUri } from '../model/redirect-diagnostics.ts'
import { isRegisteredRedirect } from '../model/redirect-uris.ts'
import { createUnredirectableError } from '../model/request-parameters.ts'
import { type IdTokenHint, verifyIdTokenHint } from '../token/id-tokens.ts'

/** A validated logout request (RP-Initiated Logout 1.0, section 2). */
export type LogoutRequest = {
  client: CachedClient | null
  /** The session that the id_token_hint was issued in. */
  hintedSessionId: string | null
  /** The user that the id_token_hint was issued for. */
  hintedUserId: string | null
  logoutHint: string | null
  /** The post_logout_redirect_uri with `state`; null when the request has none. */
  returnTo: string | null
}

/** Compared like callbacks: a native application signs out on any loopback port, too. */
const isRegisteredLogoutUrl = (
  { appType, registeredBy, allowedLogoutUrls }: CachedClient,
  uri: string,
): boolean => isRegisteredRedirect({ appType, registeredBy, callbacks: allowedLogoutUrls }, uri)

/** Throws OAuthError, never redirected, unless the target is a logout URL of the named client. */
function requireRegisteredTarget(
  target: string,
  client: CachedClient | null,
  hint: IdTokenHint | null,
): void {
  if (!client)
    throw createUnredirectableError(
      hint
        ? 'The client of the id_token_hint no longer exists.'
        : 'The post_logout_redirect_uri needs an id_token_hint or a client_id: no client was named.',
      { given: target, ...(hint && { client_id: hint.clientId }) },
    )
  if (!isRegisteredLogoutUrl(client, target))
    throw createUnredirectableError('The post_logout_redirect_uri is not registered for this client.', {
      client_id: client.id,
      ...diagnoseUnregisteredUri(client, target, client.allowedLogoutUrls, 'allowedLogoutUrls'),
    })
}

/**
 * Validates a logout request. Throws OAuthError, never redirected, for an id_token_hint that is not from this
 * issuer or was issued to another client, an unknown client, and a post_logout_redirect_uri that is not
 * registered (see isRegisteredRedirect) or whose client is not named.
 */
export async function parseLogoutRequest(
  tenant: string,
  params: Record<string, string>,
): Promise<LogoutRequest> {
  if (Object.values(params).some((value) => value.includes('\u0000')))
    throw createUnredirectableError('A parameter contains U+0000.')
  const hint = params.id_token_hint ? await verifyIdTokenHint(tenant, params.id_token_hint) : null
  if (hint && params.client_id && params.client_id !== hint.clientId)
    throw createUnredirectableError('The id_token_hint was issued to another client.', {
      issued_to: hint.clientId,
    })
  const clientId = hint?.clientId ?? params.client_id
  const client = clientId ? await findClient(tenant, clientId) : null
  if (params.client_id && !client) throw createUnredirectableError('The client_id is unknown.')
  const target = params.post_logout_redirect_uri
  if (target) requireRegisteredTarget(target, client, hint)
  return {
    client,
    hintedSessionId: hint?.sessionId ?? null,
    hintedUserId: hint?.userId ?? null,
    logoutHint: params.logout_hint || null,
    returnTo: target ? addQueryParameters(target, { state: params.state ?? null }) : null,
  }
}
