import { createServer } from 'node:http'
import { auth, type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthMetadataRouter,
} from '@modelcontextprotocol/sdk/server/auth/router.js'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type {
  OAuthClientInformationMixed,
  OAuthMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js'
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js'
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose'
import { describe, expect } from 'vitest'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { env } from '../../src/core/env.ts'
import { addSeconds } from '../../src/core/time.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { test as base, serveJson } from '../support/client-documents.ts'
import { listenOnLoopback } from '../support/loopback.ts'
import { fetchAt } from '../support/openid-client.ts'
import { signInAt } from '../support/protocol.ts'

/** What an application on the user's machine says of itself. */
const APPLICATION = {
  client_name: 'Assistant',
  client_uri: 'https://assistant.example',
  redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
}
const REDIRECT_URI = 'http://localhost:33418/callback'
const HTTPS_CLIENT_ID = 'https://assistant.example/client.json'

/** A server of the SDK at the root of its origin, whose tool returns the user of the token. */
async function startMcpServer(issuer: string, fetchIssuer: FetchLike) {
  const app = createMcpExpressApp()
  const server = createServer(app)
  const origin = `http://127.0.0.1:${await listenOnLoopback(server)}`
  const discovered = await fetchIssuer(`${issuer}/.well-known/openid-configuration`)
  const resourceServerUrl = new URL(origin)
  app.use(
    mcpAuthMetadataRouter({
      oauthMetadata: (await discovered.json()) as OAuthMetadata,
      resourceServerUrl,
      scopesSupported: ['email', 'offline_access'],
    }),
  )
  const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`), { [customFetch]: fetchIssuer })
  const verifyAccessToken = async (token: string) => {
    const { payload } = await jwtVerify(token, keys, { issuer, audience: origin, typ: 'at+jwt' })
    return {
      token,
      clientId: payload.client_id as string,
      scopes: String(payload.scope).split(' '),
      expiresAt: payload.exp,
      resource: resourceServerUrl,
      extra: { sub: payload.sub },
    }
  }
  const authenticate = requireBearerAuth({
    verifier: { verifyAccessToken },
    resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resourceServerUrl),
    expectedResource: resourceServerUrl,
  })
  app.post('/', authenticate, async (request, response) => {
    const mcp = new McpServer({ name: 'directory', version: '1.0.0' })
    mcp.registerTool('whoami', {}, ({ authInfo }) => ({
      content: [{ type: 'text', text: String(authInfo?.extra?.sub) }],
    }))
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
    await mcp.connect(transport)
    await transport.handleRequest(request, response, request.body)
  })
  return {
    origin,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** The store of an application: what the documentation of the SDK asks it to keep. */
class Store implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT_URI
  readonly clientMetadata = APPLICATION
  readonly clientMetadataUrl?: string
  requested: URL | undefined
  private information: OAuthClientInformationMixed | undefined
  private kept: OAuthTokens | undefined
  private verifier = ''

  constructor({
    clientMetadataUrl,
    information,
  }: { clientMetadataUrl?: string; information?: { client_id: string } }) {
    this.clientMetadataUrl = clientMetadataUrl
    this.information = information
  }
  clientInformation = () => this.information
  saveClientInformation = (information: OAuthClientInformationMixed) => {
    this.information = information
  }
  tokens = () => this.kept
  saveTokens = (tokens: OAuthTokens) => {
    this.kept = tokens
  }
  redirectToAuthorization = (url: URL) => {
    this.requested = url
  }
  saveCodeVerifier = (verifier: string) => {
    this.verifier = verifier
  }
  codeVerifier = () => this.verifier
}

const test = base
  /** Sends requests for the issuer to the program; all others as they are. */
  .extend(
    'send',
    { scope: 'file' },
    ({ app }): FetchLike =>
      (url, init) =>
        String(url).startsWith(`${env.baseUrl}/`) ? fetchAt(app)(String(url), init) : fetch(url, init),
  )
  .extend('server', { scope: 'file' }, async ({ tenant, issuer, send, newClient }, { onCleanup }) => {
    await updateSettings(createPlatformCtx(tenant), { openRegistration: true })
    const server = await startMcpServer(issuer, send)
    onCleanup(server.close)
    await newClient({ name: 'Directory', resources: [server.origin] })
    return server
  })

describe('the client and the server of the MCP SDK', () => {
  test.for<
    [
      string,
      (
        serve: () => string,
        tenant: string,
      ) => ConstructorParameters<typeof Store>[0] | Promise<ConstructorParameters<typeof Store>[0]>,
    ]
  >([
    ['open registration', () => ({})],
    ['a metadata document that is fetched', (serve) => ({ information: { client_id: serve() } })],
    [
      'a metadata document that the SDK offers instead of a registration',
      async (_, tenant) => {
        await createClient(
          createPlatformCtx(tenant),
          { name: 'Assistant', type: 'login', appType: 'native', callbacks: APPLICATION.redirect_uris },
          {
            by: 'document',
            columns: { id: HTTPS_CLIENT_ID, documentFreshUntil: addSeconds(new Date(), 3600) },
            hasSecret: false,
          },
        )
        return { clientMetadataUrl: HTTPS_CLIENT_ID }
      },
    ],
  ])(
    'work unmodified by %s',
    async ([_title, introduce], { tenant, server, send, documents, newBrowser, newPerson }) => {
      const store = new Store(await introduce(() => documents.publish(serveJson(APPLICATION)), tenant))
      const url = new URL(server.origin)
      const createTransport = () =>
        new StreamableHTTPClientTransport(url, { authProvider: store, fetch: send })
      const client = new Client({ name: 'assistant', version: '1.0.0' })
      const transport = createTransport()
      await expect(client.connect(transport)).rejects.toThrow(UnauthorizedError)

      const person = await newPerson()
      const browser = newBrowser()
      const { pathname, search, searchParams } = store.requested as URL
      const consent = await signInAt(browser, pathname + search, person.email)
      const page = { html: await consent.response.text(), path: consent.path }
      expect(page.html).toContain('Directory')
      const { location } = await browser.submit(page, { step: 'allow' })
      const answer = new URL(location as string)
      expect(answer.href).toContain(`${REDIRECT_URI}?code=`)
      await transport.finishAuth(answer.searchParams.get('code') as string)

      await client.connect(createTransport())
      const whoami = () => client.callTool({ name: 'whoami' })
      expect(await whoami()).toMatchObject({ content: [{ text: person.id }] })
      const { id_token: idToken, refresh_token: first } = store.tokens() as OAuthTokens
      expect([searchParams.get('resource'), idToken]).toEqual([`${server.origin}/`, undefined])
      expect(await auth(store, { serverUrl: url, fetchFn: send })).toBe('AUTHORIZED')
      expect(store.tokens()?.refresh_token).not.toBe(first)
      expect(await whoami()).toMatchObject({ content: [{ text: person.id }] })
      await client.close()
    },
  )
})
