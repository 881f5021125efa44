import { randomBytes } from 'node:crypto'
import { getCookie, type H3, type H3Event } from 'h3'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { randomToken, sha256Base64url } from '../core/crypto.ts'
import { env } from '../core/env.ts'
import { errorMessage } from '../core/error-message.ts'
import { readQuery } from '../http/request.http.ts'
import { renderPage } from '../pages/render-page.pages.tsx'
import { DEMO_ADDRESSES, DEMO_ORIGINS, DEMO_TENANT, getDemoClients } from './demo.ts'
import { DemoClientPage } from './demo-client.pages.tsx'

/**
 * The demo relying party of a development server. Like any relying party it has the discovery document, its
 * client id and its secret. Never added in production.
 */
const START_PATH = '/dev/client'
const CALLBACK_PATH = `${START_PATH}/callback`
const ISSUER = `${env.baseUrl}/${DEMO_TENANT}`
const COOKIE = 'vst_demo_client'
const COOKIE_RULES = `Path=${START_PATH}; HttpOnly; SameSite=Lax`
const SIGN_IN_SECONDS = 600

/** The state of a sign-in that the browser keeps in a cookie until the callback. */
type PendingSignIn = { state: string; nonce: string; verifier: string; redirectUri: string }
type DiscoveryDocument = Record<
  | 'issuer'
  | 'authorization_endpoint'
  | 'token_endpoint'
  | 'userinfo_endpoint'
  | 'end_session_endpoint'
  | 'jwks_uri',
  string
>

/** The origin of the request, when its callback is registered. */
const resolveDemoOrigin = (event: H3Event): string => {
  const requested = `http://${event.req.headers.get('host')}`
  return DEMO_ORIGINS.find((origin) => origin === requested) ?? env.baseUrl
}

/**
 * Fetches a URL of this server at the address of the incoming request, because BASE_URL may lead through a
 * proxy.
 */
async function fetchFromSelf<Body>(event: H3Event, url: string, init?: RequestInit): Promise<Body> {
  const { localAddress = '127.0.0.1', localPort = env.port } = event.runtime?.node?.req.socket ?? {}
  const host = localAddress.includes(':') ? `[${localAddress}]` : localAddress
  const response = await fetch(url.replace(env.baseUrl, `http://${host}:${localPort}`), {
    ...init,
    signal: AbortSignal.timeout(10_000),
  })
  const body = (await response.json()) as Body & { error?: string; error_description?: string }
  if (!response.ok)
    throw new Error(body.error_description ?? body.error ?? `${url} answered ${response.status}`)
  return body
}

const fetchDiscovery = (event: H3Event) =>
  fetchFromSelf<DiscoveryDocument>(event, `${ISSUER}/.well-known/openid-configuration`)

const createRedirect = (location: string | URL, cookie: string): Response =>
  new Response(null, {
    status: 303,
    headers: { location: String(location), 'set-cookie': cookie, 'cache-control': 'no-store' },
  })

function renderDemoPage(
  error: string | null,
  signedIn: { claims: Record<string, unknown>; signOutUrl: string } | null,
): Response {
  const client = { name: getDemoClients().web.name }
  const response = renderPage(
    DemoClientPage({
      client,
      signInUrl: `${START_PATH}/sign-in`,
      inboxUrl: '/dev/inbox',
      addresses: DEMO_ADDRESSES,
      error,
      signedIn,
    }),
    { status: error ? 400 : 200 },
  )
  response.headers.append('set-cookie', `${COOKIE}=; ${COOKIE_RULES}; Max-Age=0`)
  return response
}

/** Redirects the browser to the authorize endpoint (OIDC Core, section 3.1.2.1; RFC 7636, section 4.3). */
async function startSignIn(event: H3Event): Promise<Response> {
  const pending: PendingSignIn = {
    state: randomToken(),
    nonce: randomToken(),
    verifier: randomBytes(32).toString('base64url'),
    redirectUri: `${resolveDemoOrigin(event)}${CALLBACK_PATH}`,
  }
  const { authorization_endpoint } = await fetchDiscovery(event)
  const url = new URL(authorization_endpoint)
  url.search = new URLSearchParams({
    client_id: getDemoClients().web.clientId,
    response_type: 'code',
    scope: 'openid profile email phone',
    redirect_uri: pending.redirectUri,
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: sha256Base64url(pending.verifier),
    code_challenge_method: 'S256',
  }).toString()
  const kept = Buffer.from(JSON.stringify(pending)).toString('base64url')
  return createRedirect(url, `${COOKIE}=${kept}; ${COOKIE_RULES}; Max-Age=${SIGN_IN_SECONDS}`)
}

/**
 * Handles the callback: validates the response, redeems the code, verifies the ID token and requests
 * userinfo.
 */
async function finishSignIn(event: H3Event): Promise<Response> {
  const kept = getCookie(event, COOKIE)
  const answer = readQuery(event)
  if (!kept) throw new Error('No sign-in was started in this browser, or it took longer than ten minutes.')
  const pending = JSON.parse(Buffer.from(kept, 'base64url').toString()) as PendingSignIn
  // RFC 6749, section 10.12; RFC 9207, section 2.4.
  if (answer.get('state') !== pending.state || answer.get('iss') !== ISSUER)
    throw new Error('The response belongs to another sign-in.')
  const error = answer.get('error')
  if (error) throw new Error(answer.get('error_description') ?? error)

  const provider = await fetchDiscovery(event)
  const { clientId, clientSecret } = getDemoClients().web
  const tokens = await fetchFromSelf<{ access_token: string; id_token: string }>(
    event,
    provider.token_endpoint,
    {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: answer.get('code') ?? '',
        redirect_uri: pending.redirectUri,
        code_verifier: pending.verifier,
      }),
    },
  )
  const keys = createLocalJWKSet(await fetchFromSelf<JSONWebKeySet>(event, provider.jwks_uri))
  const { payload } = await jwtVerify(tokens.id_token, keys, {
    issuer: ISSUER,
    audience: clientId,
    algorithms: ['ES256'],
  })
  if (payload.nonce !== pending.nonce) throw new Error('The ID token belongs to another sign-in.')
  const userinfo = await fetchFromSelf<{ sub: string }>(event, provider.userinfo_endpoint, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  })
  if (userinfo.sub !== payload.sub) throw new Error('The userinfo response is about another user.')

  const signOut = new URL(provider.end_session_endpoint)
  signOut.searchParams.set('id_token_hint', tokens.id_token)
  signOut.searchParams.set('post_logout_redirect_uri', new URL(START_PATH, pending.redirectUri).href)
  return renderDemoPage(null, { claims: { ...payload, ...userinfo }, signOutUrl: signOut.href })
}

/** Adds `/dev/client`, a page to try a sign-in, if the demo tenant exists. */
export function addDemoClientRoutes(app: H3): void {
  if (!env.demo) return
  const renderErrors = (work: (event: H3Event) => Promise<Response>) => (event: H3Event) =>
    work(event).catch((error: unknown) => renderDemoPage(errorMessage(error), null))
  app.get(START_PATH, () => renderDemoPage(null, null))
  app.get(`${START_PATH}/sign-in`, renderErrors(startSignIn))
  app.get(CALLBACK_PATH, renderErrors(finishSignIn))
}
