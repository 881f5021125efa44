import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { asPerson, type Ctx, platformCtx } from '../src/ctx.ts'
import { inTransaction, sql } from '../src/db.ts'
import { listInbox } from '../src/delivery/inbox.ts'
import { authenticatePasscode, verifySignInPasscode } from '../src/passcodes/passcodes.ts'
import { sendPasscode, sendSignInPasscode, settleDeliveries } from '../src/passcodes/send-passcode.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { requireOwnAccount } from '../src/scopes.ts'
import { authenticateSession } from '../src/sessions/authenticate-session.ts'
import { findBrowserSession, startSession } from '../src/sessions/sessions.ts'
import { findTenant } from '../src/tenants/tenant-cache.ts'
import { createUser, getUser, lockUser, unlockUser, updateUser } from '../src/users/users.ts'
import { ctxFor, newTenant } from './support/actors.ts'
import { logOf } from './support/events.ts'
import { countStatements } from './support/statements.ts'

const isPostgres = inject('database').kind === 'postgres'
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const INVALID = expect.objectContaining({
  name: 'InvalidCredential',
  status: 401,
  message: 'The code is wrong or has expired.',
})
const limited = (retryAfterSeconds: number) =>
  expect.objectContaining({
    status: 429,
    retryAfterSeconds,
    headers: { 'retry-after': String(retryAfterSeconds) },
  })

let ctx: Ctx
/** Of a visitor of the hosted pages. Each from a network of its own: the budgets of networks are not what is tested. */
let visitor: Ctx
let network = 0

beforeAll(openRuntime)
afterAll(closeRuntime)
beforeEach(async () => {
  ctx = await ctxFor(await newTenant())
  visitor = {
    ...ctx,
    actor: { kind: 'anonymous' },
    scopes: new Set(),
    ip: `10.0.0.${++network}`,
    userAgent: 'Browser',
  }
})
afterEach(() => vi.useRealTimers())

const at = (time: number) => vi.useFakeTimers({ toFake: ['Date'], now: time })
const codeFor = (to: string): string => /\b\d{6}\b/.exec(listInbox(to)[0]?.body ?? '')?.[0] ?? 'none'
const wrongFor = (to: string): string => (codeFor(to) === '000000' ? '000001' : '000000')
const address = (name = 'ada') => `${name}@${ctx.tenant}.example`
const send = (to: string, over: object = {}) => sendPasscode(ctx, 'email', { to, ...over })
const redeem = (to: string, over: object = {}) =>
  authenticatePasscode(ctx, { to, code: codeFor(to), ...over })
const rowOf = async (key: string) => {
  const [row] = await sql<Record<string, unknown>>(
    'SELECT * FROM "Passcode" WHERE "tenantId" = $1 AND "address" = $2',
    [ctx.tenant, key],
  )
  return row
}
const eventsOf = async (type: string) => (await logOf(ctx.tenant)).filter((event) => event.type === type)
const usersOf = () => sql<{ id: string }>('SELECT "id" FROM "User" WHERE "tenantId" = $1', [ctx.tenant])
const activeSessions = () =>
  sql<{ id: string }>(
    'SELECT "id" FROM "Session" WHERE "tenantId" = $1 AND "endedAt" IS NULL AND "expiresAt" > now() ORDER BY "id"',
    [ctx.tenant],
  )

