import { describe, expect } from 'vitest'
import { updateSettings } from '../../src/tenants/settings.ts'
import { codeIn, test } from '../support/address-change.ts'

describe('a change of the phone number', () => {
  test('is confirmed by text message and notified by mail', async ({ events, inbox, holder, run }) => {
    const before = (await inbox.list(holder.email)).length
    const phoneNumber = '+41791112204'
    const asked = await run(holder, 'requestPhoneNumberChange', { phoneNumber: '+41 79 111 22 04' })
    expect(asked).toMatchObject({ sentTo: phoneNumber })
    const [sms] = await inbox.list(phoneNumber)
    expect(sms).toMatchObject({ channel: 'sms', body: expect.stringContaining('Analytical Engines') })
    const code = codeIn(sms)
    expect(await run(holder, 'confirmPhoneNumberChange', { phoneNumber, code })).toMatchObject({
      user: { phoneNumber, phoneNumberVerified: true, email: holder.email },
    })
    const notices = await inbox.list(holder.email)
    expect(notices).toHaveLength(before + 1)
    expect(notices[0]?.subject).toBe('The phone number of your account at Analytical Engines was changed')
    expect((await events()).at(-1)).toMatchObject({
      type: 'user.updated',
      changedFields: ['phoneNumber', 'phoneNumberVerified'],
      actorUserId: holder.userId,
    })
  })

  test('rejects a number that cannot receive text messages', async ({ holder, run }) => {
    for (const phoneNumber of ['079 111 22 04', 'ada@example.com', '+41791112204;ext=5', ''])
      expect(await run(holder, 'requestPhoneNumberChange', { phoneNumber })).toMatchObject({
        code: 'BAD_USER_INPUT',
        fields: [{ field: 'phoneNumber' }],
      })
    expect(await run(holder, 'requestEmailChange', { email: '+41791112204' })).toMatchObject({
      fields: [{ field: 'email' }],
    })
  })

  test('sends no message beyond the limits of the tenant, which the log records', async ({
    ctx,
    events,
    holder,
    inbox,
    run,
  }) => {
    const phoneNumber = '+12025550147'
    await updateSettings(ctx, { smsCountries: ['CH'] })
    expect(await run(holder, 'requestPhoneNumberChange', { phoneNumber })).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: [{ field: 'phoneNumber', description: expect.stringContaining('country') }],
    })
    await updateSettings(ctx, { smsCountries: null, smsDailyLimit: 0 })
    expect(await run(holder, 'requestPhoneNumberChange', { phoneNumber })).toMatchObject({
      code: 'RATE_LIMITED',
    })
    await updateSettings(ctx, { smsDailyLimit: null })
    expect(await inbox.list(phoneNumber)).toEqual([])
    const failed = (await events({ type: 'passcode.failed' })).slice(-2)
    expect(failed.map(({ userId, detail }) => [userId, (detail as { reason: string }).reason])).toEqual([
      [holder.userId, 'country'],
      [holder.userId, 'daily'],
    ])
  })

  test('to null requires a verified email address and the current number', async ({
    newHolder,
    run,
    findUser,
    setVerified,
  }) => {
    const phoneNumber = '+41791112205'
    const holder = await newHolder({ phoneNumber, phoneNumberVerified: true })
    const remove = (number = phoneNumber) => run(holder, 'removeViewerPhoneNumber', { phoneNumber: number })
    await setVerified(holder, false)
    expect(await remove()).toMatchObject({ code: 'BAD_USER_INPUT' })
    await setVerified(holder, true)
    expect(await remove('+41791112206')).toMatchObject({
      fields: [{ description: 'is not your current phone number' }],
    })
    expect((await findUser(holder)).phoneNumber).toBe(phoneNumber)
    expect(await remove()).toMatchObject({ user: { phoneNumber: null, phoneNumberVerified: false } })
    expect(await remove()).toMatchObject({ code: 'BAD_USER_INPUT' })
  })

  test('to null accepts a number without a country code as it was given', async ({ newHolder, run }) => {
    const holder = await newHolder({ phoneNumber: '079 111 22 07' })
    const remove = (phoneNumber: string) => run(holder, 'removeViewerPhoneNumber', { phoneNumber })
    expect(await remove('079 111 22 08')).toMatchObject({ code: 'BAD_USER_INPUT' })
    expect(await remove('0791112207')).toMatchObject({ user: { phoneNumber: null } })
  })
})
