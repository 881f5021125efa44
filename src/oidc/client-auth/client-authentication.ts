import { type CachedClient, findClient, isClientSecret } from '../../clients/client-cache.ts'
import type { Ctx } from '../../ctx.ts'
import { OAuthError, type Why } from '../../errors.ts'
import { spend } from '../../limits.ts'
import { issuerOf } from '../keys/keys.ts'
import { isPublic } from './auth-methods.ts'
import { assertionFault, clientAsserted, JWT_BEARER } from './client-assertions.ts'

/** What a request says of its client. */
export type ClientCredentials = { clientId: string } & (
  | { method: 'client_secret_basic' | 'client_secret_post'; secret: string }
  | { method: 'private_key_jwt'; assertion: string; type: string | undefined }
  | { method: 'none' }
)

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
  return clientId && secret !== null ? { method: 'client_secret_basic', clientId, secret } : null
}

/** By the form: client_id may be left out beside an assertion, which names the client (RFC 7521, section 4.2). */
function readBody(form: Record<string, string>): ClientCredentials | null {
  const { client_id, client_secret, client_assertion: assertion, client_assertion_type: type } = form
  const clientId = client_id ?? (assertion === undefined ? null : clientAsserted(assertion))
  if (!clientId) return null
  if (assertion !== undefined) return { method: 'private_key_jwt', clientId, assertion, type }
  if (client_secret !== undefined) return { method: 'client_secret_post', clientId, secret: client_secret }
  return { method: 'none', clientId }
}

/**
 * Reads how a client authenticates (RFC 6749, section 2.3; RFC 7523, section 2.2). Null when it does not say who it is, or
 * says it in a way that cannot be read. Throws OAuthError invalid_request for two ways at once.
 */
export function readClientCredentials(
  authorization: string | null,
  form: Record<string, string>,
): ClientCredentials | null {
  const ways = [authorization ?? undefined, form.client_secret, form.client_assertion]
  const credentials = authorization === null ? readBody(form) : readBasic(authorization)
  const isOtherId = credentials !== null && (form.client_id ?? credentials.clientId) !== credentials.clientId
  if (isOtherId || ways.filter((way) => way !== undefined).length > 1)
    throw new OAuthError('invalid_request', 'The client must authenticate in one way only.', {
      why: {
        reason: isOtherId
          ? 'client_id is not that of the header'
          : 'several methods of client authentication',
      },
    })
  return credentials
}

/**
 * Authenticates the client of a request to `endpoint`, a URL of ours: client_secret_basic, client_secret_post or
 * private_key_jwt for web and machine clients, none for public ones, which may not present a secret. Throws OAuthError
 * invalid_client, the same for every reason, with a challenge if it used the header; RateLimited when a network fails too
 * often.
 */
export async function authenticateClient(
  caller: Pick<Ctx, 'tenant' | 'ip'>,
  credentials: ClientCredentials | null,
  { endpoint, usedHeader }: { endpoint: string; usedHeader: boolean },
): Promise<CachedClient> {
  const client = credentials && (await findClient(caller.tenant, credentials.clientId))
  const why = !credentials
    ? { reason: 'the request does not say who the client is' }
    : client
      ? await faultOf(caller.tenant, client, credentials, endpoint)
      : { reason: 'there is no such client', method: credentials.method }
  if (client && !why) return client
  await spend('clientAuthentication', caller.tenant, caller.ip)
  throw new OAuthError('invalid_client', 'Client authentication failed.', {
    status: 401,
    // RFC 6749, section 5.2: the scheme that the client used.
    headers: usedHeader ? { 'www-authenticate': `Basic realm="${issuerOf(caller.tenant)}"` } : {},
    why: why ?? {},
  })
}

/** Why the credentials are not the client's; null when they are. */
async function faultOf(
  tenant: string,
  client: CachedClient,
  credentials: ClientCredentials,
  endpoint: string,
): Promise<Why | null> {
  const { method } = credentials
  if (isPublic(client) !== (method === 'none'))
    return { reason: `a ${client.appType} client does not authenticate like this`, method }
  if (credentials.method === 'none') return null
  if (credentials.method !== 'private_key_jwt')
    return isClientSecret(client, credentials.secret)
      ? null
      : { reason: 'the secret is not one of the client, or no longer', method }
  if (credentials.type !== JWT_BEARER)
    return {
      reason: 'client_assertion_type is another',
      method,
      // Another text may be the assertion, in the wrong place.
      given: credentials.type?.startsWith('urn:') ? credentials.type : null,
      expected: JWT_BEARER,
    }
  const fault = await assertionFault(tenant, client, credentials.assertion, endpoint)
  return fault && { ...fault, method }
}
