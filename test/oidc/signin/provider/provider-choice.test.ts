import { describe, expect } from 'vitest'
import { updateIdentityProvider } from '../../../../src/idps/idps.ts'
import { updateSettings } from '../../../../src/tenants/settings.ts'
import { readTransfer, test } from '../../../support/provider-sign-in.ts'

describe('a request with the hint idp', () => {
  test('leads to the provider without a page, and back to the client', async ({
    person,
    subject,
    browser,
    provider,
    oidc,
    link,
    signInThere,
    comeBack,
  }) => {
    await link(person.id, provider, subject)
    const { response, location } = await browser.open(oidc.authorizePath({ idp: provider.id }))
    expect(response.status).toBe(303)
    expect(location).toContain(`${provider.upstream.issuer}/auth?`)
    expect((await comeBack(await signInThere(new URL(String(location)), subject))).location).toContain(
      'code=',
    )
  })

  test('shows the first page after a sign-in there that was canceled', async ({
    browser,
    provider,
    oidc,
    comeBack,
  }) => {
    const { location, path } = await browser.open(oidc.authorizePath({ idp: provider.id }))
    const request = new URL(String(location))
    const callback = new URL(provider.callback)
    callback.search = String(
      new URLSearchParams({
        error: 'access_denied',
        state: request.searchParams.get('state') ?? '',
        iss: provider.upstream.issuer,
      }),
    )
    expect((await comeBack(callback)).html).toContain('You canceled the sign-in with')
    // Also when the user goes back.
    expect((await browser.open(path)).response.status).toBe(200)
  })

  test.for(['absent', '../x', ''])(
    '%j that names no provider shows the first page',
    async (idp, { start, browser }) => {
      const { response, html } = await start(browser, { idp })
      expect(response.status).toBe(200)
      expect(html).toContain('id="address"')
    },
  )
})

describe('an address of a domain of a provider', () => {
  test('leads to the provider with the address as its login_hint, and gets a code after that', async ({
    ctx,
    browser,
    newProvider,
    inbox,
    newPerson,
    start,
  }) => {
    const partner = await newProvider({ domains: ['partner.example'] })
    const { email } = await newPerson({ email: 'ada@Partner.example' })
    const page = await start()
    const { response } = await browser.submit(page, { step: 'email', address: ` ${email}` })
    const request = readTransfer(response)
    expect(request.href).toContain(`${partner.upstream.issuer}/auth?`)
    expect(request.searchParams.get('login_hint')).toBe(email)
    expect(await inbox.list(email)).toEqual([])
    expect((await browser.submit(page, { step: 'email', address: email })).path).toMatch(/\/code$/)
    await updateIdentityProvider(ctx, partner.id, { domains: null })
  })

  test('is distinguished from similar ones, which get a code', async ({
    ctx,
    newBrowser,
    newProvider,
    start,
  }) => {
    const partner = await newProvider({ domains: ['similar.example'] })
    for (const address of [
      'a@sub.similar.example',
      'a@notsimilar.example',
      '"a@similar.example"@x.example',
    ]) {
      const by = newBrowser()
      expect((await by.submit(await start(by), { step: 'email', address })).path).toMatch(/\/code$/)
    }
    await updateIdentityProvider(ctx, partner.id, { domains: [] })
  })
})

describe('the only provider of a tenant without another method', () => {
  test('is opened at once, and the page is shown after that', async ({
    rest,
    ctx,
    browser,
    provider,
    oidc,
  }) => {
    for (const { id } of (await rest('GET', '/idps')).body.idps)
      if (id !== provider.id) await rest('DELETE', `/idps/${id}`)
    await updateSettings(ctx, { signInMethods: ['provider'] })
    const { location, path } = await browser.open(oidc.authorizePath())
    expect(location).toContain(`${provider.upstream.issuer}/auth?`)
    const { response } = await browser.open(path)
    expect(await response.text()).toContain(`value="${provider.id}"`)
    await updateSettings(ctx, { signInMethods: null })
  })
})
