import { describe, expect } from 'vitest'
import { AppError } from '../../src/core/errors.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { authenticatePasscode } from '../../src/passcodes/authenticate-passcode.ts'
import { verifySignInPasscode } from '../../src/passcodes/passcodes.ts'
import { sendSignInPasscode } from '../../src/passcodes/send-passcode.ts'
import { resetSignInLimits } from '../../src/passcodes/sign-in-limits.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createUser, lockUser, unlockUser } from '../../src/users/users.ts'
import { sql } from '../support/database.ts'
import { test as base } from '../support/passcodes.ts'
import { newVisit } from '../support/visit.ts'

const times = <T>(count: number, work: (index: number) => Promise<T>) =>
  Promise.allSettled(Array.from({ length: count }, (_, index) => work(index)))

const test = base
  /** The codes that the budgets of an address have counted, by origin. */
  .extend('listCounts', ({ ctx }) => async (address: string) => {
    const rows = await sql<{ origin: string; sendCount: number }>(
      `SELECT "origin", "sendCount" FROM "Passcode"
       WHERE "tenantId" = $1 AND "address" = $2 AND "sendCount" > 0 ORDER BY "origin"`,
      [ctx.tenant, address],
    )
    return Object.fromEntries(rows.map(({ origin, sendCount }) => [origin, sendCount]))
  })
  /** The rows of an address that have a code. */
  .extend('countCodes', ({ ctx }) => async (address: string) => {
    const [row] = await sql<{ count: number }>(
      `SELECT count(*)::int FROM "Passcode" WHERE "tenantId" = $1 AND "address" = $2 AND "codeHash" IS NOT NULL`,
      [ctx.tenant, address],
    )
    return row?.count
  })

describe('codes that are requested at once', () => {
  test.for(['known', 'unknown', 'locked'])(
    'by one sign-in count once in the budgets of the address and the network when the address is %s',
    async (kind, { ctx, visitor, address, listCounts }) => {
      if (kind !== 'unknown') {
        const { id } = await createUser(ctx, { email: address() })
        if (kind === 'locked') await lockUser(ctx, id)
      }
      const visit = newVisit('one', '192.0.2.7')
      const results = await times(10, () => sendSignInPasscode(visitor, address(), visit))
      await awaitDeliveries()
      const values = results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason))
      expect(values.filter((value) => value !== null)).toEqual([{ digits: 6 }])
      expect(listInboxMessages(address())).toHaveLength(kind === 'known' ? 1 : 0)
      expect(await listCounts(address())).toEqual({ '': 1, 'network:192.0.2.7': 1 })
    },
  )

  test('by an API for an address without a user count once', async ({ address, send, listCounts }) => {
    const metadata = { ipAddress: '192.0.2.8' }
    const results = await times(10, () => send(address(), { createUser: true, metadata }))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await listCounts(address())).toEqual({ '': 1, 'network:192.0.2.8': 1 })
  })

  test('by thirty sign-ins are twenty, and those beyond the budget leave nothing', async ({
    visitor,
    address,
    countCodes,
    listCounts,
  }) => {
    const results = await times(30, (index) =>
      sendSignInPasscode(visitor, address(), newVisit(`sign-in-${index}`, `192.0.2.${index}`)),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    expect(await countCodes(address())).toBe(20)
    const { '': total, ...networks } = await listCounts(address())
    expect(total).toBe(20)
    expect(Object.keys(networks)).toHaveLength(20)
  })

  test('beyond the budget create no user', async ({ visitor, address, send, listUsers, events }) => {
    await times(20, (index) =>
      sendSignInPasscode(visitor, address(), newVisit(`sign-in-${index}`, `192.0.2.${index}`)),
    )
    await expect(send(address(), { createUser: true })).rejects.toMatchObject({ status: 429 })
    expect(await listUsers()).toEqual([])
    expect(await events({ type: 'user.created' })).toEqual([])
  })
})

describe('requests, guesses, resets and locks of one user at once', () => {
  test('wait for each other and never deadlock', async ({ ctx, visitor, address }) => {
    await updateSettings(ctx, { networkCodeLimit: 10_000, networkFailureLimit: 10_000 })
    const phoneNumber = '+41791234567'
    const { id } = await createUser(ctx, {
      email: address(),
      emailVerified: true,
      phoneNumber,
      phoneNumberVerified: true,
    })
    const targets = [address(), phoneNumber, address('unknown')]
    const results = await times(120, async (index) => {
      const to = targets[index % targets.length] ?? ''
      const visit = newVisit(`sign-in-${index % 2}`, `192.0.2.${index % 2}`)
      if (index % 20 === 19) return lockUser(ctx, id).then(() => unlockUser(ctx, id))
      if (index % 10 === 9) return resetSignInLimits(ctx, id)
      if (index % 4 === 0) return sendSignInPasscode(visitor, to, visit)
      if (index % 4 === 1) return authenticatePasscode(ctx, { to, code: '000000' })
      return verifySignInPasscode(visitor, to, '000000', visit)
    })
    await awaitDeliveries()
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    for (const error of errors) {
      expect(error).toBeInstanceOf(AppError)
      expect(error.status).toBeLessThan(500)
    }
  })
})
