import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { dbFor } from '../support/database.ts'
import { test as base, photograph, readHeading } from '../support/journey.ts'
import { withoutOffer } from '../support/passkey-journey.ts'
import { makeClient } from '../support/protocol.ts'
import { startRelyingParty } from '../support/relying-party.ts'
import { startMigration } from '../support/sign-in-methods.ts'
import { importLines } from '../support/user-lines.ts'
import { openWithDevice } from '../support/virtual-authenticator.ts'

const EMAIL = 'ada@moved.example'
const BCRYPT = '$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i'

const test = base.extend('party', { scope: 'file' }, async ({ app, acme }, { onCleanup }) => {
  const party = await startRelyingParty('openid email', app)
  onCleanup(() => party.close())
  const client = await makeClient(acme, { name: 'Acme Mail', callbacks: [party.callback] })
  await party.connect(`${ORIGIN}/${acme}`, client.id, client.secret)
  return party
})

describe.skipIf(noBrowser)('an imported person', () => {
  test('signs in with the old password once, gets a passkey, and is rejected with the password then', async ({
    acme,
    open,
    party,
  }) => {
    const ctx = createPlatformCtx(acme)
    await startMigration(ctx)
    await importLines(ctx, [
      { email: EMAIL, emailVerified: true, proof: { hash: { algorithm: 'bcrypt', value: BCRYPT } } },
    ])
    const context = await open()
    const { page, errors } = await openWithDevice(context)
    const enterPassword = async () => {
      await page.goto(party.url)
      await page.getByLabel('Email address').fill(EMAIL)
      await page.getByRole('button', { name: 'Continue', exact: true }).click()
      await page.getByRole('link', { name: 'Use your old password' }).click()
      await page.getByLabel('Old password').fill('abc')
    }
    await enterPassword()
    expect(await readHeading(page)).toBe('Enter your old password')
    await photograph(page, 'desktop-old-password')
    await page.setViewportSize({ width: 320, height: 800 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
    await page.getByRole('button', { name: 'Continue', exact: true }).click()
    await page.getByRole('button', { name: 'Create a passkey' }).waitFor()
    expect(await readHeading(page)).toBe('Sign in faster next time')
    await page.getByRole('button', { name: 'Create a passkey' }).click()
    await page.waitForURL(`${party.callback}*`)
    const { prisma, tenant } = ctx.db
    expect(await prisma.oldPassword.findMany({ where: { tenantId: tenant } })).toMatchObject([{ hash: null }])
    expect(await dbFor(acme).credential.count({ where: { tenantId: acme, user: { email: EMAIL } } })).toBe(1)
    await context.clearCookies()
    await withoutOffer(page)
    await enterPassword()
    await page.getByRole('button', { name: 'Continue', exact: true }).click()
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toMatch(/^This password did not work/)
    expect(errors).toEqual([])
  })
})
