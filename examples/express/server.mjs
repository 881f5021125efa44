import express from 'express'
import session from 'express-session'
import * as client from 'openid-client'

// #region connect
const { ISSUER, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI } = process.env
const config = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, {
  execute: [client.allowInsecureRequests], // http, in development only
})
// #endregion
const callback = new URL(REDIRECT_URI)

const app = express()
app.use(session({ secret: client.randomState(), resave: false, saveUninitialized: false }))

app.get('/sign-in', async (request, response) => {
  const checks = { pkceCodeVerifier: client.randomPKCECodeVerifier(), expectedState: client.randomState() }
  request.session.checks = checks
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid email profile',
    state: checks.expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  response.redirect(url.href)
})

app.get(callback.pathname, async (request, response) => {
  const url = new URL(request.originalUrl, REDIRECT_URI)
  const tokens = await client.authorizationCodeGrant(config, url, request.session.checks)
  const user = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub)
  request.session.regenerate(() => {
    request.session.user = user
    response.redirect('/')
  })
})

app.get('/', ({ session: { user } }, response) => {
  response.send(user ? `Signed in as ${user.email}` : '<a href="/sign-in">Sign in</a>')
})

app.listen(callback.port)
