import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STYLESHEET, STYLESHEET_PATH } from '../../src/pages/assets/stylesheet.ts'
import { renderPage } from '../../src/pages/render-page.pages.tsx'
import { runAxe } from '../support/axe.ts'
import { DESKTOP, launchBrowser, noBrowser } from '../support/browser.ts'
import { pagesWith } from '../support/pages.tsx'

const pages = pagesWith('Acme Cloud')
const PAGES = Object.keys(pages) as (keyof typeof pages)[]

let origin: string
let browser: Browser
let page: Page

describe.skipIf(noBrowser)('a hosted page', () => {
  beforeAll(async () => {
    const server = createServer(async ({ url = '' }, response) => {
      if (url === STYLESHEET_PATH)
        return response.writeHead(200, { 'content-type': 'text/css' }).end(STYLESHEET)
      const node = pages[url.slice(1) as keyof typeof pages]
      if (!node) return response.writeHead(404).end()
      const { status, headers, body } = renderPage(node)
      const shown = Object.fromEntries([...headers].filter(([name]) => name !== 'refresh'))
      response.writeHead(status, shown).end(await new Response(body).text())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await launchBrowser()
    // The policy of the pages permits no script of a test.
    const context = await browser.newContext({ bypassCSP: true, viewport: DESKTOP, reducedMotion: 'reduce' })
    page = await context.newPage()
    await page.goto(`${origin}/email`)
    return () => void server.close()
  })
  afterAll(async () => {
    await browser?.close()
  })

  // The document is written anew for each page, which keeps the program of axe.
  test.each(PAGES)('has no violation that axe finds for %s, in light and dark colors', async (name) => {
    await page.setContent(await (await fetch(`${origin}/${name}`)).text())
    // The parts that a script shows are checked too.
    await page.evaluate(() => {
      for (const part of document.querySelectorAll<HTMLElement>('[hidden]')) part.hidden = false
    })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      const { violations, passed } = await runAxe(page)
      expect([colorScheme, violations]).toEqual([colorScheme, []])
      expect(passed).toBeGreaterThan(10)
    }
  })
})
