import type { Page } from 'playwright-core'

/** Chromium skips the animation between two pages, as on a busy machine, and says so as an error. */
const SKIPPED_ANIMATION = /\bview ?transition\b|\btransition was (aborted|skipped)\b/i
/** The console also reports rejected requests, which the page explains. */
const REJECTED_REQUEST = /status of 4/

/** Collects uncaught exceptions and errors of the console of a page, from now on. */
export function collectPageErrors(page: Page): string[] {
  const errors: string[] = []
  page.on('pageerror', (error) => {
    if (!SKIPPED_ANIMATION.test(String(error))) errors.push(String(error))
  })
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() === 'error' && !REJECTED_REQUEST.test(text) && !SKIPPED_ANIMATION.test(text))
      errors.push(text)
  })
  return errors
}
