import { seal, UnsealError, unseal } from '../core/crypto.ts'
import { issuerOf } from '../core/issuer.ts'
import { addQueryParameters } from '../http/redirects.ts'

/**
 * The URL that starts a sign-in at a client (OIDC Core, section 4); null when the client has no
 * initiateLoginUrl.
 */
export const buildInitiationUrl = (
  tenant: string,
  client: { id: string; initiateLoginUrl: string | null } | null,
): string | null =>
  client?.initiateLoginUrl
    ? addQueryParameters(`${issuerOf(tenant)}/oidc/initiate`, { client_id: client.id })
    : null

const toPurpose = (tenant: string): string => `next-client:${tenant}`

/** The parameter `next_client` of pages that lead on to a client after an invitation, which only this server makes. */
export const sealNextClient = (tenant: string, clientId: string | null): string =>
  clientId === null ? 'none' : seal(toPurpose(tenant), clientId)

/** The id of the client that `next_client` names; null for `none` and for anything that this server did not make. */
export function openNextClient(tenant: string, sealed: string): string | null {
  try {
    return unseal(toPurpose(tenant), sealed).toString()
  } catch (error) {
    if (error instanceof UnsealError) return null
    throw error
  }
}
