import { deployment, TRY_URL } from '../../config.ts'

/** How an application authenticates at the token endpoint. */
export type TriedClient = {
  readonly id: string
  readonly requirePushedRequests: boolean
  readonly dpopBoundAccessTokens: boolean
  readonly tokenEndpointAuthMethod: string | null | undefined
}

/** What a sign-in brought: the decoded ID token and the members of the token response that are no secret; or an error. */
export type Tried =
  | { kind: 'tokens'; header: object; claims: object; scope: string; tokenType: string; expiresIn: number }
  | { kind: 'code' }
  | { kind: 'error'; error: string; description: string }

/** A sign-in that is under way. */
export type Attempt = { state: string; verifier: string; secret: string | null }

type TokenResponse = Partial<Record<'id_token' | 'access_token' | 'scope' | 'token_type', string>> & {
  expires_in?: number
  error?: string
  error_description?: string
}

const toBase64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const randomText = (): string => toBase64url(crypto.getRandomValues(new Uint8Array(32)))

export const createAttempt = (secret: string | null): Attempt => ({
  state: randomText(),
  verifier: randomText(),
  secret: secret || null,
})

const ENDPOINTS = `${deployment.issuer}/oidc`

/** Sends a form as the application. */
async function post(
  path: string,
  { id, tokenEndpointAuthMethod }: TriedClient,
  { secret }: Attempt,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const isInForm = tokenEndpointAuthMethod === 'CLIENT_SECRET_POST'
  return fetch(`${ENDPOINTS}/${path}`, {
    method: 'POST',
    body: new URLSearchParams({
      ...form,
      client_id: id,
      ...(secret && isInForm && { client_secret: secret }),
    }),
    headers: {
      ...headers,
      ...(secret &&
        !isInForm && {
          authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}`,
        }),
    },
    // The application does not get the cookies of the person.
    credentials: 'omit',
  })
}

/** The URL that starts the sign-in. Throws Error with the words of a pushed request that was rejected. */
export async function buildTriedUrl(client: TriedClient, attempt: Attempt): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(attempt.verifier))
  const parameters = {
    client_id: client.id,
    redirect_uri: TRY_URL,
    response_type: 'code',
    scope: 'openid profile email',
    state: attempt.state,
    nonce: attempt.state,
    code_challenge: toBase64url(new Uint8Array(hash)),
    code_challenge_method: 'S256',
  }
  if (!client.requirePushedRequests) return `${ENDPOINTS}/authorize?${new URLSearchParams(parameters)}`
  const response = await post('par', client, attempt, parameters)
  const body = (await response.json()) as { request_uri?: string; error_description?: string }
  if (!body.request_uri) throw new Error(body.error_description ?? response.statusText)
  return `${ENDPOINTS}/authorize?${new URLSearchParams({ client_id: client.id, request_uri: body.request_uri })}`
}

const decodePart = (part: string | undefined): object =>
  JSON.parse(
    new TextDecoder().decode(
      Uint8Array.from(atob((part ?? '').replaceAll('-', '+').replaceAll('_', '/')), (text) =>
        text.charCodeAt(0),
      ),
    ),
  ) as object

/** Asks the token endpoint; once more with the nonce that it wants for a proof (RFC 9449, section 8). */
async function redeem(client: TriedClient, attempt: Attempt, code: string): Promise<TokenResponse> {
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: TRY_URL,
    code_verifier: attempt.verifier,
  }
  const prove = client.dpopBoundAccessTokens ? await createProver() : null
  const send = async (nonce?: string) =>
    post('token', client, attempt, form, prove ? { dpop: await prove(nonce) } : {})
  const first = await send()
  const nonce = first.headers.get('dpop-nonce')
  const response = first.status === 400 && prove && nonce ? await send(nonce) : first
  return (await response.json()) as TokenResponse
}

async function createProver(): Promise<(nonce?: string) => Promise<string>> {
  const { generateKeyPair, generateProof } = await import('dpop')
  const pair = await generateKeyPair('ES256')
  return (nonce) => generateProof(pair, `${ENDPOINTS}/token`, 'POST', nonce)
}

/**
 * Reads the answer of a sign-in, whose tokens are revoked at once; null for that of another attempt. A code that only the
 * application can redeem stays unused.
 */
export async function readAnswer(
  client: TriedClient,
  attempt: Attempt,
  url: string,
  canRedeem: boolean,
): Promise<Tried | null> {
  const answer = new URL(url).searchParams
  if (answer.get('state') !== attempt.state) return null
  const toError = (error: string, description: string | null | undefined): Tried => ({
    kind: 'error',
    error,
    description: description ?? '',
  })
  const code = answer.get('code')
  if (code === null) return toError(answer.get('error') ?? 'no code', answer.get('error_description'))
  if (!canRedeem) return { kind: 'code' }
  const { id_token, access_token, scope, token_type, expires_in, ...rest } = await redeem(
    client,
    attempt,
    code,
  )
  if (!id_token || !access_token) return toError(rest.error ?? 'no token', rest.error_description)
  await post('revoke', client, attempt, { token: access_token })
  const [header, claims] = id_token.split('.').slice(0, 2).map(decodePart)
  return {
    kind: 'tokens',
    header: header ?? {},
    claims: claims ?? {},
    scope: scope ?? '',
    tokenType: token_type ?? '',
    expiresIn: expires_in ?? 0,
  }
}
