import { expect } from 'vitest'
import { updateSettings } from '../../src/tenants/settings.ts'
import { dbFor } from './database.ts'
import { test as base, type Page } from './hosted-pages.ts'
import type { PageBrowser } from './page-browser.ts'

let strangers = 0

/** `test` with a tenant where anybody may sign up, and the pages of a sign-up. */
export const test = base
  .extend('open', { scope: 'file', auto: true }, ({ ctx }) => updateSettings(ctx, { signUp: 'open' }))
  /** An address that no user has. */
  .extend('stranger', ({ email }) => email(`stranger${++strangers}`))
  .extend(
    'findUsers',
    ({ tenant }) =>
      (address: string) =>
        dbFor(tenant).user.findMany({ where: { tenantId: tenant, emailKey: address.toLowerCase() } }),
  )
  /** The page that follows the right code of `stranger`. */
  .extend(
    'atCreation',
    ({ browser, stranger, inbox, atCode }) =>
      async (by: PageBrowser = browser, address = stranger): Promise<Page> => {
        const code = await atCode(by, address)
        const { response, path } = await by.submit(code, {
          step: 'code',
          code: await inbox.codeFor(address),
        })
        const html = await response.text()
        expect(path).toMatch(/\/create$/)
        return { html, path, response }
      },
  )
