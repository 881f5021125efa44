import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { startRequest, test } from '../support/openid-client.ts'
import { csrfIn } from '../support/page-browser.ts'
import { signInAt } from '../support/protocol.ts'

const SIGNED_OUT = 'https://rp.example.com/signed-out'
const SCOPES = { scope: 'openid profile email offline_access' }

describe.each([
  ['web, client_secret_basic', { appType: 'web' }, (secret: string) => openid.ClientSecretBasic(secret)],
  ['web, client_secret_post', { appType: 'web' }, (secret: string) => openid.ClientSecretPost(secret)],
  ['single-page, without a secret', { appType: 'single-page' }, () => openid.None()],
])('a relying party: %s', (_name, fields, authentication) => {
  test('signs a user in, reads userinfo, refreshes and signs the user out', async ({
    newClient,
    newPerson,
    browser,
    discover,
    issuer,
  }) => {
    const user = await newPerson({ name: 'Ada Lovelace' })
    const client = await newClient({ ...fields, allowedLogoutUrls: [SIGNED_OUT] })
    const config = await discover(client, authentication(client.secret))
    expect(config.serverMetadata().issuer).toBe(issuer)

    const { checks, path } = await startRequest(config, SCOPES)
    const { location } = await signInAt(browser, path, user.email)
    const tokens = await openid.authorizationCodeGrant(config, new URL(location as string), checks)
    expect(tokens.claims()).toMatchObject({ sub: user.id, aud: client.id, nonce: checks.expectedNonce })

    const info = await openid.fetchUserInfo(config, tokens.access_token, user.id)
    expect(info).toMatchObject({
      sub: user.id,
      name: 'Ada Lovelace',
      email: user.email,
      email_verified: true,
    })

    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token as string)
    expect(refreshed.claims()).toMatchObject({ sub: user.id, auth_time: tokens.claims()?.auth_time })
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)

    const silent = await startRequest(config, { ...SCOPES, prompt: 'none', max_age: '60' })
    const again = await browser.fetch(silent.path)
    const answered = new URL(again.headers.get('location') as string)
    await openid.authorizationCodeGrant(config, answered, { ...silent.checks, maxAge: 60 })

    const end = openid.buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token as string,
      post_logout_redirect_uri: SIGNED_OUT,
      state: 'bye',
    })
    const left = await browser.fetch(end.pathname + end.search)
    expect(left.headers.get('location')).toBe(`${SIGNED_OUT}?state=bye`)

    const late = await startRequest(config, { ...SCOPES, prompt: 'none' })
    const rejected = new URL((await browser.fetch(late.path)).headers.get('location') as string)
    await expect(openid.authorizationCodeGrant(config, rejected, late.checks)).rejects.toMatchObject({
      error: 'login_required',
    })
  })
})

describe('a relying party', () => {
  test('reads users with a token for its machine client', async ({ rest, newClient, discover }) => {
    const machine = await newClient({ appType: 'machine', callbacks: [], scopes: ['users:read'] })
    const config = await discover(machine)
    const tokens = await openid.clientCredentialsGrant(config, { scope: 'users:read' })
    const answer = await rest('GET', '/users?pageSize=1', undefined, { token: tokens.access_token })
    expect(answer).toMatchObject({
      status: 200,
      body: { page: 0, pageSize: 1, users: [{ id: expect.any(String) }] },
    })
  })

  test('receives access_denied when the user denies consent', async ({
    newClient,
    newPerson,
    browser,
    discover,
  }) => {
    const { email } = await newPerson()
    const client = await newClient({ requireConsent: true })
    const config = await discover(client)
    const { checks, path } = await startRequest(config, SCOPES)
    const consent = await signInAt(browser, path, email)
    const html = await consent.response.text()
    expect(csrfIn(html)).not.toBe('')
    const { location } = await browser.submit({ html, path: consent.path }, { step: 'deny' })
    await expect(
      openid.authorizationCodeGrant(config, new URL(location as string), checks),
    ).rejects.toMatchObject({ error: 'access_denied' })
  })
})
