import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthMetadataRouter,
} from '@modelcontextprotocol/sdk/server/auth/router.js'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const { ISSUER, RESOURCE } = process.env
const resourceServerUrl = new URL(RESOURCE)
const discovered = await fetch(`${ISSUER}/.well-known/openid-configuration`)
const oauthMetadata = await discovered.json()
const keys = createRemoteJWKSet(new URL(oauthMetadata.jwks_uri))

async function verifyAccessToken(token) {
  const { payload } = await jwtVerify(token, keys, { issuer: ISSUER, audience: RESOURCE, typ: 'at+jwt' })
  return {
    token,
    clientId: payload.client_id,
    scopes: payload.scope?.split(' ') ?? [],
    expiresAt: payload.exp,
    resource: resourceServerUrl,
    extra: { sub: payload.sub },
  }
}

const app = createMcpExpressApp()
app.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl, scopesSupported: ['offline_access'] }))

const authenticate = requireBearerAuth({
  verifier: { verifyAccessToken },
  resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resourceServerUrl),
  expectedResource: resourceServerUrl,
})
app.post('/', authenticate, async (request, response) => {
  const mcp = new McpServer({ name: 'example', version: '1.0.0' })
  mcp.registerTool('whoami', { description: 'Says who the user is.' }, ({ authInfo }) => ({
    content: [{ type: 'text', text: authInfo.extra.sub }],
  }))
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
  await mcp.connect(transport)
  await transport.handleRequest(request, response, request.body)
})

app.listen(resourceServerUrl.port)
