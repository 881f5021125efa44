import { createRemoteJWKSet, jwtVerify } from 'jose'
import { describe, expect } from 'vitest'
import { issuerOf } from '../../../src/core/issuer.ts'
import { SIGNING_ALGORITHMS } from '../../../src/keys/signing-algorithms.ts'
import { issueAccessToken } from '../../../src/oidc/token/access-tokens.ts'
import { answerIn } from '../../support/protocol.ts'
import { test as base, expectInvalidToken } from '../../support/userinfo.ts'

const test = base.extend(
  'signedFor',
  { scope: 'file' },
  ({ newClient, oidc, visitor }) =>
    async (alg: string) => {
      const signing = await newClient({ userInfoSigningAlg: alg })
      const { access_token: token } = await visitor.newTokens({ scope: 'openid email' }, signing)
      const response = await oidc.userinfo(token)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/jwt'])
      return { signing, response }
    },
)

describe('a signed userinfo response (OIDC Core, section 5.3.2)', () => {
  test.for(SIGNING_ALGORITHMS)(
    'is a JWT of the same claims, signed with the %s of the client',
    async (alg, { app, tenant, visitor, signedFor }) => {
      const { signing, response } = await signedFor(alg)
      expect(response.headers.get('cache-control')).toBe('no-store')
      const token = await response.text()
      const { payload, protectedHeader } = await jwtVerify(
        token,
        createRemoteJWKSet(new URL(`${app.origin}/${tenant}/.well-known/jwks.json`)),
        {
          issuer: issuerOf(tenant),
          audience: signing.id,
          algorithms: [alg],
        },
      )
      expect(protectedHeader).toMatchObject({ alg, kid: expect.any(String) })
      expect(payload).toEqual({
        iss: issuerOf(tenant),
        aud: signing.id,
        sub: visitor.user.id,
        email: visitor.user.email,
        email_verified: true,
      })
    },
  )

  test('is accepted neither as an access token nor as an id_token_hint', async ({
    oidc,
    visitor,
    signedFor,
  }) => {
    const { signing, response } = await signedFor('ES256')
    const token = await response.text()
    await expectInvalidToken(await oidc.userinfo(token))
    const hinted = oidc.authorizePath({ prompt: 'none', scope: 'openid', id_token_hint: token }, signing)
    expect(answerIn((await visitor.browser.open(hinted)).location)).toMatchObject({
      error: 'invalid_request',
    })
  })

  test('is not used for an error, which is JSON', async ({ tenant, oidc, visitor, signedFor }) => {
    const { signing } = await signedFor('ES256')
    const audience = [`${issuerOf(tenant)}/oidc/userinfo`]
    const token = await issueAccessToken(tenant, {
      subject: visitor.user.id,
      clientId: signing.id,
      scopes: ['openid'],
      audience,
      lifetimeSeconds: 60,
    })
    await expectInvalidToken(await oidc.userinfo(token))
  })
})
