import { beforeEach, describe, expect, vi } from 'vitest'
import { confirmEmailChange } from '../../src/account/confirm-address-change.ts'
import { requestEmailChange } from '../../src/account/request-address-change.ts'
import { log } from '../../src/core/log.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { DELIVERY_TIMEOUT_MS, deliverMail } from '../../src/delivery/mail.ts'
import { toMail } from '../../src/delivery/mail-content.ts'
import { deliverSms } from '../../src/delivery/sms.ts'
import { getWords } from '../../src/languages/translations.ts'
import { authenticatePasscode } from '../../src/passcodes/authenticate-passcode.ts'
import { sendPasscode } from '../../src/passcodes/send-passcode.ts'
import { startBrowserSession } from '../../src/sessions/sessions.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createUser } from '../../src/users/users.ts'
import { sql } from '../support/database.ts'
import { GATEWAY_TOKEN, lastMail, lastText } from '../support/message-servers.ts'
import { test as base } from '../support/tenant-per-test.ts'

const servers = await vi.hoisted(async () =>
  (await import('../support/message-servers.ts')).startMessageServers(),
)

/** With an address and the name Acme of a tenant for each test. */
const test = base
  .extend('to', async ({ tenant, ctx }) => {
    await updateSettings(ctx, { friendlyName: 'Acme' })
    return `ada@${tenant}.example`
  })
  .extend('findPasscode', ({ tenant }) => async (address: string) => {
    const [row] = await sql<Record<string, unknown>>(
      'SELECT * FROM "Passcode" WHERE "tenantId" = $1 AND "address" = $2',
      [tenant, address],
    )
    return row
  })
const UNAVAILABLE = expect.objectContaining({
  code: 'UNAVAILABLE',
  status: 503,
  message: 'The message could not be delivered; try again.',
  headers: { 'retry-after': '5' },
})

const codeIn = (text: unknown) => /\b\d{6}\b/.exec(String(text))?.[0] ?? 'none'

// The app sets the renderer of mails.
test.beforeAll(({ app: _ }) => {})
beforeEach(() => servers.reset())

describe('deliverMail', () => {
  test('sends text and HTML from MAIL_FROM to one address', async () => {
    const tenant = { name: 'Acme', logoUrl: null, supportUrl: null }
    const content = { subject: 'Hällo', preheader: '', heading: 'Hi', footer: [] }
    const mail = toMail(
      { tenant, words: getWords('en') },
      { ...content, parts: [{ kind: 'text', text: 'Text' }] },
    )
    await deliverMail({ to: 'ada@example.com', ...mail })
    expect(lastMail(servers)).toMatchObject({
      from: 'no-reply@vestibule.example',
      to: ['ada@example.com'],
      email: {
        from: { name: 'Vestibule', address: 'no-reply@vestibule.example' },
        to: [{ name: '', address: 'ada@example.com' }],
        subject: 'Hällo',
        text: expect.stringMatching(/^Hi\n\nText\n/),
      },
    })
    expect(lastMail(servers).email.html).toMatch(/<p [^>]*>Text<\/p>/)
  })

  test.each([
    ['subject', { to: 'ada@example.com', subject: 'Hello\r\nBcc: eve@evil.example\r\n\r\nHi' }],
    ['address', { to: 'ada@example.com\r\nBcc: eve@evil.example', subject: 'Hello' }],
    ['address list', { to: 'ada@example.com, eve@evil.example', subject: 'Hello' }],
    ['display name', { to: 'ada@example.com <eve@evil.example>', subject: 'Hello' }],
  ])('takes no second recipient or header from the %s', async (_what, mail) => {
    await deliverMail({ ...mail, text: 'Text' }).catch(() => {})
    for (const { to, email } of servers.mails) {
      expect(to).toHaveLength(1)
      expect(to).not.toContain('eve@evil.example')
      expect(email.headers.map(({ key }) => key)).not.toContain('bcc')
    }
  })

  test('fails with 503 when the server rejects the mail', async () => {
    servers.rejectsMail = true
    await expect(deliverMail({ to: 'ada@example.com', subject: 'S', text: 'T' })).rejects.toThrow(UNAVAILABLE)
  })

  test('fails with 503 when the server does not answer for 10 s', async () => {
    servers.holdsMail = true
    const delays: unknown[] = []
    const { setTimeout: original } = globalThis
    // The limit passes at a twentieth of its time.
    const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, delay?: number) => {
      delays.push(delay)
      return original(work, delay === DELIVERY_TIMEOUT_MS ? DELIVERY_TIMEOUT_MS / 20 : delay)
    }) as typeof setTimeout)
    const began = Date.now()
    const delivery = deliverMail({ to: 'ada@example.com', subject: 'S', text: 'T' })
    await expect(delivery).rejects.toThrow(UNAVAILABLE)
    spy.mockRestore()
    expect(DELIVERY_TIMEOUT_MS).toBe(10_000)
    expect(delays).toContain(DELIVERY_TIMEOUT_MS)
    expect(Date.now() - began).toBeGreaterThan(450)
    expect(Date.now() - began).toBeLessThan(12_000)
  })
})

