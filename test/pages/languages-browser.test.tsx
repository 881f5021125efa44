import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getWords } from '../../src/languages/translations.ts'
import { STYLESHEET, STYLESHEET_PATH } from '../../src/pages/assets/stylesheet.ts'
import { renderPage } from '../../src/pages/render-page.pages.tsx'
import { runAxe } from '../support/axe.ts'
import { launchBrowser, noBrowser } from '../support/browser.ts'
import { pagesWith } from '../support/pages.tsx'

const pages = pagesWith('Acme Cloud')
const PAGES = Object.keys(pages) as (keyof typeof pages)[]
/** Those with long words, from right to left, and without spaces. */
const LANGUAGES = ['de', 'fr', 'ar', 'ja']
/** Pages with most kinds of elements. */
const AXE_PAGES = new Set<keyof typeof pages>([
  'email',
  'code',
  'consent',
  'totp-setup',
  'account-sessions',
  'invitation',
])

let origin: string
let browser: Browser
let page: Page

describe.skipIf(noBrowser)('a hosted page in a browser', () => {
  beforeAll(async () => {
    const server = createServer(async ({ url = '' }, response) => {
      if (url === STYLESHEET_PATH)
        return response.writeHead(200, { 'content-type': 'text/css' }).end(STYLESHEET)
      const [, language = '', name = ''] = url.split('/')
      const node = pages[name as keyof typeof pages]
      if (!node) return response.writeHead(404).end()
      const { headers, body } = renderPage(node, {
        words: getWords(language),
        languageReturn: '/acme/account',
      })
      const shown = Object.fromEntries([...headers].filter(([header]) => header !== 'refresh'))
      response.writeHead(200, shown).end(await new Response(body).text())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await launchBrowser()
    // The policy of the pages permits no script of a test.
    const viewport = { width: 320, height: 640 }
    const context = await browser.newContext({ bypassCSP: true, viewport, reducedMotion: 'reduce' })
    page = await context.newPage()
    await page.goto(`${origin}/${LANGUAGES[0]}/email`)
    return () => void server.close()
  })
  afterAll(async () => {
    await browser?.close()
  })

  // The document is written anew for each page, which keeps the program of axe.
  test.each(LANGUAGES)(
    'does not scroll sideways at 320 pixels, and has no violation that axe finds, in %s',
    async (language) => {
      for (const name of PAGES) {
        await page.setContent(await (await fetch(`${origin}/${language}/${name}`)).text())
        expect([name, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([name, 320])
        if (AXE_PAGES.has(name)) expect([name, (await runAxe(page)).violations]).toEqual([name, []])
      }
    },
  )
})
