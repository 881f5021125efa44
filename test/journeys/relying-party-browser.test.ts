import * as openid from 'openid-client'
import { describe, expect } from 'vitest'
import { issuerOf } from '../../src/core/issuer.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { enterCode, listenOnce, type Manager, type Tokens, test } from '../support/browser-sign-in.ts'
import { dbFor } from '../support/database.ts'
import { optionsAt, startRequest } from '../support/openid-client.ts'

declare const manager: Manager

// Starting Chromium may take longer than a test.
if (!noBrowser) test.beforeAll(({ chromium: _ }) => {}, 90_000)

describe.skipIf(noBrowser)('a single-page application with oidc-client-ts', () => {
  test('signs in by redirect, reads userinfo, renews in a frame (prompt=none) and signs out', async ({
    newPerson,
    registerSpa,
    openSpa,
    signInAtSpa,
  }) => {
    const user = await newPerson({ name: 'Ada Lovelace' })
    const spaApp = await registerSpa('openid profile email')
    const page = await openSpa(spaApp)
    const first = await signInAtSpa(page, spaApp, user.email)
    expect(first.profile).toMatchObject({ sub: user.id, name: 'Ada Lovelace', email: user.email })
    expect(first.refresh_token).toBeUndefined()

    const renewed = await page.evaluate(() => manager.signinSilent())
    expect(renewed?.profile.sub).toBe(user.id)
    expect(renewed?.access_token).not.toBe(first.access_token)
    expect(renewed?.profile.auth_time).toBe(first.profile.auth_time)

    await page.evaluate(() => void manager.signoutRedirect())
    await page.waitForFunction(() => document.title === 'Signed out')
    await page.goto(`${spaApp.origin}/`)
    const rejected = await page.evaluate(() => manager.signinSilent().catch((error) => error.error))
    expect(rejected).toBe('login_required')
  })

  test('reads the claims of a client with idTokenClaims from the ID token alone, also after a renewal', async ({
    newPerson,
    registerSpa,
    openSpa,
    signInAtSpa,
  }) => {
    const user = await newPerson({ name: 'Ada Lovelace' })
    const spaApp = await registerSpa('openid profile email offline_access', { idTokenClaims: true })
    const page = await openSpa(spaApp)
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const { profile } = await signInAtSpa(page, spaApp, user.email)
    expect(profile).toMatchObject({ sub: user.id, name: 'Ada Lovelace', email: user.email })
    const renewed = await page.evaluate(() => manager.signinSilent())
    expect(renewed?.profile).toMatchObject({ name: 'Ada Lovelace', email: user.email })
    expect(asked.filter((path) => path.endsWith('/userinfo'))).toEqual([])
  })

  test('renews with a refresh token', async ({ newPerson, registerSpa, openSpa, signInAtSpa }) => {
    const user = await newPerson()
    const spaApp = await registerSpa('openid offline_access')
    const page = await openSpa(spaApp)
    const first = await signInAtSpa(page, spaApp, user.email)
    const renewed = await page.evaluate(() => manager.signinSilent())
    expect(renewed?.profile.sub).toBe(user.id)
    expect(renewed?.refresh_token).not.toBe(first.refresh_token)
  })

  test('signs in with a popup', async ({ newPerson, registerSpa, openSpa }) => {
    const user = await newPerson()
    const spaApp = await registerSpa('openid email')
    const page = await openSpa(spaApp)
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.evaluate(() => {
        Object.assign(window, { signedIn: manager.signinPopup() })
      }),
    ])
    await enterCode(popup, user.email)
    const tokens = await page.evaluate(() => (window as unknown as { signedIn: Promise<Tokens> }).signedIn)
    expect(tokens.profile).toMatchObject({ sub: user.id, email: user.email })
    await expect.poll(() => popup.isClosed()).toBe(true)
  })

  test('reads no response at an origin that is not registered (CORS)', async ({
    newPerson,
    registerSpa,
    openSpa,
  }) => {
    const user = await newPerson()
    const spaApp = await registerSpa('openid', { allowedOrigins: ['http://127.0.0.1:1'] })
    const page = await openSpa(spaApp)
    await page.evaluate(() => void manager.signinRedirect())
    await page.waitForURL('**/signin/**')
    await enterCode(page, user.email)
    await page.waitForFunction(() => /failed to fetch/i.test(document.title))
    expect(await page.title()).toMatch(/failed to fetch/i)
  })
})

describe.skipIf(noBrowser)('a native application with the browser of the system (RFC 8252)', () => {
  test('signs in through a loopback listener on any port (section 7.3) and refreshes', async ({
    app,
    tenant,
    newClient,
    newPerson,
    open,
  }) => {
    const user = await newPerson()
    const client = await newClient({ appType: 'native', callbacks: ['http://127.0.0.1/callback'] })
    const config = await openid.discovery(
      new URL(issuerOf(tenant)),
      client.id,
      undefined,
      openid.None(),
      optionsAt(app),
    )
    const { redirectUri, answer } = await listenOnce()
    const { path, checks } = await startRequest(config, {
      redirect_uri: redirectUri,
      scope: 'openid email offline_access',
    })

    const page = await (await open()).newPage()
    await page.goto(ORIGIN + path)
    await enterCode(page, user.email)

    const tokens = await openid.authorizationCodeGrant(config, await answer, checks)
    expect(await page.locator('body').textContent()).toBe('You can go back to the app.')
    expect(tokens.claims()).toMatchObject({ sub: user.id, aud: client.id })
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token as string)
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token)
    expect(await openid.fetchUserInfo(config, refreshed.access_token, user.id)).toMatchObject({
      email: user.email,
    })
  })
})

describe.skipIf(noBrowser)('a login that a third party initiates', () => {
  test('signs in from another site, signs out and signs in again by the link of the page', async ({
    tenant,
    inbox,
    newPerson,
    open,
    startedParty,
    partyClient,
  }) => {
    const page = await (await open()).newPage()
    const enter = async (address: string) => {
      await page.fill('input[name=address]', address)
      await page.keyboard.press('Enter')
      await page.waitForURL('**/code')
      // The page submits a complete code.
      await page.fill('input[name=code]', await inbox.codeFor(address))
      await page.waitForURL(`${startedParty.origin}/**`)
    }
    const hedy = await newPerson()
    const target = `${startedParty.origin}/orders/7#items`
    await page.goto(
      `${issuerOf(tenant)}/oidc/initiate?${new URLSearchParams({ client_id: partyClient.id, login_hint: hedy.email, target_link_uri: target })}`,
    )
    expect(await page.inputValue('input[name=address]')).toBe(hedy.email)
    await enter(hedy.email)
    expect(page.url()).toBe(target)

    await page.goto(`${issuerOf(tenant)}/oidc/logout?client_id=${partyClient.id}`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in again' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/signin/**')
    // A code is sent to an address once in 30 seconds.
    await dbFor(tenant).passcode.deleteMany({ where: { tenantId: tenant } })
    await enter(hedy.email)
    expect(page.url()).toBe(`${startedParty.origin}/home`)
    expect(startedParty.subjects).toEqual([hedy.id, hedy.id])
  })
})
