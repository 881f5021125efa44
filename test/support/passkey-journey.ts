import type { BrowserContext, Page } from 'playwright-core'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { createUser } from '../../src/users/users.ts'
import { ORIGIN } from './browser.ts'
import { test as base } from './journey.ts'
import { makeClient } from './protocol.ts'
import { startRelyingParty } from './relying-party.ts'
import { openWithDevice } from './virtual-authenticator.ts'

/** The virtual authenticator accepts the offer in the address field at once; without it, a user uses the button. */
export const withoutOffer = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = async () => false
  })

/** `test` with users whose device has a passkey, and a relying party on an origin of its own. */
export const test = base
  .extend('party', { scope: 'file' }, async ({ app, acme }, { onCleanup }) => {
    const party = await startRelyingParty('openid profile email', app)
    onCleanup(() => party.close())
    const client = await makeClient(acme, { name: 'Acme Mail', callbacks: [party.callback] })
    await party.connect(`${ORIGIN}/${acme}`, client.id, client.secret)
    return party
  })
  /** Creates a passkey of a user on the device of a page, by a link. */
  .extend('createPasskey', ({ acme }) => async (page: Page, userId: string) => {
    const { uri } = await createCredentialEnrollmentToken(createPlatformCtx(acme), userId, { send: false })
    await page.goto(uri)
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.waitForURL('**/enroll/done')
  })
  /** Opens a browser on a device with a passkey of a new user. */
  .extend(
    'openWithPasskey',
    ({ acme, open, createPasskey }) =>
      async (name: string, context?: BrowserContext) => {
        const email = `${name.toLowerCase()}@passkey.example`
        const { id: userId } = await createUser(createPlatformCtx(acme), { email, name, emailVerified: true })
        const opened = await openWithDevice(context ?? (await open()))
        await createPasskey(opened.page, userId)
        return { ...opened, userId, email }
      },
  )
