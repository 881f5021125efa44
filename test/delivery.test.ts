import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { H3 } from 'h3'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

/** What the servers below do next. They listen on loopback and speak the real protocols. */
const world = vi.hoisted(() => ({
  mails: [] as { from: string; to: string[]; email: unknown }[],
  refuseMail: false,
  /** Never answers the message. */
  holdMail: false,
  texts: [] as { authorization?: string; type?: string; body: unknown }[],
  smsStatus: 200,
  port: { smtp: 0, sms: 0 },
}))

// The ports must be known before src/env.ts reads the environment.
await vi.hoisted(async () => {
  const { createServer } = await import('node:net')
  const free = () =>
    new Promise<number>((resolve) => {
      const probe = createServer().listen(0, '127.0.0.1', () => {
        const { port } = probe.address() as { port: number }
        probe.close(() => resolve(port))
      })
    })
  world.port.smtp = await free()
  world.port.sms = await free()
  process.env.SMTP_URL = `smtp://vestibule:secret@127.0.0.1:${world.port.smtp}?ignoreTLS=true`
  process.env.MAIL_FROM = 'Vestibule <no-reply@vestibule.example>'
  process.env.SMS_URL = `http://127.0.0.1:${world.port.sms}/messages`
  process.env.SMS_TOKEN = 'gateway-token'
})

const { platformCtx } = await import('../src/ctx.ts')
const { inTransaction, sql } = await import('../src/db.ts')
const { keepMessage, listInbox } = await import('../src/delivery/inbox.ts')
const { renderMail } = await import('../src/delivery/mail.pages.tsx')
const { deliverMail } = await import('../src/delivery/mail.ts')
const { deliverSms } = await import('../src/delivery/sms.ts')
const { passcodeMail, passcodeSms } = await import('../src/delivery/texts.ts')
const { addInboxRoutes } = await import('../src/dev/inbox.routes.ts')
const { log } = await import('../src/log.ts')
const { authenticatePasscode } = await import('../src/passcodes/passcodes.ts')
const { sendPasscode, sendSignInPasscode, settleDeliveries } = await import(
  '../src/passcodes/send-passcode.ts'
)
const { closeRuntime, openRuntime } = await import('../src/runtime.ts')
const { confirmEmailChange } = await import('../src/self/confirm-address-change.ts')
const { requestEmailChange } = await import('../src/self/request-address-change.ts')
const { startBrowserSession } = await import('../src/sessions/sessions.ts')
const { updateSettings } = await import('../src/tenants/settings.ts')
const { createUser } = await import('../src/users/users.ts')
const { ctxFor, newTenant } = await import('./support/actors.ts')
const { logOf } = await import('./support/events.ts')

const smtp = new SMTPServer({
  disabledCommands: ['STARTTLS'],
  allowInsecureAuth: true,
  onAuth: ({ username, password }, _session, done) =>
    username === 'vestibule' && password === 'secret'
      ? done(null, { user: username })
      : done(new Error('no')),
  onData: (stream, session, done) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', async () => {
      if (world.holdMail) return
      if (world.refuseMail) return done(Object.assign(new Error('try later'), { responseCode: 451 }))
      const { mailFrom, rcptTo } = session.envelope
      world.mails.push({
        from: mailFrom ? mailFrom.address : '',
        to: rcptTo.map(({ address }) => address),
        email: await PostalMime.parse(Buffer.concat(chunks)),
      })
      done()
    })
  },
})
const gateway = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  world.texts.push({
    authorization: request.headers.authorization,
    type: request.headers['content-type'],
    body: JSON.parse(Buffer.concat(chunks).toString()),
  })
  response
    .writeHead(world.smsStatus, world.smsStatus === 302 ? { location: 'http://127.0.0.1:1/' } : {})
    .end()
})

const UNAVAILABLE = expect.objectContaining({
  code: 'UNAVAILABLE',
  status: 503,
  message: 'The message could not be delivered; try again.',
  headers: { 'retry-after': '5' },
})
const lastText = () => world.texts.at(-1)?.body as { to: string; body: string }
const lastMail = () => world.mails.at(-1) as { from: string; to: string[]; email: Email }

