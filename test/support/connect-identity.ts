import { startSessionIn } from './browser-session.ts'
import { dbFor } from './database.ts'
import { openPage } from './hosted-pages.ts'
import { test as base, readTransfer, type SignInProvider } from './provider-sign-in.ts'

/** `test` with the button "Connect" on the account page, and the links that follow. */
export const test = base
  /** Presses "Connect" as `person`; returns the response. */
  .extend('pressConnect', ({ tenant, person, browser }) => async ({ id }: Pick<SignInProvider, 'id'>) => {
    await startSessionIn(browser, tenant, person.id)
    const page = await openPage(browser, `/${tenant}/account/sign-in-methods`)
    return (await browser.submit(page, { step: 'connect', idp: id })).response
  })
  /** Starts the connection; returns the authorization request at the provider. */
  .extend(
    'connect',
    ({ provider, pressConnect }) =>
      async (to: SignInProvider = provider) =>
        readTransfer(await pressConnect(to)),
  )
  /** The users who are linked to a subject. */
  .extend('linksTo', ({ tenant, provider }) => async (externalId: string, { id } = provider) => {
    const rows = await dbFor(tenant).idpUser.findMany({
      where: { tenantId: tenant, idpId: id, externalId },
    })
    return rows.map(({ userId }) => userId)
  })
