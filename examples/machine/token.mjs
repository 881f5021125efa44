import * as client from 'openid-client'

const { ISSUER, CLIENT_ID, CLIENT_SECRET } = process.env
const config = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, {
  execute: [client.allowInsecureRequests], // http, in development only
})

const tokens = await client.clientCredentialsGrant(config)
console.log(`A token for ${tokens.expires_in} seconds: ${tokens.access_token}`)
