import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from 'jose'
import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { test as base, fetchAt, startRequest } from '../../support/openid-client.ts'
import type { Origin } from '../../support/protocol.ts'

const OTHER_API = 'https://stock.example.com'

/**
 * Starts an API that validates access tokens as RFC 9068, section 4 requires, by the published keys alone.
 */
async function startResourceServer(app: Origin, issuer: string) {
  const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`), { [customFetch]: fetchAt(app) })
  const server = createServer(async (request, response) => {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const answer = await jwtVerify(token, keys, {
      issuer,
      audience: url,
      typ: 'at+jwt',
      requiredClaims: ['sub', 'client_id', 'exp', 'iat', 'jti'],
    }).then(
      ({ payload }) => ({ status: 200, body: payload as object }),
      (error) => ({
        status: 401,
        body: { reason: error instanceof errors.JOSEError ? error.message : 'other error' },
      }),
    )
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`
  return {
    url,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** `test` with a resource server, the client that declares it, and sign-ins that request resources. */
const test = base
  .extend('api', { scope: 'file' }, async ({ app, issuer }, { onCleanup }) => {
    const api = await startResourceServer(app, issuer)
    onCleanup(api.close)
    return api
  })
  /** Declares `api`, and may introspect tokens for it. */
  .extend('owner', { scope: 'file' }, async ({ newClient, api }) => {
    await newClient({ resources: [OTHER_API] })
    return newClient({ resources: [api.url] })
  })
  .extend('callApi', { scope: 'file' }, ({ api }) => async (token: string | undefined) => {
    const response = await fetch(api.url, { headers: { authorization: `Bearer ${token}` } })
    const body = (await response.json()) as JWTPayload & { reason?: string }
    return { status: response.status, body }
  })
  /** Runs the code flow for resources; `first` selects those of the first access token. */
  .extend(
    'signInFor',
    { scope: 'file' },
    ({ client, owner, discover, visitor }) =>
      async (resources: string[], first: string[] = []) => {
        if (!owner) throw new Error('the resources are not declared')
        const config = await discover(client)
        const { checks, path } = await startRequest(config, {
          scope: 'openid offline_access',
          prompt: 'none',
        })
        const requested = resources.map((resource) => `&resource=${encodeURIComponent(resource)}`).join('')
        const answer = await visitor.browser.fetch(path + requested)
        const location = new URL(answer.headers.get('location') as string)
        const more = new URLSearchParams(first.map((resource): [string, string] => ['resource', resource]))
        return { config, tokens: await openid.authorizationCodeGrant(config, location, checks, more) }
      },
  )

describe('a resource server that verifies tokens by the published keys (RFC 9068, section 4; RFC 8707)', () => {
  test('accepts a token that a relying party requested for it, and a refreshed one', async ({
    client,
    visitor,
    api,
    callApi,
    signInFor,
  }) => {
    const { config, tokens } = await signInFor([api.url])
    expect(await callApi(tokens.access_token)).toMatchObject({
      status: 200,
      body: { sub: visitor.user.id, client_id: client.id },
    })
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token as string)
    expect((await callApi(refreshed.access_token)).status).toBe(200)
  })

  test('accepts only the token with its audience', async ({ issuer, api, callApi, signInFor }) => {
    const { config, tokens } = await signInFor([OTHER_API, api.url], [OTHER_API])
    expect(await callApi(tokens.access_token)).toMatchObject({
      status: 401,
      body: { reason: expect.stringContaining('"aud"') },
    })
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token as string, {
      resource: api.url,
    })
    expect((await callApi(refreshed.access_token)).body).toMatchObject({
      aud: [api.url, `${issuer}/oidc/userinfo`],
    })
  })

  test('rejects a token without its audience, an ID token and a refresh token', async ({
    callApi,
    signInFor,
  }) => {
    const { tokens } = await signInFor([])
    expect(await callApi(tokens.access_token)).toMatchObject({
      status: 401,
      body: { reason: expect.stringContaining('"aud"') },
    })
    expect((await callApi(tokens.id_token)).status).toBe(401)
    expect((await callApi(tokens.refresh_token)).status).toBe(401)
  })

  test('accepts the token of a machine client, which the management API rejects', async ({
    rest,
    newClient,
    discover,
    api,
    callApi,
  }) => {
    const machine = await newClient({ appType: 'machine', callbacks: [], scopes: ['users:read'] })
    const config = await discover(machine)
    const tokens = await openid.clientCredentialsGrant(config, { resource: api.url, scope: 'users:read' })
    expect(await callApi(tokens.access_token)).toMatchObject({
      status: 200,
      body: { aud: api.url, sub: machine.id, client_id: machine.id, scope: 'users:read' },
    })
    expect((await rest('GET', '/users', undefined, { token: tokens.access_token })).status).toBe(401)
    await expect(
      openid.clientCredentialsGrant(config, { resource: 'https://unknown.example' }),
    ).rejects.toMatchObject({
      error: 'invalid_target',
    })
  })

  test('sees a revocation by introspection at once, and by the published keys not before exp', async ({
    discover,
    visitor,
    api,
    owner,
    callApi,
    signInFor,
  }) => {
    const { config, tokens } = await signInFor([api.url])
    const asOwner = await discover(owner)
    expect(await openid.tokenIntrospection(asOwner, tokens.access_token)).toMatchObject({
      active: true,
      sub: visitor.user.id,
      aud: api.url,
    })
    await openid.tokenRevocation(config, tokens.access_token)
    expect(await openid.tokenIntrospection(asOwner, tokens.access_token)).toEqual({ active: false })
    expect((await callApi(tokens.access_token)).status).toBe(200)
  })
})
