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
