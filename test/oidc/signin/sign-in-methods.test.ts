import { describe, expect } from 'vitest'
import { getSettings, updateSettings } from '../../../src/tenants/settings.ts'
import { test } from '../../support/passkeys.ts'
import { answerIn } from '../../support/protocol.ts'

const ESSENTIAL_PHR = JSON.stringify({ id_token: { acr: { essential: true, value: 'phr' } } })

/** The positions of the methods' parts on the first page; -1 where one is not offered. */
const findParts = (html: string) => ({
  passcode: html.indexOf('id="address"'),
  passkey: html.indexOf('id="passkey"'),
})

describe('the sign-in methods of a tenant', () => {
  test('are all unless the setting names others', async ({ ctx, start }) => {
    expect((await getSettings(ctx)).signInMethods).toEqual(['passcode', 'passkey', 'provider'])
    const { passcode, passkey } = findParts((await start()).html)
    expect(passcode).toBeGreaterThan(0)
    expect(passkey).toBeGreaterThan(passcode)
  })

  test('are offered in the order of the setting, each once', async ({ ctx, newBrowser, start }) => {
    const { signInMethods } = await updateSettings(ctx, { signInMethods: ['passkey', 'passcode', 'passkey'] })
    expect(signInMethods).toEqual(['passkey', 'passcode'])
    const { passcode, passkey } = findParts((await start(newBrowser())).html)
    expect(passkey).toBeGreaterThan(0)
    expect(passcode).toBeGreaterThan(passkey)
  })

  test('accept no form of a method that the tenant does not have', async ({
    ctx,
    person,
    browser,
    newBrowser,
    start,
    passkeys,
    inbox,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    await updateSettings(ctx, { signInMethods: ['passkey'] })
    const page = await start()
    expect(findParts(page.html)).toMatchObject({ passcode: -1 })
    const { path } = await browser.submit(page, { step: 'email', address: person.email })
    expect(path).toMatch(/\/signin\/[\w-]+$/)
    // The notice of the passkey has no code.
    const messages = await inbox.list(person.email)
    expect(messages.map(({ subject }) => subject)).toEqual([expect.stringContaining('A passkey was added')])
    expect(answerIn((await passkeys.present(page, passkey)).location).code).toMatch(/./)

    await updateSettings(ctx, { signInMethods: ['passcode'] })
    const by = newBrowser()
    const next = await start(by)
    expect(findParts(next.html)).toMatchObject({ passkey: -1 })
    expect(next.html.match(/<script/g)).toHaveLength(1)
    expect((await passkeys.present(next, passkey, {}, by)).location).toBeNull()
    await updateSettings(ctx, { signInMethods: null })
  })

  test('limit the acr values that a client can require', async ({ app, tenant, ctx, browser, oidc }) => {
    const listAcrs = async () => {
      const metadata = await app.fetch(`/${tenant}/.well-known/openid-configuration`)
      return (await metadata.json()).acr_values_supported
    }
    await updateSettings(ctx, { signInMethods: ['passcode'] })
    const { location } = await browser.open(oidc.authorizePath({ claims: ESSENTIAL_PHR }))
    expect(answerIn(location)).toMatchObject({ error: 'unmet_authentication_requirements' })
    expect(await listAcrs()).toEqual(['urn:vestibule:otp', 'urn:vestibule:mfa'])
    await updateSettings(ctx, { secondFactor: 'off' })
    expect(await listAcrs()).toEqual(['urn:vestibule:otp'])
    await updateSettings(ctx, { signInMethods: null, secondFactor: null })
  })

  test.for([[[]], [['password']], ['passkey']])('cannot be %j', async ([signInMethods], { ctx }) => {
    await expect(updateSettings(ctx, { signInMethods })).rejects.toMatchObject({
      status: 400,
      fields: [{ field: expect.stringMatching(/^signInMethods/) }],
    })
  })
})
