import { seal, UnsealError, unseal } from '../../core/crypto.ts'
import type { IdentityProvider } from '../../generated/prisma/client.ts'
import { buildLogoutCallbackUrl } from '../callback-url.ts'
import { toProvider } from './provider.ts'
import { withinSignInDeadline } from './provider-deadline.ts'
import { findEndpoint } from './provider-metadata.ts'

/** The purpose of a sealed ID token of a provider. */
export const toIdTokenPurpose = (tenant: string): string => `provider-id-token:${tenant}`

/** Longer ones are not kept: the URL of the logout would be too long for some servers. */
const MAX_ID_TOKEN_CHARACTERS = 5000

/** Encrypts an ID token until the logout; null for one that is too long. */
export const sealIdToken = (tenant: string, idToken: string): string | null =>
  idToken.length <= MAX_ID_TOKEN_CHARACTERS ? seal(toIdTokenPurpose(tenant), idToken) : null

/** The token is a hint only: without it, the provider asks the user. */
function unsealIdToken(tenant: string, sealed: string | null): string | null {
  if (sealed === null) return null
  try {
    return unseal(toIdTokenPurpose(tenant), sealed).toString()
  } catch (error) {
    if (error instanceof UnsealError) return null
    throw error
  }
}

/**
 * Returns the URL of the logout at a provider (RP-Initiated Logout 1.0, section 2); null for one without an end
 * session endpoint. Throws Unavailable when the metadata cannot be fetched within 3 s.
 */
export async function buildEndSessionUrl(
  row: IdentityProvider,
  { idToken, state }: { idToken: string | null; state: string },
): Promise<string | null> {
  const endpoint = await withinSignInDeadline(() => findEndpoint(toProvider(row), 'endSessionEndpoint'))
  if (!endpoint || !/^https?:/i.test(endpoint)) return null
  const url = new URL(endpoint)
  const parameters = {
    id_token_hint: unsealIdToken(row.tenantId, idToken),
    client_id: row.clientId,
    post_logout_redirect_uri: buildLogoutCallbackUrl(row.tenantId, row.id),
    state,
  }
  for (const [name, value] of Object.entries(parameters)) if (value) url.searchParams.set(name, value)
  return url.href
}
