import { randomBytes } from 'node:crypto'
import { getCookie, type H3, type H3Event } from 'h3'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { randomToken, sha256Base64url } from '../crypto.ts'
import { env } from '../env.ts'
import { targetOf } from '../http.ts'
import { renderPage } from '../oidc/pages/render-page.pages.tsx'
import { DEMO_ADDRESSES, DEMO_ORIGINS, DEMO_TENANT, demoClients } from './demo.ts'
import { DemoClientPage } from './demo-client.pages.tsx'

/**
 * The relying party that a development server brings along. It knows of the platform what any other would: the
 * discovery document, its id and its secret. Never added in production.
 */
const START = '/dev/client'
const CALLBACK = `${START}/callback`
const ISSUER = `${env.baseUrl}/${DEMO_TENANT}`
const COOKIE = 'vst_demo_client'
const COOKIE_RULES = `Path=${START}; HttpOnly; SameSite=Lax`
const SIGN_IN_SECONDS = 600

/** What the browser keeps between the two halves of a sign-in. */
type Pending = { state: string; nonce: string; verifier: string; redirectUri: string }
type Discovery = Record<
  | 'issuer'
  | 'authorization_endpoint'
  | 'token_endpoint'
  | 'userinfo_endpoint'
  | 'end_session_endpoint'
  | 'jwks_uri',
  string
>

/** The origin that the browser came to, when it is one of those whose callback is registered. */
const originOf = (event: H3Event): string => {
  const asked = `http://${event.req.headers.get('host')}`
  return DEMO_ORIGINS.find((origin) => origin === asked) ?? env.baseUrl
}

/** Fetches a URL of the platform at the address that this request came in on: BASE_URL may lead through a proxy. */
async function fetchOwn<Body>(event: H3Event, url: string, init?: RequestInit): Promise<Body> {
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

const discover = (event: H3Event) => fetchOwn<Discovery>(event, `${ISSUER}/.well-known/openid-configuration`)

const redirect = (location: string | URL, cookie: string): Response =>
  new Response(null, {
    status: 303,
    headers: { location: String(location), 'set-cookie': cookie, 'cache-control': 'no-store' },
  })

function page(
  fault: string | null,
  signedIn: { claims: Record<string, unknown>; signOutUrl: string } | null,
): Response {
  const client = { name: demoClients().web.name }
  const response = renderPage(
    DemoClientPage({
      client,
      signInUrl: `${START}/sign-in`,
      inboxUrl: '/dev/inbox',
      addresses: DEMO_ADDRESSES,
      fault,
      signedIn,
    }),
    { status: fault ? 400 : 200 },
  )
  response.headers.append('set-cookie', `${COOKIE}=; ${COOKIE_RULES}; Max-Age=0`)
  return response
}

/** First half: sends the browser to the authorize endpoint (OIDC Core, section 3.1.2.1; RFC 7636, section 4.3). */
async function startSignIn(event: H3Event): Promise<Response> {
  const pending: Pending = {
    state: randomToken(),
    nonce: randomToken(),
    verifier: randomBytes(32).toString('base64url'),
    redirectUri: `${originOf(event)}${CALLBACK}`,
  }
  const { authorization_endpoint } = await discover(event)
  const url = new URL(authorization_endpoint)
  url.search = new URLSearchParams({
    client_id: demoClients().web.clientId,
    response_type: 'code',
    scope: 'openid profile email phone',
    redirect_uri: pending.redirectUri,
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: sha256Base64url(pending.verifier),
    code_challenge_method: 'S256',
  }).toString()
  const kept = Buffer.from(JSON.stringify(pending)).toString('base64url')
  return redirect(url, `${COOKIE}=${kept}; ${COOKIE_RULES}; Max-Age=${SIGN_IN_SECONDS}`)
}

/** Second half: checks the answer, redeems the code, verifies the ID token and asks userinfo. */
async function finishSignIn(event: H3Event): Promise<Response> {
  const kept = getCookie(event, COOKIE)
  const answer = targetOf(event).query
  if (!kept) throw new Error('No sign-in was started in this browser, or it took longer than ten minutes.')
  const pending = JSON.parse(Buffer.from(kept, 'base64url').toString()) as Pending
  // RFC 6749, section 10.12; RFC 9207, section 2.4.
  if (answer.get('state') !== pending.state || answer.get('iss') !== ISSUER)
    throw new Error('The answer belongs to another sign-in.')
  const error = answer.get('error')
  if (error) throw new Error(answer.get('error_description') ?? error)

  const provider = await discover(event)
  const { clientId, clientSecret } = demoClients().web
  const tokens = await fetchOwn<{ access_token: string; id_token: string }>(event, provider.token_endpoint, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: answer.get('code') ?? '',
      redirect_uri: pending.redirectUri,
      code_verifier: pending.verifier,
    }),
  })
  const keys = createLocalJWKSet(await fetchOwn<JSONWebKeySet>(event, provider.jwks_uri))
  const { payload } = await jwtVerify(tokens.id_token, keys, {
    issuer: ISSUER,
    audience: clientId,
    algorithms: ['ES256'],
  })
  if (payload.nonce !== pending.nonce) throw new Error('The ID token belongs to another sign-in.')
  const userinfo = await fetchOwn<{ sub: string }>(event, provider.userinfo_endpoint, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  })
  if (userinfo.sub !== payload.sub) throw new Error('userinfo is about somebody else.')

  const signOut = new URL(provider.end_session_endpoint)
  signOut.searchParams.set('id_token_hint', tokens.id_token)
  signOut.searchParams.set('post_logout_redirect_uri', new URL(START, pending.redirectUri).href)
  return page(null, { claims: { ...payload, ...userinfo }, signOutUrl: signOut.href })
}

/** Adds `/dev/client`, where a person can try a sign-in; nothing when there is no demo tenant. */
export function addDemoClientRoutes(app: H3): void {
  if (!env.demo) return
  const orFault = (work: (event: H3Event) => Promise<Response>) => (event: H3Event) =>
    work(event).catch((error: unknown) => page(error instanceof Error ? error.message : String(error), null))
  app.get(START, () => page(null, null))
  app.get(`${START}/sign-in`, orFault(startSignIn))
  app.get(CALLBACK, orFault(finishSignIn))
}
