import { describe, expect, vi } from 'vitest'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { listEvents } from '../../src/events/list.ts'
import { authenticatePasscode } from '../../src/passcodes/authenticate-passcode.ts'
import { sendPasscode } from '../../src/passcodes/send-passcode.ts'
import { authenticateSession } from '../../src/sessions/authenticate-session.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createUser, deleteUser, updateUser } from '../../src/users/users.ts'
import { ctxFor, newTenant } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import { test as base, INVALID, MINUTE, setClock, wrongFor } from '../support/passcodes.ts'
import { countStatements } from '../support/statements.ts'

const DAY = 24 * 60 * MINUTE
const TOKEN = 'b2c8f0d1-6f0e-4f4e-9a53-0d3c1f6f2a77'
const OTHER = 'f3d9a1e2-7a1f-4a5f-8b64-1e4d2a7a3b88'
const from = (deviceToken?: string, ipAddress = '198.51.100.7') => ({
  metadata: { ...(deviceToken && { deviceToken }), ipAddress, userAgent: 'Acme App' },
})

const test = base
  /** Lets later codes be requested at once. */
  .extend('pass', () => (ms: number) => {
    setClock(Date.now() + ms)
  })
  /** Signs in with a code, both from a device. */
  .extend('enter', ({ send, redeem, pass }) => async (to: string, deviceToken?: string) => {
    await send(to, { createUser: true, ...from(deviceToken) })
    const answer = await redeem(to, { sessionExpirationMinutes: 60, ...from(deviceToken) })
    pass(MINUTE)
    return answer
  })
  /** Uses up the shared budgets of an address. */
  .extend('attack', ({ ctx, send, pass }) => async (to: string) => {
    for (let guess = 0; guess < 12; guess++) {
      if (guess % 4 === 0) {
        await send(to, from(undefined, '192.0.2.66'))
        pass(MINUTE)
      }
      const wrong = { to, code: wrongFor(to), ...from(undefined, '192.0.2.66') }
      await expect(authenticatePasscode(ctx, wrong)).rejects.toThrow(INVALID)
    }
  })
  .extend('listNotices', () => async (to: string) => {
    await awaitDeliveries()
    return listInboxMessages(to).filter(({ subject }) => subject?.startsWith('New sign-in'))
  })

describe('a device token', () => {
  test('is kept as a hash with the session and its events, which are found by it', async ({
    ctx,
    address,
    enter,
    pass,
  }) => {
    setClock(Date.now())
    const { session, sessionToken } = await enter(address(), TOKEN)
    const deviceId = session?.deviceId ?? ''
    expect(deviceId).toMatch(/^[\w-]{43}$/)
    expect((await enter(address(), TOKEN)).session?.deviceId).toBe(deviceId)
    expect((await enter(address(), OTHER)).session?.deviceId).not.toBe(deviceId)
    expect((await enter(address())).session?.deviceId).toBeNull()
    const filter = { deviceId, types: ['session.started'] }
    const listStarts = async () =>
      (await listEvents(ctx, { filter })).rows.map((event) => [event.deviceId, event.type])
    // Older transactions of the server hide events until they have ended.
    await expect.poll(listStarts).toEqual([
      [deviceId, 'session.started'],
      [deviceId, 'session.started'],
    ])
    const attempts = await listEvents(ctx, { filter: { deviceId } })
    expect(attempts.rows.map(({ type }) => type)).toContain('passcode.sent')
    pass(MINUTE)
    const checked = await authenticateSession(ctx, { sessionToken, ...from(OTHER) })
    expect(checked.session.deviceId).not.toBe(deviceId)
    pass(2 * MINUTE)
    expect((await authenticateSession(ctx, { sessionToken })).session.deviceId).toBe(checked.session.deviceId)
    const stored = await sql<{ found: number }>(
      `SELECT count(*)::int AS "found" FROM "Event" e WHERE e."tenantId" = $1 AND e::text LIKE '%' || $2 || '%'`,
      [ctx.tenant, TOKEN],
    )
    expect(stored).toEqual([{ found: 0 }])
  })

  test('is another device in another tenant', async ({ address, enter }) => {
    const { session } = await enter(address(), TOKEN)
    const elsewhere = await ctxFor(await newTenant())
    const to = address('grace')
    await sendPasscode(elsewhere, 'email', { to, createUser: true, ...from(TOKEN) })
    const readDevice = async () =>
      (await listEvents(elsewhere, { filter: { types: ['passcode.sent'] } })).rows[0]?.deviceId
    // An older transaction of the server hides the event until it has ended.
    await expect.poll(readDevice).toMatch(/^[\w-]{43}$/)
    expect(await readDevice()).not.toBe(session?.deviceId)
  })

  test('costs a session check no statement', async ({ ctx, address, enter }) => {
    const { sessionToken } = await enter(address(), TOKEN)
    await authenticateSession(ctx, { sessionToken, ...from(TOKEN) })
    expect(await countStatements(() => authenticateSession(ctx, { sessionToken, ...from(TOKEN) }))).toBe(1)
  })
})

