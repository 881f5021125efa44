import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { runAxe } from '../support/axe.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { fillCode } from '../support/fill-code.ts'
import { test as base, photograph } from '../support/journey.ts'
import { codeFor } from '../support/protocol.ts'

const test = base.extend('asking', { scope: 'file' }, async ({ acme }) => {
  await updateSettings(createPlatformCtx(acme), { staySignedIn: 'ask' })
  return acme
})

const VIEWS = [
  ['phone-light', { viewport: { width: 375, height: 812 }, colorScheme: 'light', javaScriptEnabled: false }],
  ['desktop-dark', { viewport: { width: 1280, height: 800 }, colorScheme: 'dark', javaScriptEnabled: true }],
] as const

describe.skipIf(noBrowser)('a person who is asked whether to stay signed in', () => {
  test.for(VIEWS)(
    'ticks the box on the sign-in page (%s)',
    async ([view, options], { asking, open, newPerson }) => {
      const { email } = await newPerson()
      const context = await open({ ...options, locale: 'en-US' })
      const page = await context.newPage()
      await page.goto(`${ORIGIN}/${asking}/account`)
      const box = page.getByRole('checkbox', { name: 'Stay signed in' })
      await box.check()
      await photograph(page, `stay-${view}`)
      if (options.javaScriptEnabled) {
        expect((await runAxe(page)).violations).toEqual([])
        // The choice applies to a passkey, too.
        const copy = page.locator('#passkey input[name=stay]')
        expect(await copy.inputValue()).toBe('1')
        await box.uncheck()
        expect(await copy.inputValue()).toBe('0')
        await box.check()
      }
      await page.getByLabel('Email address').fill(email)
      await page.getByRole('button', { name: 'Continue', exact: true }).click()
      await fillCode(page, await codeFor(email))
      if (!options.javaScriptEnabled) await page.getByLabel('6-digit code').press('Enter')
      await page.getByText(email).waitFor()
      const kept = (await context.cookies()).filter(({ name }) => /^vst_(sid|acc)/.test(name))
      expect(kept.map(({ expires }) => expires > Date.now() / 1000 + 86_400)).toEqual([true, true])
    },
  )

  test('leaves it, and is signed out when the browser is closed', async ({ asking, open, newPerson }) => {
    const { email } = await newPerson()
    const context = await open({ locale: 'en-US' })
    const page = await context.newPage()
    await page.goto(`${ORIGIN}/${asking}/account`)
    await page.getByLabel('Email address').fill(email)
    await page.getByRole('button', { name: 'Continue', exact: true }).click()
    await fillCode(page, await codeFor(email))
    await page.getByText(email).waitFor()
    const ending = (await context.cookies()).filter(({ name }) => /^vst_(sid|acc)/.test(name))
    // Playwright has -1 for a cookie of the browser session.
    expect(ending.map(({ expires }) => expires)).toEqual([-1, -1])
  })
})
