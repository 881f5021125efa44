import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as openid from 'openid-client'
import { newRequest, optionsAt } from './openid-client.ts'
import type { Origin } from './protocol.ts'

/** Starts a relying party with a page that starts sign-ins (OIDC Core, section 4). */
export async function startParty(app: Origin) {
  let config: openid.Configuration
  const pending = new Map<string, { checks: openid.AuthorizationCodeGrantChecks; target: string }>()
  /** The parameters of each request that asked it to start a sign-in. */
  const asked: Record<string, string>[] = []
  const reject = (response: ServerResponse, message: string) => response.writeHead(400).end(message)
  const go = (response: ServerResponse, to: string) => response.writeHead(302, { location: to }).end()

  async function start(url: URL, response: ServerResponse): Promise<void> {
    const given = Object.fromEntries(url.searchParams)
    asked.push(given)
    if (given.iss !== config.serverMetadata().issuer) return void reject(response, 'unknown issuer')
    const target = new URL(given.target_link_uri ?? '/home', origin)
    // An unverified target_link_uri would make it an open redirector (section 4).
    if (target.origin !== origin) return void reject(response, 'foreign target')
    const { login_hint: hint } = given
    const { checks, parameters } = await newRequest({
      redirect_uri: `${origin}/callback`,
      ...(hint !== undefined && { login_hint: hint }),
    })
    pending.set(checks.expectedState, { checks, target: target.href })
    const location = openid.buildAuthorizationUrl(config, parameters)
    go(response, location.href)
  }

  async function finish(url: URL, response: ServerResponse): Promise<void> {
    const sent = pending.get(url.searchParams.get('state') ?? '')
    if (!sent) return void reject(response, 'unknown state')
    try {
      const tokens = await openid.authorizationCodeGrant(config, url, sent.checks)
      subjects.push(tokens.claims()?.sub ?? '')
      go(response, sent.target)
    } catch (error) {
      reject(response, String(error))
    }
  }

  const subjects: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', origin)
    if (url.pathname === '/start') void start(url, response)
    else if (url.pathname === '/callback') void finish(url, response)
    else
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>In</title><h1>In</h1>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    asked,
    /** The subjects of its ID tokens, in order. */
    subjects,
    connect: async (issuer: string, clientId: string, secret: string) => {
      config = await openid.discovery(new URL(issuer), clientId, secret, undefined, optionsAt(app))
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