describe('sending a passcode', () => {
  it('sends six digits, stores only their HMAC, and tells the log without the address', async () => {
    const user = await createUser(ctx, { email: 'Ada@Example.com' })
    const answer = await send('ADA@example.com', { metadata: { userAgent: 'App' } })
    expect(answer).toEqual({ to: 'ADA@example.com', userId: user.id, userCreated: false })
    const [message] = listInbox('ada@example.com')
    expect(message).toMatchObject({
      to: 'ada@example.com',
      channel: 'email',
      subject: `Your code for ${ctx.tenant}`,
    })
    const code = codeFor('ada@example.com')
    expect(code).toMatch(/^\d{6}$/)
    const row = await rowOf('ada@example.com')
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
    const events = await eventsOf('passcode.sent')
    expect(events).toEqual([expect.objectContaining({ userId: user.id, detail: { channel: 'email' } })])
    expect(JSON.stringify(events).toLowerCase()).not.toContain('ada@')
  })

  it('sends a text message to a number in any spelling', async () => {
    const user = await createUser(ctx, { phoneNumber: '+41 79 123 45 67' })
    const answer = await sendPasscode(ctx, 'sms', { to: '+41 (79) 123-45-67' })
    expect(answer).toEqual({ to: '+41791234567', userId: user.id, userCreated: false })
    expect(listInbox('+41791234567')[0]).toMatchObject({ channel: 'sms', to: '+41791234567' })
    const result = await authenticatePasscode(ctx, { to: '+41 79 123 45 67', code: codeFor('+41791234567') })
    expect(result.user.phoneNumberVerified).toBe(true)
  })

  it('creates a user for an unknown address only when asked to', async () => {
    await expect(send(address())).rejects.toThrow(expect.objectContaining({ status: 404 }))
    expect(await usersOf()).toEqual([])
    const answer = await send(address(), { createUser: true })
    expect(answer).toEqual({ to: address(), userId: expect.stringMatching(/^user_/), userCreated: true })
    expect(await getUser(ctx, answer.userId)).toMatchObject({ email: address(), emailVerified: false })
    expect(await eventsOf('user.created')).toEqual([expect.objectContaining({ userId: answer.userId })])
    at(Date.now() + MINUTE)
    expect(await send(address(), { createUser: true })).toEqual({ ...answer, userCreated: false })
  })

  it('creates one user when two ask at the same time', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, () => send(address(), { createUser: true })),
    )
    expect(await usersOf()).toHaveLength(1)
    expect(await eventsOf('user.created')).toHaveLength(1)
    const sent = results.filter(({ status }) => status === 'fulfilled')
    expect(sent).toHaveLength(1)
    expect(listInbox(address())).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 429 })
  })

  it('waits 30 s between two codes to an address, and the new one replaces the old one', async () => {
    const began = Date.now()
    at(began)
    await send(address(), { createUser: true })
    const old = codeFor(address())
    at(began + 20 * SECOND)
    await expect(send(address())).rejects.toThrow(limited(10))
    at(began + 30 * SECOND)
    await send(address())
    if (codeFor(address()) !== old)
      await expect(authenticatePasscode(ctx, { to: address(), code: old })).rejects.toThrow(INVALID)
    expect((await redeem(address())).user.emailVerified).toBe(true)
  })

  it('sends ten codes an hour to an address', async () => {
    const began = Date.now()
    for (let i = 0; i < 10; i++) {
      at(began + i * MINUTE)
      await send(address(), { createUser: true })
    }
    at(began + 10 * MINUTE)
    await expect(send(address())).rejects.toThrow(limited(50 * 60))
    at(began + HOUR)
    await send(address())
  })

  it('sends 30 codes an hour to the network of metadata.ipAddress', async () => {
    const metadata = { ipAddress: `2001:db8:${network}::1` }
    for (let i = 0; i < 30; i++) await send(address(`a${i}`), { createUser: true, metadata })
    const sameNetwork = { ipAddress: `2001:db8:${network}:0:ffff::9` }
    await expect(send(address('b'), { createUser: true, metadata: sameNetwork })).rejects.toThrow(
      expect.objectContaining({ status: 429 }),
    )
    await send(address('c'), { createUser: true })
  })

  it('tells a management caller that the user is locked', async () => {
    const user = await createUser(ctx, { email: address() })
    await lockUser(ctx, user.id)
    await expect(send(address())).rejects.toThrow(
      expect.objectContaining({ code: 'USER_LOCKED', status: 403 }),
    )
    expect(listInbox(address())).toEqual([])
  })

  it('refuses an unverified address of a user who has a verified one', async () => {
    await createUser(ctx, { email: address(), phoneNumber: '+41791234568', phoneNumberVerified: true })
    await expect(send(address())).rejects.toThrow(
      expect.objectContaining({ status: 400, fields: [expect.objectContaining({ field: 'to' })] }),
    )
    await sendSignInPasscode(visitor, address())
    await settleDeliveries()
    expect(listInbox(address())).toEqual([])
  })

  it.each([
    ['email', 'not an address', 'must be an e-mail address'],
    ['email', 'a@b.example\r\nBcc: c@d.example', 'must be an e-mail address'],
    ['email', 'a@b.example, c@d.example', 'must be an e-mail address'],
    ['sms', '12', 'must be a phone number with its country code, such as +41791234567'],
    ['sms', '+41791234567;ext=3', 'must be a phone number with its country code, such as +41791234567'],
  ] as const)('refuses %s to %j', async (channel, to, description) => {
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

  it.runIf(isPostgres)('is one statement', async () => {
    await createUser(ctx, { email: address() })
    await findTenant(ctx.tenant)
    expect(await countStatements(() => send(address()))).toBe(1)
    expect(await countStatements(() => send(address('new'), { createUser: true }))).toBe(1)
  })
})

