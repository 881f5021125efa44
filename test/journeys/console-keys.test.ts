import { describe, expect } from 'vitest'
import { updateSettings } from '../../src/tenants/settings.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { assertAccessible, prepareConsole, SHOWN, test } from '../support/console-journey.ts'

test.beforeAll(async ({ ctx }) => {
  await prepareConsole({ ctx })
  await updateSettings(ctx, { dynamicRegistration: true })
})

describe.skipIf(noBrowser)('the console', () => {
  test('rotates keys, and creates a registration token that is shown once', async ({
    acme,
    app,
    openConsole,
    gql,
  }) => {
    const { page, errors } = await openConsole('admin', '/keys')
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }).click()
    await page.getByText('The new keys are published.').waitFor(SHOWN)
    await page.getByText('Next', { exact: true }).first().waitFor(SHOWN)
    await page.getByRole('button', { name: 'Create a token' }).click()
    await page.getByLabel('Note').fill('Partners')
    await page.getByLabel('Days until it expires').fill('99')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor(SHOWN)
    expect(await page.getByLabel('Note').inputValue()).toBe('Partners')
    await page.getByLabel('Days until it expires').fill('2')
    await page.keyboard.press('Enter')
    await page.getByText('The token is shown only now.').waitFor(SHOWN)
    const token = await page.getByRole('dialog').locator('code').textContent()
    const registered = await fetch(`${app.origin}/${acme}/oidc/register`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['https://app.example/callback'] }),
    })
    expect(registered.status).toBe(201)
    // The token is shown once: neither Escape nor a press beside it closes the dialog.
    await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Create a token')
    // Text is selected in a dialog, with the release beside it.
    await page.keyboard.press('Enter')
    await page.getByLabel('Note').fill('Selected')
    await page.getByLabel('Note').hover()
    await page.mouse.down()
    await page.mouse.move(5, 5)
    await page.mouse.up()
    expect(await page.getByLabel('Note').inputValue()).toBe('Selected')
    await page.mouse.click(5, 5)
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.reload()
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
    expect(await page.content()).not.toContain(token)
    await gql('mutation { createRegistrationToken(input: { note: "Elsewhere" }) { __typename } }')
    await page.getByRole('rowheader', { name: 'Elsewhere' }).waitFor(SHOWN)
    await page.getByRole('button', { name: 'Revoke' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await expect.poll(() => page.getByRole('rowheader', { name: 'Elsewhere' }).count(), SHOWN).toBe(0)
    expect(errors).toEqual([])
  })

  test('sends a document with the token of the administrator, and keeps what is typed', async ({
    acme,
    openConsole,
  }) => {
    const { page } = await openConsole('admin', '/users')
    await page.getByRole('button', { name: 'run', exact: true }).click()
    await page.getByRole('heading', { name: 'API' }).waitFor(SHOWN)
    expect(await page.getByLabel('Document').inputValue()).toContain('query usersScreenQuery')
    const sent: string[] = []
    await page.route(/graphql$/, async (route) => {
      sent.push(route.request().postData() ?? '')
      await page.waitForTimeout(200)
      await route.continue()
    })
    await page.getByLabel('Document').focus()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('# typed')
    for (const key of ['Control', 'Enter', 'Enter']) await page.keyboard.down(key)
    for (const key of ['Enter', 'Control']) await page.keyboard.up(key)
    await page.keyboard.press('Control+Enter')
    await expect.poll(() => page.getByLabel(/^Result/).inputValue(), SHOWN).toContain('"totalSize"')
    await page.waitForURL(/%23\+typed/)
    expect(sent).toEqual([expect.stringContaining('# typed')])
    await page.keyboard.type(', on')
    expect(await page.getByLabel('Document').inputValue()).toMatch(/# typed, on$/)
    await page.unrouteAll({ behavior: 'wait' })
    await page.getByLabel('Variables').fill('{')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('The variables are not valid JSON').waitFor()
    expect(await page.getByLabel('Variables').inputValue()).toBe('{')
    for (const path of ['/api', '/keys']) {
      await page.goto(`${ORIGIN}/${acme}/console${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await assertAccessible(page, path)
    }
  })
})
