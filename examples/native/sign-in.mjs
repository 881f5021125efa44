import { once } from 'node:events'
import { createServer } from 'node:http'
import * as client from 'openid-client'

// #region connect
const config = await client.discovery(
  new URL('http://localhost:3000/demo'),
  'your-client-id',
  undefined,
  client.None(),
  { execute: [client.allowInsecureRequests] }, // http, in development only
)
// #endregion

// The redirect URI is registered without a port: any port is accepted.
const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
const callback = new URL('http://127.0.0.1/callback')
callback.port = server.address().port

const checks = { pkceCodeVerifier: client.randomPKCECodeVerifier(), expectedState: client.randomState() }
const url = client.buildAuthorizationUrl(config, {
  redirect_uri: callback.href,
  scope: 'openid email profile',
  state: checks.expectedState,
  code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
  code_challenge_method: 'S256',
})
console.log(`Open ${url}`)

const [request, response] = await once(server, 'request')
const tokens = await client.authorizationCodeGrant(config, new URL(request.url, callback), checks)
const user = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub)
response.end('You are signed in. Close this window.')
console.log(`Signed in as ${user.email}`)
server.close()
