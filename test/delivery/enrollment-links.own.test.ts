import 'node:events'
import { afterEach, beforeEach, describe, expect, vi } from 'vitest'
import { log } from '../../src/core/log.ts'
import { findEnrollment } from '../../src/credentials/enrollment.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createUser, deleteUser } from '../../src/users/users.ts'
import { dbFor } from '../support/database.ts'
import { setClock } from '../support/passcodes.ts'
import { test as base } from '../support/tenant-per-test.ts'
import { enrollTotp } from '../support/totp.ts'

const servers = await vi.hoisted(async () =>
  (await import('../support/message-servers.ts')).startMessageServers(),
)

/** With users of tenant Acme, and links for them. */
const test = base
  .extend('verified', async ({ tenant, ctx }) => {
    await updateSettings(ctx, { friendlyName: 'Acme' })
    return { email: `Ada@${tenant}.example`, emailVerified: true }
  })
  .extend(
    'newUser',
    ({ ctx, verified }) =>
      async (fields: object = verified) =>
        (await createUser(ctx, fields)).id,
  )
  .extend(
    'send',
    ({ ctx }) =>
      (userId: string) =>
        createCredentialEnrollmentToken(ctx, userId, {}),
  )
  .extend(
    'listTokens',
    ({ tenant }) =>
      () =>
        dbFor(tenant).enrollmentToken.findMany({ where: { tenantId: tenant } }),
  )
  .extend(
    'isValid',
    ({ ctx }) =>
      async (token: string) =>
        (await findEnrollment(ctx, token)) !== null,
  )

// The app sets the renderer of mails.
test.beforeAll(({ app: _ }) => {})
beforeEach(() => servers.reset())
afterEach(() => vi.useRealTimers())

