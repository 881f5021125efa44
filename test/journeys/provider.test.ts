import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { linkIdpUser } from '../../src/idps/idp-links.ts'
import { createIdentityProvider } from '../../src/idps/idps.ts'
import { createUser } from '../../src/users/users.ts'
import { noBrowser, ORIGIN, PHONE } from '../support/browser.ts'
import { photograph } from '../support/journey.ts'
import { test as base } from '../support/journey-provider.ts'
import { collectPageErrors } from '../support/page-errors.ts'
import { makeClient } from '../support/protocol.ts'
import { startRelyingParty } from '../support/relying-party.ts'

const test = base
  .extend('party', { scope: 'file' }, async ({ app, acme }, { onCleanup }) => {
    const party = await startRelyingParty('openid profile email', app)
    onCleanup(() => party.close())
    const client = await makeClient(acme, { name: 'Acme Mail', callbacks: [party.callback] })
    await party.connect(`${ORIGIN}/${acme}`, client.id, client.secret)
    return party
  })
  /** The buttons of other providers. */
  .extend('others', { scope: 'file', auto: true }, async ({ acme }) => {
    for (const type of ['google', 'microsoft', 'apple', 'facebook', 'twitter'])
      await createIdentityProvider(createPlatformCtx(acme), {
        id: type,
        type,
        name: type.charAt(0).toUpperCase() + type.slice(1),
        clientId: 'x',
      })
  })

describe.skipIf(noBrowser)('a user of an identity provider', () => {
  test.for([
    ['with script', {}],
    [
      'without script, on a phone, in the dark',
      { javaScriptEnabled: false, viewport: PHONE, colorScheme: 'dark' as const },
    ],
  ] as const)(
    'signs in there and comes back to the client, %s',
    async ([name, options], { acme, party, upstream, open }) => {
      const ctx = createPlatformCtx(acme)
      const { id } = await createUser(ctx, { name: 'Ada Lovelace' })
      const subject = `ada-${id}`
      await linkIdpUser(ctx, id, 'partner', { idToken: (await upstream.tokensFor(subject)).idToken })
      const page = await (await open(options)).newPage()
      const errors = collectPageErrors(page)
      // The provider takes the user of the login_hint without asking.
      await page.route(`${upstream.issuer}/auth?*`, (route) =>
        route.continue({ url: `${route.request().url()}&login_hint=${subject}` }),
      )
      await page.goto(party.url)
      await photograph(page, `provider-first-page-${name.slice(0, 12)}`)
      await page.getByRole('button', { name: 'Continue with Partner' }).click()
      await page.waitForURL(`${party.callback}*`)
      expect(party.outcome()).toMatchObject({ claims: { sub: id, name: 'Ada Lovelace' } })
      expect(errors).toEqual([])
    },
  )

  test('who cancels there finds words and the other ways', async ({ party, upstream, open }) => {
    const page = await (await open()).newPage()
    await page.route(`${upstream.issuer}/auth?*`, (route) => {
      const request = new URL(route.request().url())
      const answer = new URLSearchParams({
        error: 'access_denied',
        state: request.searchParams.get('state') ?? '',
        iss: upstream.issuer,
      })
      return route.fulfill({
        status: 303,
        headers: { location: `${request.searchParams.get('redirect_uri')}?${answer}` },
      })
    })
    await page.goto(party.url)
    await page.getByRole('button', { name: 'Continue with Partner' }).click()
    await page.getByText('You canceled the sign-in with Partner.').waitFor()
    expect(await page.getByLabel('Email address').isVisible()).toBe(true)
    await photograph(page, 'provider-canceled')
  })
})
