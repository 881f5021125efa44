import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STYLESHEET } from '../../src/pages/assets/stylesheet.ts'
import { renderPage } from '../../src/pages/render-page.pages.tsx'
import { buildSamplePages } from '../../src/server/preview/preview.routes.ts'
import { launchBrowser, noBrowser } from '../support/browser.ts'
import { PSEUDO_WORDS } from '../support/pseudo-language.ts'

const samples = buildSamplePages(PSEUDO_WORDS, { tenantId: 'acme' })

let browser: Browser
let page: Page

/** The messages of the shown page, between their brackets: as the browser shows them, and as they are written. */
const readMessages = () =>
  page.locator('body *:not(option, script, style)').evaluateAll((elements) =>
    elements
      .filter((element) =>
        [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue?.includes('⟦')),
      )
      .filter((element) => element.checkVisibility())
      .map((element) => ({
        // biome-ignore lint/performance/useDomNodeTextContent: the test reads the text as it is shown.
        shown: (element as HTMLElement).innerText.match(/⟦[^⟦⟧]*⟧/g) ?? [],
        written: (element.textContent ?? '').replace(/\s+/g, ' ').match(/⟦[^⟦⟧]*⟧/g) ?? [],
      })),
  )

describe.skipIf(noBrowser)('each sample of a page in a browser', () => {
  beforeAll(async () => {
    browser = await launchBrowser()
    page = await browser.newPage({ javaScriptEnabled: false })
    await page.route('**/*', (route) => route.abort())
  })
  afterAll(() => browser?.close())

  test.each(Object.keys(samples))('%s shows each message as its catalog has it', async (name) => {
    const sample = samples[name]
    if (!sample) throw new Error('unknown sample')
    const html = await renderPage(sample, { words: PSEUDO_WORDS }).text()
    await page.setContent(html.replace('</head>', `<style>${STYLESHEET}</style></head>`))
    const messages = await readMessages()
    expect(messages.length).toBeGreaterThan(0)
    for (const { shown, written } of messages) expect(shown).toEqual(written)
  })
})
