import express from 'express'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const { ISSUER, AUDIENCE } = process.env
const keys = createRemoteJWKSet(new URL(`${ISSUER}/.well-known/jwks.json`))

/** Puts the claims of an access token for this API into the request (RFC 9068, section 4). */
async function authenticate(request, response, next) {
  try {
    const token = request.get('authorization')?.replace(/^Bearer /i, '') ?? ''
    const { payload } = await jwtVerify(token, keys, { issuer: ISSUER, audience: AUDIENCE, typ: 'at+jwt' })
    request.claims = payload
    next()
  } catch (error) {
    response.set('WWW-Authenticate', 'Bearer').status(401).json({ error: error.message })
  }
}

/** Rejects a token without a permission of this API. */
const requirePermission = (permission) => (request, response, next) =>
  request.claims.permissions?.includes(permission)
    ? next()
    : response.status(403).json({ error: `This needs the permission ${permission}.` })

const app = express()
app.use(authenticate)
app.get('/me', ({ claims }, response) => response.json({ sub: claims.sub, org_id: claims.org_id }))
app.get('/orders', requirePermission('orders:read'), (_, response) => response.json([{ id: 1 }]))
app.listen(new URL(AUDIENCE).port)
