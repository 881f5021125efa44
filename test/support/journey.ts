import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { createPlatformCtx } from '../../src/context/context.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { DESKTOP, launchBrowser, noBrowser, ORIGIN } from './browser.ts'
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

/** A browser context, and a page that keeps its process, with what that has compiled. */
type Lent = { context: BrowserContext; keeper: Page; kind: string }

/** Those that wait for another test, the latest last. */
const spare: Lent[] = []
/** Each has a process, or several. */
const SPARE_LIMIT = 4
const CLEANUP_LIMIT_MS = 20_000

async function takeContext(chromium: Browser, options: BrowserContextOptions): Promise<Lent> {
  const kind = JSON.stringify(options)
  const index = spare.findLastIndex((lent) => lent.kind === kind)
  if (index >= 0) return spare.splice(index, 1)[0] as Lent
  const context = await chromium.newContext({ viewport: DESKTOP, reducedMotion: 'reduce', ...options })
  context.setDefaultTimeout(10_000)
  const keeper = await context.newPage()
  await keeper.goto(`${ORIGIN}/health/live`)
  return { context, keeper, kind }
}

async function cleanContext({ context, keeper }: Lent): Promise<boolean> {
  for (const page of context.pages()) if (page !== keeper) await page.close()
  await context.setOffline(false)
  await context.clearCookies()
  await context.clearPermissions()
  await keeper.evaluate(() => localStorage.clear())
  return true
}

/**
 * Makes a context as good as new, unless its test has closed it. One that does not answer is given up: the cleanup of a
 * fixture has no limit of its own.
 */
async function returnContext(lent: Lent): Promise<void> {
  if (lent.keeper.isClosed()) return
  const isClean = await Promise.race([cleanContext(lent), sleep(CLEANUP_LIMIT_MS, false, { ref: false })])
  if (!isClean) {
    lent.context.close().catch(() => {})
    return
  }
  spare.push(lent)
  if (spare.length > SPARE_LIMIT)
    spare
      .shift()
      ?.context.close()
      .catch(() => {})
}

/** `test` with Chromium, and with a tenant that has a name and a support URL. */
export const test = base
  .extend('chromium', { scope: 'worker' }, ({ app }) => openBrowser(app))
  .extend('acme', { scope: 'file' }, async ({ tenant }) => {
    const settings = { friendlyName: 'Acme Cloud', supportUrl: 'https://acme.example/help' }
    await updateSettings(createPlatformCtx(tenant), settings)
    return tenant
  })
  /**
   * Opens a browser context without animations, as good as new. The next test gets it too: one that changes it for good
   * closes it.
   */
  .extend('open', ({ chromium }, { onCleanup }) => {
    const taken: Lent[] = []
    onCleanup(async () => {
      for (const lent of taken) await returnContext(lent)
    })
    return async (options: BrowserContextOptions = {}): Promise<BrowserContext> => {
      const lent = await takeContext(chromium, options)
      taken.push(lent)
      return lent.context
    }
  })
