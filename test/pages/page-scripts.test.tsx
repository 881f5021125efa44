import { readFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getWords } from '../../src/languages/translations.ts'
import { COPY_SCRIPT, COPY_SCRIPT_PATH } from '../../src/pages/assets/copy-script.ts'
import { LOCAL_TIME_SCRIPT, LOCAL_TIME_SCRIPT_PATH } from '../../src/pages/assets/local-time-script.ts'
import { renderPage } from '../../src/pages/render-page.pages.tsx'
import { buildSamplePages } from '../../src/server/preview/preview.routes.ts'
import { RECOVERY_CODES } from '../../src/server/preview/samples.ts'
import { launchBrowser, noBrowser } from '../support/browser.ts'

const ORIGIN = 'https://id.example'
const SCRIPTS: Record<string, string> = {
  [COPY_SCRIPT_PATH]: COPY_SCRIPT,
  [LOCAL_TIME_SCRIPT_PATH]: LOCAL_TIME_SCRIPT,
}
const samples = buildSamplePages(getWords('en'), { tenantId: 'acme' }, new Date('2026-11-26T02:30:00Z'))

let browser: Browser

/** Opens a sample in New York, with the policy of its page. */
async function open(name: string, javaScriptEnabled = true) {
  const context = await browser.newContext({
    timezoneId: 'America/New_York',
    javaScriptEnabled,
    permissions: ['clipboard-read', 'clipboard-write'],
    acceptDownloads: true,
  })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  await page.route('**/*', async (route) => {
    const path = new URL(route.request().url()).pathname
    if (Object.hasOwn(SCRIPTS, path))
      return route.fulfill({ contentType: 'text/javascript', body: SCRIPTS[path] })
    const sample = samples[path.slice(1)]
    if (!sample) return route.fulfill({ contentType: 'text/css', body: '' })
    const { headers, body } = renderPage(sample, { words: getWords('en') })
    return route.fulfill({ headers: Object.fromEntries(headers), body: await new Response(body).text() })
  })
  await page.goto(`${ORIGIN}/${name}`)
  return { page, complaints }
}

describe.skipIf(noBrowser)('a page with a script that improves a part', () => {
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  test('shows times in the time zone of the browser, and in UTC without JavaScript', async () => {
    const local = await open('account-sessions')
    expect(await local.page.locator('time').first().textContent()).toMatch(/^Nov 25, 2026, 9:30\sPM$/)
    const plain = await open('account-sessions', false)
    expect(await plain.page.locator('time').first().textContent()).toMatch(/^Nov 26, 2026, 2:30\sAM UTC$/)
    expect([local.complaints, plain.complaints]).toEqual([[], []])
  })

  test.each(['recovery-codes', 'account-new-recovery-codes'])('copies the codes of %s', async (name) => {
    const { page, complaints } = await open(name)
    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByText('The codes are copied.').waitFor()
    const codes = `${RECOVERY_CODES.join('\n')}\n`
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(codes)
    expect(complaints).toEqual([])
  })

  test('saves the codes without JavaScript, and has no button that needs it', async () => {
    const { page } = await open('account-new-recovery-codes', false)
    expect(await page.getByRole('button', { name: 'Copy' }).isVisible()).toBe(false)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('recovery-codes.txt')
    expect(await readFile(await download.path(), 'utf8')).toBe(`${RECOVERY_CODES.join('\n')}\n`)
  })
})
