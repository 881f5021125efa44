import type { Ctx } from '../../src/context/context.ts'
import { createRecoveryCodes } from '../../src/credentials/second-factors/recovery-codes.ts'
import { dbFor } from './database.ts'
import type { Person } from './fixtures.ts'
import type { Page } from './hosted-pages.ts'
import type { PageBrowser } from './page-browser.ts'
import { codeFor } from './protocol.ts'
import { test as base } from './sign-in-methods.ts'
import { computeTotp, enrollTotp, type Totp } from './totp.ts'

const FIRST_PROOF_MS = 900_000

/** A page, and where the browser was sent instead. */
export type Landing = Page & { location: string | null; status: number }

export const toLanding = async (next: Awaited<ReturnType<PageBrowser['submit']>>): Promise<Landing> => ({
  ...next,
  status: next.response.status,
  html: await next.response.text(),
})

/** The key that the page of the setup shows. */
export const readSetupSecret = (html: string): string =>
  (/<code class="key">([^<]+)</.exec(html)?.[1] ?? '').replaceAll(' ', '')

/** A user with an authenticator app, and recovery codes if they were created. */
export type Owner = { person: Person; totp: Totp; codes: string[] }

export async function equipOwner(ctx: Ctx, person: Person): Promise<Owner> {
  const totp = await enrollTotp(ctx, person.id)
  const { codes } = await createRecoveryCodes(ctx, person.id, { replace: true })
  return { person, totp, codes }
}

/** `test` with a user who has a second factor, and the pages of a sign-in until it is asked for. */
export const test = base
  .extend('owner', ({ ctx, person }) => equipOwner(ctx, person))
  /** Counts the sessions of the person in browsers. */
  .extend(
    'countSessions',
    ({ tenant, person }) =>
      () =>
        dbFor(tenant).session.count({ where: { tenantId: tenant, kind: 'browser', userId: person.id } }),
  )
  /** The details of the failed sign-ins of the person. */
  .extend(
    'failures',
    ({ events, person }) =>
      async () =>
        (await events({ type: 'signin.failed', userId: person.id })).map(({ detail }) => detail),
  )
  /** Enters the code that was sent to an address. Returns the page that follows. */
  .extend(
    'enterPasscode',
    ({ tenant, browser, person, start }) =>
      async (more: Record<string, string> = {}, by = browser, address = person.email): Promise<Landing> => {
        await dbFor(tenant).passcode.updateMany({
          where: { tenantId: tenant, address },
          data: { sentAt: new Date(0) },
        })
        const first = await start(by, more)
        const sent = await toLanding(await by.submit(first, { step: 'email', address }))
        return toLanding(await by.submit(sent, { step: 'code', code: await codeFor(address) }))
      },
  )
  .extend('atSecondFactor', ({ owner: _, enterPasscode }) => enterPasscode())
  /** Lets the first proofs of all sign-ins of the tenant expire. */
  .extend('expireFirstProofs', ({ tenant }) => async (): Promise<void> => {
    const rows = await dbFor(tenant).interaction.findMany({ where: { tenantId: tenant } })
    for (const { handleHash, progress } of rows) {
      const { firstProof } = progress as { firstProof?: { proof: { at: string } } }
      if (!firstProof) continue
      firstProof.proof.at = new Date(Date.now() - FIRST_PROOF_MS - 1000).toISOString()
      await dbFor(tenant).interaction.update({
        where: { tenantId_handleHash: { tenantId: tenant, handleHash } },
        data: { progress: progress as object },
      })
    }
  })
  /** Submits a form of a page. */
  .extend(
    'submit',
    ({ browser }) =>
      async (page: Page, form: Record<string, string>, by: PageBrowser = browser): Promise<Landing> =>
        toLanding(await by.submit(page, form)),
  )
  /** Enters the current code of the owner's app. */
  .extend(
    'enterTotp',
    ({ owner, browser, submit }) =>
      (page: Page, code = computeTotp(owner.totp.secret), by = browser) =>
        submit(page, { step: 'totp', code }, by),
  )