describe('an enrollment link', () => {
  test('is sent by mail to the verified address before the call returns', async ({
    tenant,
    events,
    verified,
    newUser,
    send,
    isValid,
  }) => {
    const userId = await newUser({ ...verified, phoneNumber: '+41791234567', phoneNumberVerified: true })
    const { uri, token } = await send(userId)
    expect(servers.mails).toHaveLength(1)
    expect(servers.mails[0]).toMatchObject({
      to: [`ada@${tenant}.example`],
      email: { subject: 'Create your passkey for Acme' },
    })
    expect(servers.mails[0]?.email.text).toContain(`\n${uri}\n`)
    expect(servers.mails[0]?.email.html).toContain(`<a href="${uri}"`)
    expect(servers.texts).toEqual([])
    expect(await isValid(token)).toBe(true)
    expect((await events()).at(-1)).toMatchObject({
      type: 'credential.enrollment_created',
      userId,
      detail: { channel: 'email' },
    })
  })

  test('is sent by text message to a verified number when the email address is not verified', async ({
    tenant,
    newUser,
    send,
  }) => {
    const email = `ada@${tenant}.example`
    const { uri } = await send(
      await newUser({ email, phoneNumber: '+41791234567', phoneNumberVerified: true }),
    )
    expect(servers.texts.map(({ body }) => body)).toEqual([
      {
        to: '+41791234567',
        body: `Create your passkey for Acme: ${uri} It expires in 24 hours.`,
      },
    ])
    expect(servers.mails).toEqual([])
  })

  test.for<[name: string, fields: object]>([
    ['an unverified address', { email: 'ada@unproven.example' }],
    ['an unverified number', { phoneNumber: '+41791234567' }],
    [
      'an extension behind a switchboard',
      { phoneNumber: 'tel:+41791234567;ext=12', phoneNumberVerified: true },
    ],
    ['no address', {}],
  ])(
    'is not sent to %s, which is rejected with a hint at send: false',
    async ([_what, fields], { rest, newUser, listTokens }) => {
      const userId = await newUser(fields)
      const path = `/users/${userId}/credentials/enrollment-tokens`
      const rejected = await rest('POST', path)
      expect(rejected).toMatchObject({ status: 400, body: { fields: [{ field: 'send' }] } })
      expect(rejected.body.fields[0].description).toContain('use false and deliver the link yourself')
      expect([servers.mails, servers.texts, await listTokens()]).toEqual([[], [], []])
      expect((await rest('POST', path, { send: false })).status).toBe(201)
      expect([servers.mails, servers.texts]).toEqual([[], []])
    },
  )

  test('is deleted when it cannot be delivered, and another can be sent immediately', async ({
    rest,
    events,
    verified,
    newUser,
    send,
    listTokens,
    isValid,
  }) => {
    for (const fields of [verified, { phoneNumber: '+41791234567', phoneNumberVerified: true }]) {
      const userId = await newUser(fields)
      servers.rejectsMail = true
      servers.smsStatus = 500
      const path = `/users/${userId}/credentials/enrollment-tokens`
      const answer = await rest('POST', path, {})
      expect(answer).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } })
      expect((await listTokens()).filter((row) => row.userId === userId)).toEqual([])
      expect((await events()).at(-1)).toMatchObject({
        type: 'credential.enrollment_failed',
        userId,
        detail: { reason: 'delivery' },
      })
      servers.reset()
      expect(await isValid((await send(userId)).token)).toBe(true)
    }
  })

  test('is announced before it is handed out, and deleted when no address of the user can be reached', async ({
    tenant,
    rest,
    ctx,
    events,
    verified,
    newUser,
    listTokens,
  }) => {
    const number = '+41791234567'
    const userId = await newUser({ ...verified, phoneNumber: number, phoneNumberVerified: true })
    await enrollTotp(ctx, userId)
    const path = `/users/${userId}/credentials/enrollment-tokens`
    const countReached = () => [servers.mails.length, servers.texts.length]
    servers.reset()
    servers.rejectsMail = true
    servers.smsStatus = 500
    expect(await rest('POST', path, { send: false })).toMatchObject({
      status: 503,
      body: { code: 'UNAVAILABLE' },
    })
    expect(await listTokens()).toEqual([])
    expect((await events()).at(-1)).toMatchObject({
      type: 'credential.enrollment_failed',
      userId,
      detail: { channel: null, reason: 'delivery' },
    })
    servers.reset()
    servers.rejectsMail = true
    expect((await rest('POST', path, { send: false })).status).toBe(201)
    expect(countReached()).toEqual([0, 1])
    await dbFor(tenant).enrollmentToken.deleteMany({ where: { tenantId: tenant } })
    servers.reset()
    expect((await rest('POST', path, { send: false })).status).toBe(201)
    expect(countReached()).toEqual([1, 1])
  })

  test('invalidates earlier links, also when it cannot be delivered', async ({
    ctx,
    newUser,
    send,
    isValid,
  }) => {
    const userId = await newUser()
    const { token: byHand } = await createCredentialEnrollmentToken(ctx, userId, { send: false })
    const { token: sent } = await send(userId)
    expect([await isValid(byHand), await isValid(sent)]).toEqual([false, true])
    servers.rejectsMail = true
    servers.smsStatus = 500
    setClock(Date.now() + 31_000)
    await expect(send(userId)).rejects.toThrow(expect.objectContaining({ status: 503 }))
    expect(await isValid(sent)).toBe(false)
  })

  test('is sent at most every 30 s and ten times an hour to each user', async ({
    tenant,
    ctx,
    rest,
    newUser,
    send,
  }) => {
    const userId = await newUser()
    const start = Date.now()
    setClock(start)
    await send(userId)
    const early = await rest('POST', `/users/${userId}/credentials/enrollment-tokens`)
    expect(early).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } })
    const wait = Number(early.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(30)
    const raced = await Promise.allSettled(Array.from({ length: 5 }, () => send(userId)))
    expect(raced.every(({ status }) => status === 'rejected')).toBe(true)
    for (let i = 1; i < 10; i++) {
      setClock(start + i * 60_000)
      await send(userId)
    }
    setClock(start + 30 * 60_000)
    await expect(send(userId)).rejects.toMatchObject({ status: 429, retryAfterSeconds: 30 * 60 })
    expect(servers.mails).toHaveLength(10)
    // A link that is not sent is not limited.
    await createCredentialEnrollmentToken(ctx, userId, { send: false })
    // Another user has another budget.
    await send(await newUser({ email: `grace@${tenant}.example`, emailVerified: true }))
    setClock(start + 61 * 60_000)
    await send(userId)
    expect(servers.mails).toHaveLength(12)
  })

  test('is sent once for eight concurrent calls', async ({ newUser, send, listTokens }) => {
    const userId = await newUser()
    const settled = await Promise.allSettled(Array.from({ length: 8 }, () => send(userId)))
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(servers.mails).toHaveLength(1)
    expect((await listTokens()).filter(({ usedAt }) => usedAt === null)).toHaveLength(1)
  })

  test('is deleted with the user', async ({ ctx, newUser, send, listTokens }) => {
    const userId = await newUser()
    await send(userId)
    await deleteUser(ctx, userId)
    expect(await listTokens()).toEqual([])
  })

  test('is never logged, nor is the address', async ({ ctx, events, newUser, send }) => {
    const lines: unknown[] = []
    for (const name of ['info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(log, name).mockImplementation(((...args: unknown[]) => lines.push(args)) as never)
    const userId = await newUser()
    const { token } = await send(userId)
    servers.rejectsMail = true
    servers.smsStatus = 500
    setClock(Date.now() + 31_000)
    await send(userId).catch(() => {})
    vi.restoreAllMocks()
    expect(lines.length).toBeGreaterThan(0)
    for (const secret of [token, ctx.tenant]) expect(JSON.stringify(lines)).not.toContain(secret)
    expect(JSON.stringify(await events())).not.toContain(token)
  })
})
