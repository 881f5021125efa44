import { describe, expect } from 'vitest'
import { confirmEmailChange } from '../../src/account/confirm-address-change.ts'
import { requestEmailChange } from '../../src/account/request-address-change.ts'
import { createUser } from '../../src/users/users.ts'
import { resetCooldown } from '../support/account.ts'
import { codeIn, inSeconds, test, WRONG_CODE } from '../support/address-change.ts'
import { doneBy } from '../support/people.ts'

describe('a change of the email address', () => {
  test('is confirmed by a code sent to the new address, notified to the old one and recorded', async ({
    tenant,
    inbox,
    signIn,
    fresh,
    holder,
    run,
    findUser,
    findPending,
  }) => {
    const shown = `New@${tenant}.Example`
    const before = (await inbox.list(holder.email)).length
    expect(await run(holder, 'requestEmailChange', { email: shown })).toEqual({
      __typename: 'RequestEmailChangePayload',
      sentTo: shown,
    })
    const [mail] = await inbox.list(fresh)
    const subject = `${codeIn(mail)} is your code to confirm your address for Analytical Engines`
    expect(mail).toMatchObject({ channel: 'email', subject })
    expect((await findUser(holder)).email).toBe(holder.email)
    const { codeHash, address } = await findPending(holder)
    expect([address, codeHash?.length]).toEqual([fresh, 32])
    const code = codeIn(mail).replace(/^(...)/, '$1 ')
    expect(await run(holder, 'confirmEmailChange', { email: fresh, code })).toMatchObject({
      user: { email: shown, emailVerified: true },
    })
    const notices = await inbox.list(holder.email)
    expect(notices).toHaveLength(before + 1)
    expect(notices[0]?.subject).toBe('The email address of your account at Analytical Engines was changed')
    expect(notices[0]?.body).not.toContain('@')
    const own = await doneBy(tenant, holder)
    expect(own).toMatchObject([
      { type: 'passcode.sent', detail: { channel: 'email', purpose: 'address-change' } },
      { type: 'user.updated', changedFields: ['email'], userId: holder.userId },
    ])
    expect(JSON.stringify(own)).not.toContain(codeIn(mail))
    // The new address signs in, and no user has the old one.
    expect((await signIn(fresh, { scope: 'openid' })).userId).toBe(holder.userId)
    await expect(signIn(holder.email, { scope: 'openid' })).rejects.toThrow(/no code/)
  })

  test('to the same unverified address verifies it without a notification', async ({
    inbox,
    newHolder,
    lastCode,
    run,
    setVerified,
  }) => {
    const holder = await newHolder({ phoneNumber: '+41791112201', phoneNumberVerified: true })
    await setVerified(holder, false)
    await run(holder, 'requestEmailChange', { email: holder.email })
    const code = await lastCode(holder.email)
    expect(await run(holder, 'confirmEmailChange', { email: holder.email, code })).toMatchObject({
      user: { email: holder.email, emailVerified: true },
    })
    expect(await inbox.list('+41791112201')).toEqual([])
    expect(await run(holder, 'requestEmailChange', { email: holder.email })).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: [{ field: 'email', description: 'is already your verified address' }],
    })
  })

  test('accepts the code once, for its address, in the session that requested it', async ({
    tenant,
    signIn,
    fresh,
    newHolder,
    holder,
    lastCode,
    run,
  }) => {
    await run(holder, 'requestEmailChange', { email: fresh })
    const code = await lastCode(fresh)
    await resetCooldown(tenant, holder.email)
    const elsewhere = await signIn(holder.email, { scope: 'openid account' })
    expect(await run(elsewhere, 'confirmEmailChange', { email: fresh, code })).toMatchObject(WRONG_CODE)
    expect(await run(holder, 'confirmEmailChange', { email: 'other@example.com', code })).toMatchObject(
      WRONG_CODE,
    )
    const other = await newHolder()
    expect(await run(other, 'confirmEmailChange', { email: fresh, code })).toMatchObject(WRONG_CODE)
    const right = await run(holder, 'confirmEmailChange', { email: fresh, code })
    expect(right).toMatchObject({ user: { email: fresh } })
    expect(await run(holder, 'confirmEmailChange', { email: fresh, code })).toMatchObject(WRONG_CODE)
  })

  test('sends a code that does not sign in', async ({ rest, fresh, holder, lastCode, run, findPasscode }) => {
    await run(holder, 'requestEmailChange', { email: fresh })
    const code = await lastCode(fresh)
    const passcode = await findPasscode(fresh)
    expect(passcode).toMatchObject({ codeHash: null, userId: null })
    const { status } = await rest('POST', '/passcodes/authenticate', { to: fresh, code })
    expect(status).toBe(401)
  })

  test('expires after 10 minutes, and a new request invalidates the previous code', async ({
    fresh,
    holder,
    lastCode,
  }) => {
    await requestEmailChange(holder.ctx, { email: fresh })
    const first = await lastCode(fresh)
    const confirm = (code: string, at: Date) => confirmEmailChange(holder.ctx, { email: fresh, code }, at)
    const wrong = { code: 'INVALID_CREDENTIAL' }
    await expect(confirm(first, inSeconds(601))).rejects.toMatchObject(wrong)
    await requestEmailChange(holder.ctx, { email: fresh }, inSeconds(31))
    const second = await lastCode(fresh)
    if (second !== first) await expect(confirm(first, inSeconds(32))).rejects.toMatchObject(wrong)
    expect((await confirm(second, inSeconds(33))).email).toBe(fresh)
  })

  test('is rejected with a conflict when another user has been given the address since the request', async ({
    ctx,
    fresh,
    holder,
    lastCode,
    run,
    findUser,
  }) => {
    await run(holder, 'requestEmailChange', { email: fresh })
    const code = await lastCode(fresh)
    await createUser(ctx, { email: fresh, emailVerified: true })
    expect(await run(holder, 'confirmEmailChange', { email: fresh, code })).toMatchObject({
      code: 'CONFLICT',
      fields: [{ field: 'email' }],
    })
    expect((await findUser(holder)).email).toBe(holder.email)
  })

  test('to one address by two users at once succeeds for one of them', async ({
    fresh,
    newHolder,
    lastCode,
    run,
  }) => {
    const [one, two] = [await newHolder(), await newHolder()]
    await run(one, 'requestEmailChange', { email: fresh })
    const first = await lastCode(fresh)
    await run(two, 'requestEmailChange', { email: fresh })
    const second = await lastCode(fresh)
    const results = await Promise.all([
      run(one, 'confirmEmailChange', { email: fresh, code: first }),
      run(two, 'confirmEmailChange', { email: fresh, code: second }),
    ])
    expect(results.map(({ __typename }) => __typename).sort()).toEqual([
      'ConfirmEmailChangePayload',
      'ConflictError',
    ])
  })
})
