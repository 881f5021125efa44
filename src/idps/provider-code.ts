import { SignJWT } from 'jose'
import { askProvider, clientIdOf, jsonOf, type Provider, refusedProof } from './provider.ts'
import { applePrivateKeyOf } from './provider-keys.ts'

/** Apple takes up to six months; it is used at once. */
const APPLE_SECRET_SECONDS = 300

/** Apple's client secret is a statement that the client signs with the key from Apple ("Creating a client secret"). */
async function appleSecret(provider: Provider): Promise<string> {
  const { clientSecret, platformTeamId, platformKid } = provider.row
  const key = clientSecret ? applePrivateKeyOf(clientSecret) : null
  if (!key || !platformTeamId || !platformKid)
    throw refusedProof(
      'idpId',
      'is a provider without the key from Apple (clientSecret, platformTeamId, platformKid)',
    )
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: platformKid })
    .setIssuer(platformTeamId)
    .setSubject(clientIdOf(provider))
    .setAudience(provider.issuer ?? '')
    .setIssuedAt(now)
    .setExpirationTime(now + APPLE_SECRET_SECONDS)
    .sign(key)
}

/** RFC 6749, section 2.3.1: both are form-encoded before they are joined. */
const encoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

/** Posts a form to the provider as our client; a client without a secret only names itself. Throws Unavailable. */
export async function postAsClient(
  provider: Provider,
  url: string,
  form: Record<string, string>,
): Promise<Response> {
  const clientId = clientIdOf(provider)
  const { clientSecret, type } = provider.row
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  }
  const body = new URLSearchParams(form)
  if (clientSecret && type !== 'apple' && (await provider.clientAuthentication()) === 'basic')
    headers.authorization = `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64')}`
  else {
    body.set('client_id', clientId)
    if (clientSecret) body.set('client_secret', type === 'apple' ? await appleSecret(provider) : clientSecret)
  }
  return askProvider(url, { method: 'POST', headers, body: body.toString() })
}

/** RFC 6749, section 5.2. Other words of the provider's are not repeated: they may quote what was sent. */
const ERRORS = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
]

export type CodeProof = { code: string; redirectUri: string | null; codeVerifier: string | null }
export type ExchangedTokens = { idToken: string | null; accessToken: string | null }

/**
 * Redeems an authorization code at the provider (RFC 6749, section 4.1.3; RFC 7636). Throws InvalidInput about `code` with
 * the provider's error, or Unavailable.
 */
export async function exchangeCode(provider: Provider, proof: CodeProof): Promise<ExchangedTokens> {
  const url = await provider.endpoint('tokenEndpoint')
  if (!url) throw refusedProof('code', 'cannot be checked: the provider has no tokenEndpoint')
  const response = await postAsClient(provider, url, {
    grant_type: 'authorization_code',
    code: proof.code,
    ...(proof.redirectUri && { redirect_uri: proof.redirectUri }),
    ...(proof.codeVerifier && { code_verifier: proof.codeVerifier }),
  })
  const body = await jsonOf(response)
  // Some answer 200 with an error.
  if (response.status !== 200 || body.error !== undefined) {
    const known = ERRORS.find((error) => error === body.error)
    throw refusedProof('code', `is not accepted by the provider${known ? `: ${known}` : ''}`)
  }
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)
  return { idToken: text(body.id_token), accessToken: text(body.access_token) }
}
