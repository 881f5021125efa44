import type { Page } from 'playwright-core'

/** Fills in a code once the page has loaded its script, which submits a complete one. */
export async function fillCode(page: Page, code: string): Promise<void> {
  const field = page.getByLabel('6-digit code')
  await field.waitFor()
  await page.waitForLoadState()
  await field.fill(code)
}
