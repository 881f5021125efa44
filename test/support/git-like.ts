import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { listenOnLoopback } from './loopback.ts'

const CLIENT = { clientId: 'vestibule', clientSecret: 'aSecretOfTheForge' }

/**
 * Starts an OAuth 2.0 server like that of GitHub: no ID token, no issuer, users with a numeric id, and a
 * token response with its own members. A sign-in takes the user of `login_hint`. It verifies redirect URI,
 * client secret and PKCE, and accepts a code once.
 */
export async function startGitLike(callback: string) {
  const codes = new Map<string, { user: string; challenge: string }>()
  const tokens = new Map<string, string>()
  /** What the user endpoint returns besides the id. */
  const profiles: Record<string, object> = {}

  function authorize(params: URLSearchParams): string {
    if (params.get('redirect_uri') !== callback) throw new Error('unknown redirect URI')
    const code = randomUUID()
    codes.set(code, {
      user: params.get('login_hint') ?? '',
      challenge: params.get('code_challenge') ?? '',
    })
    return `${callback}?${new URLSearchParams({ code, state: params.get('state') ?? '' })}`
  }

  function redeem(form: URLSearchParams, authorization: string | undefined): object {
    const expected = `Basic ${Buffer.from(`${CLIENT.clientId}:${CLIENT.clientSecret}`).toString('base64')}`
    const grant = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (authorization !== expected) return { error: 'incorrect_client_credentials' }
    if (grant?.challenge !== challenge) return { error: 'bad_verification_code' }
    const token = randomUUID()
    tokens.set(token, grant.user)
    return { access_token: token, token_type: 'bearer', scope: 'read:user,user:email' }
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://forge')
    if (url.pathname === '/authorize')
      return void response.writeHead(302, { location: authorize(url.searchParams) }).end()
    const user = tokens.get(request.headers.authorization?.replace('Bearer ', '') ?? '')
    const body =
      url.pathname === '/token'
        ? redeem(new URLSearchParams(await text(request)), request.headers.authorization)
        : user && { id: Number(user), login: `user${user}`, email: null, ...profiles[user] }
    response
      .writeHead(body ? 200 : 401, { 'content-type': 'application/json' })
      .end(JSON.stringify(body ?? {}))
  })
  const origin = `http://127.0.0.1:${await listenOnLoopback(server)}`
  return {
    origin,
    profiles,
    configuration: {
      ...CLIENT,
      scopes: 'read:user user:email',
      authorizationEndpoint: `${origin}/authorize`,
      tokenEndpoint: `${origin}/token`,
      userInfoEndpoint: `${origin}/user`,
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
