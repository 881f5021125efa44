import { createLocalJWKSet, jwtVerify } from 'jose'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { authenticateSession } from '../../../src/sessions/authenticate-session.ts'
import { endSession } from '../../../src/sessions/sessions.ts'
import { test } from '../../support/fixtures.ts'
import { answerIn } from '../../support/protocol.ts'

describe('the authorization code flow', () => {
  test('signs a user in by a passcode and issues tokens to the client (OIDC Core, section 3.1)', async ({
    app,
    tenant,
    client,
    newPerson,
    browser,
    oidc,
  }) => {
    const user = await newPerson({ name: 'Ada Lovelace' })
    const { location } = await oidc.signIn(browser, user.email, {
      nonce: 'n-1',
      scope: 'openid profile email offline_access',
    })
    const answer = answerIn(location)
    expect(answer).toEqual({
      code: expect.stringMatching(/^grant_[0-9a-z]{26}\.[\w-]+$/),
      state: 'a-state',
      iss: `http://localhost:3000/${tenant}`,
    })
    const tokens = await oidc.exchange(answer.code as string)
    expect(tokens).toMatchObject({ status: 200 })
    expect(tokens.body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'openid profile email offline_access',
      id_token: expect.any(String),
      refresh_token: expect.stringMatching(/^grant_[0-9a-z]{26}\.0\./),
    })
    const jwks = await (await fetch(`${app.origin}/${tenant}/.well-known/jwks.json`)).json()
    const { payload, protectedHeader } = await jwtVerify(
      tokens.body.id_token as string,
      createLocalJWKSet(jwks),
      { audience: client.id, algorithms: ['ES256'] },
    )
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'JWT' })
    expect(payload).toMatchObject({
      sub: user.id,
      nonce: 'n-1',
      acr: 'urn:vestibule:otp',
      amr: ['otp'],
      sid: expect.stringMatching(/^session_/),
    })
    const info = await oidc.userinfo(tokens.body.access_token as string)
    expect(await info.json()).toEqual({
      sub: user.id,
      name: 'Ada Lovelace',
      email: user.email,
      email_verified: true,
      updated_at: expect.any(Number),
    })
    const refreshed = await oidc.refresh(tokens.body.refresh_token as string)
    expect(refreshed).toMatchObject({ status: 200 })
    expect(refreshed.body.refresh_token).toMatch(/^grant_[0-9a-z]{26}\.1\./)
  })

  test('with scope session issues a client session that ends with the browser session', async ({
    tenant,
    client,
    newPerson,
    browser,
    oidc,
  }) => {
    const user = await newPerson()
    const { location } = await oidc.signIn(browser, user.email, { scope: 'openid session' })
    const { body } = await oidc.exchange(answerIn(location).code as string)
    const ctx = createPlatformCtx(tenant)
    const { session } = await authenticateSession(ctx, {
      sessionToken: body.session_token,
      clientId: client.id,
    })
    expect(session).toMatchObject({ userId: user.id, clientId: client.id, kind: 'oidc', refreshable: true })
    await expect(authenticateSession(ctx, { sessionToken: body.session_token })).rejects.toThrow('not valid')
    await endSession(ctx, session.parentId as string, 'logout')
    const ended = authenticateSession(ctx, { sessionToken: body.session_token, clientId: client.id })
    await expect(ended).rejects.toThrow('not valid')
  })

  test('revokes the client session when its code is redeemed again (RFC 6749, section 4.1.2)', async ({
    tenant,
    events,
    client,
    newPerson,
    newBrowser,
    oidc,
  }) => {
    const user = await newPerson()
    const { location } = await oidc.signIn(newBrowser(), user.email, { scope: 'openid session' })
    const code = answerIn(location).code as string
    const { body } = await oidc.exchange(code)
    const use = () =>
      authenticateSession(createPlatformCtx(tenant), {
        sessionToken: body.session_token,
        clientId: client.id,
      })
    const { session } = await use()
    expect(await oidc.exchange(code)).toMatchObject({ status: 400 })
    await expect(use()).rejects.toThrow('not valid')
    const ends = (await events({ type: 'session.ended' })).filter(({ sessionId }) => sessionId === session.id)
    expect(ends).toMatchObject([{ subjectIds: [client.id], detail: { reason: 'revoked' } }])
  })
})
