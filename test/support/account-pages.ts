import { expect } from 'vitest'
import { startSessionIn } from './browser-session.ts'
import { dbFor } from './database.ts'
import { test as base } from './fixtures.ts'
import { openPage, type Page } from './hosted-pages.ts'
import type { PageBrowser } from './page-browser.ts'

/** `test` with a person who is signed in to a browser, and the account pages in it. */
export const test = base
  .extend('here', async ({ tenant, newBrowser, person }) => {
    const browser = newBrowser()
    await startSessionIn(browser, tenant, person.id)
    return browser
  })
  .extend(
    'visit',
    ({ tenant, here }) =>
      (path = '', by: PageBrowser = here): Promise<Page> =>
        openPage(by, `/${tenant}/account${path}`),
  )
  /** Submits a form of an account page, and expects a page of this server. */
  .extend('submit', ({ visit, here }) => async (path: string, form: Record<string, string>, by = here) => {
    const page = await visit(path, by)
    const { response, path: landed } = await by.submit(page, form)
    return { response, html: await response.text(), path: landed || page.path } satisfies Page
  })
  /** Moves the sign-in of the person's sessions into the past. */
  .extend('ageSignIn', ({ tenant, person }) => async (minutes: number): Promise<void> => {
    const at = new Date(Date.now() - minutes * 60_000)
    const { count } = await dbFor(tenant).session.updateMany({
      where: { tenantId: tenant, userId: person.id },
      data: { authenticatedAt: at, proofs: [{ method: 'passcode', amr: ['otp'], at: at.toISOString() }] },
    })
    expect(count).toBeGreaterThan(0)
  })
