import type { KeyObject } from 'node:crypto'
import type { Ctx } from '../../src/context/context.ts'
import { describeDevice } from '../../src/credentials/device.ts'
import { finishEnrollment, readEnrollmentFinish, startEnrollment } from '../../src/credentials/enrollment.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { createAssertion, createCredential } from './authenticator.ts'
import { test as base, type Page } from './hosted-pages.ts'
import type { PageBrowser } from './page-browser.ts'

/** A passkey of a user on a simulated authenticator. */
export type Passkey = { id: string; credentialId: string; privateKey: KeyObject }

const readAttribute = (html: string, name: string): string =>
  new RegExp(`data-${name}="([^"]*)"`).exec(html)?.[1] ?? ''

/** The options of the passkey's part of a page. */
export const readPasskeyOptions = (html: string) => ({
  challenge: readAttribute(html, 'challenge'),
  rpId: readAttribute(html, 'rp-id'),
})

/** The options of a page that creates a passkey. */
export const readCreationOptions = (html: string) =>
  JSON.parse(readAttribute(html, 'options').replaceAll('&quot;', '"')) as Parameters<
    typeof createCredential
  >[0] & { user: { name: string } }

/** Enrolls a passkey of a user. */
export async function enrollPasskey(
  ctx: Ctx,
  userId: string,
  over: Parameters<typeof createCredential>[1] = {},
): Promise<Passkey> {
  const { token } = await createCredentialEnrollmentToken(ctx, userId, { send: false })
  const options = await startEnrollment(ctx, { token })
  const { response, privateKey } = createCredential(options as Parameters<typeof createCredential>[0], over)
  const device = describeDevice(ctx.tenant, new Headers(), { ip: null, now: new Date() })
  const { credentialId } = await finishEnrollment(ctx, readEnrollmentFinish({ token, response }), device)
  return { id: response.id, credentialId, privateKey }
}

/** `test` with passkeys of users of the tenant. */
export const test = base.extend('passkeys', ({ ctx, browser, start }) => ({
  start,
  enroll: (userId: string, over?: Parameters<typeof createCredential>[1]) => enrollPasskey(ctx, userId, over),
  /** Presents a passkey at the first page of a sign-in, as its script does. Returns the page that follows. */
  present: async (
    page: Page,
    passkey: Pick<Passkey, 'id' | 'privateKey'>,
    over: Parameters<typeof createAssertion>[2] = {},
    by: PageBrowser = browser,
  ) => {
    const assertion = createAssertion(passkey, readPasskeyOptions(page.html), over)
    const { response, path, location } = await by.submit(page, { step: 'passkey', assertion })
    return { response, html: await response.text(), path, location }
  },
}))
