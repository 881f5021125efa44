import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { CompactSign, exportJWK, generateKeyPair, type JWK, type JWTPayload } from 'jose'
import { Provider } from 'oidc-provider'
import * as oidc from 'openid-client'
import { env } from '../../src/core/env.ts'
import { listenOnLoopback } from './loopback.ts'

/**
 * A real OpenID provider (node-oidc-provider) on this machine; a sign-in takes any subject without a
 * credential.
 */
export type Upstream = {
  issuer: string
  /** Endpoints, as an administrator would configure them. */
  endpoints: {
    authorizationEndpoint: string
    tokenEndpoint: string
    userInfoEndpoint: string
    jwksUri: string
  }
  client: { clientId: string; clientSecret: string }
  redirectUri: string
  /** An authorization code for a subject, as the browser delivers it to the callback. */
  codeFor: (subject: string, options?: SignInOptions) => Promise<CodeProof>
  /** The tokens of such a sign-in, redeemed by openid-client. */
  tokensFor: (subject: string, options?: SignInOptions) => Promise<{ idToken: string; accessToken: string }>
  /** An ID token with any claims, signed with the provider's own key. */
  sign: (claims: JWTPayload, header?: { typ?: string; alg?: 'ES256' | 'RS256' }) => Promise<string>
  /** Sets the claims by their text. */
  signText: (claims: string, header?: { typ?: string; alg?: 'ES256' | 'RS256' }) => Promise<string>
  /** Sends a logout token about a session, as at the user's logout there. Throws unless it is accepted. */
  logOut: (subject: string, sid: string) => Promise<void>
  /** Runs before the provider answers a path, until it is removed; returns true if it has answered itself. */
  before: Map<string, (request: IncomingMessage, response: ServerResponse) => Promise<boolean> | boolean>
  /** The claims about every subject besides `sub`; null for those of the subject. */
  claims: Record<string, unknown> | null
  /** Paths of the requests, in order. */
  asked: string[]
  /** Responses of the token endpoint with tokens, in order. */
  issued: { access_token: string; refresh_token?: string; scope?: string }[]
  /** The published keys. */
  publicJwks: JWK[]
  close: () => void
}
export type SignInOptions = { clientId?: string; nonce?: string; scope?: string }
export type CodeProof = { code: string; redirectUri: string; codeVerifier: string }

const REDIRECT_URI = 'https://app.example/callback'
/** The secret of every client; it needs encoding before it goes into a Basic header. */
const SECRET = 'secret:of/upstream+client&with=signs%20'

const toClientMetadata = (client_id: string, redirectUris: string[], more: object = {}) => ({
  client_id,
  client_secret: SECRET,
  redirect_uris: [REDIRECT_URI, ...redirectUris],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code' as const],
  ...more,
})

/** Signing keys of a provider; a key for RS256 takes up to half a second to make. */
export async function createUpstreamKeys() {
  const keys = []
  for (const alg of ['RS256', 'ES256'] as const) {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
    const kid = `upstream-${alg}`
    const jwk = async (key: CryptoKey) => ({ ...(await exportJWK(key)), alg, kid, use: 'sig' })
    keys.push({ alg, kid, privateKey, privateJwk: await jwk(privateKey), publicJwk: await jwk(publicKey) })
  }
  return keys
}

/** A browser of its own: returns where each page redirects to. */
export function openUpstreamBrowser() {
  const cookies = new Map<string, string>()
  const load = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', ...init, headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return response
  }
  const visit = async (url: string): Promise<string> => {
    const response = await load(url)
    const location = response.headers.get('location')
    if (!location) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
    return new URL(location, url).href
  }
  return Object.assign(visit, { load })
}

/**
 * Starts the provider with two clients, `vestibule` and `another`. `redirectUris` are further ones of both,
 * `metadata` is that of `vestibule`. The provider sends its requests to `origin` instead of BASE_URL.
 */
