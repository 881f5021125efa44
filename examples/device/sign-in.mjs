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

const device = await client.initiateDeviceAuthorization(config, { scope: 'openid email profile' })
console.log(`Open ${device.verification_uri} and enter ${device.user_code}`)

const tokens = await client.pollDeviceAuthorizationGrant(config, device)
const user = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub)
console.log(`Signed in as ${user.email}`)
