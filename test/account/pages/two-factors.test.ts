import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { nameCookie } from '../../../src/pages/cookies.ts'
import type { SessionProof } from '../../../src/sessions/proofs.ts'
import { startBrowserSession } from '../../../src/sessions/sessions.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { test as base } from '../../support/account-pages.ts'
import { startSessionIn } from '../../support/browser-session.ts'
import { dbFor } from '../../support/database.ts'
import { openPage } from '../../support/hosted-pages.ts'
import { enrollPasskey } from '../../support/passkeys.ts'
import { computeTotp, enrollTotp } from '../../support/totp.ts'

const PASSKEY = { method: 'passkey', amr: ['hwk', 'user', 'mfa'] } as const
const PATH = '/sign-in-methods'

/** `test` in a tenant that requires two factors of all users. */
const test = base
  .extend('strict', { scope: 'file' }, async ({ tenant }) => {
    await updateSettings(createPlatformCtx(tenant), { secondFactor: 'required' })
    return tenant
  })
  .extend('passkey', ({ ctx, person }) => enrollPasskey(ctx, person.id))
  /** Replaces the proofs of the person's sessions, each given so many minutes ago. */
  .extend(
    'setProofs',
    ({ tenant, person }) =>
      async (proofs: [SessionProof['method'], string[], number][]) => {
        const given = proofs.map(([method, amr, minutes]) => ({
          method,
          amr,
          at: new Date(Date.now() - minutes * 60_000).toISOString(),
        }))
        const { count } = await dbFor(tenant).session.updateMany({
          where: { tenantId: tenant, userId: person.id },
          data: { proofs: given, authenticatedAt: new Date() },
        })
        expect(count).toBe(1)
      },
  )

describe('the account pages of a tenant that requires two factors', () => {
  test('remove a passkey after a sign-in by one', async ({ strict, person, here, passkey, submit }) => {
    const { token } = await createPlatformCtx(strict).db.transaction((sql) =>
      startBrowserSession(sql, createPlatformCtx(strict), {
        userId: person.id,
        proof: { ...PASSKEY, amr: [...PASSKEY.amr] },
      }),
    )
    here.cookies.set(nameCookie('sid', strict), token)
    const done = await submit(PATH, { step: 'remove', credential: passkey.credentialId })
    expect(done.html).toContain('Sign-in method removed.')
  })

  test('lead from one factor through the second one, and then remove', async ({
    strict,
    ctx,
    person,
    passkey,
    newBrowser,
  }) => {
    const totp = await enrollTotp(ctx, person.id)
    const browser = newBrowser()
    await startSessionIn(browser, strict, person.id)
    const page = await openPage(browser, `/${strict}/account${PATH}`)
    const form = { step: 'remove', credential: passkey.credentialId }
    const asked = await browser.submit(page, form)
    expect(asked.path).toContain('/signin/')
    const factor = { html: await asked.response.text(), path: asked.path }
    const back = await browser.submit(factor, { step: 'totp', code: computeTotp(totp.secret) })
    expect(back.path).toBe(`/${strict}/account${PATH}`)
    const again = { html: await back.response.text(), path: back.path }
    const done = await browser.submit(again, form)
    expect(await done.response.text()).toContain('Sign-in method removed.')
  })

  test.for<[string, [SessionProof['method'], string[], number][], boolean]>([
    [
      'both recent',
      [
        ['passcode', ['otp'], 1],
        ['totp', ['otp'], 1],
      ],
      true,
    ],
    [
      'an old second factor',
      [
        ['passcode', ['otp'], 1],
        ['totp', ['otp'], 16],
      ],
      false,
    ],
    [
      'an old first proof',
      [
        ['passcode', ['otp'], 16],
        ['totp', ['otp'], 1],
      ],
      false,
    ],
    ['no second factor', [['passcode', ['otp'], 1]], false],
    ['no first proof', [['totp', ['otp'], 1]], false],
    [
      'an old passkey',
      [
        ['passkey', [...PASSKEY.amr], 16],
        ['passcode', ['otp'], 1],
      ],
      false,
    ],
  ])(
    'decide about %s',
    async ([, proofs, isAllowed], { strict: _, ctx, person, passkey, setProofs, submit }) => {
      await enrollTotp(ctx, person.id)
      await submit('', {})
      await setProofs(proofs)
      const { html, path } = await submit(PATH, { step: 'remove', credential: passkey.credentialId })
      expect(html.includes('Sign-in method removed.')).toBe(isAllowed)
      if (!isAllowed) expect(path).toContain('/signin/')
    },
  )
})