describe('authenticating a passcode', () => {
  it('proves the address and starts a refreshable session of so many minutes', async () => {
    await send(address(), { createUser: true })
    const metadata = { userAgent: 'Phone', ipAddress: '192.0.2.1' }
    const answer = await redeem(address(), { sessionExpirationMinutes: 5, metadata })
    expect(answer).toEqual({
      session: expect.objectContaining({
        kind: 'api',
        refreshable: true,
        amr: ['otp'],
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
    expect(await eventsOf('user.updated')).toEqual([
      expect.objectContaining({ userId: answer.user.id, changedFields: ['emailVerified'] }),
    ])
  })

  it('starts no session unless asked to', async () => {
    await send(address(), { createUser: true })
    const answer = await redeem(address())
    expect(answer).toEqual({
      session: null,
      sessionToken: null,
      user: expect.objectContaining({ email: address() }),
    })
    expect(await activeSessions()).toEqual([])
  })

  it('takes a code with spaces and dashes', async () => {
    await send(address(), { createUser: true })
    const code = codeFor(address())
    await authenticatePasscode(ctx, { to: address(), code: ` ${code.slice(0, 3)}-${code.slice(3)} ` })
  })

  it('refuses a wrong, used, expired, unknown and foreign code all alike', async () => {
    const began = Date.now()
    at(began)
    await expect(authenticatePasscode(ctx, { to: address('nobody'), code: '123456' })).rejects.toThrow(
      INVALID,
    )
    await send(address(), { createUser: true })
    await expect(redeem(address(), { code: wrongFor(address()) })).rejects.toThrow(INVALID)
    const other = await ctxFor(await newTenant())
    await createUser(other, { email: address() })
    await expect(authenticatePasscode(other, { to: address(), code: codeFor(address()) })).rejects.toThrow(
      INVALID,
    )
    await redeem(address())
    await expect(redeem(address())).rejects.toThrow(INVALID)
    at(began + MINUTE)
    await send(address())
    at(began + 11 * MINUTE)
    await expect(redeem(address())).rejects.toThrow(INVALID)
    expect(await eventsOf('passcode.failed')).toEqual([
      expect.objectContaining({ userId: expect.any(String), detail: { channel: 'email' } }),
    ])
  })

  it('kills a code after five wrong guesses', async () => {
    await send(address(), { createUser: true })
    const wrong = wrongFor(address())
    for (let i = 0; i < 5; i++) await expect(redeem(address(), { code: wrong })).rejects.toThrow(INVALID)
    await expect(redeem(address())).rejects.toThrow(INVALID)
    expect(await rowOf(address())).toMatchObject({ attempts: 5, failureCount: 5 })
  })

  it('evaluates at most five of 500 parallel guesses', async () => {
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
    expect(await rowOf(address())).toMatchObject({ attempts: 5, failureCount: 5 })
    expect(await eventsOf('passcode.failed')).toHaveLength(5)
    await expect(redeem(address())).rejects.toThrow(INVALID)
  })

  it('lets a right code work once, however many redeem it at the same time', async () => {
    await send(address(), { createUser: true })
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, () => redeem(address(), { sessionExpirationMinutes: 5 })),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'INVALID_CREDENTIAL' })
    expect(await activeSessions()).toHaveLength(1)
    expect(await eventsOf('session.started')).toHaveLength(1)
  })

  it('counts 30 failures a day for an address, across codes', async () => {
    const began = Date.now()
    for (let code = 0; code < 6; code++) {
      at(began + code * 10 * MINUTE)
      await send(address(), { createUser: true })
      const wrong = wrongFor(address())
      for (let i = 0; i < 5; i++) await expect(redeem(address(), { code: wrong })).rejects.toThrow(INVALID)
    }
    at(began + 2 * HOUR)
    await expect(send(address())).rejects.toThrow(limited(22 * 60 * 60))
    at(began + 24 * HOUR)
    await send(address())
    await redeem(address())
  })

  it('does not count a right guess as a failure', async () => {
    await send(address(), { createUser: true })
    await expect(redeem(address(), { code: wrongFor(address()) })).rejects.toThrow(INVALID)
    await redeem(address())
    expect(await rowOf(address())).toMatchObject({ failureCount: 1, codeHash: null })
  })

  it('refuses the code of a user who was locked, deleted or lost the address in between', async () => {
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
    expect(await activeSessions()).toEqual([])
  })

  it('signs nobody in who is being locked', async () => {
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
    expect(await activeSessions()).toEqual([])
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'INVALID_CREDENTIAL' })
  })

  it('counts the guesses of a network', async () => {
    const metadata = { ipAddress: `198.51.100.${network}` }
    const guess = () => authenticatePasscode(ctx, { to: address(), code: '000000', metadata })
    for (let i = 0; i < 100; i++) await expect(guess()).rejects.toThrow(INVALID)
    await expect(guess()).rejects.toThrow(expect.objectContaining({ status: 429 }))
  })

  it('names every faulty field at once', async () => {
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

  it.runIf(isPostgres)(
    'takes 2 round trips for a wrong code, 5 for a right one, 7 for a first proof',
    async () => {
      await send(address(), { createUser: true })
      const wrong = () => redeem(address(), { code: wrongFor(address()) }).catch(() => {})
      expect(await countStatements(wrong)).toBe(2)
      expect(await countStatements(() => redeem(address(), { sessionExpirationMinutes: 5 }))).toBe(7)
      at(Date.now() + MINUTE)
      await send(address())
      expect(await countStatements(() => redeem(address(), { sessionExpirationMinutes: 5 }))).toBe(5)
    },
  )
})

describe('the first proof of an address', () => {
  it('takes away what was there before it, save what an administrator made', async () => {
    const user = await createUser(ctx, { email: address() })
    const plant = (byManagement: boolean) =>
      inTransaction((sql) =>
        startSession(sql, ctx, {
          userId: user.id,
          kind: 'api',
          expiresAt: new Date(Date.now() + HOUR),
          refreshable: true,
          amr: [],
          byManagement,
        }),
      )
    const [planted, given] = [await plant(false), await plant(true)]
    for (const [id, byManagement] of [
      ['planted', false],
      ['given', true],
    ] as const) {
      await sql(
        `INSERT INTO "Credential" ("tenantId", "id", "userId", "externalId", "byManagement") VALUES ($1, $2, $3, $2, $4)`,
        [ctx.tenant, id, user.id, byManagement],
      )
      await sql(
        `INSERT INTO "IdentityProvider" ("tenantId", "id", "type", "name") VALUES ($1, $2, 'oidc', $2)`,
        [ctx.tenant, id],
      )
      await sql(
        `INSERT INTO "IdpUser" ("tenantId", "id", "userId", "idpId", "externalId", "byManagement") VALUES ($1, $2, $3, $2, $2, $4)`,
        [ctx.tenant, id, user.id, byManagement],
      )
    }
    await send(address())
    const { session } = await redeem(address(), { sessionExpirationMinutes: 5 })
    expect(await activeSessions()).toEqual([{ id: given.session.id }, { id: session?.id }])
    const left = (table: string) => sql(`SELECT "id" FROM "${table}" WHERE "tenantId" = $1`, [ctx.tenant])
    expect(await left('Credential')).toEqual([{ id: 'given' }])
    expect(await left('IdpUser')).toEqual([{ id: 'given' }])
    expect(await eventsOf('session.ended')).toEqual([
      expect.objectContaining({ sessionId: planted.session.id, detail: { reason: 'revoked' } }),
    ])
    expect(await eventsOf('user.updated')).toEqual([
      expect.objectContaining({
        changedFields: ['emailVerified'],
        subjectIds: ['planted', 'planted'],
        detail: { cause: 'first proof', credentialsRemoved: 1, linksRemoved: 1 },
      }),
    ])
  })

  it('happens once: later proofs take nothing away', async () => {
    const began = Date.now()
    await send(address(), { createUser: true })
    const first = await redeem(address(), { sessionExpirationMinutes: 5 })
    at(began + MINUTE)
    await send(address())
    const second = await redeem(address(), { sessionExpirationMinutes: 5 })
    expect(await activeSessions()).toEqual([{ id: first.session?.id }, { id: second.session?.id }])
    expect(await eventsOf('user.updated')).toHaveLength(1)
  })
})

describe('the hosted pages', () => {
  const sendHosted = async (to: string) => {
    const result = await sendSignInPasscode(visitor, to)
    await settleDeliveries()
    return result
  }

  it('answer the same for known, unknown, locked and exhausted addresses, and send to the known one only', async () => {
    await createUser(ctx, { email: address('known') })
    const locked = await createUser(ctx, { email: address('locked') })
    await lockUser(ctx, locked.id)
    for (const name of ['known', 'unknown', 'locked', 'known', 'unknown'])
      expect(await sendHosted(address(name))).toBeUndefined()
    expect(listInbox(address('known'))).toHaveLength(1)
    expect(listInbox(address('unknown'))).toEqual([])
    expect(listInbox(address('locked'))).toEqual([])
    expect(await eventsOf('passcode.sent')).toHaveLength(1)
    for (const name of ['unknown', 'locked'])
      await expect(verifySignInPasscode(visitor, address(name), '123456')).rejects.toThrow(INVALID)
  })

  it.runIf(isPostgres)('do the same work for all of them', async () => {
    await createUser(ctx, { email: address('known') })
    const locked = await createUser(ctx, { email: address('locked') })
    await lockUser(ctx, locked.id)
    const verify = (name: string) => () =>
      verifySignInPasscode(visitor, address(name), wrongFor(address('known'))).catch(() => {})
    await findTenant(ctx.tenant)
    for (const name of ['known', 'unknown', 'locked', 'known', 'unknown'])
      expect(await countStatements(() => sendHosted(address(name)))).toBe(1)
    for (const name of ['known', 'unknown', 'locked']) {
      expect(await countStatements(verify(name))).toBe(2)
      expect(await rowOf(address(name))).toMatchObject({ attempts: 1, failureCount: 1 })
    }
  })

  it('start a browser session with the right code', async () => {
    const user = await createUser(ctx, { email: address() })
    await sendHosted(address())
    const answer = await verifySignInPasscode(visitor, address(), codeFor(address()))
    expect(answer).toMatchObject({
      userId: user.id,
      session: {
        kind: 'browser',
        refreshable: false,
        amr: ['otp'],
        userAgent: 'Browser',
        lastSeenIp: visitor.ip,
      },
    })
    expect(await findBrowserSession(ctx.tenant, answer.token)).toMatchObject({
      userId: user.id,
      amr: ['otp'],
    })
    await expect(verifySignInPasscode(visitor, address(), codeFor(address()))).rejects.toThrow(INVALID)
  })

  it('name who did it in the log once the code is right, and nobody before', async () => {
    const user = await createUser(ctx, { email: address() })
    await sendHosted(address())
    await expect(verifySignInPasscode(visitor, address(), wrongFor(address()))).rejects.toThrow(INVALID)
    await verifySignInPasscode(visitor, address(), codeFor(address()), 'client_a')
    const nobody = { userId: user.id, actorUserId: null, actorClientId: null, ip: visitor.ip }
    const person = { ...nobody, actorUserId: user.id, actorClientId: 'client_a', actorTenantId: null }
    expect(await eventsOf('passcode.sent')).toMatchObject([nobody])
    expect(await eventsOf('passcode.failed')).toMatchObject([nobody])
    expect(await eventsOf('user.updated')).toMatchObject([{ ...person, detail: { cause: 'first proof' } }])
    expect(await eventsOf('session.started')).toMatchObject([person])
  })

  it('permit the person whom they name nothing by that', () => {
    const person = asPerson(ctx, { userId: 'user_a' })
    expect(ctx.scopes.size).toBeGreaterThan(0)
    expect(person.scopes.size).toBe(0)
    expect(() => requireOwnAccount(person)).toThrow('scope account')
  })

  it('count by network, whoever is meant', async () => {
    for (let i = 0; i < 30; i++) await sendHosted(address(`n${i}`))
    await expect(sendHosted(address('one-more'))).rejects.toThrow(expect.objectContaining({ status: 429 }))
    await expect(
      sendSignInPasscode({ ...visitor, ip: '203.0.113.9' }, address('one-more')),
    ).resolves.toBeUndefined()
  })

  it('refuse what is no address at all', async () => {
    await expect(sendHosted('nonsense')).rejects.toThrow(expect.objectContaining({ status: 400 }))
  })
})

it('a deleted user takes the code along', async () => {
  const user = await createUser(ctx, { email: address() })
  await send(address())
  await sql('DELETE FROM "User" WHERE "tenantId" = $1 AND "id" = $2', [ctx.tenant, user.id])
  await expect(redeem(address())).rejects.toThrow(INVALID)
})

it('an address of another tenant is another address', async () => {
  const other = await newTenant()
  await createUser(platformCtx(other), { email: address() })
  await expect(send(address())).rejects.toThrow(expect.objectContaining({ status: 404 }))
})
