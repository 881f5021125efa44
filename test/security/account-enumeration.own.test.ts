import { randomBytes } from 'node:crypto'
import { afterAll, describe, expect, vi } from 'vitest'
import { type Ctx, createPlatformCtx } from '../../src/context/context.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { verifySignInPasscode } from '../../src/passcodes/passcodes.ts'
import { sendSignInPasscode } from '../../src/passcodes/send-passcode.ts'
import { formatPhoneNumber } from '../../src/schema/phone-numbers.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createUser, lockUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { test } from '../support/fixtures.ts'
import { authorizePath, csrfIn, makeClient, makeUser } from '../support/protocol.ts'
import { VISIT } from '../support/visit.ts'

// A mail server that takes 150 ms for its greeting. It starts before the imports of src/, which read SMTP_URL.
const SLOW_MS = 150
const mail = await vi.hoisted(async () => {
  const { createServer } = await import('node:net')
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    setTimeout(() => socket.destroyed || socket.write('220 slow ESMTP\r\n'), 150)
    socket.on('data', (chunk) => {
      const line = String(chunk)
      if (/^DATA/i.test(line)) socket.write('354 go on\r\n')
      else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n')
      else if (/^(EHLO|HELO|MAIL|RCPT|RSET)/i.test(line)) socket.write('250 ok\r\n')
      else if (/\r\n\.\r\n$/.test(line)) socket.write('250 taken\r\n')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  process.env.SMTP_URL = `smtp://127.0.0.1:${(server.address() as { port: number }).port}`
  const connections = { count: 0 }
  server.on('connection', () => connections.count++)
  return { server, connections }
})
afterAll(() => void mail.server.close())

const KINDS = ['known', 'unknown', 'locked', 'unverified'] as const
const ROUNDS = 25

const toMedian = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
async function measure(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
/** An anonymous visitor from a network without earlier calls. */
const newVisitor = (ctx: Ctx): Ctx => ({
  ...ctx,
  actor: { kind: 'anonymous' },
  ip: `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`,
})

describe('a sign-in with an address that is known, unknown, locked or unverified', () => {
  test.for(['off', 'open'])(
    'with sign-up %s takes the same time to send and to verify a code, though the mail server takes 150 ms',
    async (signUp, { ctx, email }) => {
      await updateSettings(ctx, { signUp })
      const times = Object.fromEntries(
        KINDS.map((kind) => [kind, { send: [] as number[], guess: [] as number[] }]),
      )
      for (let round = 0; round < ROUNDS; round++) {
        const toAddress = (kind: string) => email(`${kind}-${signUp}-${round}`)
        await createUser(ctx, { email: toAddress('known'), emailVerified: true })
        const locked = await createUser(ctx, { email: toAddress('locked'), emailVerified: true })
        await lockUser(ctx, locked.id)
        const phoneNumber = `+41791${String((signUp === 'open' ? 200_000 : 100_000) + round)}`
        await createUser(ctx, { email: toAddress('unverified'), phoneNumber, phoneNumberVerified: true })
        // The order changes with the round, so that other load of the machine affects all kinds alike.
        for (let i = 0; i < KINDS.length; i++) {
          const kind = KINDS[(round + i) % KINDS.length] ?? 'known'
          const [visitor, address] = [newVisitor(ctx), toAddress(kind)]
          times[kind]?.send.push(await measure(() => sendSignInPasscode(visitor, address, VISIT)))
          times[kind]?.guess.push(
            await measure(() =>
              expect(verifySignInPasscode(visitor, address, 'no-code', VISIT)).rejects.toThrow('wrong'),
            ),
          )
        }
      }
      for (const step of ['send', 'guess'] as const) {
        const medians = KINDS.map((kind) => toMedian(times[kind]?.[step] ?? []))
        // Load of the machine doubles single times; waiting for the mail server multiplies them by twenty.
        const spread = Math.max(...medians) - Math.min(...medians)
        expect(spread, `${step}: ${medians.map((ms) => ms.toFixed(1))} ms`).toBeLessThan(
          Math.max(10, 1.5 * Math.min(...medians)),
        )
        expect(Math.max(...medians)).toBeLessThan(SLOW_MS)
      }
      await awaitDeliveries()
      expect(mail.connections.count).toBeGreaterThanOrEqual(ROUNDS)
    },
  )

  test.for(['off', 'open'])(
    'with sign-up %s gets the same status, headers, body and cookies at each step of the hosted pages',
    async (signUp, { newBrowser }) => {
      const tenant = await newTenant()
      await updateSettings(createPlatformCtx(tenant), { signUp })
      const client = await makeClient(tenant)
      await makeUser(tenant, 'known@example.com')
      const locked = await makeUser(tenant, 'locked@example.com')
      await lockUser(createPlatformCtx(tenant), locked.id)
      const verified = { phoneNumber: '+41791234567', phoneNumberVerified: true }
      await createUser(createPlatformCtx(tenant), { email: 'unverified@example.com', ...verified })
      const addresses = KINDS.map((kind) => `${kind}@example.com`)
      const seen: Record<'email' | 'sms', unknown[][]> = { email: [], sms: [] }
      for (const address of [...addresses, '+41791234567', '+41791234599']) {
        const browser = newBrowser()
        const { path, response: page } = await browser.open(authorizePath(tenant, client))
        const csrf = csrfIn(await page.text())
        const neutral = (value: string) =>
          value
            .replaceAll(path.split('/').at(-1) ?? '', 'HANDLE')
            .replace(/name="csrf" value="[\w-]{86}"/g, 'CSRF')
            .replaceAll(address, 'ADDRESS')
            .replaceAll(formatPhoneNumber(address), 'ADDRESS')
            .replace(/data-challenge="[\w-]{43}"/, 'CHALLENGE')
            .replace(/vst_ix_[\w-]+=[\w-]+/g, 'vst_ix=KEY')
            .replace(/\d+ seconds?/, 'SOON')
            .replace(/data-seconds="\d+"/, 'SOON')
        const steps: unknown[] = []
        const add = async (response: Response) => {
          const headers = Object.fromEntries(response.headers)
          for (const name of ['date', 'x-request-id', 'content-length']) delete headers[name]
          steps.push([response.status, neutral(JSON.stringify(headers)), neutral(await response.text())])
        }
        await add(await browser.post(path, { csrf, step: 'email', address }))
        await add(await browser.fetch(`${path}/code`))
        await add(await browser.post(`${path}/code`, { csrf, step: 'resend' }))
        for (let i = 0; i < 7; i++)
          await add(await browser.post(`${path}/code`, { csrf, step: 'code', code: 'x' }))
        await add(await browser.post(`${path}/code`, { csrf, step: 'restart' }))
        await add(await browser.fetch(path))
        seen[address.includes('@') ? 'email' : 'sms'].push(steps)
      }
      for (const channel of [seen.email, seen.sms])
        for (const steps of channel.slice(1)) expect(steps).toEqual(channel[0])
    },
  )
})

describe('POST /passcodes/email', () => {
  test('rejects a caller without passcodes:write alike for known and unknown addresses', async ({
    rest,
    email,
    newPerson,
  }) => {
    await newPerson({ email: email('present') })
    for (const to of [email('present'), email('absent')])
      expect(await rest('POST', '/passcodes/email', { to }, { scopes: ['clients:read'] })).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN', message: expect.stringContaining('passcodes:write') },
      })
  })
})
