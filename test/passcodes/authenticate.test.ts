import { describe, expect } from 'vitest'
import { authenticatePasscode } from '../../src/passcodes/authenticate-passcode.ts'
import { authenticateSession } from '../../src/sessions/authenticate-session.ts'
import { createUser, lockUser, unlockUser, updateUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import { codeIn, HOUR, INVALID, MINUTE, setClock, test, wrongFor } from '../support/passcodes.ts'
import { countStatements } from '../support/statements.ts'

/** The digits of a code in the script whose zero is at a code point. */
const toDigitsFrom = (zero: number, code: string): string =>
  code.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))

describe('authenticating a passcode', () => {
  test('verifies the address and starts a refreshable session of sessionExpirationMinutes', async ({
    ctx,
    events,
    address,
    send,
    redeem,
  }) => {
    await send(address(), { createUser: true })
    const metadata = { userAgent: 'Phone', ipAddress: '192.0.2.1' }
    const answer = await redeem(address(), { sessionExpirationMinutes: 5, metadata })
    expect(answer).toEqual({
      session: expect.objectContaining({
        kind: 'api',
        refreshable: true,
        proofs: [{ method: 'passcode', amr: ['otp'], at: expect.any(String) }],
        userAgent: 'Phone',
        lastSeenIp: '192.0.2.1',
      }),
      sessionToken: expect.any(String),
      user: expect.objectContaining({ email: address(), emailVerified: true, lastSeenAt: expect.any(Date) }),
    })
    const minutes = ((answer.session?.expiresAt.getTime() ?? 0) - Date.now()) / MINUTE
    expect(Math.round(minutes)).toBe(5)
    const checked = await authenticateSession(ctx, {
      sessionToken: answer.sessionToken,
      sessionExpirationMinutes: 9,
    })
    expect(checked.session.id).toBe(answer.session?.id)
    expect(await events({ type: 'user.updated' })).toEqual([
      expect.objectContaining({ userId: answer.user.id, changedFields: ['emailVerified'] }),
    ])
  })

  test('starts no session without sessionExpirationMinutes', async ({
    address,
    send,
    redeem,
    listActiveSessions,
  }) => {
    await send(address(), { createUser: true })
    const answer = await redeem(address())
    expect(answer).toEqual({
      session: null,
      sessionToken: null,
      user: expect.objectContaining({ email: address() }),
    })
    expect(await listActiveSessions()).toEqual([])
  })

  test.for([
    ['spaces and dashes', (code: string) => ` ${code.slice(0, 3)}-${code.slice(3)} `],
    ['another dash', (code: string) => `${code.slice(0, 3)}\u2013${code.slice(3)}`],
    ['marks of direction', (code: string) => `\u202a${code}\u202c`],
    ['Arabic digits', (code: string) => toDigitsFrom(0x660, code)],
    ['full-width digits', (code: string) => toDigitsFrom(0xff10, code)],
  ] as const)('accepts a code with %s', async ([_, write], { ctx, address, send }) => {
    const { userId } = await send(address(), { createUser: true })
    const to = ` ${address()}\u200b`
    expect(await authenticatePasscode(ctx, { to, code: write(codeIn(address())) })).toMatchObject({
      user: { id: userId },
    })
  })

  test('rejects a wrong, used, expired, unknown and foreign code with the same error', async ({
    ctx,
    events,
    address,
    send,
    redeem,
  }) => {
    const began = Date.now()
    setClock(began)
    await expect(authenticatePasscode(ctx, { to: address('nobody'), code: '123456' })).rejects.toThrow(
      INVALID,
    )
    await send(address(), { createUser: true })
    await expect(redeem(address(), { code: wrongFor(address()) })).rejects.toThrow(INVALID)
    const other = await ctxFor(await newTenant())
    await createUser(other, { email: address() })
    await expect(authenticatePasscode(other, { to: address(), code: codeIn(address()) })).rejects.toThrow(
      INVALID,
    )
    await redeem(address())
    await expect(redeem(address())).rejects.toThrow(INVALID)
    setClock(began + MINUTE)
    await send(address())
    setClock(began + 11 * MINUTE)
    await expect(redeem(address())).rejects.toThrow(INVALID)
    expect(await events({ type: 'passcode.failed' })).toEqual([
      expect.objectContaining({ userId: expect.any(String), detail: { channel: 'email' } }),
    ])
  })

  test('rejects every guess after five wrong ones', async ({ address, send, redeem, findPasscode }) => {
    await send(address(), { createUser: true })
    const wrong = wrongFor(address())
    for (let i = 0; i < 5; i++) await expect(redeem(address(), { code: wrong })).rejects.toThrow(INVALID)
    await expect(redeem(address())).rejects.toThrow(INVALID)
    expect(await findPasscode(address())).toMatchObject({ attempts: 5, failureCount: 5 })
  })

  test('evaluates at most five of 500 concurrent guesses', async ({
    events,
    address,
    send,
    redeem,
    findPasscode,
  }) => {
    await send(address(), { createUser: true })
    const wrong = wrongFor(address())
    const results = await Promise.allSettled(
      Array.from({ length: 500 }, () => redeem(address(), { code: wrong })),
    )
    for (const result of results)
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { status: 401, code: 'INVALID_CREDENTIAL' },
      })
    expect(await findPasscode(address())).toMatchObject({ attempts: 5, failureCount: 5 })
    expect(await events({ type: 'passcode.failed' })).toHaveLength(5)
    await expect(redeem(address())).rejects.toThrow(INVALID)
  })

  test('redeems a code once for 50 concurrent calls', async ({
    events,
    address,
    send,
    redeem,
    listActiveSessions,
  }) => {
    await send(address(), { createUser: true })
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, () => redeem(address(), { sessionExpirationMinutes: 5 })),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'INVALID_CREDENTIAL' })
    expect(await listActiveSessions()).toHaveLength(1)
    expect(await events({ type: 'session.started' })).toHaveLength(1)
  })

  test('evaluates nine wrong guesses at codes of six digits, until a day passes without one', async ({
    address,
    send,
    redeem,
    findPasscode,
  }) => {
    const began = Date.now()
    const guess = async (times: number) => {
      const wrong = wrongFor(address())
      for (let i = 0; i < times; i++)
        await expect(redeem(address(), { code: wrong })).rejects.toThrow(INVALID)
    }
    setClock(began)
    await send(address(), { createUser: true })
    await guess(5)
    setClock(began + 10 * MINUTE)
    await send(address())
    const short = codeIn(address())
    await guess(4)
    await expect(redeem(address(), { code: short })).rejects.toThrow(INVALID)
    expect(await findPasscode(address())).toMatchObject({ attempts: 4, failureCount: 9 })
    setClock(began + 20 * MINUTE)
    await send(address())
    expect(codeIn(address())).toMatch(/^\d{5} \d{5}$/)
    await guess(4)
    expect(await findPasscode(address())).toMatchObject({ attempts: 4, failureCount: 9 })
    await redeem(address())
    setClock(began + 24 * HOUR + 9 * MINUTE)
    await send(address())
    expect(codeIn(address())).toMatch(/^\d{5} \d{5}$/)
    setClock(began + 24 * HOUR + 11 * MINUTE)
    await send(address())
    expect(codeIn(address())).toMatch(/^\d{6}$/)
    await redeem(address())
  })

  test('does not count the right code as a failure', async ({ address, send, redeem, findPasscode }) => {
    await send(address(), { createUser: true })
    await expect(redeem(address(), { code: wrongFor(address()) })).rejects.toThrow(INVALID)
    await redeem(address())
    expect(await findPasscode(address())).toMatchObject({ failureCount: 1, codeHash: null })
  })

  test('rejects the code of a user who was locked or whose address changed after it was sent', async ({
    ctx,
    address,
    send,
    redeem,
    listActiveSessions,
  }) => {
    const locked = await createUser(ctx, { email: address('locked') })
    await send(address('locked'))
    await lockUser(ctx, locked.id)
    await expect(redeem(address('locked'))).rejects.toThrow(INVALID)
    await unlockUser(ctx, locked.id)
    await expect(redeem(address('locked'))).rejects.toThrow(INVALID)
    const moved = await createUser(ctx, { email: address('moved') })
    await send(address('moved'))
    await updateUser(ctx, moved.id, { email: address('elsewhere') })
    await expect(redeem(address('moved'))).rejects.toThrow(INVALID)
    const changed = await createUser(ctx, { email: address('changed'), phoneNumber: '+41791234569' })
    await send(address('changed'))
    await updateUser(ctx, changed.id, { phoneNumberVerified: true })
    await expect(redeem(address('changed'))).rejects.toThrow(INVALID)
    expect(await listActiveSessions()).toEqual([])
  })

  test('leaves no active session of a user who is locked at the same time', async ({
    ctx,
    address,
    send,
    redeem,
    listActiveSessions,
  }) => {
    const people = await Promise.all(
      Array.from({ length: 8 }, (_, i) => createUser(ctx, { email: address(`p${i}`), emailVerified: true })),
    )
    for (let i = 0; i < people.length; i++) await send(address(`p${i}`))
    const results = await Promise.allSettled(
      people.flatMap((user, i) => [
        redeem(address(`p${i}`), { sessionExpirationMinutes: 5 }),
        lockUser(ctx, user.id),
      ]),
    )
    expect(await listActiveSessions()).toEqual([])
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'INVALID_CREDENTIAL' })
  })

  test('limits the guesses of a network', async ({ ctx, network, address }) => {
    const metadata = { ipAddress: `198.51.100.${network}` }
    const guess = () => authenticatePasscode(ctx, { to: address(), code: '000000', metadata })
    for (let i = 0; i < 100; i++) await expect(guess()).rejects.toThrow(INVALID)
    await expect(guess()).rejects.toThrow(expect.objectContaining({ status: 429 }))
  })

  test('reports every invalid field at once', async ({ ctx }) => {
    await expect(
      authenticatePasscode(ctx, { to: '?', sessionExpirationMinutes: -1, from: 'x' }),
    ).rejects.toThrow(
      expect.objectContaining({
        fields: [
          { field: 'to', description: 'must be an e-mail address or a phone number' },
          { field: 'code', description: 'is required' },
          { field: 'sessionExpirationMinutes', description: 'must be a whole number from 0 to 129600' },
          { field: 'from', description: 'is not a field of this request' },
        ],
      }),
    )
  })

  test('makes 2 round trips for a wrong code, 5 for the right one, 7 for a first proof', async ({
    address,
    send,
    redeem,
  }) => {
    await send(address(), { createUser: true })
    const wrong = () => redeem(address(), { code: wrongFor(address()) }).catch(() => {})
    expect(await countStatements(wrong)).toBe(2)
    expect(await countStatements(() => redeem(address(), { sessionExpirationMinutes: 5 }))).toBe(7)
    setClock(Date.now() + MINUTE)
    await send(address())
    expect(await countStatements(() => redeem(address(), { sessionExpirationMinutes: 5 }))).toBe(5)
  })

  test('rejects the code of a deleted user', async ({ ctx, address, send, redeem }) => {
    const user = await createUser(ctx, { email: address() })
    await send(address())
    await sql('DELETE FROM "User" WHERE "tenantId" = $1 AND "id" = $2', [ctx.tenant, user.id])
    await expect(redeem(address())).rejects.toThrow(INVALID)
  })
})
