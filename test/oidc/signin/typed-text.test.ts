import { describe, expect } from 'vitest'
import { openPage } from '../../support/hosted-pages.ts'
import { answerIn, codeFor } from '../../support/protocol.ts'
import { test, toLanding } from '../../support/second-factor.ts'
import { computeTotp } from '../../support/totp.ts'

const NUMBER = '+41 79 123 45 67'

/** The digits of a text in the script whose zero is at a code point. */
const toDigitsFrom = (zero: number, text: string): string =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))
const ARABIC = 0x660
const FULL_WIDTH = 0xff10

describe('a form of a sign-in', () => {
  test.for<[string, string]>([
    ['\u202a+41\u00a079 123\u201145\u201167\u202c', NUMBER],
    ['+٤١٧٩١٢٣٤٥٦٧', NUMBER],
    ['０７９ １２３ ４５ ６７', NUMBER],
    ['079ー123ー45ー67', NUMBER],
    ['\u200eada@example.com\u202c ', 'ada@example.com'],
    ['ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ', 'ada@example.com'],
  ])('takes %j as %s', async ([typed, meant], { newBrowser, oidc }) => {
    const by = newBrowser()
    const first = await openPage(by, oidc.authorizePath({ ui_locales: 'en_CH' }))
    const sent = await toLanding(await by.submit(first, { step: 'email', address: typed }))
    expect(sent.html).toContain(`<bdi class="given">${meant}</bdi>`)
  })

  test.for([
    ['a dash', (code: string) => `${code.slice(0, 3)}\u2012${code.slice(3)}`],
    ['Arabic digits', (code: string) => toDigitsFrom(ARABIC, code)],
    ['full-width digits', (code: string) => toDigitsFrom(FULL_WIDTH, code)],
    ['marks of direction', (code: string) => `\u2066${code}\u2069`],
  ] as const)('accepts a code, and one of an app, with %s', async ([_, write], { owner, browser, start }) => {
    const { person, totp } = owner
    const sent = await toLanding(
      await browser.submit(await start(browser), { step: 'email', address: person.email }),
    )
    const code = write(await codeFor(person.email))
    const second = await toLanding(await browser.submit(sent, { step: 'code', code }))
    const done = await browser.submit(second, { step: 'totp', code: write(computeTotp(totp.secret)) })
    expect(answerIn(done.location)).toHaveProperty('code')
  })

  test.for([
    ['another dash', (code: string) => code.replaceAll('-', '\u2212')],
    ['full-width characters', (code: string) => code.replace(/[!-~]/g, toFullWidth)],
    ['an invisible character', (code: string) => `\ufeff${code}\u200b`],
  ] as const)('accepts a recovery code with %s', async ([_, write], { owner, atSecondFactor, submit }) => {
    const done = await submit(atSecondFactor, { step: 'recovery', code: write(owner.codes[0] ?? '') })
    expect(answerIn(done.location)).toHaveProperty('code')
  })
})

const toFullWidth = (character: string): string =>
  String.fromCharCode(character.charCodeAt(0) + FULL_WIDTH - '0'.charCodeAt(0))
