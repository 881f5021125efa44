import { sql } from './database.ts'
import { test as base } from './fixtures.ts'
import { csrfIn } from './protocol.ts'

/** With users to whom a passcode was sent, and guesses of it. */
export const test = base
  /** Makes a user and sends a passcode to the address. */
  .extend(
    'sendCode',
    { scope: 'file' },
    ({ rest, newPerson, email }) =>
      async (name: string): Promise<string> => {
        const to = email(name)
        await newPerson({ email: to })
        await rest('POST', '/passcodes/email', { to })
        return to
      },
  )
  .extend('countGuesses', { scope: 'file' }, ({ tenant }) => async (address: string): Promise<number> => {
    const [row] = await sql<{ n: number }>(
      `SELECT "failureCount" AS "n" FROM "Passcode" WHERE "tenantId" = $1 AND "address" = $2 AND "origin" = ''`,
      [tenant, address],
    )
    return Number(row?.n ?? 0)
  })
  /** Opens the page that asks for an address; returns a function that posts its forms. */
  .extend('openSignIn', { scope: 'file' }, ({ newBrowser, oidc }) => async () => {
    const browser = newBrowser()
    const { path, response } = await browser.open(oidc.authorizePath())
    const csrf = csrfIn(await response.text())
    return {
      browser,
      enterAddress: (address: string) => browser.post(path, { csrf, step: 'email', address }),
      enterCode: (code: string) => browser.post(`${path}/code`, { csrf, step: 'code', code }),
    }
  })
