import { describe, expect } from 'vitest'
import { buildCallbackUrl } from '../../src/idps/callback-url.ts'
import { updateIdentityProvider } from '../../src/idps/idps.ts'
import { getSettings, updateSettings } from '../../src/tenants/settings.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { assertAccessible, test as base, prepareConsole, SHOWN } from '../support/console-journey.ts'
import { fillCode } from '../support/fill-code.ts'
import { newEmail } from '../support/idempotency.ts'
import { photograph } from '../support/journey.ts'
import { codeFor } from '../support/protocol.ts'
import { startUpstream } from '../support/upstream.ts'

const test = base.extend('upstream', { scope: 'file' }, async ({ acme }, { onCleanup }) => {
  const upstream = await startUpstream(undefined, [buildCallbackUrl(acme, 'partner')])
  onCleanup(upstream.close)
  return upstream
})

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** The pages of the preview run no script, which the browser reports. */
const isOfConsole = (error: string): boolean => !error.includes('sandboxed')

test.beforeAll(({ ctx }) => prepareConsole({ ctx }))

describe.skipIf(noBrowser)('the settings in the console', () => {
  test('describe the sign-in as one edits it, and change what a new user is asked for', async ({
    acme,
    ctx,
    open,
    openConsole,
  }) => {
    const { page, errors } = await openConsole('admin', '/sign-in')
    const sentence = page.locator('.lead')
    await page.getByLabel('New accounts').selectOption('Anybody')
    await page.getByLabel('Add a field').selectOption('A field of your own')
    await page.getByLabel('Name in userMetadata').fill('company')
    await page.getByLabel('Label on the page').last().fill('Company')
    await page.getByLabel('Required').last().check()
    expect(await sentence.textContent()).toContain('Anybody can create an account with an e-mail address')
    expect(await sentence.textContent()).toContain('enters name and Company.')
    await page.getByRole('button', { name: 'Move Company up' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/^Saved: New accounts, Fields of the sign-up\./).waitFor()
    const { signUp, signUpFields } = await getSettings(ctx)
    expect([signUp, (signUpFields as { field: string }[]).map(({ field }) => field)]).toEqual([
      'open',
      ['userMetadata.company', 'name'],
    ])
    const visitor = await (await open()).newPage()
    await visitor.goto(`${ORIGIN}/${acme}/console`)
    const address = newEmail()
    await visitor.getByLabel('Email address or phone number').fill(address)
    await visitor.keyboard.press('Enter')
    await visitor.waitForURL(/\/code$/)
    await fillCode(visitor, await codeFor(address))
    await visitor.getByLabel('Company').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(async () => (await getSettings(ctx)).signUp, SHOWN).toBe('off')
    await expect.poll(() => sentence.textContent(), SHOWN).toContain('Nobody can create an account')
    expect(errors).toEqual([])
  })

  test('make the sign-in page look like that of the customer, in both schemes', async ({
    acme,
    ctx,
    open,
    openConsole,
  }) => {
    const { page, errors } = await openConsole('admin', '/brand')
    // The scheme of a frame is that of its element.
    await page.emulateMedia({ colorScheme: null })
    const preview = page.frameLocator('.preview-frames iframe').last()
    await preview.getByRole('heading', { name: 'Sign in' }).waitFor(SHOWN)
    const readFill = () =>
      preview
        .locator('button[type=submit]')
        .first()
        .evaluate((button) => getComputedStyle(button).backgroundColor)
    const entries = await page.evaluate(() => history.length)
    await page.getByLabel('Color', { exact: true }).fill('#0a7c66')
    await page.getByLabel('Color on dark screens', { exact: true }).fill('#5fd1b8')
    await expect.poll(readFill, SHOWN).toBe('rgb(10, 124, 102)')
    await page.getByLabel('Appearance').last().selectOption('Dark')
    await expect.poll(readFill, SHOWN).toBe('rgb(95, 209, 184)')
    const file = { name: 'logo.png', mimeType: 'image/png' }
    await page
      .getByLabel('File: Logo', { exact: true })
      .setInputFiles({ ...file, buffer: Buffer.alloc(40_000) })
    await page.getByText('logo.png has 40 KB. An image has 32 KB at most.').waitFor()
    await page.getByLabel('File: Logo', { exact: true }).setInputFiles({ ...file, buffer: PIXEL })
    await preview.locator('header img').waitFor(SHOWN)
    // The same file can be chosen again.
    expect(await page.getByLabel('File: Logo', { exact: true }).inputValue()).toBe('')
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Add a text' }).click()
    await page.getByLabel('Key').fill('signIn.title')
    await page.getByText('Instead of: Sign in', { exact: true }).waitFor()
    await page.getByLabel('Text', { exact: true }).fill('Welcome aboard')
    await preview.getByRole('heading', { name: 'Welcome aboard' }).waitFor(SHOWN)
    await page.getByLabel('Page or mail').selectOption('Mail with a code')
    await page.locator('.preview').getByLabel('Language').selectOption('German')
    await expect.poll(() => preview.locator('html').getAttribute('lang'), SHOWN).toBe('de')
    expect((await getSettings(ctx)).themeColor).toBe(null)
    // Back leaves the screen.
    expect(await page.evaluate(() => history.length)).toBe(entries)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/^Saved: Color, Color on dark screens, Texts/).waitFor(SHOWN)
    for (const [colorScheme, color] of [
      ['light', 'rgb(10, 124, 102)'],
      ['dark', 'rgb(95, 209, 184)'],
    ] as const) {
      const hosted = await (await open({ colorScheme })).newPage()
      await hosted.goto(`${ORIGIN}/${acme}/console`)
      await hosted.getByRole('heading', { name: 'Welcome aboard' }).waitFor()
      const button = hosted.locator('button[type=submit]').first()
      expect(await button.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe(color)
    }
    await photograph(page, 'console-brand-edited')
    expect(errors.filter(isOfConsole)).toEqual([])
  })

  test('keep what was typed, and say what another administrator has saved meanwhile', async ({
    ctx,
    openConsole,
  }) => {
    const { page } = await openConsole('admin', '/sign-in')
    await page.getByLabel('Version of the terms').fill('mine')
    await updateSettings(ctx, { termsVersion: 'theirs', smsDailyLimit: 7 })
    const news = page.locator('.news')
    await expect
      .poll(() => news.textContent(), SHOWN)
      .toContain('changed: Version of the terms, Text messages in a day.')
    expect(await news.textContent()).toContain('Version of the terms is now “theirs”.')
    expect(await page.getByLabel('Version of the terms').inputValue()).toBe('mine')
    expect(await page.getByLabel('Text messages in a day').inputValue()).toBe('7')
    await page.getByRole('button', { name: 'Take it' }).click()
    expect(await page.getByLabel('Version of the terms').inputValue()).toBe('theirs')
    expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
  })

  test('are neither saved nor undone over a change that the screen does not show yet, nor left without a question', async ({
    ctx,
    openConsole,
  }) => {
    const { page } = await openConsole('admin', '/settings')
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('settingsFormMutation'))
        await updateSettings(ctx, { supportUrl: 'https://acme.example/first' })
      await route.continue()
    })
    await page.getByLabel('Help page').fill('https://acme.example/second')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.save-bar .problem').waitFor()
    await page.locator('.news').getByText('https://acme.example/first').waitFor(SHOWN)
    expect((await getSettings(ctx)).supportUrl).toBe('https://acme.example/first')
    await page.unrouteAll({ behavior: 'wait' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/^Saved: Help page\./).waitFor()
    expect((await getSettings(ctx)).supportUrl).toBe('https://acme.example/second')
    await updateSettings(ctx, { supportUrl: 'https://acme.example/third' })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(/^Not undone: /).waitFor()
    expect((await getSettings(ctx)).supportUrl).toBe('https://acme.example/third')
    await page.getByLabel('Days for which the log is kept').fill('30')
    await page.getByRole('link', { name: 'Users' }).click()
    await page.getByRole('button', { name: 'Stay' }).click()
    expect(await page.getByLabel('Days for which the log is kept').inputValue()).toBe('30')
    await page.getByRole('link', { name: 'Users' }).click()
    await page.getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { name: 'Users' }).waitFor()
  })

  test('name what is not valid by its field, and lose nothing', async ({ ctx, openConsole }) => {
    const { page } = await openConsole('admin', '/sign-in')
    await page.getByLabel('Terms of use', { exact: true }).fill('nowhere')
    await page.getByLabel('Unused codes of a network in an hour').fill('1')
    await page.getByLabel('Add a field').selectOption('A field of your own')
    await page.getByLabel('Name in userMetadata').fill('1st')
    const signUp = page.getByLabel('New accounts')
    const former = await signUp.inputValue()
    await signUp.selectOption('Addresses of some domains')
    const domains = page.getByLabel('Domains that may sign up')
    await domains.fill('no domain')
    await signUp.selectOption(former)
    await page.getByRole('button', { name: 'Save' }).click()
    const problems = page.locator('.field-problem')
    await expect.poll(() => problems.count(), SHOWN).toBe(3)
    // No field shows it.
    await page.locator('.save-bar .problem').getByText('signUpDomains').waitFor()
    await signUp.selectOption('Addresses of some domains')
    await domains.fill('')
    await signUp.selectOption(former)
    expect(await page.getByLabel('Name in userMetadata').getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByLabel('Terms of use', { exact: true }).inputValue()).toBe('nowhere')
    await page.getByLabel('Terms of use', { exact: true }).fill('')
    await page.getByRole('button', { name: 'Remove 1st' }).click()
    await page.getByLabel('Unused codes of a network in an hour').fill('11')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/^Saved: Unused codes/).waitFor()
    expect(await problems.count()).toBe(0)
    expect((await getSettings(ctx)).networkCodeLimit).toBe(11)
  })

  test('are read by an auditor, who cannot save them, and not shown to support', async ({ openConsole }) => {
    const { page } = await openConsole('auditor', '/sign-in')
    await page.getByText('Your role reads these settings').waitFor()
    expect(await page.getByLabel('New accounts').isDisabled()).toBe(true)
    const support = await openConsole('support')
    expect(await support.page.getByRole('link', { name: 'Sign-in' }).count()).toBe(0)
  })

  test('add an identity provider, say what it lacks, test it, and delete it by its name', async ({
    acme,
    ctx,
    openConsole,
    upstream,
  }) => {
    const { page, errors } = await openConsole('admin', '/providers')
    await page.getByRole('link', { name: 'Add OpenID Connect' }).click()
    await page.getByLabel('Id', { exact: true }).fill('partner')
    await page.getByRole('button', { name: buildCallbackUrl(acme, 'partner') }).waitFor()
    await page.getByLabel('Issuer').fill('nowhere')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await expect.poll(() => page.locator('.field-problem').count(), SHOWN).toBe(2)
    await page.getByLabel('Name on the button').fill('Partner')
    await page.getByLabel('Issuer').fill(upstream.issuer)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Missing: Client id').first().waitFor(SHOWN)
    await page.getByLabel('Client id').fill(upstream.client.clientId)
    await page.getByLabel('Client secret').fill('wrong')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Complete').first().waitFor(SHOWN)
    const name = page.getByLabel('Name on the button')
    await name.fill('Mine')
    await updateIdentityProvider(ctx, 'partner', { name: 'Theirs' })
    await page.getByText('Somebody else has changed Name on the button meanwhile.').waitFor(SHOWN)
    expect(await name.inputValue()).toBe('Mine')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('changed').waitFor()
    await page.getByRole('button', { name: 'Show theirs' }).click()
    expect(await name.inputValue()).toBe('Theirs')
    await name.fill('Partner')
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText('A sign-in fails.').waitFor(SHOWN)
    await page.getByLabel('Client secret').fill(upstream.client.clientSecret)
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('providerFormUpdateMutation'))
        await name.fill('Typed meanwhile')
      await route.continue()
    })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Partner is saved.').first().waitFor()
    await page.unrouteAll({ behavior: 'wait' })
    expect(await name.inputValue()).toBe('Typed meanwhile')
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('button', { name: 'Test' }).click()
    await page.getByText('Nothing failed.').waitFor(SHOWN)
    await photograph(page, 'console-provider')
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByLabel('Type “Partner” to confirm').fill('Partner')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('None yet.').waitFor(SHOWN)
    expect(errors).toEqual([])
  })

  test('have no finding of axe, in both schemes and on a phone', async ({ openConsole }) => {
    const { page, errors } = await openConsole('admin')
    const refused: string[] = []
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) refused.push(message.text())
    })
    for (const path of ['Sign-in', 'Tenant', 'Providers', 'Texts and brand']) {
      await page.getByRole('link', { name: path }).click()
      await page.getByRole('heading', { name: path, level: 1 }).waitFor()
      if (path === 'Providers') await page.getByRole('link', { name: 'Add Apple' }).click()
      await assertAccessible(page, path)
    }
    expect([errors.filter(isOfConsole), refused]).toEqual([[], []])
  })
})