describe('a device in which the user entered a right code', () => {
  test('gets codes and has guesses after others have used up those of the address', async ({
    ctx,
    address,
    attack,
    enter,
    redeem,
    send,
    pass,
  }) => {
    setClock(Date.now())
    await enter(address(), TOKEN)
    await attack(address())
    await send(address(), from(OTHER))
    const [long] = listInboxMessages(address())
    expect(long?.body).toMatch(/\b\d{5} \d{5}\b/)
    pass(MINUTE)
    await send(address(), from(TOKEN))
    expect(listInboxMessages(address())[0]?.body).toMatch(/\b\d{6}\b/)
    for (let guess = 0; guess < 5; guess++)
      await expect(
        authenticatePasscode(ctx, { to: address(), code: wrongFor(address()), ...from(undefined) }),
      ).rejects.toThrow(INVALID)
    expect(await redeem(address(), from(TOKEN))).toMatchObject({ user: { email: address() } })
  })

  test('is not counted in the limits of its network', async ({ ctx, address, enter, send, redeem, pass }) => {
    setClock(Date.now())
    await enter(address(), TOKEN)
    await updateSettings(ctx, { networkCodeLimit: 10 })
    for (let asked = 0; asked < 10; asked++)
      await send(address(`other${asked}`), { createUser: true, ...from(OTHER) })
    await expect(send(address('late'), { createUser: true, ...from(OTHER) })).rejects.toMatchObject({
      status: 429,
    })
    pass(MINUTE)
    await send(address(), from(TOKEN))
    await updateSettings(ctx, { networkFailureLimit: 10 })
    const guess = () => authenticatePasscode(ctx, { to: address('other'), code: '000000', ...from(OTHER) })
    for (let guessed = 0; guessed < 10; guessed++) await expect(guess()).rejects.toThrow(INVALID)
    await expect(guess()).rejects.toMatchObject({ status: 429 })
    expect(await redeem(address(), from(TOKEN))).toMatchObject({ user: { email: address() } })
  })

  test('enters a code that was requested before it was known, or without its token', async ({
    address,
    enter,
    redeem,
    send,
  }) => {
    setClock(Date.now())
    await enter(address(), TOKEN)
    await send(address(), from())
    expect(await redeem(address(), from(TOKEN))).toMatchObject({ user: { email: address() } })
  })

  test.for<[name: string, token: string, days: number]>([
    ['after a wrong code', OTHER, 0],
    ['with a token that could be guessed', 'iPhone 15', 0],
    ['more than 180 days after a right code', TOKEN, 181],
  ])('is not one %s', async ([_, token, days], { ctx, address, attack, enter, send, pass }) => {
    setClock(Date.now())
    await enter(address(), token === OTHER ? TOKEN : token)
    pass(days * DAY)
    await attack(address())
    const wrong = { to: address(), code: '000', ...from(token) }
    await expect(authenticatePasscode(ctx, wrong)).rejects.toThrow(INVALID)
    await send(address(), from(token))
    expect(listInboxMessages(address())[0]?.body).toMatch(/\b\d{5} \d{5}\b/)
  })

  test('is not known to another address of the tenant, nor after the address moves', async ({
    ctx,
    address,
    attack,
    enter,
    send,
    pass,
  }) => {
    setClock(Date.now())
    const { user } = await enter(address(), TOKEN)
    await createUser(ctx, { email: address('victim') })
    await attack(address('victim'))
    await send(address('victim'), from(TOKEN))
    expect(listInboxMessages(address('victim'))[0]?.body).toMatch(/\b\d{5} \d{5}\b/)
    await attack(address())
    await updateUser(ctx, user.id, { email: address('new') })
    await createUser(ctx, { email: address() })
    await send(address(), from(TOKEN))
    expect(listInboxMessages(address())[0]?.body).toMatch(/\b\d{5} \d{5}\b/)
    // The new owner of the address proves it in the same device.
    pass(DAY)
    await enter(address(), TOKEN)
    await attack(address())
    await send(address(), from(TOKEN))
    expect(listInboxMessages(address())[0]?.body).toMatch(/\b\d{6}\b/)
  })

  test('is forgotten beyond twelve devices, and with the user', async ({ ctx, address, enter, pass }) => {
    setClock(Date.now())
    const count = async () => {
      const [row] = await sql<{ count: number }>(
        'SELECT count(*)::int AS "count" FROM "KnownDevice" WHERE "tenantId" = $1',
        [ctx.tenant],
      )
      return row?.count
    }
    const { user } = await enter(address(), TOKEN)
    for (let device = 0; device < 12; device++) {
      pass(10 * MINUTE)
      await enter(address(), `${OTHER}-${device}`)
    }
    expect(await count()).toBe(12)
    const again = await enter(address(), TOKEN)
    pass(MINUTE)
    await sendPasscode({ ...ctx, ip: null }, 'email', { to: address(), ...from(TOKEN) })
    await deleteUser(ctx, user.id)
    expect(await count()).toBe(0)
    const { rows } = await listEvents(ctx, { filter: { deviceId: again.session?.deviceId } })
    expect(rows.filter(({ userId }) => userId === user.id)).toEqual([])
  })
})

describe('a session in a new device', () => {
  test('is announced to a user who signed in before, once', async ({ address, enter, listNotices, pass }) => {
    vi.setSystemTime(Date.now())
    await enter(address(), TOKEN)
    pass(MINUTE)
    await enter(address(), TOKEN)
    expect(await listNotices(address())).toEqual([])
    await enter(address(), OTHER)
    const [notice, ...more] = await listNotices(address())
    expect(more).toEqual([])
    expect(notice?.body).toContain('/account/sessions')
    await enter(address(), OTHER)
    await enter(address())
    expect(await listNotices(address())).toHaveLength(1)
    // A device that another user has is new to this one.
    await enter(address('grace'))
    await enter(address('grace'), TOKEN)
    expect(await listNotices(address('grace'))).toHaveLength(1)
  })

  test('is not announced where the tenant does not want it', async ({ ctx, address, enter, listNotices }) => {
    setClock(Date.now())
    await updateSettings(ctx, { newDeviceNotice: false })
    await enter(address(), TOKEN)
    await enter(address(), OTHER)
    expect(await listNotices(address())).toEqual([])
  })
})
