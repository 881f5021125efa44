import * as oauth from 'oauth4webapi'
import { API, CALLBACK_URL, CONSOLE_PATH, deployment, GRAPHQL_URL } from '../config.ts'
import { t } from '../words/words.ts'

/**
 * The sign-in of the console: the authorization code flow with PKCE of a public client, whose tokens are bound to a key
 * by DPoP (RFC 9449). Tokens and key are in memory only. The state of a redirect is in the session storage until the
 * browser comes back; it opens nothing.
 */
const STORED_STATE = 'console.sign-in'
/** Access tokens are renewed so long before they expire. */
const RENEWAL_MS = 30_000

type StoredState = { state: string; verifier: string; returnTo: string }
type Tokens = {
  accessToken: string
  refreshToken: string | undefined
  idToken: string | undefined
  scopes: string[]
  expiresAt: number
}

const client: oauth.Client = { client_id: deployment.clientId }
const options = { [oauth.allowInsecureRequests]: deployment.issuer.startsWith('http:') }

/** The sign-in could not be completed. */
export class SignInError extends Error {
  override name = 'SignInError'
}

let server: Promise<oauth.AuthorizationServer> | undefined
const discover = (): Promise<oauth.AuthorizationServer> => {
  const issuer = new URL(deployment.issuer)
  server ??= oauth
    .discoveryRequest(issuer, options)
    .then((response) => oauth.processDiscoveryResponse(issuer, response))
  server.catch(() => {
    server = undefined
  })
  return server
}

/** The key of the page, which cannot be exported, and the proofs of requests by it. */
let key: Promise<{ pair: CryptoKeyPair; handle: oauth.DPoPHandle }> | undefined
const getKey = () => {
  key ??= oauth
    .generateKeyPair('ES256')
    .then((pair) => ({ pair: pair as CryptoKeyPair, handle: oauth.DPoP(client, pair) }))
  return key
}
const getProof = async (): Promise<oauth.DPoPHandle> => (await getKey()).handle

/** Sends a request once more when the server asks for a nonce (RFC 9449, section 8). */
async function withNonce<Result>(request: () => Promise<Result>): Promise<Result> {
  try {
    return await request()
  } catch (error) {
    if (!oauth.isDPoPNonceError(error)) throw error
    return request()
  }
}

/** Leads a browser that found the server by another name to the origin of the issuer, to which the tokens belong. */
export async function leadToIssuer(): Promise<void> {
  const { origin } = new URL(deployment.issuer)
  if (location.origin === origin) return
  location.replace(origin + location.pathname + location.search)
  await new Promise(() => {})
}

/**
 * Leads the browser to the sign-in page, for the tenant or to manage one organization. The promise never settles.
 */
export async function startSignIn(
  returnTo: string = location.pathname + location.search,
  organizationId?: string,
): Promise<never> {
  const { authorization_endpoint: endpoint, scopes_supported: scopes = [] } = await discover()
  if (!endpoint) throw new SignInError(t('The server has no authorization endpoint.'))
  const stored: StoredState = {
    state: oauth.generateRandomState(),
    verifier: oauth.generateRandomCodeVerifier(),
    returnTo,
  }
  sessionStorage.setItem(STORED_STATE, JSON.stringify(stored))
  const url = new URL(endpoint)
  url.search = new URLSearchParams({
    client_id: client.client_id,
    response_type: 'code',
    redirect_uri: CALLBACK_URL,
    scope: organizationId
      ? 'openid organization'
      : ['openid', ...scopes.filter((scope) => scope.includes(':'))].join(' '),
    ...(organizationId && { organization: organizationId }),
    resource: API,
    state: stored.state,
    code_challenge: await oauth.calculatePKCECodeChallenge(stored.verifier),
    code_challenge_method: 'S256',
  }).toString()
  location.assign(url)
  return new Promise(() => {})
}

const toTokens = ({
  access_token,
  refresh_token,
  id_token,
  scope = '',
  expires_in = 0,
}: oauth.TokenEndpointResponse): Tokens => ({
  accessToken: access_token,
  refreshToken: refresh_token,
  idToken: id_token,
  scopes: scope.split(' '),
  expiresAt: Date.now() + expires_in * 1000,
})

async function redeemCode(): Promise<Tokens> {
  const stored = JSON.parse(sessionStorage.getItem(STORED_STATE) ?? 'null') as StoredState | null
  sessionStorage.removeItem(STORED_STATE)
  if (!stored) return startSignIn(CONSOLE_PATH)
  const [as, DPoP] = await Promise.all([discover(), getProof()])
  const parameters = oauth.validateAuthResponse(as, client, new URL(location.href), stored.state)
  const tokens = await withNonce(async () =>
    oauth.processAuthorizationCodeResponse(
      as,
      client,
      await oauth.authorizationCodeGrantRequest(
        as,
        client,
        oauth.None(),
        parameters,
        CALLBACK_URL,
        stored.verifier,
        { ...options, DPoP },
      ),
    ),
  )
  history.replaceState(null, '', stored.returnTo)
  return toTokens(tokens)
}

