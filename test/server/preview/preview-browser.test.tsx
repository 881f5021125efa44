import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STYLESHEET } from '../../../src/pages/assets/stylesheet.ts'
import { PreviewPage } from '../../../src/server/preview/preview.pages.tsx'
import { runAxe } from '../../support/axe.ts'
import { DESKTOP, launchBrowser, noBrowser } from '../../support/browser.ts'
import { renderHtml } from '../../support/pages.tsx'

let browser: Browser
let page: Page

describe.skipIf(noBrowser)('the preview of the brand in a browser', () => {
  beforeAll(async () => {
    browser = await launchBrowser()
    page = await browser.newPage({ viewport: DESKTOP })
    // The frames stay empty.
    await page.route('**/*', (route) => route.abort())
    const html = await renderHtml(
      <PreviewPage
        tenant={{ tenantId: 'acme' }}
        path="/acme/brand/preview"
        pages={['sign-in', 'wrong-code']}
        mails={['invitation']}
      />,
    )
    await page.setContent(html.replace('</head>', `<style>${STYLESHEET}</style></head>`))
  })
  afterAll(() => browser?.close())

  test.each(['light', 'dark'] as const)('has no violation that axe finds, in %s colors', async (scheme) => {
    await page.emulateMedia({ colorScheme: scheme })
    const { violations, passed } = await runAxe(page, { rules: { 'frame-tested': { enabled: false } } })
    expect(violations).toEqual([])
    expect(passed).toBeGreaterThan(10)
  })

  test('does not scroll horizontally from 320 pixels', async () => {
    for (const width of [320, 375, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    }
  })
})