describe('deliverSms', () => {
  test('posts JSON to the gateway with SMS_TOKEN', async () => {
    await deliverSms({ to: '+41791234567', body: 'Hi' })
    expect(servers.texts).toEqual([
      {
        authorization: `Bearer ${GATEWAY_TOKEN}`,
        type: 'application/json',
        body: { to: '+41791234567', body: 'Hi' },
      },
    ])
  })

  test.each([400, 500, 503, 302])('fails with 503 when the gateway answers %d', async (status) => {
    servers.smsStatus = status
    await expect(deliverSms({ to: '+41791234567', body: 'Hi' })).rejects.toThrow(UNAVAILABLE)
  })
})

describe('a passcode', () => {
  test('is sent by mail before the call returns, and signs in', async ({ ctx, to }) => {
    const { userId } = await sendPasscode(ctx, 'email', { to, createUser: true })
    expect(lastMail(servers)).toMatchObject({
      to: [to],
      email: { subject: expect.stringMatching(/^\d{6} is your code for Acme$/) },
    })
    const code = codeIn(lastMail(servers).email.text)
    expect(codeIn(lastMail(servers).email.subject)).toBe(code)
    expect(lastMail(servers).email.html).toContain(code)
    expect((await authenticatePasscode(ctx, { to, code })).user.id).toBe(userId)
    expect(listInboxMessages()).toEqual([])
  })

  test('is sent by text message, and signs in', async ({ ctx }) => {
    const { userId } = await sendPasscode(ctx, 'sms', { to: '+41 79 123 45 67', createUser: true })
    const { to: phoneNumber, body } = lastText(servers)
    expect(phoneNumber).toBe('+41791234567')
    expect((await authenticatePasscode(ctx, { to: phoneNumber, code: codeIn(body) })).user.id).toBe(userId)
  })

  test('is deleted when it cannot be delivered, and another can be sent immediately', async ({
    ctx,
    events,
    to,
    findPasscode,
  }) => {
    servers.rejectsMail = true
    await expect(sendPasscode(ctx, 'email', { to, createUser: true })).rejects.toThrow(UNAVAILABLE)
    expect(await findPasscode(to)).toMatchObject({ codeHash: null, sendCount: 1 })
    servers.rejectsMail = false
    expect(await sendPasscode(ctx, 'email', { to })).toMatchObject({ userCreated: false })
    expect(await events({ type: 'passcode.failed' })).toEqual([
      expect.objectContaining({ detail: { channel: 'email', reason: 'delivery' } }),
    ])
  })

  test('of an address change is sent in the background and is deleted when it cannot be delivered', async ({
    tenant,
    ctx,
    events,
    to,
  }) => {
    const { id: userId } = await createUser(ctx, { email: to, emailVerified: true })
    const { session } = await ctx.db.transaction((tx) =>
      startBrowserSession(tx, ctx, { userId, proof: { method: 'passcode', amr: ['otp'] } }),
    )
    const ids = { userId, clientId: null, grantId: null, sessionId: session.id }
    const own = { ...ctx, actor: { kind: 'user' as const, tenant, ...ids, oidcScopes: new Set(['account']) } }
    const email = `new@${tenant}.example`
    const pending = async () => {
      const [row] = await sql<Record<string, unknown>>(
        'SELECT * FROM "AddressChange" WHERE "tenantId" = $1',
        [tenant],
      )
      return row
    }
    servers.rejectsMail = true
    expect(await requestEmailChange(own, { email })).toEqual({ sentTo: email })
    await awaitDeliveries()
    expect(await pending()).toMatchObject({ codeHash: null, sendCount: 1 })
    servers.rejectsMail = false
    await requestEmailChange(own, { email })
    await awaitDeliveries()
    expect(lastMail(servers)).toMatchObject({
      to: [email],
      email: { subject: expect.stringMatching(/^\d{6} is your code to confirm your address for Acme$/) },
    })
    const code = codeIn(lastMail(servers).email.text)
    expect(lastMail(servers).email.html).toContain(code)
    expect((await confirmEmailChange(own, { email, code })).email).toBe(email)
    await awaitDeliveries()
    expect(lastMail(servers)).toMatchObject({
      to: [to],
      email: { subject: 'The email address of your account at Acme was changed' },
    })
    const failed = await events({ type: 'passcode.failed' })
    expect(failed).toMatchObject([{ detail: { purpose: 'address-change', reason: 'delivery' } }])
  })

  test('is never logged', async ({ ctx, to }) => {
    const written: string[] = []
    const spy = vi
      .spyOn(process.stdout, 'write')
      .mockImplementation((chunk) => written.push(String(chunk)) > 0)
    const level = log.level
    log.level = 'trace'
    const lines: unknown[] = []
    for (const name of ['info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(log, name).mockImplementation(((...args: unknown[]) => lines.push(args)) as never)
    await sendPasscode(ctx, 'email', { to, createUser: true })
    const code = codeIn(lastMail(servers).email.text)
    servers.smsStatus = 500
    await sendPasscode(ctx, 'sms', { to: '+41791234568', createUser: true }).catch(() => {})
    const smsCode = codeIn(lastText(servers).body)
    await authenticatePasscode(ctx, { to, code })
    log.level = level
    vi.restoreAllMocks()
    spy.mockRestore()
    const all = `${JSON.stringify(lines)}${written.join('')}`
    expect(lines).toHaveLength(1)
    for (const secret of [code, smsCode, GATEWAY_TOKEN]) expect(all).not.toContain(secret)
  })
})
