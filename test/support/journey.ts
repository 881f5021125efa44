import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { createPlatformCtx } from '../../src/context/context.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { DESKTOP, launchBrowser, noBrowser } from './browser.ts'
import { closers } from './environment.ts'
import { test as base } from './fixtures.ts'
import type { Origin } from './protocol.ts'

if (noBrowser) process.stderr.write(`skipped: ${noBrowser}\n`)

/** Stores a screenshot when the environment variable SCREENSHOTS names a directory. */
export async function photograph(page: Page, name: string): Promise<void> {
  const directory = process.env.SCREENSHOTS
  if (directory) await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true })
}

export const readHeading = (page: Page): Promise<string | null> => page.locator('h1').textContent()

let running: Promise<Browser> | undefined
/** The browser of this process. */
function openBrowser(app: Origin): Promise<Browser> {
  running ??= launchBrowser(app).then((browser) => {
    closers.push(() => browser.close())
    return browser
  })
  return running
}

/** `test` with Chromium, and with a tenant that has a name and a support URL. */
export const test = base
  .extend('chromium', { scope: 'worker' }, ({ app }) => openBrowser(app))
  .extend('acme', { scope: 'file' }, async ({ tenant }) => {
    const settings = { friendlyName: 'Acme Cloud', supportUrl: 'https://acme.example/help' }
    await updateSettings(createPlatformCtx(tenant), settings)
    return tenant
  })
  /** Opens a browser context, which closes after the test. */
  .extend('open', ({ chromium }, { onCleanup }) => {
    const contexts: BrowserContext[] = []
    onCleanup(async () => {
      for (const context of contexts) await context.close()
    })
    return async (options: BrowserContextOptions = {}): Promise<BrowserContext> => {
      const context = await chromium.newContext({ viewport: DESKTOP, ...options })
      context.setDefaultTimeout(10_000)
      contexts.push(context)
      return context
    }
  })
