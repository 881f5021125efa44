import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { renderMail } from '../../src/delivery/mail.pages.tsx'
import { computeMailColors } from '../../src/delivery/mail-style.ts'
import { computeContrast, parseColor, type Rgb } from '../../src/model/colors.ts'
import { runAxe } from '../support/axe.ts'
import { launchBrowser, noBrowser } from '../support/browser.ts'
import { mailsWith, messageTenant } from '../support/mails.ts'

/** A name that is long, without spaces and partly from right to left. */
const LONG = `${'Donaudampfschifffahrtsgesellschaft'.repeat(4)} שלום`
const logoUrl = 'https://logo.invalid/logo.png'
const mails = mailsWith(LONG, { ...messageTenant, name: LONG, logoUrl })
const KINDS = Object.keys(mails)
const SCHEMES = ['light', 'dark'] as const

/** Rules about the landmarks of a page, which a mail is not: mail programs show it inside of theirs. */
const PAGE_RULES = { region: { enabled: false }, 'landmark-one-main': { enabled: false } }

let browser: Browser
let page: Page
const requested: string[] = []

describe.skipIf(noBrowser)('a mail in a browser', () => {
  beforeAll(async () => {
    browser = await launchBrowser()
    page = await browser.newPage()
    // Mail programs block images at first.
    await page.route('**/*', (route) => {
      requested.push(route.request().url())
      return route.abort()
    })
  })
  afterAll(() => browser?.close())

  describe.each(KINDS)('of the kind %s', (kind) => {
    const html = renderMail(mails[kind] as (typeof mails)[string])

    test('does not scroll horizontally from 320 to 600 pixels, and is not wider than 600', async () => {
      await page.setContent(html)
      for (const width of [320, 375, 600, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
        const card = await page.locator('.card').boundingBox()
        expect(card?.width).toBeLessThanOrEqual(Math.min(width - 24, 600))
        expect(card?.width).toBeGreaterThan(Math.min(width - 26, 574))
      }
    })

    test.each(SCHEMES)('has no violation that axe finds, in %s colors and without images', async (scheme) => {
      await page.emulateMedia({ colorScheme: scheme })
      await page.setContent(html)
      const { violations, passed } = await runAxe(page, { rules: PAGE_RULES })
      expect(violations).toEqual([])
      expect(passed).toBeGreaterThan(8)
    })
  })

  test.each(SCHEMES)('has the %s colors of every element', async (scheme) => {
    await page.emulateMedia({ colorScheme: scheme })
    await page.setContent(renderMail(mails['sign-in'] as (typeof mails)[string]))
    const colors = computeMailColors({}, scheme)
    const toCss = (hex: string) => `rgb(${(parseColor(hex) as Rgb).join(', ')})`
    const styleOf = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => {
          const { color, backgroundColor } = getComputedStyle(element)
          return [color, backgroundColor]
        })
    expect(await styleOf('body')).toEqual([toCss(colors.text), toCss(colors.page)])
    expect(await styleOf('.code')).toEqual([toCss(colors.text), toCss(colors.raised)])
    expect((await styleOf('.card'))[1]).toBe(toCss(colors.surface))
    expect((await styleOf('.muted'))[0]).toBe(toCss(colors.muted))
  })

  test('selects the whole code, and nothing else, with one click', async () => {
    await page.setContent(renderMail(mails['sign-in'] as (typeof mails)[string]))
    await page.locator('.code').click()
    expect(await page.evaluate(() => String(getSelection()))).toBe('012345')
  })

  test('loads nothing but the logo', () => {
    expect(new Set(requested)).toEqual(new Set([logoUrl]))
  })
})

describe.each(SCHEMES)('the %s colors of a mail', (scheme) => {
  const ratio = (front: string, back: string) =>
    computeContrast(parseColor(front) as Rgb, parseColor(back) as Rgb)

  test.each(['#2f5bd8', '#ffffff', '#000000', '#ffd400', '#c00000'])(
    'have the contrast of WCAG 2.2 AA for %s',
    (accent) => {
      const {
        page,
        surface,
        raised,
        text,
        muted,
        accent: fill,
        onAccent,
        link,
      } = computeMailColors({ themeColor: accent }, scheme)
      expect(ratio(onAccent, fill)).toBeGreaterThanOrEqual(4.5)
      for (const back of [page, surface, raised])
        for (const front of [text, muted, link]) expect(ratio(front, back)).toBeGreaterThanOrEqual(4.5)
    },
  )
})