beforeAll(async () => {
  smtp.listen(world.port.smtp, '127.0.0.1')
  gateway.listen(world.port.sms, '127.0.0.1')
  await Promise.all([once(smtp.server, 'listening'), once(gateway, 'listening'), openRuntime()])
  expect((gateway.address() as AddressInfo).port).toBe(world.port.sms)
})
afterAll(async () => {
  await closeRuntime()
  gateway.close()
  await new Promise<void>((resolve) => smtp.close(() => resolve()))
})
beforeEach(() => {
  world.mails.length = world.texts.length = 0
  world.refuseMail = world.holdMail = false
  world.smsStatus = 200
})

describe('mail', () => {
  it('reaches the server as text and HTML, from MAIL_FROM, to one address', async () => {
    await deliverMail({ to: 'ada@example.com', subject: 'Hällo', text: 'Text\n', parts: [{ text: 'Text' }] })
    expect(lastMail()).toMatchObject({
      from: 'no-reply@vestibule.example',
      to: ['ada@example.com'],
      email: {
        from: { name: 'Vestibule', address: 'no-reply@vestibule.example' },
        to: [{ name: '', address: 'ada@example.com' }],
        subject: 'Hällo',
        text: expect.stringMatching(/^Text\n/),
      },
    })
    expect(lastMail().email.html).toContain('<p>Text</p>')
  })

  it.each([
    ['subject', { to: 'ada@example.com', subject: 'Hello\r\nBcc: eve@evil.example\r\n\r\nHi' }],
    ['address', { to: 'ada@example.com\r\nBcc: eve@evil.example', subject: 'Hello' }],
    ['address list', { to: 'ada@example.com, eve@evil.example', subject: 'Hello' }],
    ['display name', { to: 'ada@example.com <eve@evil.example>', subject: 'Hello' }],
  ])('takes no second recipient or header from the %s', async (_what, mail) => {
    await deliverMail({ ...mail, text: 'Text' }).catch(() => {})
    for (const { to, email } of world.mails as ReturnType<typeof lastMail>[]) {
      expect(to).toHaveLength(1)
      expect(to).not.toContain('eve@evil.example')
      expect(email.headers.map(({ key }) => key)).not.toContain('bcc')
    }
  })

  it('fails with 503 when the server refuses it', async () => {
    world.refuseMail = true
    await expect(deliverMail({ to: 'ada@example.com', subject: 'S', text: 'T' })).rejects.toThrow(UNAVAILABLE)
  })

  it('fails with 503 after 10 s without an answer', async () => {
    world.holdMail = true
    const began = Date.now()
    await expect(deliverMail({ to: 'ada@example.com', subject: 'S', text: 'T' })).rejects.toThrow(UNAVAILABLE)
    expect(Date.now() - began).toBeGreaterThan(9_000)
    expect(Date.now() - began).toBeLessThan(12_000)
  })
})

describe('text messages', () => {
  it('go to the gateway as JSON with the token', async () => {
    await deliverSms({ to: '+41791234567', body: 'Hi' })
    expect(world.texts).toEqual([
      {
        authorization: 'Bearer gateway-token',
        type: 'application/json',
        body: { to: '+41791234567', body: 'Hi' },
      },
    ])
  })

  it.each([400, 500, 503, 302])('fail with 503 when the gateway answers %d', async (status) => {
    world.smsStatus = status
    await expect(deliverSms({ to: '+41791234567', body: 'Hi' })).rejects.toThrow(UNAVAILABLE)
  })
})

describe('the texts', () => {
  const given = { tenantName: 'A & <b>B</b>\r\nBcc: x', code: '012345', lifetimeMinutes: 10 }

  it('say what the code is for, how long it lives and what to do with one that nobody asked for', () => {
    const mail = passcodeMail(given)
    const { subject, text } = mail
    const html = renderMail(mail)
    expect(subject).toBe('Your code for A & <b>B</b> Bcc: x')
    expect(text).toMatchInlineSnapshot(`
      "Your code for A & <b>B</b> Bcc: x:

      012345

      It works once and expires in 10 minutes.

      You did not ask for a code? Then ignore this message, and tell the code to nobody.
      "
    `)
    expect(html).toContain('Your code for A &amp; &lt;b>B&lt;/b> Bcc: x:')
    expect(html).not.toContain('<b>')
    expect(passcodeSms(given)).toBe(
      '012345 is your code for A & <b>B</b> Bcc: x. It works once and expires in 10 minutes.',
    )
  })
})

