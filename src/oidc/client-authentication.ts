import { type CachedClient, findClient, isClientSecret } from '../clients/client-cache.ts'
import type { Ctx } from '../ctx.ts'
import { OAuthError } from '../errors.ts'
import { spend } from '../limits.ts'
import { issuerOf } from './keys.ts'

/** Clients that can keep no secret; PKCE stands in for it (RFC 6749, section 2.1). */
export const isPublic = (client: { appType: string }): boolean =>
  client.appType === 'single-page' || client.appType === 'native'

/** What a request says of its client. */
export type ClientCredentials = { clientId: string; secret: string | null; isBasic: boolean }

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i

/** Id and secret are form-encoded before they become a Basic credential (RFC 6749, section 2.3.1). */
function formDecode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null // a percent sign that encodes nothing
  }
}

function readBasic(authorization: string): ClientCredentials | null {
  const pair = Buffer.from(BASIC.exec(authorization)?.[1] ?? '', 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  if (colon < 1) return null
  const [clientId, secret] = [formDecode(pair.slice(0, colon)), formDecode(pair.slice(colon + 1))]
  return clientId && secret !== null ? { clientId, secret, isBasic: true } : null
}

/**
 * Reads how a client authenticates (RFC 6749, section 2.3). Null when it does not say who it is, or says it in a way
 * that cannot be read. Throws OAuthError invalid_request for two ways at once.
 */
export function readClientCredentials(
  authorization: string | null,
  form: Record<string, string>,
): ClientCredentials | null {
  if (authorization === null)
    return form.client_id
      ? { clientId: form.client_id, secret: form.client_secret ?? null, isBasic: false }
      : null
  const credentials = readBasic(authorization)
  if (
    form.client_secret !== undefined ||
    (credentials && (form.client_id ?? credentials.clientId) !== credentials.clientId)
  )
    throw new OAuthError('invalid_request', 'The client must authenticate in one way only.')
  return credentials
}

/**
 * Authenticates the client of a token request: client_secret_basic or client_secret_post for web and machine clients,
 * none for public ones, which may not present a secret. Throws OAuthError invalid_client, the same for every reason;
 * RateLimited when a network fails too often.
 */
export async function authenticateClient(
  caller: Pick<Ctx, 'tenant' | 'ip'>,
  authorization: string | null,
  form: Record<string, string>,
): Promise<CachedClient> {
  const credentials = readClientCredentials(authorization, form)
  const client = credentials && (await findClient(caller.tenant, credentials.clientId))
  if (credentials && client && proves(client, credentials)) return client
  await spend('clientAuthentication', caller.tenant, caller.ip)
  throw new OAuthError('invalid_client', 'Client authentication failed.', {
    status: 401,
    // RFC 6749, section 5.2: the scheme that the client used.
    headers: authorization === null ? {} : { 'www-authenticate': `Basic realm="${issuerOf(caller.tenant)}"` },
  })
}

const proves = (client: CachedClient, { secret, isBasic }: ClientCredentials): boolean =>
  isPublic(client) ? secret === null && !isBasic : secret !== null && isClientSecret(client, secret)