export async function startUpstream(
  made = createUpstreamKeys(),
  redirectUris: string[] = [],
  { metadata = {}, origin = env.baseUrl }: { metadata?: object; origin?: string } = {},
): Promise<Upstream> {
  const keys = await made
  const before: Upstream['before'] = new Map()
  const asked: string[] = []
  const issued: Upstream['issued'] = []
  const server = createServer()
  const issuer = `http://127.0.0.1:${await listenOnLoopback(server)}`
  const provider = new Provider(issuer, {
    clients: [
      toClientMetadata('vestibule', redirectUris, metadata),
      toClientMetadata('another', redirectUris),
    ],
    // Without its dispatcher, which rejects loopback addresses.
    fetch: (url, { method, headers, body, redirect }: RequestInit = {}) =>
      fetch(String(url).replace(env.baseUrl, origin), { method, headers, body, redirect }),
    jwks: { keys: keys.map(({ privateJwk }) => privateJwk) as never },
    cookies: { keys: ['test'] },
    acrValues: ['gold', 'silver', 'bronze'],
    claims: {
      openid: ['sub', 'acr', 'amr', 'acrs'],
      email: ['email', 'email_verified'],
      profile: ['name', 'login', 'blog', 'groups', 'realm_access', 'https://hr.example/roles'],
    },
    conformIdTokenClaims: false,
    pkce: { required: () => false },
    scopes: ['openid', 'offline_access'],
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: false },
      introspection: { enabled: true },
      backchannelLogout: { enabled: true },
    },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      IdToken: 600,
      Interaction: 600,
      Session: 600,
      Grant: 600,
    },
    findAccount: (_ctx, sub) => ({
      accountId: sub,
      claims: () => ({
        sub,
        ...(upstream.claims ?? {
          name: `Person ${sub}`,
          email: `${sub}@upstream.example`,
          email_verified: false,
        }),
      }),
    }),
  })

  /** Signs in the user of the login_hint and grants every scope. */
  async function finish(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { params, prompt, session } = await provider.interactionDetails(request, response)
    if (prompt.name === 'login')
      return provider.interactionFinished(request, response, {
        login: {
          accountId: String(params.login_hint),
          acr: upstream.claims?.acr as string,
          amr: upstream.claims?.amr as string[],
        },
      })
    const grant = new provider.Grant({ accountId: session?.accountId, clientId: String(params.client_id) })
    grant.addOIDCScope(String(params.scope))
    const grantId = await grant.save()
    return provider.interactionFinished(request, response, { consent: { grantId } })
  }

  function recordTokens(response: ServerResponse): void {
    const end = response.end.bind(response) as (body: string) => ServerResponse
    response.end = ((body: string) => {
      if (response.statusCode === 200) issued.push(JSON.parse(String(body)))
      return end(body)
    }) as typeof response.end
  }

  const answer = provider.callback()
  server.on('request', async (request, response) => {
    const path = request.url?.split('?', 1)[0] ?? ''
    asked.push(path)
    if (await before.get(path)?.(request, response)) return
    if (path === '/token') recordTokens(response)
    if (path.startsWith('/interaction/')) await finish(request, response)
    else await answer(request, response)
  })

  const discover = (clientId: string) =>
    oidc.discovery(new URL(issuer), clientId, SECRET, oidc.ClientSecretBasic(SECRET), {
      execute: [oidc.allowInsecureRequests],
    })

  async function signIn(subject: string, { clientId = 'vestibule', nonce, scope }: SignInOptions = {}) {
    const config = await discover(clientId)
    const codeVerifier = oidc.randomPKCECodeVerifier()
    let url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: scope ?? 'openid email profile',
      login_hint: subject,
      code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      ...(nonce && { nonce }),
    }).href
    const visit = openUpstreamBrowser()
    while (!url.startsWith(REDIRECT_URI)) url = await visit(url)
    return { config, url: new URL(url), codeVerifier, nonce }
  }

  const upstream: Upstream = {
    issuer,
    claims: null,
    endpoints: {
      authorizationEndpoint: `${issuer}/auth`,
      tokenEndpoint: `${issuer}/token`,
      userInfoEndpoint: `${issuer}/me`,
      jwksUri: `${issuer}/jwks`,
    },
    client: { clientId: 'vestibule', clientSecret: SECRET },
    redirectUri: REDIRECT_URI,
    codeFor: async (subject, options) => {
      const { url, codeVerifier } = await signIn(subject, options)
      return { code: url.searchParams.get('code') ?? '', redirectUri: REDIRECT_URI, codeVerifier }
    },
    tokensFor: async (subject, options) => {
      const { config, url, codeVerifier, nonce } = await signIn(subject, options)
      const tokens = await oidc.authorizationCodeGrant(config, url, {
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
        ...(nonce && { expectedNonce: nonce }),
      })
      return { idToken: tokens.id_token ?? '', accessToken: tokens.access_token }
    },
    sign: (claims, header) => upstream.signText(JSON.stringify(claims), header),
    signText: (claims, { typ, alg = 'ES256' } = {}) => {
      const key = keys.find((each) => each.alg === alg)
      if (!key) throw new Error(`no key for ${alg}`)
      return new CompactSign(new TextEncoder().encode(claims))
        .setProtectedHeader({ alg, kid: key.kid, ...(typ && { typ }) })
        .sign(key.privateKey)
    },
    logOut: async (subject, sid) => {
      const client = await provider.Client.find('vestibule')
      await (client as unknown as { backchannelLogout: Upstream['logOut'] }).backchannelLogout(subject, sid)
    },
    before,
    asked,
    issued,
    publicJwks: keys.map(({ publicJwk }) => publicJwk),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return upstream
}
