import { describe, expect } from 'vitest'
import { getClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { lookup } from '../../src/lookup/lookup.ts'
import { lockUser } from '../../src/users/users.ts'
import { noBrowser } from '../support/browser.ts'
import { assertAccessible, openScreen, prepareConsole, SHOWN, test } from '../support/console-journey.ts'
import { authorizePath, REDIRECT_URI } from '../support/protocol.ts'

test.beforeAll(({ ctx }) => prepareConsole({ ctx }))

describe.skipIf(noBrowser)('the screen that explains a sign-in', () => {
  test('says why a user cannot sign in, and has the button that changes it', async ({
    acme,
    app,
    ctx,
    newClient,
    newPerson,
    openConsole,
  }) => {
    const platform = createPlatformCtx(acme)
    const grace = await newPerson({ name: 'Grace Hopper' })
    const shop = await newClient({ name: 'Shop of explanations', requireConsent: true })
    await lockUser(platform, grace.id)
    const { page, errors } = await openConsole('admin', `/users/${grace.id}`)
    const verdict = page.locator('.summary')
    const step = (name: string) =>
      page.locator('.explained li', { has: page.getByText(name, { exact: true }) }).first()

    await page.getByRole('link', { name: 'Explain a sign-in' }).click()
    await verdict.getByText('Grace Hopper cannot sign in at the account pages').waitFor()
    await page.getByRole('textbox', { name: 'Application' }).fill('shop of expl')
    await page.getByRole('button', { name: 'Explain', exact: true }).click()
    await verdict.getByText('Grace Hopper cannot sign in at Shop of explanations').waitFor()
    expect(await step('Lock').textContent()).toContain('The user is locked.')
    await assertAccessible(page, '/explain-locked')
    await page.getByRole('button', { name: 'Unlock the user' }).click()
    await verdict.getByText('Grace Hopper can sign in at Shop of explanations').waitFor()
    expect(await step('Consent').textContent()).toContain('The user is asked to consent.')
    expect(await page.locator('.explain pre').first().textContent()).toContain(grace.id)
    await assertAccessible(page, '/explain')
    await lockUser(platform, grace.id)
    await verdict.getByText('cannot sign in').waitFor(SHOWN)

    const given = 'https://staging.example/callback'
    const refused = await app.fetch(authorizePath(acme, shop, { redirect_uri: given }))
    const requestId = refused.headers.get('x-request-id') ?? ''
    // An event is seen when every transaction that began before it has ended.
    await expect.poll(() => lookup(ctx, { text: requestId }), SHOWN).toHaveLength(1)
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').fill(requestId)
    await page.getByRole('option', { name: 'Explain a sign-in' }).click()
    await verdict.getByText('The request of Shop of explanations is rejected').waitFor()
    expect(await step('Redirect URI').textContent()).toContain(given)
    await page.getByRole('button', { name: 'Add the redirect URI' }).click()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await verdict.getByText('The request of Shop of explanations is accepted').waitFor()
    expect((await getClient(platform, shop.id)).callbacks).toEqual([REDIRECT_URI, given])
    expect(errors).toEqual([])

    await page.getByLabel('Number of an error page').fill('no-such-request')
    await page.getByRole('button', { name: 'Explain', exact: true }).click()
    await page.getByRole('alert').getByText('is not a request whose rejection').waitFor()
    await page.getByLabel('Person').fill('Nobody with this name')
    await page.getByRole('button', { name: 'Explain', exact: true }).click()
    await page.getByText('Nobody has this name, address or id.').waitFor()
  })

  test('tries a sign-in with an application, and shows its ID token', async ({
    acme,
    newClient,
    openConsole,
  }) => {
    const platform = createPlatformCtx(acme)
    const callbacksOf = async ({ id }: { id: string }) => (await getClient(platform, id)).callbacks
    const spa = await newClient({ name: 'Single page', appType: 'single-page', idTokenClaims: true })
    const web = await newClient({ name: 'Web', requirePushedRequests: true })
    const { page, person, errors } = await openConsole('admin', `/applications/${spa.id}?tab=try`)
    const signIn = page.getByRole('button', { name: 'Sign in', exact: true })
    const claims = page.getByRole('region', { name: 'Claims of the ID token' })
    await signIn.click()
    await claims.waitFor(SHOWN)
    expect(JSON.parse((await claims.textContent()) ?? '')).toMatchObject({
      ...{ sub: person.id, aud: spa.id, email: person.email, acr: expect.any(String) },
    })
    await expect.poll(() => callbacksOf(spa), SHOWN).toEqual([REDIRECT_URI])
    await assertAccessible(page, '/try')

    await openScreen(page, `/applications/${web.id}?tab=try`)
    await page.getByLabel('Secret').fill('wrong')
    await signIn.click()
    await page.getByRole('alert').waitFor(SHOWN)
    await expect.poll(() => callbacksOf(web), SHOWN).toEqual([REDIRECT_URI])
    await page.getByLabel('Secret').fill(web.secret)
    await signIn.click()
    await claims.waitFor(SHOWN)
    expect(JSON.parse((await claims.textContent()) ?? '')).toMatchObject({ sub: person.id, aud: web.id })
    await expect.poll(() => callbacksOf(web), SHOWN).toEqual([REDIRECT_URI])
    expect(errors).toEqual([])
  })
})
