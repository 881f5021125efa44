import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FAVICON_PATH, renderFavicon } from '../../src/pages/assets/favicon.ts'
import { STYLESHEET, STYLESHEET_PATH } from '../../src/pages/assets/stylesheet.ts'
import { renderPage } from '../../src/pages/render-page.pages.tsx'
import { DESKTOP, launchBrowser, noBrowser, PHONE } from '../support/browser.ts'
import { pagesWith } from '../support/pages.tsx'

/** A name that is long, without spaces and partly from right to left. */
const LONG = `${'Donaudampfschifffahrtsgesellschaft'.repeat(4)} شركة الصور`
const pages = pagesWith(LONG, { themeColor: '#ffd400', cornerRadius: 3, font: 'humanist' })
const PAGES = Object.keys(pages) as (keyof typeof pages)[]

/** Without its script, a button that the script shows stays hidden; test/journeys measures that one. */
const BUTTON = 'button:not([hidden] *)'
const CONTROLS = `${BUTTON}, input:not([type=hidden]), select, a[href]`
/** A link in a line of text may be small (WCAG 2.2, 2.5.8). */
const TARGETS = `${BUTTON}, input:not([type=hidden]), select, a.button, footer a`

if (noBrowser) process.stderr.write(`skipped: ${noBrowser}\n`)

const complaints: string[] = []

/** Serves the pages, with the stylesheet. */
async function startPages(): Promise<{ origin: string; close: () => void }> {
  const server = createServer(async ({ url = '' }, response) => {
    if (url === STYLESHEET_PATH)
      return response.writeHead(200, { 'content-type': 'text/css' }).end(STYLESHEET)
    if (url.endsWith(FAVICON_PATH))
      return response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(renderFavicon('Acme'))
    const page = renderPage(pages[url.slice(1) as keyof typeof pages])
    response.writeHead(page.status, Object.fromEntries(page.headers)).end(await page.text())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  }
}

let server: Awaited<ReturnType<typeof startPages>>
let browser: Browser
/** One page for all tests: a new one starts a process of the browser. */
let page: Page

const visit = (name: string) => page.goto(`${server.origin}/${name}`)

/** Boxes of all targets of a page, in pixels. */
const measureTargets = (): Promise<{ width: number; height: number }[]> =>
  page.locator(TARGETS).evaluateAll((targets) =>
    targets.map((target) => {
      const { width, height } = target.getBoundingClientRect()
      return { width, height }
    }),
  )

describe.skipIf(noBrowser)('a hosted page in a browser without JavaScript', () => {
  beforeAll(async () => {
    server = await startPages()
    browser = await launchBrowser()
    const context = await browser.newContext({ javaScriptEnabled: false })
    page = await context.newPage()
    page.on('console', (message) => complaints.push(`${page.url()}: ${message.text()}`))
  })
  afterAll(async () => {
    await browser?.close()
    server?.close()
  })

  // Each page is opened once: changes of the size and of the page take longest.
  describe.each(PAGES)('for %s', (name) => {
    beforeAll(async () => {
      await page.setViewportSize(DESKTOP)
      await visit(name)
    })

    test('reaches every control by Tab and shows the focus', async () => {
      const autofocused = await page.locator('[autofocus]').count()
      const count = await page.locator(CONTROLS).count()
      for (let index = 0; index < count; index++) {
        if (index > 0 || autofocused === 0) await page.keyboard.press('Tab')
        // The browser moves the focus to an autofocused control with the first frame after the load.
        const readFocus = () =>
          page.evaluate(
            (selector) => [
              [...document.querySelectorAll(selector)].indexOf(document.activeElement as Element),
              getComputedStyle(document.activeElement as Element).outlineStyle,
            ],
            CONTROLS,
          )
        await expect.poll(readFocus).toEqual([index, 'solid'])
      }
    })

    test('has targets of at least 44 by 44 pixels, and does not scroll horizontally at any width from 320 pixels', async () => {
      for (const viewport of [DESKTOP, PHONE, { width: 320, height: 640 }]) {
        await page.setViewportSize(viewport)
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width)
        if (viewport !== PHONE) continue
        const boxes = await measureTargets()
        expect(boxes.filter(({ width, height }) => width < 44 || height < 44)).toEqual([])
      }
    })
  })

  test.each(['light', 'dark'] as const)('follows the %s color scheme', async (colorScheme) => {
    await visit('email')
    await page.emulateMedia({ colorScheme })
    const backgroundOf = (selector: string) =>
      page.locator(selector).evaluate((element) => getComputedStyle(element).backgroundColor)
    expect(await backgroundOf('body')).toBe(
      colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(23, 25, 31)',
    )
    // The brand appears only when the policy has the right hash.
    await expect.poll(() => backgroundOf('button.primary')).toBe('rgb(255, 212, 0)')
    const [font, radius] = await page
      .locator('button.primary')
      .evaluate((element) => [getComputedStyle(element).fontFamily, getComputedStyle(element).borderRadius])
    expect([font?.split(',')[0], radius]).toEqual(['Seravek', '3px'])
  })

  test('never violates its content security policy', () => {
    expect(complaints).toEqual([])
  })
})
