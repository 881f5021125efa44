import { describe, expect } from 'vitest'
import { findTenant } from '../../src/access/tenant-cache.ts'
import { confirmEmailChange } from '../../src/account/confirm-address-change.ts'
import { requestEmailChange } from '../../src/account/request-address-change.ts'
import { setSignInAge } from '../support/account.ts'
import { type AccountHolder, inSeconds, test, wrongCodeFor } from '../support/address-change.ts'
import { sql } from '../support/database.ts'
import { recordWarmStatements } from '../support/statements.ts'

describe('guesses of the code of an address change', () => {
  test('invalidate the code after 5 of 20 concurrent ones', async ({
    fresh,
    holder,
    lastCode,
    run,
    findUser,
    findPending,
    findPasscode,
  }) => {
    await run(holder, 'requestEmailChange', { email: fresh })
    const code = await lastCode(fresh)
    const guess = { email: fresh, code: wrongCodeFor(code) }
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => run(holder, 'confirmEmailChange', guess)),
    )
    expect(new Set(answers.map(({ message }) => message))).toEqual(
      new Set(['The code is wrong or has expired.']),
    )
    expect((await findPending(holder)).attempts).toBe(5)
    const { failureCount } = await findPasscode(fresh)
    expect(failureCount).toBe(5)
    expect(await run(holder, 'confirmEmailChange', { email: fresh, code })).toMatchObject({
      code: 'INVALID_CREDENTIAL',
    })
    expect((await findUser(holder)).email).toBe(holder.email)
  })

  test('succeed once when the right code is sent 20 times at once', async ({
    events,
    fresh,
    holder,
    lastCode,
    run,
  }) => {
    await run(holder, 'requestEmailChange', { email: fresh })
    const code = await lastCode(fresh)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => run(holder, 'confirmEmailChange', { email: fresh, code })),
    )
    expect(answers.filter(({ __typename }) => __typename === 'ConfirmEmailChangePayload')).toHaveLength(1)
    const updates = (await events()).filter(({ type }) => type === 'user.updated')
    expect(updates).toHaveLength(1)
  })

  test('are limited to nine a day at codes of six digits, across users; codes of ten follow', async ({
    inbox,
    fresh,
    newHolder,
    lastCode,
    findPending,
  }) => {
    const [one, two] = [await newHolder(), await newHolder()]
    const wrong = { code: 'INVALID_CREDENTIAL' }
    for (let round = 0; round < 2; round++) {
      const [holder, at] = [round % 2 ? one : two, inSeconds(40 * round)]
      await requestEmailChange(holder.ctx, { email: fresh }, at)
      const code = wrongCodeFor(await lastCode(fresh))
      for (let guess = 0; guess < 5; guess++)
        await expect(confirmEmailChange(holder.ctx, { email: fresh, code }, at)).rejects.toMatchObject(wrong)
    }
    const answer = await requestEmailChange(one.ctx, { email: fresh }, inSeconds(300))
    expect(answer).toEqual({ sentTo: fresh })
    expect(await inbox.list(fresh)).toHaveLength(3)
    expect(await findPending(one)).toMatchObject({ isLong: true, attempts: 0 })
    expect(await lastCode(fresh)).toMatch(/^\d{5} \d{5}$/)
  })

  test('are limited to one an operation', async ({ gql, holder }) => {
    const aliased = (name: string, input: string) =>
      gql(
        `mutation { a: ${name}(input: ${input}) { __typename } b: ${name}(input: ${input}) { __typename } }`,
        {},
        { token: holder.token },
      )
    for (const [name, input] of [
      ['confirmEmailChange', '{email: "a@example.com", code: "000000"}'],
      ['requestEmailChange', '{email: "a@example.com"}'],
      ['confirmPhoneNumberChange', '{phoneNumber: "+41791112233", code: "000000"}'],
      ['requestPhoneNumberChange', '{phoneNumber: "+41791112233"}'],
    ] as const)
      expect((await aliased(name, input)).body.errors?.[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX')
  })
})

describe('codes for address changes', () => {
  test('are sent at most every 30 s and ten times an hour for one user, to any address', async ({
    tenant,
    fresh,
    holder,
    run,
  }) => {
    await requestEmailChange(holder.ctx, { email: fresh })
    const soon = await run(holder, 'requestEmailChange', { email: 'second@example.com' })
    expect(soon).toMatchObject({ __typename: 'RateLimitedError' })
    expect(soon.retryAfterSeconds).toBeLessThanOrEqual(30)
    for (let i = 1; i < 10; i++)
      await requestEmailChange(holder.ctx, { email: `n${i}@example.com` }, inSeconds(31 * i))
    await expect(
      requestEmailChange(holder.ctx, { email: 'n10@example.com' }, inSeconds(310)),
    ).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    await setSignInAge(tenant, holder, -3600)
    expect(await requestEmailChange(holder.ctx, { email: 'n11@example.com' }, inSeconds(3601))).toEqual({
      sentTo: 'n11@example.com',
    })
  })

  test('are sent at most twenty times an hour to one address, for any user and with the same answer', async ({
    inbox,
    fresh,
    newHolder,
  }) => {
    const holders = [await newHolder(), await newHolder(), await newHolder()]
    for (let i = 0; i < 22; i++) {
      const holder = holders[i % holders.length] as AccountHolder
      await requestEmailChange(holder.ctx, { email: fresh }, inSeconds(20 * i))
    }
    expect(await inbox.list(fresh)).toHaveLength(20)
  })
})

