import { createLocalJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { platformCtx } from '../../src/ctx.ts'
import { authenticateSession } from '../../src/sessions/authenticate-session.ts'
import { endSession } from '../../src/sessions/sessions.ts'
import { newTenant } from '../support/actors.ts'
import { logOf } from '../support/events.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  refreshWith,
  signInAt,
  startProvider,
  userinfoOf,
} from './provider.ts'

let provider: Provider
let tenant: string
beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
})
afterAll(() => provider.close())

describe('the authorization code flow', () => {
  test('a person signs in by a code and the client gets tokens (OIDC Core, section 3.1)', async () => {
    const client = await makeClient(tenant)
    const user = await makeUser(tenant, 'ada@example.com', { name: 'Ada Lovelace' })
    const browser = new Browser(provider)
    const { location } = await signInAt(
      browser,
      authorizePath(tenant, client, { nonce: 'n-1', scope: 'openid profile email offline_access' }),
      'ada@example.com',
    )
    const answer = answerIn(location)
    expect(answer).toEqual({
      code: expect.stringMatching(/^[\w-]{43}$/),
      state: 'a-state',
      iss: `http://localhost:3000/${tenant}`,
    })
    const tokens = await exchange(provider, tenant, client, answer.code as string)
    expect(tokens).toMatchObject({ status: 200 })
    expect(tokens.body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'openid profile email offline_access',
      id_token: expect.any(String),
      refresh_token: expect.stringMatching(/^grant_[0-9a-z]{26}\.0\./),
    })
    const jwks = await (await fetch(`${provider.origin}/${tenant}/.well-known/jwks.json`)).json()
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
    const info = await userinfoOf(provider, tenant, tokens.body.access_token as string)
    expect(await info.json()).toEqual({
      sub: user.id,
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      email_verified: true,
      updated_at: expect.any(Number),
    })
    const refreshed = await refreshWith(provider, tenant, client, tokens.body.refresh_token as string)
    expect(refreshed).toMatchObject({ status: 200 })
    expect(refreshed.body.refresh_token).toMatch(/^grant_[0-9a-z]{26}\.1\./)
  })

  test('with scope session gives a session of the client, which ends with that of the browser', async () => {
    const client = await makeClient(tenant)
    const user = await makeUser(tenant, 'bob@example.com')
    const browser = new Browser(provider)
    const path = authorizePath(tenant, client, { scope: 'openid session' })
    const { location } = await signInAt(browser, path, 'bob@example.com')
    const { body } = await exchange(provider, tenant, client, answerIn(location).code as string)
    const ctx = platformCtx(tenant)
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

  test('a code that is used again takes the session with it that it was answered with (RFC 6749, section 4.1.2)', async () => {
    const client = await makeClient(tenant)
    await makeUser(tenant, 'eve@example.com')
    const path = authorizePath(tenant, client, { scope: 'openid session' })
    const { location } = await signInAt(new Browser(provider), path, 'eve@example.com')
    const code = answerIn(location).code as string
    const { body } = await exchange(provider, tenant, client, code)
    const use = () =>
      authenticateSession(platformCtx(tenant), { sessionToken: body.session_token, clientId: client.id })
    const { session } = await use()
    expect(await exchange(provider, tenant, client, code)).toMatchObject({ status: 400 })
    await expect(use()).rejects.toThrow('not valid')
    const ends = (await logOf(tenant)).filter(
      ({ type, sessionId }) => type === 'session.ended' && sessionId === session.id,
    )
    expect(ends).toMatchObject([{ subjectIds: [client.id], detail: { reason: 'revoked' } }])
  })
})
