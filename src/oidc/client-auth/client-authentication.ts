import { type CachedClient, findClient, isCurrentClientSecret } from '../../access/client-cache.ts'
import type { Ctx } from '../../context/context.ts'
import { consumeLimit } from '../../coordination/rate-limits.ts'
import { issuerOf } from '../../core/issuer.ts'
import { type Diagnostics, OAuthError } from '../../core/oauth-error.ts'
import { isPublicClient } from '../../model/public-clients.ts'
import { findAssertionIssue, JWT_BEARER, readAssertedClientId } from './client-assertions.ts'

/** The credentials that a request presents for its client. */
export type ClientCredentials = { clientId: string } & (
  | { method: 'client_secret_basic' | 'client_secret_post'; secret: string }
  | { method: 'private_key_jwt'; assertion: string; type: string | undefined }
  | { method: 'none' }
)

const BASIC_AUTHORIZATION = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i

/** Id and secret are form-encoded in Basic credentials (RFC 6749, section 2.3.1). */
function decodeFormText(text: string): string | null {
  if (!/[%+]/.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return null // malformed percent-encoding
  }
}

function parseBasicCredentials(authorization: string): ClientCredentials | null {
  const pair = Buffer.from(BASIC_AUTHORIZATION.exec(authorization)?.[1] ?? '', 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  if (colon < 1) return null
  const [clientId, secret] = [decodeFormText(pair.slice(0, colon)), decodeFormText(pair.slice(colon + 1))]
  return clientId && secret !== null ? { method: 'client_secret_basic', clientId, secret } : null
}

/**
 * Credentials in the form; client_id may be omitted with an assertion, which names the client (RFC 7521,
 * section 4.2).
 */
function parseBodyCredentials(form: Record<string, string>): ClientCredentials | null {
  const { client_id, client_secret, client_assertion: assertion, client_assertion_type: type } = form
  const clientId = client_id ?? (assertion === undefined ? null : readAssertedClientId(assertion))
  if (!clientId) return null
  if (assertion !== undefined) return { method: 'private_key_jwt', clientId, assertion, type }
  if (client_secret !== undefined) return { method: 'client_secret_post', clientId, secret: client_secret }
  return { method: 'none', clientId }
}

/**
 * Reads how a client authenticates (RFC 6749, section 2.3; RFC 7523, section 2.2). Null when the request
 * identifies no client, or in a malformed way. Throws OAuthError invalid_request for more than one method.
 */
export function readClientCredentials(
  authorization: string | null,
  form: Record<string, string>,
): ClientCredentials | null {
  const methods = [authorization ?? undefined, form.client_secret, form.client_assertion]
  const credentials =
    authorization === null ? parseBodyCredentials(form) : parseBasicCredentials(authorization)
  const isOtherId = credentials !== null && (form.client_id ?? credentials.clientId) !== credentials.clientId
  if (isOtherId || methods.filter((method) => method !== undefined).length > 1)
    throw new OAuthError('invalid_request', 'The client must use only one authentication method.', {
      diagnostics: {
        reason: isOtherId
          ? 'client_id is not the one in the Authorization header'
          : 'several methods of client authentication',
      },
    })
  return credentials
}

/**
 * Authenticates the client of a request to the URL `endpoint`: client_secret_basic, client_secret_post or
 * private_key_jwt for web and machine clients, unless one of them is demanded; none for public clients, which may not
 * present a secret.
 * Throws OAuthError invalid_client, the same for every reason, with a challenge when the request used the
 * Authorization header; RateLimited when a network fails too often.
 */
export async function authenticateClient(
  caller: Pick<Ctx, 'tenant' | 'ip' | 'db'>,
  credentials: ClientCredentials | null,
  { endpoint, usedHeader }: { endpoint: string; usedHeader: boolean },
): Promise<CachedClient> {
  const client = credentials && (await findClient(caller.tenant, credentials.clientId))
  const diagnostics = !credentials
    ? { reason: 'the request does not identify a client' }
    : client
      ? await findCredentialIssue(caller, client, credentials, endpoint)
      : { reason: 'the client is unknown', method: credentials.method }
  if (client && !diagnostics) return client
  await consumeLimit('clientAuthentication', caller.tenant, caller.ip)
  throw new OAuthError('invalid_client', 'Client authentication failed.', {
    status: 401,
    // RFC 6749, section 5.2: the challenge matches the scheme of the request.
    headers: usedHeader ? { 'www-authenticate': `Basic realm="${issuerOf(caller.tenant)}"` } : {},
    diagnostics: diagnostics ?? {},
  })
}

/** Diagnostics for invalid credentials; null when they are valid. */
async function findCredentialIssue(
  caller: Pick<Ctx, 'tenant' | 'ip' | 'db'>,
  client: CachedClient,
  credentials: ClientCredentials,
  endpoint: string,
): Promise<Diagnostics | null> {
  const { method } = credentials
  if (isPublicClient(client) !== (method === 'none'))
    return { reason: `a ${client.appType} client does not use this authentication method`, method }
  if (credentials.method === 'none') return null
  if (client.tokenEndpointAuthMethod !== null && client.tokenEndpointAuthMethod !== method)
    return {
      reason: 'the client must use another authentication method',
      method,
      expected: client.tokenEndpointAuthMethod,
    }
  if (credentials.method !== 'private_key_jwt')
    return isCurrentClientSecret(client, credentials.secret)
      ? null
      : { reason: 'the secret is wrong or has expired', method }
  if (credentials.type !== JWT_BEARER)
    return {
      reason: 'client_assertion_type is not supported',
      method,
      // Any other text may be an assertion in the wrong parameter.
      given: credentials.type?.startsWith('urn:') ? credentials.type : null,
      expected: JWT_BEARER,
    }
  const issue = await findAssertionIssue(caller, client, credentials.assertion, endpoint)
  return issue && { ...issue, method }
}