describe('an address of another user', () => {
  test('is answered like a free address, is sent no code and is not confirmed by any code', async ({
    inbox,
    newHolder,
    holder,
    run,
    findPending,
    findPasscode,
  }) => {
    const other = await newHolder()
    const free = await run(other, 'requestEmailChange', { email: 'free@example.com' })
    const before = (await inbox.list(other.email)).length
    const taken = await run(holder, 'requestEmailChange', { email: other.email.toUpperCase() })
    expect({ ...taken, sentTo: '' }).toEqual({ ...free, sentTo: '' })
    expect(await inbox.list(other.email)).toHaveLength(before)
    expect(await findPending(holder)).toMatchObject({ address: other.email, codeHash: expect.anything() })
    const guess = (by: AccountHolder, email: string) =>
      run(by, 'confirmEmailChange', { email, code: '000001' })
    expect(await guess(holder, other.email)).toEqual(await guess(other, 'free@example.com'))
    // The budget of the other user for signing in is unchanged.
    expect(await findPasscode(other.email)).toMatchObject({ sendCount: 1, failureCount: 0 })
  })

  test('has as many rows and events as a free address, so that they take as long', async ({
    tenant,
    events,
    newHolder,
    holder,
    run,
  }) => {
    const other = await newHolder()
    const countAll = async () => {
      const [counts] = await sql<{ rows: number; failures: number; attempts: number }>(
        `SELECT count(*)::int AS "rows", sum("failureCount")::int AS "failures",
           (SELECT sum("attempts")::int FROM "AddressChange" WHERE "tenantId" = $1) AS "attempts"
         FROM "Passcode" WHERE "tenantId" = $1`,
        [tenant],
      )
      return {
        rows: 0,
        failures: 0,
        ...counts,
        attempts: counts?.attempts ?? 0,
        events: (await events()).length,
      }
    }
    const change = async (by: AccountHolder, email: string) => {
      const before = await countAll()
      await run(by, 'requestEmailChange', { email })
      await run(by, 'confirmEmailChange', { email, code: '000001' })
      const after = await countAll()
      return Object.entries(after).map(([name, count]) => [name, count - before[name as keyof typeof before]])
    }
    const free = await change(other, 'free@example.com')
    expect(await change(holder, other.email)).toEqual(free)
    expect(Object.fromEntries(free)).toEqual({ rows: 1, failures: 1, attempts: 1, events: 2 })
    expect((await events()).at(-2)).toMatchObject({
      type: 'passcode.failed',
      userId: holder.userId,
      detail: { channel: 'email', purpose: 'address-change', reason: 'taken' },
    })
  })

  test('is answered by the same statements as a free address, also when the budget of its sign-ins is used up', async ({
    newHolder,
    holder,
    tenant,
  }) => {
    const [one, two, other] = [await newHolder(), await newHolder(), await newHolder()]
    const record = async (by: AccountHolder, email: string) =>
      (
        await recordWarmStatements(
          () => findTenant(tenant),
          () => requestEmailChange(by.ctx, { email }),
        )
      ).join('\n')
    const free = await record(holder, 'free@example.com')
    expect(await record(one, other.email)).toBe(free)
    await sql(`UPDATE "Passcode" SET "sendCount" = 20, "sendWindowAt" = now() WHERE "tenantId" = $1`, [
      tenant,
    ])
    expect(await record(two, 'free@example.com')).toBe(free)
  })
})

describe('address changes of several users at once', () => {
  test('to one address count each once, and wait for each other without a deadlock', async ({
    fresh,
    newHolder,
    findPasscode,
    run,
  }) => {
    const holders = [await newHolder(), await newHolder(), await newHolder()]
    const answers = await Promise.all(
      holders.flatMap((holder) => [
        ...Array.from({ length: 4 }, () => run(holder, 'requestEmailChange', { email: fresh })),
        run(holder, 'confirmEmailChange', { email: fresh, code: 'x' }),
      ]),
    )
    const countOf = (name: string) => answers.filter(({ __typename }) => __typename === name).length
    expect(countOf('RequestEmailChangePayload')).toBe(3)
    expect(countOf('RateLimitedError')).toBe(9)
    expect(countOf('AuthenticationError')).toBe(3)
    expect(await findPasscode(fresh)).toMatchObject({ sendCount: 3 })
  })
})
