import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from 'jose'
import * as openid from 'openid-client'
import { test as base, fetchAt, startRequest } from './openid-client.ts'
import type { Origin } from './protocol.ts'

export const OTHER_API = 'https://stock.example.com'

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
export const test = base
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
