import { type CachedClient, findClient } from '../../access/client-cache.ts'
import { issuerOf } from '../../core/issuer.ts'
import { addQueryParameters } from '../../http/redirects.ts'
import { findUrlIssue } from '../../schema/url-shapes.ts'
import { createUnredirectableError } from '../model/request-parameters.ts'

/** The URLs of a client: its sign-in page, and those that define its origins. */
type InitiatingClient = {
  id: string
  initiateLoginUrl: string | null
  callbacks: readonly string[]
  allowedOrigins: readonly string[]
}

const listClientOrigins = ({ initiateLoginUrl, callbacks, allowedOrigins }: InitiatingClient): string[] =>
  [initiateLoginUrl ?? [], callbacks, allowedOrigins].flat().map((url) => new URL(url).origin)

/**
 * The client and the URL of a third-party initiated login: the client's initiateLoginUrl with `iss`, `login_hint` and
 * `target_link_uri` (OIDC Core, section 4). Throws OAuthError, never redirected, for an unknown client, one
 * without initiateLoginUrl, and a target outside the client's origins, which would be an open redirect.
 */
export async function buildLoginInitiationUrl(
  tenant: string,
  params: Record<string, string>,
): Promise<{ client: CachedClient; url: string }> {
  const { client_id: clientId, target_link_uri: target = null, login_hint: loginHint = null } = params
  if (!clientId) throw createUnredirectableError('client_id is missing.')
  const client = await findClient(tenant, clientId)
  if (!client) throw createUnredirectableError('The client_id is unknown.')
  if (!client.initiateLoginUrl)
    throw createUnredirectableError('The client has no page that starts a sign-in.')
  const issue = target === null ? null : findTargetLinkIssue(client, target)
  if (issue)
    throw createUnredirectableError('The target_link_uri does not belong to the client.', {
      target_link_uri: target,
      reason: issue,
    })
  const url = addQueryParameters(client.initiateLoginUrl, {
    iss: issuerOf(tenant),
    login_hint: loginHint,
    target_link_uri: target,
  })
  return { client, url }
}

/** Why a target does not belong to the client; null when it does. */
function findTargetLinkIssue(client: InitiatingClient, target: string): string | null {
  const issue = findUrlIssue(target, { fragment: true })
  if (issue) return issue
  const origins = listClientOrigins(client)
  return origins.includes(new URL(target).origin) ? null : `is at none of the origins ${origins.join(' ')}`
}
