import { once } from 'node:events'
import { createServer } from 'node:http'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { freePort } from './support/process.ts'

// The servers below listen on loopback and speak the real protocols; src/env.ts reads where they are once, on import.
const port = { smtp: await freePort(), sms: await freePort() }
process.env.SMTP_URL = `smtp://127.0.0.1:${port.smtp}?ignoreTLS=true`
process.env.SMS_URL = `http://127.0.0.1:${port.sms}/messages`
process.env.SMS_TOKEN = 'gateway-token'
const { createCredentialEnrollmentToken } = await import('../src/credentials/enrolment-tokens.ts')
const { findEnrolment } = await import('../src/credentials/enrolment.ts')
const { platformCtx } = await import('../src/ctx.ts')
const { dbFor } = await import('../src/db.ts')
const { renderMail } = await import('../src/delivery/mail.pages.tsx')
const { enrolmentMail, enrolmentSms } = await import('../src/delivery/texts.ts')
const { log } = await import('../src/log.ts')
const { updateSettings } = await import('../src/tenants/settings.ts')
const { createUser, deleteUser } = await import('../src/users/users.ts')
const { ctxFor, newTenant, tokenFor } = await import('./support/actors.ts')
const { logOf } = await import('./support/events.ts')
const { openSurfaces } = await import('./support/surfaces.ts')

const mails: { to: string[]; email: Email }[] = []
const texts: { to: string; body: string }[] = []
let isDown = false

const smtp = new SMTPServer({
  disabledCommands: ['STARTTLS', 'AUTH'],
  onData: (stream, session, done) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', async () => {
      if (isDown) return done(Object.assign(new Error('try later'), { responseCode: 451 }))
      const email = await PostalMime.parse(Buffer.concat(chunks))
      mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), email })
      done()
    })
  },
})
const gateway = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  if (!isDown) texts.push(JSON.parse(Buffer.concat(chunks).toString()))
  response.writeHead(isDown ? 500 : 200).end()
})

let app: Awaited<ReturnType<typeof openSurfaces>>
beforeAll(async () => {
  smtp.listen(port.smtp, '127.0.0.1')
  gateway.listen(port.sms, '127.0.0.1')
  await Promise.all([once(smtp.server, 'listening'), once(gateway, 'listening')])
  app = await openSurfaces()
})
afterAll(async () => {
  await app.close()
  gateway.close()
  await new Promise<void>((resolve) => smtp.close(() => resolve()))
})
let ctx: Awaited<ReturnType<typeof ctxFor>>
beforeEach(async () => {
  mails.length = texts.length = 0
  isDown = false
  ctx = await ctxFor(await newTenant())
  await updateSettings(platformCtx(ctx.tenant), { friendlyName: 'Acme' })
})
afterEach(() => vi.useRealTimers())
/** Only the clock: timers must go on for the database. */
const at = (time: number) => vi.useFakeTimers({ toFake: ['Date'], now: time })

const verified = () => ({ email: `Ada@${ctx.tenant}.example`, emailVerified: true })
const newUser = async (fields: object = verified()) => (await createUser(ctx, fields)).id
const send = (userId: string) => createCredentialEnrollmentToken(ctx, userId, {})
const tokens = () => dbFor(ctx.tenant).enrollmentToken.findMany({ where: { tenantId: ctx.tenant } })
const isGood = async (token: string) => (await findEnrolment(ctx, token)) !== null

