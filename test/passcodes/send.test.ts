import { describe, expect } from 'vitest'
import { findTenant } from '../../src/access/tenant-cache.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { authenticatePasscode } from '../../src/passcodes/authenticate-passcode.ts'
import { sendPasscode, sendSignInPasscode } from '../../src/passcodes/send-passcode.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createUser, getUser, lockUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { codeIn, HOUR, INVALID, MINUTE, SECOND, setClock, test } from '../support/passcodes.ts'
import { countWarmStatements } from '../support/statements.ts'
import { VISIT } from '../support/visit.ts'

const limited = (retryAfterSeconds: number) =>
  expect.objectContaining({
    status: 429,
    retryAfterSeconds,
    headers: { 'retry-after': String(retryAfterSeconds) },
  })

describe('sending a passcode', () => {
  test('sends six digits, stores only their HMAC, and records an event without the address', async ({
    ctx,
    send,
    findPasscode,
    events,
  }) => {
    const user = await createUser(ctx, { email: 'Ada@Example.com' })
    const answer = await send('ADA@example.com', { metadata: { userAgent: 'App' } })
    expect(answer).toEqual({ to: 'ADA@example.com', userId: user.id, userCreated: false })
    const [message] = listInboxMessages('ada@example.com')
    expect(message).toMatchObject({
      to: 'ada@example.com',
      channel: 'email',
      subject: expect.stringMatching(new RegExp(`^\\d{6} is your code for ${ctx.tenant}$`)),
    })
    const code = codeIn('ada@example.com')
    expect(code).toMatch(/^\d{6}$/)
    const row = await findPasscode('ada@example.com')
    expect(row).toMatchObject({
      userId: user.id,
      channel: 'email',
      attempts: 0,
      sendCount: 1,
      failureCount: 0,
    })
    expect(row?.codeHash).toHaveLength(32)
    const { expiresAt, sentAt } = row as { expiresAt: Date; sentAt: Date }
    expect(expiresAt.getTime() - sentAt.getTime()).toBe(10 * MINUTE)
    const sent = await events({ type: 'passcode.sent' })
    expect(sent).toEqual([expect.objectContaining({ userId: user.id, detail: { channel: 'email' } })])
    expect(JSON.stringify(sent).toLowerCase()).not.toContain('ada@')
  })

  test('sends a text message to a phone number in any spelling', async ({ ctx }) => {
    const user = await createUser(ctx, { phoneNumber: '+41 79 123 45 67' })
    const answer = await sendPasscode(ctx, 'sms', { to: '+41 (79) 123-45-67' })
    expect(answer).toEqual({ to: '+41791234567', userId: user.id, userCreated: false })
    expect(listInboxMessages('+41791234567')[0]).toMatchObject({ channel: 'sms', to: '+41791234567' })
    const result = await authenticatePasscode(ctx, { to: '+41 79 123 45 67', code: codeIn('+41791234567') })
    expect(result.user.phoneNumberVerified).toBe(true)
  })

  test('creates a user for an unknown address only when asked to', async ({
    ctx,
    events,
    address,
    send,
    listUsers,
  }) => {
    await expect(send(address())).rejects.toThrow(expect.objectContaining({ status: 404 }))
    expect(await listUsers()).toEqual([])
    const answer = await send(address(), { createUser: true })
    expect(answer).toEqual({ to: address(), userId: expect.stringMatching(/^user_/), userCreated: true })
    expect(await getUser(ctx, answer.userId)).toMatchObject({ email: address(), emailVerified: false })
    expect(await events({ type: 'user.created' })).toEqual([
      expect.objectContaining({ userId: answer.userId }),
    ])
    setClock(Date.now() + MINUTE)
    expect(await send(address(), { createUser: true })).toEqual({ ...answer, userCreated: false })
  })

  test('creates one user for ten concurrent calls', async ({ events, address, send, listUsers }) => {
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => send(address(), { createUser: true })),
    )
    expect(await listUsers()).toHaveLength(1)
    expect(await events({ type: 'user.created' })).toHaveLength(1)
    const sent = results.filter(({ status }) => status === 'fulfilled')
    expect(sent).toHaveLength(1)
    expect(listInboxMessages(address())).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 429 })
  })

  test('sends a second code after 30 s at the earliest, which replaces the first', async ({
    ctx,
    address,
    send,
    redeem,
  }) => {
    const began = Date.now()
    setClock(began)
    await send(address(), { createUser: true })
    const old = codeIn(address())
    setClock(began + 20 * SECOND)
    await expect(send(address())).rejects.toThrow(limited(10))
    setClock(began + 30 * SECOND)
    await send(address())
    if (codeIn(address()) !== old)
      await expect(authenticatePasscode(ctx, { to: address(), code: old })).rejects.toThrow(INVALID)
    expect((await redeem(address())).user.emailVerified).toBe(true)
  })

  test('sends another code after the clock was set back', async ({ address, send, redeem }) => {
    const began = Date.now()
    setClock(began)
    await send(address(), { createUser: true })
    setClock(began - HOUR)
    await send(address())
    expect((await redeem(address())).user.emailVerified).toBe(true)
    await expect(send(address())).rejects.toThrow(limited(30))
  })

  test('sends at most twenty codes an hour to an address, ten for one network', async ({ address, send }) => {
    const began = Date.now()
    const metadata = { ipAddress: '198.51.100.77' }
    for (let i = 0; i < 10; i++) {
      setClock(began + i * MINUTE)
      await send(address(), { createUser: true, metadata })
    }
    setClock(began + 10 * MINUTE)
    await expect(send(address(), { metadata })).rejects.toThrow(limited(50 * 60))
    for (let i = 10; i < 20; i++) {
      setClock(began + i * MINUTE)
      await send(address(), { metadata: { ipAddress: `198.51.100.${i}` } })
    }
    setClock(began + 20 * MINUTE)
    await expect(send(address())).rejects.toThrow(limited(40 * 60))
    setClock(began + HOUR)
    await send(address())
  })

  test('sends as many codes an hour to the network of metadata.ipAddress as the tenant sets', async ({
    ctx,
    network,
    address,
    send,
  }) => {
    await updateSettings(ctx, { networkCodeLimit: 10 })
    const metadata = { ipAddress: `2001:db8:${network}::1` }
    for (let i = 0; i < 10; i++) await send(address(`a${i}`), { createUser: true, metadata })
    const sameNetwork = { ipAddress: `2001:db8:${network}:0:ffff::9` }
    await expect(send(address('b'), { createUser: true, metadata: sameNetwork })).rejects.toThrow(
      expect.objectContaining({ status: 429 }),
    )
    await send(address('c'), { createUser: true })
  })

  test('rejects a locked user with USER_LOCKED', async ({ ctx, address, send }) => {
    const user = await createUser(ctx, { email: address() })
    await lockUser(ctx, user.id)
    await expect(send(address())).rejects.toThrow(
      expect.objectContaining({ code: 'USER_LOCKED', status: 403 }),
    )
    expect(listInboxMessages(address())).toEqual([])
  })

  test('rejects an unverified address of a user who has a verified one', async ({
    ctx,
    visitor,
    address,
    send,
  }) => {
    await createUser(ctx, { email: address(), phoneNumber: '+41791234568', phoneNumberVerified: true })
    await expect(send(address())).rejects.toThrow(
      expect.objectContaining({ status: 400, fields: [expect.objectContaining({ field: 'to' })] }),
    )
    await sendSignInPasscode(visitor, address(), VISIT)
    await awaitDeliveries()
    expect(listInboxMessages(address())).toEqual([])
  })

  test.for([
    ['email', 'not an address', 'must be an e-mail address'],
    ['email', 'a@b.example\r\nBcc: c@d.example', 'must be an e-mail address'],
    ['email', 'a@b.example, c@d.example', 'must be an e-mail address'],
    ['sms', '12', 'must be a phone number with its country code, such as +41791234567'],
    ['sms', '+41791234567;ext=3', 'must be a phone number with its country code, such as +41791234567'],
  ] as const)('rejects %s to %j', async ([channel, to, description], { ctx }) => {
    await expect(
      sendPasscode(ctx, channel, { to, createUser: 'yes', metadata: { ipAddress: 'x' } }),
    ).rejects.toThrow(
      expect.objectContaining({
        status: 400,
        fields: [
          { field: 'to', description },
          { field: 'createUser', description: 'must be true or false' },
          { field: 'metadata.ipAddress', description: 'must be an IPv4 or IPv6 address' },
        ],
      }),
    )
  })

  test('makes seven round trips, and two more to create the user', async ({ ctx, address, send }) => {
    await createUser(ctx, { email: address() })
    const count = (to: string, over = {}) =>
      countWarmStatements(
        () => findTenant(ctx.tenant),
        () => send(to, over),
      )
    expect(await count(address())).toBe(7)
    expect(await count(address('new'), { createUser: true })).toBe(9)
  })

  test('does not find a user of another tenant by address', async ({ address, send }) => {
    const other = await newTenant()
    await createUser(createPlatformCtx(other), { email: address() })
    await expect(send(address())).rejects.toThrow(expect.objectContaining({ status: 404 }))
  })
})
