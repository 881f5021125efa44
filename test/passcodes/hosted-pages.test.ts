import { describe, expect, onTestFinished } from 'vitest'
import { requireOwnAccount } from '../../src/access/require-scope.ts'
import { findTenant } from '../../src/access/tenant-cache.ts'
import { toUserCtx } from '../../src/context/context.ts'
import { awaitDeliveries, deliverInBackground } from '../../src/delivery/background.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { verifySignInPasscode } from '../../src/passcodes/passcodes.ts'
import { sendSignInPasscode } from '../../src/passcodes/send-passcode.ts'
import { findBrowserSession } from '../../src/sessions/sessions.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createUser, lockUser } from '../../src/users/users.ts'
import { test as base, codeIn, INVALID, wrongFor } from '../support/passcodes.ts'
import { makeClient } from '../support/protocol.ts'
import { countStatements, countWarmStatements, recordWarmStatements } from '../support/statements.ts'
import { VISIT } from '../support/visit.ts'

const test = base.extend('sendHosted', ({ visitor }) => async (to: string) => {
  const result = await sendSignInPasscode(visitor, to, VISIT)
  await awaitDeliveries()
  return result
})

describe('sign-in by a passcode on the hosted pages', () => {
  test('behaves the same for known, unknown, locked and exhausted addresses, and sends to the known one only', async ({
    ctx,
    events,
    visitor,
    address,
    sendHosted,
  }) => {
    await createUser(ctx, { email: address('known') })
    const locked = await createUser(ctx, { email: address('locked') })
    await lockUser(ctx, locked.id)
    for (const name of ['known', 'unknown', 'locked'])
      expect(await sendHosted(address(name))).toEqual({ digits: 6 })
    for (const name of ['known', 'unknown', 'locked']) expect(await sendHosted(address(name))).toBeNull()
    expect(listInboxMessages(address('known'))).toHaveLength(1)
    expect(listInboxMessages(address('unknown'))).toEqual([])
    expect(listInboxMessages(address('locked'))).toEqual([])
    expect(await events({ type: 'passcode.sent' })).toHaveLength(1)
    for (const name of ['unknown', 'locked'])
      await expect(verifySignInPasscode(visitor, address(name), '123456', VISIT)).rejects.toThrow(INVALID)
  })

  test('sends the same statements for all of them', async ({
    ctx,
    visitor,
    address,
    findPasscode,
    sendHosted,
  }) => {
    await createUser(ctx, { email: address('known') })
    const locked = await createUser(ctx, { email: address('locked') })
    await lockUser(ctx, locked.id)
    const phoneNumber = '+41791234567'
    await createUser(ctx, { email: address('unverified'), phoneNumber, phoneNumberVerified: true })
    const record = (name: string) =>
      recordWarmStatements(
        () => findTenant(ctx.tenant),
        () => sendHosted(address(name)),
      )
    const first = await record('known')
    // BEGIN, the user, the code, the budgets, the stored code, the event and COMMIT.
    expect(first).toHaveLength(7)
    for (const name of ['unknown', 'locked', 'unverified']) expect(await record(name)).toEqual(first)
    const inCooldown = await record('known')
    for (const name of ['unknown', 'locked', 'unverified']) expect(await record(name)).toEqual(inCooldown)
    const verify = (name: string) => () =>
      verifySignInPasscode(visitor, address(name), wrongFor(address('known')), VISIT).catch(() => {})
    await findTenant(ctx.tenant)
    for (const name of ['known', 'unknown', 'locked']) {
      expect(await countStatements(verify(name))).toBe(2)
      expect(await findPasscode(address(name))).toMatchObject({ attempts: 1, failureCount: 1 })
    }
  })

  test('sends the same statements for all of them when the client is not cached', async ({
    ctx,
    visitor,
    address,
  }) => {
    await createUser(ctx, { email: address('known') })
    const counts = []
    for (const name of ['known', 'unknown']) {
      const { id: clientId } = await makeClient(ctx.tenant)
      const send = async () => {
        await sendSignInPasscode(visitor, address(name), { ...VISIT, clientId })
        await awaitDeliveries()
      }
      counts.push(await countWarmStatements(() => findTenant(ctx.tenant), send))
    }
    expect(counts).toEqual([8, 8])
  })

  test('starts a browser session with the right code', async ({ ctx, visitor, address, sendHosted }) => {
    const user = await createUser(ctx, { email: address() })
    await sendHosted(address())
    const answer = await verifySignInPasscode(visitor, address(), codeIn(address()), VISIT)
    expect(answer).toMatchObject({
      userId: user.id,
      session: {
        kind: 'browser',
        refreshable: false,
        proofs: [{ method: 'passcode', amr: ['otp'] }],
        userAgent: 'Browser',
        lastSeenIp: visitor.ip,
      },
    })
    expect(await findBrowserSession(ctx.tenant, answer?.token ?? '')).toMatchObject({
      userId: user.id,
      proofs: [{ method: 'passcode', amr: ['otp'] }],
    })
    await expect(verifySignInPasscode(visitor, address(), codeIn(address()), VISIT)).rejects.toThrow(INVALID)
  })

  test('records the user as actor once the code is right, and no actor before', async ({
    ctx,
    events,
    visitor,
    address,
    sendHosted,
  }) => {
    const user = await createUser(ctx, { email: address() })
    await sendHosted(address())
    await expect(verifySignInPasscode(visitor, address(), wrongFor(address()), VISIT)).rejects.toThrow(
      INVALID,
    )
    await verifySignInPasscode(visitor, address(), codeIn(address()), { ...VISIT, clientId: 'client_a' })
    const nobody = { userId: user.id, actorUserId: null, actorClientId: null, ip: visitor.ip }
    const person = { ...nobody, actorUserId: user.id, actorClientId: 'client_a', actorTenantId: null }
    expect(await events({ type: 'passcode.sent' })).toMatchObject([nobody])
    expect(await events({ type: 'passcode.failed' })).toMatchObject([nobody])
    expect(await events({ type: 'user.updated' })).toMatchObject([
      { ...person, detail: { cause: 'first proof' } },
    ])
    expect(await events({ type: 'session.started' })).toMatchObject([person])
  })

  test('grants the user no scope', ({ ctx }) => {
    const person = toUserCtx(ctx, { userId: 'user_a' })
    expect(ctx.scopes.size).toBeGreaterThan(0)
    expect(person.scopes.size).toBe(0)
    expect(() => requireOwnAccount(person)).toThrow('scope account')
  })

  test('limits codes by network across addresses', async ({ ctx, visitor, address, sendHosted }) => {
    await updateSettings(ctx, { networkCodeLimit: 10 })
    for (let i = 0; i < 10; i++) await sendHosted(address(`n${i}`))
    await expect(sendHosted(address('one-more'))).rejects.toThrow(expect.objectContaining({ status: 429 }))
    await expect(
      sendSignInPasscode({ ...visitor, ip: '203.0.113.9' }, address('one-more'), VISIT),
    ).resolves.toEqual({ digits: 6 })
  })

  test('sends messages whose pause has not passed at once when the process closes', async () => {
    const waits: number[] = []
    // Load of the machine delays some of them; a pause would take at least 30 ms each time.
    for (let n = 0; n < 10; n++) {
      let isSent = false
      deliverInBackground(async () => {
        isSent = true
      })
      const startedAt = performance.now()
      await awaitDeliveries()
      waits.push(performance.now() - startedAt)
      expect(isSent).toBe(true)
    }
    expect(Math.min(...waits)).toBeLessThan(20)
  })

  test('sends a hundred messages at once without a warning of the process', async () => {
    const warnings: Error[] = []
    const listen = (warning: Error) => warnings.push(warning)
    process.on('warning', listen)
    onTestFinished(() => {
      process.off('warning', listen)
    })
    let sent = 0
    for (let n = 0; n < 100; n++)
      deliverInBackground(async () => {
        sent++
      })
    await awaitDeliveries()
    await new Promise(setImmediate)
    expect([sent, warnings]).toEqual([100, []])
  })

  test('rejects input that is not an address', async ({ sendHosted }) => {
    await expect(sendHosted('nonsense')).rejects.toThrow(expect.objectContaining({ status: 400 }))
  })
})
