import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as oidc from 'openid-client'
import { optionsAt } from './openid-client.ts'
import type { Origin } from './protocol.ts'

type Outcome = { claims: Record<string, unknown> } | { error: string }

/** A third-party application on its own origin that signs users in with openid-client. */
export type RelyingParty = {
  /** Begins a sign-in. */
  url: string
  callback: string
  clientId: () => string
  /** The result of the last sign-in. */
  outcome: () => Outcome | null
  /** Call after the client is registered with the callback. */
  connect: (issuer: string, clientId: string, secret: string | null) => Promise<void>
  close: () => void
}

export async function startRelyingParty(scope: string, app: Origin): Promise<RelyingParty> {
  let config: oidc.Configuration
  let checks: oidc.AuthorizationCodeGrantChecks = {}
  let outcome: Outcome | null = null

  async function begin(response: ServerResponse): Promise<void> {
    const pkceCodeVerifier = oidc.randomPKCECodeVerifier()
    checks = {
      pkceCodeVerifier,
      expectedState: oidc.randomState(),
      expectedNonce: oidc.randomNonce(),
      idTokenExpected: true,
    }
    const location = oidc.buildAuthorizationUrl(config, {
      scope,
      redirect_uri: `${origin}/callback`,
      state: checks.expectedState as string,
      nonce: checks.expectedNonce as string,
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    })
    response.writeHead(302, { location: location.href }).end()
  }

  async function finish(url: URL, response: ServerResponse): Promise<void> {
    try {
      const tokens = await oidc.authorizationCodeGrant(config, url, checks)
      const subject = tokens.claims()?.sub as string
      outcome = { claims: { ...(await oidc.fetchUserInfo(config, tokens.access_token, subject)) } }
    } catch (error) {
      outcome = { error: error instanceof oidc.AuthorizationResponseError ? error.error : String(error) }
    }
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<!doctype html><title>Arrived</title><h1>Arrived</h1>')
  }

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', origin)
    if (url.pathname === '/sign-in') void begin(response)
    else if (url.pathname === '/callback') void finish(url, response)
    else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}/sign-in`,
    callback: `${origin}/callback`,
    clientId: () => config.clientMetadata().client_id,
    outcome: () => outcome,
    connect: async (issuer, clientId, secret) => {
      config = await oidc.discovery(new URL(issuer), clientId, secret ?? undefined, undefined, optionsAt(app))
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