describe('a passcode', () => {
  const codeIn = (text: unknown) => /\b\d{6}\b/.exec(String(text))?.[0] ?? 'none'
  const setUp = async () => {
    const ctx = await ctxFor(await newTenant())
    await updateSettings(platformCtx(ctx.tenant), { friendlyName: 'Acme' })
    return { ctx, to: `ada@${ctx.tenant}.example` }
  }
  const rowOf = async (tenant: string, address: string) => {
    const [row] = await sql<Record<string, unknown>>(
      'SELECT * FROM "Passcode" WHERE "tenantId" = $1 AND "address" = $2',
      [tenant, address],
    )
    return row
  }

  it('goes out by mail before the call is answered, and signs in', async () => {
    const { ctx, to } = await setUp()
    const { userId } = await sendPasscode(ctx, 'email', { to, createUser: true })
    expect(lastMail()).toMatchObject({ to: [to], email: { subject: 'Your code for Acme' } })
    const code = codeIn(lastMail().email.text)
    expect(lastMail().email.html).toContain(code)
    expect((await authenticatePasscode(ctx, { to, code })).user.id).toBe(userId)
    expect(listInbox()).toEqual([])
  })

  it('goes out by text message, and signs in', async () => {
    const { ctx } = await setUp()
    const { userId } = await sendPasscode(ctx, 'sms', { to: '+41 79 123 45 67', createUser: true })
    const { to, body } = lastText()
    expect(to).toBe('+41791234567')
    expect((await authenticatePasscode(ctx, { to, code: codeIn(body) })).user.id).toBe(userId)
  })

  it('that cannot be delivered is taken back: another may be sent at once', async () => {
    const { ctx, to } = await setUp()
    world.refuseMail = true
    await expect(sendPasscode(ctx, 'email', { to, createUser: true })).rejects.toThrow(UNAVAILABLE)
    expect(await rowOf(ctx.tenant, to)).toMatchObject({ codeHash: null, sendCount: 1 })
    world.refuseMail = false
    expect(await sendPasscode(ctx, 'email', { to })).toMatchObject({ userCreated: false })
    const events = await logOf(ctx.tenant)
    expect(events.filter(({ type }) => type === 'passcode.failed')).toEqual([
      expect.objectContaining({ detail: { channel: 'email', reason: 'delivery' } }),
    ])
  })

  it('of a hosted page goes out behind the answer; an outage is told to everybody alike', async () => {
    const { ctx, to } = await setUp()
    await createUser(ctx, { email: to })
    const visitor = { ...ctx, actor: { kind: 'anonymous' } as const, ip: '192.0.2.44' }
    world.refuseMail = true
    await sendSignInPasscode(visitor, to)
    await settleDeliveries()
    for (const address of [to, `unknown@${ctx.tenant}.example`])
      await expect(sendSignInPasscode(visitor, address)).rejects.toThrow(
        expect.objectContaining({
          status: 503,
          message: 'Messages cannot be delivered at the moment; try again.',
        }),
      )
    world.refuseMail = false
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11_000 })
    await sendSignInPasscode(visitor, to)
    await settleDeliveries()
    vi.useRealTimers()
    expect(world.mails).toHaveLength(1)
  })

  it('of a change of address goes out behind the answer too; one that is lost is taken back', async () => {
    const { ctx, to } = await setUp()
    const { tenant } = ctx
    const { id: userId } = await createUser(ctx, { email: to, emailVerified: true })
    const { session } = await inTransaction((tx) => startBrowserSession(tx, ctx, { userId, amr: ['otp'] }))
    const ids = { userId, clientId: null, grantId: null, sessionId: session.id }
    const own = { ...ctx, actor: { kind: 'user' as const, tenant, ...ids, mayChangeOwn: true } }
    const email = `new@${tenant}.example`
    const pending = async () => {
      const [row] = await sql<Record<string, unknown>>(
        'SELECT * FROM "AddressChange" WHERE "tenantId" = $1',
        [tenant],
      )
      return row
    }
    world.refuseMail = true
    expect(await requestEmailChange(own, { email })).toEqual({ sentTo: email })
    await settleDeliveries()
    expect(await pending()).toMatchObject({ codeHash: null, sendCount: 1 })
    // Whoever has the address that is asked for next, the answer is one.
    for (const next of [email, 'other@example.com'])
      await expect(requestEmailChange(own, { email: next })).rejects.toMatchObject({ status: 503 })
    world.refuseMail = false
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11_000 })
    await requestEmailChange(own, { email })
    await settleDeliveries()
    vi.useRealTimers()
    expect(lastMail()).toMatchObject({ to: [email], email: { subject: 'Confirm your address for Acme' } })
    const code = codeIn(lastMail().email.text)
    expect(lastMail().email.html).toContain(code)
    const later = new Date(Date.now() + 12_000)
    expect((await confirmEmailChange(own, { email, code }, later)).email).toBe(email)
    await settleDeliveries()
    expect(lastMail()).toMatchObject({
      to: [to],
      email: { subject: 'Your e-mail address at Acme was changed' },
    })
    const failed = (await logOf(tenant)).filter(({ type }) => type === 'passcode.failed')
    expect(failed).toMatchObject([{ detail: { purpose: 'address-change', reason: 'delivery' } }])
  })

  it('never gets into the log', async () => {
    const written: string[] = []
    const spy = vi
      .spyOn(process.stdout, 'write')
      .mockImplementation((chunk) => written.push(String(chunk)) > 0)
    const level = log.level
    log.level = 'trace'
    const lines: unknown[] = []
    for (const name of ['info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(log, name).mockImplementation(((...args: unknown[]) => lines.push(args)) as never)
    const { ctx, to } = await setUp()
    await sendPasscode(ctx, 'email', { to, createUser: true })
    const code = codeIn(lastMail().email.text)
    world.smsStatus = 500
    await sendPasscode(ctx, 'sms', { to: '+41791234568', createUser: true }).catch(() => {})
    const smsCode = codeIn(lastText().body)
    await authenticatePasscode(ctx, { to, code })
    log.level = level
    vi.restoreAllMocks()
    spy.mockRestore()
    const all = `${JSON.stringify(lines)}${written.join('')}`
    expect(lines).toHaveLength(1)
    for (const secret of [code, smsCode, 'gateway-token']) expect(all).not.toContain(secret)
  })
})

