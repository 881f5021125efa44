import { findClient } from '../../clients/client-cache.ts'
import { urlFault } from '../../fields.ts'
import { issuerOf } from '../keys/keys.ts'
import { unproven } from './parameters.ts'
import { withParameters } from './redirect-uris.ts'

/** What a client registered of itself that says where a sign-in starts, and which places are its own. */
type StartingClient = {
  id: string
  initiateLoginUrl: string | null
  callbacks: readonly string[]
  allowedOrigins: readonly string[]
}

/** Our address that has a client start a sign-in, with its id alone; null for a client that named no such page of its own. */
export const initiationOf = (
  tenant: string,
  client: Pick<StartingClient, 'id' | 'initiateLoginUrl'> | null,
): string | null =>
  client?.initiateLoginUrl
    ? withParameters(`${issuerOf(tenant)}/oidc/initiate`, { client_id: client.id })
    : null

const originsOf = ({ initiateLoginUrl, callbacks, allowedOrigins }: StartingClient): string[] =>
  [initiateLoginUrl ?? [], callbacks, allowedOrigins].flat().map((url) => new URL(url).origin)

/**
 * Where a third party's request to sign somebody in at a client goes: the client's initiateLoginUrl with `iss`, and with
 * `login_hint` and `target_link_uri` as they were given (OIDC Core, section 4). Throws OAuthError, which is never redirected, for an
 * unknown client, one that named no such page, and a target that is at none of the client's own origins: it would be
 * handed on as if we vouched for it.
 */
export async function initiatedLogin(tenant: string, params: Record<string, string>): Promise<string> {
  const { client_id: clientId, target_link_uri: target = null, login_hint: loginHint = null } = params
  if (!clientId) throw unproven('client_id is missing.')
  const client = await findClient(tenant, clientId)
  if (!client) throw unproven('The client_id is not known.')
  if (!client.initiateLoginUrl) throw unproven('The client has no page that starts a sign-in.')
  const fault = target === null ? null : targetFault(client, target)
  if (fault)
    throw unproven('The target_link_uri is not the client’s own.', { target_link_uri: target, fault })
  return withParameters(client.initiateLoginUrl, {
    iss: issuerOf(tenant),
    login_hint: loginHint,
    target_link_uri: target,
  })
}

/** Why a target is none of the client's places, or null. */
function targetFault(client: StartingClient, target: string): string | null {
  const fault = urlFault(target, { fragment: true })
  if (fault) return fault
  const origins = originsOf(client)
  return origins.includes(new URL(target).origin) ? null : `is at none of ${origins.join(' ')}`
}
