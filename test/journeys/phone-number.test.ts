import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/core/context.ts'
import { createUser } from '../../src/users/users.ts'
import { noBrowser, ORIGIN, PHONE } from '../support/browser.ts'
import { test as base, photograph, readHeading } from '../support/journey.ts'
import { makeClient } from '../support/protocol.ts'
import { startRelyingParty } from '../support/relying-party.ts'

const test = base.extend('party', { scope: 'file' }, async ({ app, acme }, { onCleanup }) => {
  const party = await startRelyingParty('openid phone', app)
  onCleanup(() => party.close())
  const client = await makeClient(acme, { name: 'Acme Mail', callbacks: [party.callback] })
  await party.connect(`${ORIGIN}/${acme}`, client.id, client.secret)
  return party
})

describe.skipIf(noBrowser)('a user with a phone number', () => {
  test.for([
    ['a phone without JavaScript', 'phone', { viewport: PHONE, javaScriptEnabled: false }],
    ['a computer in dark colors', 'desktop-dark', { colorScheme: 'dark' }],
  ] as const)(
    'signs in with the number in national form, on %s',
    async ([_, name, options], { open, acme, inbox, party }) => {
      const digits = name === 'phone' ? '501 23 45' : '502 23 45'
      const phoneNumber = `+4179${digits.replaceAll(' ', '')}`
      await createUser(createPlatformCtx(acme), { phoneNumber, phoneNumberVerified: true })
      const page = await (await open({ ...options, locale: 'de-CH' })).newPage()
      await page.goto(party.url)
      await photograph(page, `${name}-address-or-number`)
      await page.getByLabel('Email address or phone number').fill('079 599 00 00')
      await page.getByRole('button', { name: 'Continue' }).click()
      expect(await page.locator('.lead').textContent()).toBe(
        'If +41 79 599 00 00 can sign in, a code is on its way.',
      )
      await page.getByRole('button', { name: 'Wrong number? Change it' }).click()
      expect(await readHeading(page)).toBe('Sign in')
      await page.getByLabel('Email address or phone number').fill(`079 ${digits}`)
      await page.getByRole('button', { name: 'Continue' }).click()
      expect(await page.locator('.lead').textContent()).toBe(
        `If +41 79 ${digits} can sign in, a code is on its way.`,
      )
      await photograph(page, `${name}-code-of-number`)
      await page.getByLabel('6-digit code').fill(await inbox.codeFor(phoneNumber))
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.waitForURL(`${party.callback}?**`)
      expect(party.outcome()).toEqual({
        claims: expect.objectContaining({ phone_number: phoneNumber, phone_number_verified: true }),
      })
    },
  )
})
