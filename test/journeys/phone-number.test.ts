import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { CODE_SCRIPT } from '../../src/pages/assets/code-script.ts'
import { createUser } from '../../src/users/users.ts'
import { noBrowser, ORIGIN, PHONE } from '../support/browser.ts'
import { fillCode } from '../support/fill-code.ts'
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
      const page = await (await open({ ...options, locale: 'en-CH' })).newPage()
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
      await fillCode(page, await inbox.codeFor(phoneNumber))
      // The script submits a complete code.
      if ('javaScriptEnabled' in options) await page.getByRole('button', { name: 'Sign in' }).click()
      await page.waitForURL(`${party.callback}?**`)
      expect(party.outcome()).toEqual({
        claims: expect.objectContaining({ phone_number: phoneNumber, phone_number_verified: true }),
      })
    },
  )
})

describe.skipIf(noBrowser)('the code page', () => {
  test('counts down to a new code, and announces the end', async ({ open, party }) => {
    const page = await (await open({ viewport: PHONE })).newPage()
    await page.clock.install()
    await page.goto(party.url)
    await page.getByLabel('Email address or phone number').fill('countdown@acme.example')
    await page.getByRole('button', { name: 'Continue' }).click()
    const [button, wait] = [
      page.getByRole('button', { name: 'Send a new code' }),
      page.locator('#resend-wait'),
    ]
    expect(await wait.textContent()).toMatch(/^You can request a new code in (30|2\d) seconds\.$/)
    expect(await button.isDisabled()).toBe(true)
    await page.clock.runFor(20_000)
    expect(await wait.textContent()).toMatch(/^You can request a new code in (10|\d) seconds\.$/)
    expect(await page.getByRole('status').textContent()).toBe('')
    await page.clock.runFor(11_000)
    expect(await wait.textContent()).toBe('')
    expect(await page.getByRole('status').textContent()).toBe('You can request a new code now.')
    expect(await button.isEnabled()).toBe(true)
    await photograph(page, 'phone-code-countdown-ended')
    // It has the clock of this test.
    await page.context().close()
  })

  test.for<[string, string, string]>([
    ['spaces', '123 45', '6'],
    ['a dash', '123-45', '6'],
    ['Arabic digits', '١٢٣٤٥', '٦'],
    ['full-width digits', '１２３－４５', '６'],
    ['digits of two UTF-16 units', '𞥑𞥒𞥓𞥔𞥕', '𞥖'],
  ])(
    'submits a code when it has all its digits, once, with %s',
    async ([_, typed, last], { open, party }) => {
      const page = await (await open({ viewport: PHONE })).newPage()
      let submissions = 0
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('/code')) submissions += 1
      })
      await page.goto(party.url)
      await page
        .getByLabel('Email address or phone number')
        .fill(`complete-${typed.codePointAt(0)}-${typed.length}@acme.example`)
      await page.getByRole('button', { name: 'Continue' }).click()
      const code = page.getByLabel('6-digit code')
      const posted = page.waitForRequest((request) => request.method() === 'POST')
      await code.pressSequentially(typed)
      expect(submissions).toBe(0)
      await page.keyboard.insertText(last)
      expect(new URLSearchParams((await posted).postData() ?? '').get('code')).toBe(`${typed}${last}`)
      await page.getByRole('alert').waitFor()
      expect(submissions).toBe(1)
      expect(await code.inputValue()).toBe('')
    },
  )

  test('says without JavaScript how long a new code takes', async ({ open, party }) => {
    const page = await (await open({ viewport: PHONE, javaScriptEnabled: false })).newPage()
    await page.goto(party.url)
    await page.getByLabel('Email address or phone number').fill('no-script@acme.example')
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(await page.locator('#resend-wait').textContent()).toMatch(/in \d+ seconds\.$/)
    expect(await page.getByRole('button', { name: 'Send a new code' }).isEnabled()).toBe(true)
  })

  test('has a script of less than 1.1 KB', () => {
    expect(Buffer.byteLength(CODE_SCRIPT)).toBeLessThan(1100)
  })
})