async function renew(refreshToken: string): Promise<Tokens> {
  const [as, DPoP] = await Promise.all([discover(), getProof()])
  const tokens = await withNonce(async () =>
    oauth.processRefreshTokenResponse(
      as,
      client,
      await oauth.refreshTokenGrantRequest(as, client, oauth.None(), refreshToken, { ...options, DPoP }),
    ),
  )
  return toTokens(tokens)
}

let tokens: Promise<Tokens> | undefined

/** Completes a sign-in, or starts one. Returns the scopes that were granted. Throws SignInError and the errors of OAuth. */
export async function completeSignIn(): Promise<readonly string[]> {
  tokens = location.href.startsWith(`${CALLBACK_URL}?`) ? redeemCode() : startSignIn()
  return (await tokens).scopes
}

/** The session of the browser has ended. */
export class SignedOutError extends Error {
  override name = 'SignedOutError'
}

/** The tokens, renewed if necessary. Throws SignedOutError. */
async function getTokens(): Promise<Tokens> {
  const known = tokens
  const current = await known
  // Concurrent callers wait for one renewal.
  if (tokens !== known) return getTokens()
  if (current && current.expiresAt - RENEWAL_MS > Date.now()) return current
  if (!current?.refreshToken) throw new SignedOutError(t('You are signed out.'))
  const renewal = renew(current.refreshToken).catch((error: unknown) => {
    // Or the server was not reached: then the next call tries again.
    if (error instanceof oauth.ResponseBodyError) throw new SignedOutError(t('You are signed out.'))
    tokens = known
    throw error
  })
  tokens = renewal
  return renewal
}

/** `fetch` with the access token and a proof of its key. */
export const fetchWithToken: typeof fetch = async (input, init = {}) => {
  const [{ accessToken }, DPoP] = await Promise.all([
    getTokens().catch((error: unknown) => {
      if (error instanceof SignedOutError) return startSignIn()
      throw error
    }),
    getProof(),
  ])
  const send = () =>
    oauth.protectedResourceRequest(
      accessToken,
      init.method ?? 'GET',
      new URL(String(input)),
      new Headers(init.headers),
      (init.body ?? null) as string | null,
      { ...options, DPoP, signal: init.signal ?? undefined },
    )
  try {
    return await withNonce(send)
  } catch (error) {
    // The session has ended, or the token was revoked.
    if (isTokenRejection(error)) return startSignIn()
    throw error
  }
}

const isTokenRejection = (error: unknown): boolean =>
  error instanceof oauth.WWWAuthenticateChallengeError &&
  error.cause.some(({ parameters }) => parameters.error === 'invalid_token')

let socketNonce: string | undefined

/**
 * The parameters of a WebSocket: the access token, and a proof of its key for the request that opens the socket. Throws
 * SignedOutError: only what the person does leads to the sign-in.
 */
export async function createSocketParams(): Promise<Record<string, string>> {
  const [{ accessToken }, { pair }, { generateProof }] = await Promise.all([
    getTokens(),
    getKey(),
    import('dpop'),
  ])
  const proof = await generateProof(pair, GRAPHQL_URL, 'GET', socketNonce, accessToken)
  return { authorization: `DPoP ${accessToken}`, dpop: proof }
}

const REJECTED_CODE = 4403

/** Reads why a socket was closed: the next one needs a proof with another nonce, or another token. */
export function readSocketRejection({ code, reason }: CloseEvent): void {
  const nonce = /^use_dpop_nonce (\S+)$/.exec(reason)?.[1]
  socketNonce = nonce ?? socketNonce
  if (code === REJECTED_CODE && nonce === undefined)
    tokens = tokens?.then((rejected) => ({ ...rejected, expiresAt: 0 }))
}

/** Ends the session of the browser. */
export async function signOut(): Promise<void> {
  const [{ end_session_endpoint: endpoint }, current] = await Promise.all([discover(), tokens])
  if (!endpoint) return
  const url = new URL(endpoint)
  url.search = new URLSearchParams({
    client_id: client.client_id,
    ...(current?.idToken && { id_token_hint: current.idToken }),
    post_logout_redirect_uri: `${deployment.issuer}/console`,
  }).toString()
  location.assign(url)
}
