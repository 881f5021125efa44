import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { test as base, startRequest } from '../../support/openid-client.ts'
import { signInAt } from '../../support/protocol.ts'

const SCOPE = 'openid email offline_access'
const test = base.extend(
  'newNativeApp',
  { scope: 'file' },
  ({ newClient }) =>
    (callbacks: string[]) =>
      newClient({ appType: 'native', callbacks }),
)

describe('the redirect_uri of a native application (RFC 8252)', () => {
  test('may be a loopback address, be on localhost or have a private-use scheme (sections 7.1 and 7.3)', async ({
    person,
    browser,
    discover,
    newNativeApp,
  }) => {
    const client = await newNativeApp([
      'http://[::1]/callback',
      'http://localhost:8080/callback',
      'com.example.app:/callback',
    ])
    const config = await discover(client)
    for (const redirectUri of [
      'http://[::1]:49152/callback',
      'http://localhost:49152/callback',
      'com.example.app:/callback',
    ]) {
      const { path, checks } = await startRequest(config, { redirect_uri: redirectUri, scope: SCOPE })
      const location = (await browser.fetch(path)).headers.get('location') ?? ''
      const answered = location.startsWith(redirectUri)
        ? location
        : ((await signInAt(browser, path, person.email)).location ?? '')
      expect(answered.startsWith(`${redirectUri}?`)).toBe(true)
      const tokens = await openid.authorizationCodeGrant(config, new URL(answered), checks)
      expect(tokens.refresh_token).toBeTruthy()
    }
  })

  test.for([
    'http://127.0.0.2:49152/callback',
    'http://localhost:49152/callback',
    'http://127.0.0.1:49152/callback/',
    'http://127.0.0.1:49152/callback?x=1',
    'https://127.0.0.1:49152/callback',
    'http://127.0.0.1:49152@evil.example/callback',
    'com.example.other:/callback',
  ])(
    'is rejected when it differs in more than the loopback port: %s (section 8.4)',
    async (redirectUri, { app, discover, newNativeApp }) => {
      const client = await newNativeApp(['http://127.0.0.1/callback', 'com.example.app:/callback'])
      const config = await discover(client)
      const { path } = await startRequest(config, { redirect_uri: redirectUri, scope: SCOPE })
      const answer = await app.fetch(path)
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    },
  )
})
