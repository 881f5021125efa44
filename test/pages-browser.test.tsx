import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { STYLESHEET, STYLESHEET_PATH } from '../src/assets/stylesheet.ts'
import { renderPage } from '../src/oidc/pages/render-page.pages.tsx'
import { DESKTOP, launchBrowser, noBrowser, PHONE } from './support/browser.ts'
import { pagesWith } from './support/pages.tsx'

/** Unbroken, long, and from right to left: what names and addresses can be at their worst. */
const LONG = `${'Donaudampfschifffahrtsgesellschaft'.repeat(4)} شركة الصور`
const pages = pagesWith(LONG)
const PAGES = Object.keys(pages) as (keyof typeof pages)[]

/** A button that a script shows is none without it; test/journeys/enrolment.test.ts measures that one. */
const BUTTON = 'button:not([hidden] *)'
/** A link in a line of text need not be large (WCAG 2.2, 2.5.8). */
const TARGETS = `${BUTTON}, input:not([type=hidden]), a.button, footer a`

if (noBrowser) process.stderr.write(`skipped: ${noBrowser}\n`)

describe.skipIf(noBrowser)('in a browser without JavaScript', () => {
  let server: Server
  let browser: Browser
  let context: BrowserContext
  let origin: string
  const complaints: string[] = []

  beforeAll(async () => {
    server = createServer(async ({ url = '' }, response) => {
      if (url === STYLESHEET_PATH)
        return response.writeHead(200, { 'content-type': 'text/css' }).end(STYLESHEET)
      const page = renderPage(pages[url.slice(1) as keyof typeof pages], { themeColor: '#ffd400' })
      response.writeHead(page.status, Object.fromEntries(page.headers)).end(await page.text())
    }).listen(0, '127.0.0.1')
    browser = await launchBrowser()
    context = await browser.newContext({ javaScriptEnabled: false })
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    await browser?.close()
    server?.close()
  })

  async function visit(name: string, viewport = DESKTOP): Promise<Page> {
    const page = await context.newPage()
    onTestFinished(() => page.close())
    page.on('console', (message) => complaints.push(`${name}: ${message.text()}`))
    await page.setViewportSize(viewport)
    await page.goto(`${origin}/${name}`)
    return page
  }

  it.each(PAGES)('the %s page needs no sideways scrolling at any width from 320', async (name) => {
    const page = await visit(name)
    for (const viewport of [DESKTOP, PHONE, { width: 320, height: 640 }]) {
      await page.setViewportSize(viewport)
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width)
    }
  })

  it.each(PAGES)('whatever is pressed on the %s page is at least 44 pixels high and wide', async (name) => {
    const page = await visit(name, PHONE)
    for (const target of await page.locator(TARGETS).all()) {
      const box = await target.boundingBox()
      expect(box?.height).toBeGreaterThanOrEqual(44)
      expect(box?.width).toBeGreaterThanOrEqual(44)
    }
  })

  it.each(PAGES)(
    'every control of the %s page is reached by Tab and shows that it has the focus',
    async (name) => {
      const page = await visit(name)
      const controls = await page.locator(`${BUTTON}, input:not([type=hidden]), a[href]`).all()
      const autofocused = await page.locator('[autofocus]').count()
      for (const [index, control] of controls.entries()) {
        if (index > 0 || autofocused === 0) await page.keyboard.press('Tab')
        expect(await control.evaluate((element) => element === document.activeElement)).toBe(true)
        expect(await control.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe('solid')
      }
    },
  )

  it.each(['light', 'dark'] as const)('the %s scheme is followed', async (colorScheme) => {
    const page = await visit('email', PHONE)
    await page.emulateMedia({ colorScheme })
    const backgroundOf = (selector: string) =>
      page.locator(selector).evaluate((element) => getComputedStyle(element).backgroundColor)
    expect(await backgroundOf('body')).toBe(
      colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(23, 25, 31)',
    )
    // Only when its hash in the policy is right does the client's colour appear.
    await expect.poll(() => backgroundOf('button')).toBe('rgb(255, 212, 0)')
  })

  it('no page breaks its own policy', () => {
    expect(complaints).toEqual([])
  })
})
