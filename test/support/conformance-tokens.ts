import { describe, expect } from 'vitest'
import { sha256Base64url } from '../../src/core/crypto.ts'
import { dbFor } from '../../src/database/db.ts'
import { alterCode, readCodeContents } from './codes.ts'
import { type PlanTest, SIGNS_IN } from './conformance-test.ts'
import { exchange, REDIRECT_URI, refreshWith, VERIFIER } from './protocol.ts'

/** Modules of the Basic plan that check tokens. */
export function describeTokens(test: PlanTest): void {
  test('oidcc-idtoken-signature, of a client that is registered for RS256', async ({
    newClient,
    plan,
    checkIdToken,
  }) => {
    const client = await newClient({ idTokenSigningAlg: 'RS256' })
    const { tokens } = await plan.signIn({ nonce: 'n' }, { client })
    await checkIdToken(tokens, { nonce: 'n', client, alg: 'RS256' })
  })

  describe('oidcc-codereuse', () => {
    test('oidcc-codereuse', async ({ succeed, expectReuse }) => {
      await expectReuse((await succeed()).arrival.answer.code ?? '')
    })

    test('oidcc-codereuse-30seconds', async ({ tenant, oidc, succeed, expectReuse }) => {
      const { arrival, tokens } = await succeed()
      const code = arrival.answer.code ?? ''
      const ago = (seconds: number) => new Date(Date.now() - seconds * 1000)
      const older = await alterCode(tenant, code, { expiresAt: ago(-29) })
      const { count } = await dbFor(tenant).grant.updateMany({
        where: { tenantId: tenant, id: (await readCodeContents(tenant, code)).grantId },
        data: { createdAt: ago(30) },
      })
      expect(count).toBe(1)
      await expectReuse(older)
      // The tokens that were issued for the code are revoked (RFC 6749, section 4.1.2).
      expect((await oidc.userinfo(tokens.body.access_token ?? '')).status).toBe(401)
    })
  })

  test('oidcc-server-client-secret-post', async ({ oidc, plan, user, checkIdToken, readUserinfo }) => {
    const { answer } = await plan.authorize({ nonce: 'n' })
    const tokens = await oidc.token(
      {
        grant_type: 'authorization_code',
        code: answer.code ?? '',
        redirect_uri: REDIRECT_URI,
        client_id: plan.client.id,
        client_secret: plan.client.secret,
      },
      null,
    )
    await checkIdToken(tokens, { nonce: 'n' })
    expect(await readUserinfo(tokens)).toEqual({ sub: user.id })
  })

  test('oidcc-refresh-token', async ({
    app,
    tenant,
    newClient,
    plan,
    user,
    succeed,
    checkIdToken,
    readUserinfo,
  }) => {
    const other = await newClient()
    const offline = { scope: 'openid offline_access', prompt: 'consent' }
    const { tokens, arrival, idToken } = await succeed(offline, { browser: plan.newBrowser() })
    expect(arrival.pages).toEqual([...SIGNS_IN, 'consent'])
    const { refresh_token: refreshToken = '' } = tokens.body
    expect(refreshToken).toMatch(/^[\x20-\x7e]{32,}$/)
    const refreshed = await refreshWith(app, tenant, plan.client, refreshToken, { scope: offline.scope })
    expect([refreshed.status, refreshed.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(refreshed.body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: offline.scope })
    expect(refreshed.body.access_token).not.toBe(tokens.body.access_token)
    // The new ID token belongs to the same sign-in (section 12.2), and has no nonce.
    const renewed = await checkIdToken(refreshed, {})
    const { iss, sub, aud, auth_time } = idToken
    expect(renewed).toMatchObject({ iss, sub, aud, auth_time })
    expect(renewed).not.toHaveProperty('azp')
    expect(await readUserinfo(refreshed)).toEqual({ sub: user.id })
    // The token is bound to its client.
    const stolen = await refreshWith(app, tenant, other, refreshed.body.refresh_token ?? '')
    expect(stolen).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('oidcc-ensure-request-with-valid-pkce-succeeds', async ({ app, tenant, plan, checkIdToken }) => {
    const { answer } = await plan.authorize({
      nonce: 'n',
      code_challenge: sha256Base64url(VERIFIER),
      code_challenge_method: 'S256',
    })
    const tokens = await exchange(app, tenant, plan.client, answer.code ?? '')
    await checkIdToken(tokens, { nonce: 'n' })
  })
}
