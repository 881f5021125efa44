import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose'
import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../support/process.ts'

// The issuer must be where the provider listens: the environment is read with the first import of src.
const port = await freePort()
process.env.BASE_URL = `http://localhost:${port}`
process.env.PORT = String(port)
const { newTenant } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { authorizePath, Browser, makeClient, makeUser, REDIRECT_URI, signInAt } = await import('./provider.ts')

type TestClient = Awaited<ReturnType<typeof makeClient>>

let app: Awaited<ReturnType<typeof startApp>>
let tenant: string
let issuer: string
let client: TestClient
let userId: string
let browser: InstanceType<typeof Browser>
let server: Server
let api: string
/** Serves the API, and may ask what a token is worth. */
let owner: TestClient
const OTHER_API = 'https://stock.example.com'
const insecure = { execute: [oidc.allowInsecureRequests] }

/** An API of somebody else: it knows the issuer and its own name, and validates as RFC 9068, section 4 says. */
async function startResourceServer(): Promise<{ server: Server; url: string }> {
  const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`))
  const listening = createServer(async (request, response) => {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const answer = await jwtVerify(token, keys, {
      issuer,
      audience: api,
      typ: 'at+jwt',
      requiredClaims: ['sub', 'client_id', 'exp', 'iat', 'jti'],
    }).then(
      ({ payload }) => ({ status: 200, body: payload as object }),
      (error) => ({
        status: 401,
        body: { reason: error instanceof errors.JOSEError ? error.message : 'fault' },
      }),
    )
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  }).listen(0, '127.0.0.1')
  await once(listening, 'listening')
  return { server: listening, url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}/orders` }
}

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  issuer = `http://localhost:${port}/${tenant}`
  const started = await startResourceServer()
  server = started.server
  api = started.url
  client = await makeClient(tenant)
  owner = await makeClient(tenant, { resources: [api] })
  await makeClient(tenant, { resources: [OTHER_API] })
  userId = (await makeUser(tenant, 'ada@example.com')).id
  browser = new Browser(app)
  await signInAt(browser, authorizePath(tenant, client), 'ada@example.com')
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await app.close()
})

const configOf = ({ id, secret }: TestClient) =>
  oidc.discovery(new URL(issuer), id, secret, undefined, insecure)

async function call(
  token: string | undefined,
): Promise<{ status: number; body: JWTPayload & { reason?: string } }> {
  const response = await fetch(api, { headers: { authorization: `Bearer ${token}` } })
  return { status: response.status, body: (await response.json()) as JWTPayload }
}

/** The code flow of a relying party that names the APIs which it wants to call. */
async function signIn(resources: string[], first: string[] = []) {
  const config = await configOf(client)
  const checks = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedState: oidc.randomState(),
    idTokenExpected: true,
  }
  const parameters = new URLSearchParams({
    redirect_uri: REDIRECT_URI,
    scope: 'openid offline_access',
    state: checks.expectedState,
    prompt: 'none',
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  for (const resource of resources) parameters.append('resource', resource)
  const url = oidc.buildAuthorizationUrl(config, parameters)
  const answer = await browser.fetch(url.pathname + url.search)
  const location = new URL(answer.headers.get('location') as string)
  const more = new URLSearchParams(first.map((resource): [string, string] => ['resource', resource]))
  return { config, tokens: await oidc.authorizationCodeGrant(config, location, checks, more) }
}

describe('a resource server that verifies by the published keys (RFC 9068, section 4; RFC 8707)', () => {
  test('takes a token that a relying party asked for by its name, fresh and refreshed', async () => {
    const { config, tokens } = await signIn([api])
    expect(await call(tokens.access_token)).toMatchObject({
      status: 200,
      body: { sub: userId, client_id: client.id },
    })
    const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token as string)
    expect((await call(refreshed.access_token)).status).toBe(200)
  })

  test('takes the one of several tokens that is for it', async () => {
    const { config, tokens } = await signIn([OTHER_API, api], [OTHER_API])
    expect(await call(tokens.access_token)).toMatchObject({
      status: 401,
      body: { reason: expect.stringContaining('"aud"') },
    })
    const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token as string, { resource: api })
    expect((await call(refreshed.access_token)).body).toMatchObject({ aud: [api, `${issuer}/oidc/userinfo`] })
  })

  test('refuses a token that was not asked for by its name, and an ID token', async () => {
    const { tokens } = await signIn([])
    expect(await call(tokens.access_token)).toMatchObject({
      status: 401,
      body: { reason: expect.stringContaining('"aud"') },
    })
    expect((await call(tokens.id_token)).status).toBe(401)
    expect((await call(tokens.refresh_token)).status).toBe(401)
  })

  test("takes a machine's token, which is worth nothing at the management surface", async () => {
    const machine = await makeClient(tenant, { appType: 'machine', callbacks: [], scopes: ['users:read'] })
    const config = await configOf(machine)
    const tokens = await oidc.clientCredentialsGrant(config, { resource: api, scope: 'users:read' })
    expect(await call(tokens.access_token)).toMatchObject({
      status: 200,
      body: { aud: api, sub: machine.id, client_id: machine.id, scope: 'users:read' },
    })
    expect((await app.rest(tenant, tokens.access_token, 'GET', '/users')).status).toBe(401)
    await expect(
      oidc.clientCredentialsGrant(config, { resource: 'https://nobody.example' }),
    ).rejects.toMatchObject({
      error: 'invalid_target',
    })
  })

  test('learns by introspection at once that a token was revoked; by the keys, not before exp', async () => {
    const { config, tokens } = await signIn([api])
    const asOwner = await configOf(owner)
    expect(await oidc.tokenIntrospection(asOwner, tokens.access_token)).toMatchObject({
      active: true,
      sub: userId,
      aud: api,
    })
    await oidc.tokenRevocation(config, tokens.access_token)
    expect(await oidc.tokenIntrospection(asOwner, tokens.access_token)).toEqual({ active: false })
    expect((await call(tokens.access_token)).status).toBe(200)
  })
})
