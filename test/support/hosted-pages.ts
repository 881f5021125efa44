import { sha256 } from '../../src/core/crypto.ts'
import { test as base } from './fixtures.ts'
import type { PageBrowser } from './page-browser.ts'

export type Page = { html: string; path: string; response: Response }

export async function openPage(by: PageBrowser, path: string): Promise<Page> {
  const { response, path: landed } = await by.open(path)
  return { response, html: await response.text(), path: landed || path }
}

/** The handle of a page, without the client that follows it. */
export const handleIn = (path: string): string => (path.split('/')[3] ?? '').slice(0, 43)
/** The row of the interaction that a page belongs to. */
export const interactionAt = (tenant: string, path: string) => ({
  tenantId_handleHash: { tenantId: tenant, handleHash: sha256(handleIn(path)) },
})
/** The text of the page for an interaction that is not available. */
export const GONE = 'This sign-in has expired, was finished, or was started in another browser.'

/** `test` with the first two pages of a sign-in of `person` at `client`. */
export const test = base
  .extend(
    'start',
    ({ browser, oidc }) =>
      (by = browser, more = {}) =>
        openPage(by, oidc.authorizePath(more)),
  )
  .extend(
    'atCode',
    ({ browser, person, start }) =>
      async (by = browser, address = person.email): Promise<Page> => {
        const { response, path } = await by.submit(await start(by), { step: 'email', address })
        return { response, html: await response.text(), path }
      },
  )