describe('the development inbox', () => {
  const app = new H3()
  addInboxRoutes(app)

  it('keeps the last hundred messages and shows them as a page and as JSON', async () => {
    for (let i = 0; i < 101; i++)
      keepMessage({
        to: `a${i}@example.com`,
        channel: 'email',
        sentAt: new Date(),
        subject: 'S',
        body: 'Code 123456',
      })
    keepMessage({ to: '+41791234567', channel: 'sms', sentAt: new Date(0), body: '<654321>' })
    expect(listInbox()).toHaveLength(100)
    const json = async (query: string) => (await app.request(`/dev/inbox.json${query}`)).json()
    expect((await json('')).messages).toHaveLength(100)
    const sms = { to: '+41791234567', channel: 'sms', sentAt: '1970-01-01T00:00:00.000Z', body: '<654321>' }
    expect(await json('?to=%2B41791234567')).toEqual({ messages: [sms] })
    expect(await json('?to=+41791234567')).toEqual({ messages: [sms] })
    expect((await json('?to=A100@Example.com')).messages).toHaveLength(1)
    expect(await json('?to=nobody@example.com')).toEqual({ messages: [] })
    const page = await app.request('/dev/inbox?to=%2B41791234567')
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const html = await page.text()
    expect(html).toContain('654321')
    expect(html).not.toContain('<654321>')
  })
})