describe('an enrolment link', () => {
  it('goes out by mail before the call is answered, to the proven address', async () => {
    const userId = await newUser({ ...verified(), phoneNumber: '+41791234567', phoneNumberVerified: true })
    const { uri, token } = await send(userId)
    expect(mails).toHaveLength(1)
    expect(mails[0]).toMatchObject({
      to: [`ada@${ctx.tenant}.example`],
      email: { subject: 'Create your passkey for Acme' },
    })
    expect(mails[0]?.email.text).toContain(`\n${uri}\n`)
    expect(mails[0]?.email.html).toContain(`<a href="${uri}"`)
    expect(texts).toEqual([])
    expect(await isGood(token)).toBe(true)
    expect((await logOf(ctx.tenant)).at(-1)).toMatchObject({
      type: 'credential.enrollment_created',
      userId,
      detail: { channel: 'email' },
    })
  })

  it('goes out by text message to a proven number, when no e-mail address is', async () => {
    const email = `ada@${ctx.tenant}.example`
    const { uri } = await send(
      await newUser({ email, phoneNumber: '+41791234567', phoneNumberVerified: true }),
    )
    expect(texts).toEqual([
      {
        to: '+41791234567',
        body: `Create your passkey for Acme: ${uri} It works once and expires in 24 hours.`,
      },
    ])
    expect(mails).toEqual([])
  })

  it.each([
    ['an unproven address', { email: 'ada@unproven.example' }],
    ['an unproven number', { phoneNumber: '+41791234567' }],
    [
      'an extension behind a switchboard',
      { phoneNumber: 'tel:+41791234567;ext=12', phoneNumberVerified: true },
    ],
    ['no address', {}],
  ])('does not go to %s: the application is told to deliver it itself', async (_what, fields) => {
    const userId = await newUser(fields)
    const path = `/users/${userId}/credentials/enrollment-tokens`
    const management = await tokenFor(ctx.tenant)
    const refused = await app.rest(ctx.tenant, management, 'POST', path)
    expect(refused).toMatchObject({ status: 400, body: { fields: [{ field: 'send' }] } })
    expect(refused.body.fields[0].description).toContain('give false, and deliver the link yourself')
    expect([mails, texts, await tokens()]).toEqual([[], [], []])
    expect((await app.rest(ctx.tenant, management, 'POST', path, { send: false })).status).toBe(201)
    expect([mails, texts]).toEqual([[], []])
  })

  it('is taken back when it cannot be delivered, and may be sent again at once', async () => {
    for (const fields of [verified(), { phoneNumber: '+41791234567', phoneNumberVerified: true }]) {
      const userId = await newUser(fields)
      isDown = true
      const path = `/users/${userId}/credentials/enrollment-tokens`
      const answer = await app.rest(ctx.tenant, await tokenFor(ctx.tenant), 'POST', path, {})
      expect(answer).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE' } })
      expect((await tokens()).filter((row) => row.userId === userId)).toEqual([])
      expect((await logOf(ctx.tenant)).at(-1)).toMatchObject({
        type: 'credential.enrollment_failed',
        userId,
        detail: { reason: 'delivery' },
      })
      isDown = false
      expect(await isGood((await send(userId)).token)).toBe(true)
    }
  })

  it('voids those before it; a failed one leaves none', async () => {
    const userId = await newUser()
    const { token: byHand } = await createCredentialEnrollmentToken(ctx, userId, { send: false })
    const { token: sent } = await send(userId)
    expect([await isGood(byHand), await isGood(sent)]).toEqual([false, true])
    isDown = true
    at(Date.now() + 31_000)
    await expect(send(userId)).rejects.toThrow(expect.objectContaining({ status: 503 }))
    expect(await isGood(sent)).toBe(false)
  })

  it('goes out once in 30 s and ten times an hour to each user, whoever asks', async () => {
    const userId = await newUser()
    const management = await tokenFor(ctx.tenant)
    const start = Date.now()
    await send(userId)
    const early = await app.rest(
      ctx.tenant,
      management,
      'POST',
      `/users/${userId}/credentials/enrollment-tokens`,
    )
    expect(early).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } })
    const wait = Number(early.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(30)
    const raced = await Promise.allSettled(Array.from({ length: 5 }, () => send(userId)))
    expect(raced.every(({ status }) => status === 'rejected')).toBe(true)
    for (let i = 1; i < 10; i++) {
      at(start + i * 60_000)
      await send(userId)
    }
    at(start + 30 * 60_000)
    await expect(send(userId)).rejects.toMatchObject({ status: 429, retryAfterSeconds: 30 * 60 })
    expect(mails).toHaveLength(10)
    // Nobody is written to: no limit.
    await createCredentialEnrollmentToken(ctx, userId, { send: false })
    // Somebody else has a budget of their own.
    await send(await newUser({ email: `grace@${ctx.tenant}.example`, emailVerified: true }))
    at(start + 61 * 60_000)
    await send(userId)
    expect(mails).toHaveLength(12)
  })

  it('many at once are one', async () => {
    const userId = await newUser()
    const settled = await Promise.allSettled(Array.from({ length: 8 }, () => send(userId)))
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(mails).toHaveLength(1)
    expect((await tokens()).filter(({ usedAt }) => usedAt === null)).toHaveLength(1)
  })

  it('goes with the user', async () => {
    const userId = await newUser()
    await send(userId)
    await deleteUser(ctx, userId)
    expect(await tokens()).toEqual([])
  })

  it('never gets into the log, nor does the address', async () => {
    const lines: unknown[] = []
    for (const name of ['info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(log, name).mockImplementation(((...args: unknown[]) => lines.push(args)) as never)
    const userId = await newUser()
    const { token } = await send(userId)
    isDown = true
    at(Date.now() + 31_000)
    await send(userId).catch(() => {})
    vi.restoreAllMocks()
    expect(lines.length).toBeGreaterThan(0)
    for (const secret of [token, ctx.tenant]) expect(JSON.stringify(lines)).not.toContain(secret)
    expect(JSON.stringify(await logOf(ctx.tenant))).not.toContain(token)
  })
})

describe('the texts', () => {
  it('say what the link is for, how long it lives and what to do with one that nobody expected', () => {
    const uri = 'https://id.example/acme/enroll?token=x'
    const given = { tenantName: 'A & <b>B</b>\r\nBcc: x', uri, lifetimeHours: 24 }
    const mail = enrolmentMail(given)
    const { subject, text } = mail
    const html = renderMail(mail)
    expect(subject).toBe('Create your passkey for A & <b>B</b> Bcc: x')
    expect(text).toMatchInlineSnapshot(`
      "Open this link to create a passkey for A & <b>B</b> Bcc: x on your device:

      https://id.example/acme/enroll?token=x

      It works once and expires in 24 hours.

      You did not expect this? Then ignore this message, and give the link to nobody.
      "
    `)
    expect(html).not.toContain('<b>')
    expect(html).toContain(`href="${uri}"`)
    expect(enrolmentSms(given)).toBe(
      `Create your passkey for A & <b>B</b> Bcc: x: ${uri} It works once and expires in 24 hours.`,
    )
  })
})
