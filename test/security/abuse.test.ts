import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Ctx, platformCtx } from '../../src/ctx.ts'
import { sql } from '../../src/db.ts'
import { listInbox } from '../../src/delivery/inbox.ts'
import { RateLimited } from '../../src/errors.ts'
import { LIMITS, networkOf, spend } from '../../src/limits.ts'
import { codeHashOf } from '../../src/passcodes/code-hash.ts'
import { authenticatePasscode, verifySignInPasscode } from '../../src/passcodes/passcodes.ts'
import { sendSignInPasscode, settleDeliveries } from '../../src/passcodes/send-passcode.ts'
import { grantRole } from '../../src/users/roles.ts'
import { createUser, lockUser } from '../../src/users/users.ts'
import { authorizePath, Browser, csrfIn, makeClient, makeUser } from '../oidc/provider.ts'
import { ctxFor, newTenant, tokenFor } from '../support/actors.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { openSocket } from '../support/streams.ts'

/** How long the mail server thinks about each message: what waits for it, tells by its time whether there was one. */
const SLOW_MS = 150
// Set before the imports of src/: the port of a server that is started below.
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

let app: TestApp
let tenant: string
let token: string
let ctx: Ctx
beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  token = await tokenFor(tenant)
  ctx = await ctxFor(tenant)
})
afterAll(async () => {
  await app.close()
  mail.server.close()
})

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
const attemptsAt = async (address: string): Promise<number> =>
  Number(
    (
      await sql(`SELECT "failureCount" AS "n" FROM "Passcode" WHERE "tenantId" = $1 AND "address" = $2`, [
        tenant,
        address,
      ])
    )[0]?.n ?? 0,
  )

describe('security 41: aliases buy no guesses', () => {
  const guess = (i: number, to: string) =>
    `g${i}: authenticatePasscode(input: { to: "${to}", code: "${String(i).padStart(6, '0')}" }) { __typename }`

  test('neither a hundred aliases, fragments, several operations, an array of them nor one socket evaluate more than one', async () => {
    const to = `alias@${tenant}.example`
    await makeUser(tenant, to)
    await app.rest(tenant, token, 'POST', '/passcodes/email', { to })
    const hundred = Array.from({ length: 100 }, (_, i) => guess(i, to))
    const documents = [
      `mutation { ${hundred.join(' ')} }`,
      `mutation { ${guess(1, to)} ${guess(2, to)} }`,
      `mutation { ...A ...B } fragment A on Mutation { ${guess(1, to)} } fragment B on Mutation { ${guess(2, to)} }`,
      `mutation { ... { ${guess(1, to)} } ... on Mutation { ${guess(2, to)} } }`,
      `mutation ($no: Boolean = false) { ${guess(1, to)} ... @skip(if: $no) { ${guess(2, to)} } }`,
    ]
    for (const document of documents) {
      const { status, body } = await app.gql(tenant, token, document)
      expect([status, body.data]).toEqual([200, undefined])
      expect(body.errors?.length).toBeGreaterThan(0)
    }
    const several = [`mutation A { ${guess(1, to)} }`, `mutation B { ${guess(2, to)} }`]
    expect((await app.gql(tenant, token, several.join(' '))).body.data).toBeUndefined()
    const batch = await app.fetch(`/${tenant}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(several.map((query) => ({ query }))),
    })
    expect(batch.status).toBe(400)
    const socket = openSocket(`${app.origin.replace('http', 'ws')}/${tenant}/graphql`, token)
    const results = socket.iterate({ query: documents[1] ?? '' })
    const refused = await results.next().then(
      ({ value }) => value,
      (error: unknown) => ({ errors: error }),
    )
    expect(refused).toMatchObject({ errors: expect.anything() })
    expect(refused).not.toHaveProperty('data')
    await socket.dispose()
    expect(await attemptsAt(to)).toBe(0)
  })

  test('a fragment spread twice is one field twice, and evaluated once at most', async () => {
    const to = `twice@${tenant}.example`
    await makeUser(tenant, to)
    await app.rest(tenant, token, 'POST', '/passcodes/email', { to })
    await app.gql(tenant, token, `mutation { ...A ...A } fragment A on Mutation { ${guess(1, to)} }`)
    expect(await attemptsAt(to)).toBeLessThanOrEqual(1)
  })
})

describe('security 39, 40: guesses', () => {
  test('a burst over REST, GraphQL and the hosted page at once has five guesses in all', async () => {
    const to = `burst@${tenant}.example`
    await makeUser(tenant, to)
    await app.rest(tenant, token, 'POST', '/passcodes/email', { to })
    const client = await makeClient(tenant)
    const by = new Browser(app)
    const start = await by.open(authorizePath(tenant, client))
    const csrf = csrfIn(await start.response.text())
    // Within its cooldown nothing is sent anew: the page asks for the same code.
    await by.post(start.path, { csrf, step: 'email', address: to })
    const wrong = (i: number) => `x${String(i).padStart(5, '0')}`
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => [
        app.rest(tenant, token, 'POST', '/passcodes/authenticate', { to, code: wrong(i) }),
        app.gql(
          tenant,
          token,
          `mutation { authenticatePasscode(input: { to: "${to}", code: "${wrong(i)}" }) { __typename } }`,
        ),
        by.post(`${start.path}/code`, { csrf, step: 'code', code: wrong(i) }),
      ]).flat(),
    )
    expect(await attemptsAt(to)).toBe(5)
  })

  test('a burst from one network at many addresses is counted by the network (30 sends, 100 guesses an hour)', async () => {
    const visitor = { ...ctx, actor: { kind: 'anonymous' } as const, ip: '198.51.100.7' }
    const guesses = await Promise.allSettled(
      Array.from({ length: LIMITS.authenticatePasscode.points + 20 }, (_, i) =>
        verifySignInPasscode(visitor, `victim${i}@${tenant}.example`, '000000'),
      ),
    )
    const limited = guesses.filter((one) => one.status === 'rejected' && one.reason instanceof RateLimited)
    expect(limited).toHaveLength(20)
    // Who says so for another: the backend's own network does not count, the person's does.
    const input = { to: `victim@${tenant}.example`, code: '000000', metadata: { ipAddress: '198.51.100.7' } }
    await expect(authenticatePasscode(ctx, input)).rejects.toThrow(RateLimited)
  })
})

describe('security 23, 32: a passcode works once', () => {
  // Of a proven address: the first proof of one takes all codes away in any case.
  test.each(['in turn', 'at once'])(
    'used again and again %s, by REST, GraphQL and the hosted page',
    async (how) => {
      const to = `once-${how.replace(' ', '-')}@${tenant}.example`
      await makeUser(tenant, to)
      const by = new Browser(app)
      const start = await by.open(authorizePath(tenant, await makeClient(tenant)))
      const csrf = csrfIn(await start.response.text())
      // The code of a message that cannot be read here is replaced by one that is known.
      await app.rest(tenant, token, 'POST', '/passcodes/email', { to })
      const codeHash = codeHashOf(tenant, to, '123456')
      await sql(`UPDATE "Passcode" SET "codeHash" = $2 WHERE "tenantId" = $1 AND "address" = $3`, [
        tenant,
        codeHash,
        to,
      ])
      await by.post(start.path, { csrf, step: 'email', address: to })
      const input = `{ to: "${to}", code: "123456" }`
      const uses = Array.from({ length: 4 }, () => [
        async () =>
          (await app.rest(tenant, token, 'POST', '/passcodes/authenticate', { to, code: '123456' }))
            .status === 200,
        async () => {
          const query = `mutation { result: authenticatePasscode(input: ${input}) { __typename } }`
          return (
            (await app.gql(tenant, token, query)).body.data?.result?.__typename ===
            'AuthenticateSessionPayload'
          )
        },
      ]).flat()
      const taken: boolean[] = []
      if (how === 'at once') taken.push(...(await Promise.all(uses.map((use) => use()))))
      else for (const use of uses) taken.push(await use())
      expect(taken.filter(Boolean)).toHaveLength(1)
      await by.post(`${start.path}/code`, { csrf, step: 'code', code: '123456' })
      expect(by.cookies.has('vst_sid')).toBe(false)
    },
  )
})

describe('security 42: a customer of a network is one, whatever address they use', () => {
  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['2001:db8:1:2::1', '2001:DB8:0001:0002::9'],
    ['2001:db8::', '2001:db8:0:0:1:2:3:4'],
    ['::1', '0:0:0:0:0:0:0:2'],
    ['192.0.2.1', '::ffff:192.0.2.1'],
    ['192.0.2.1', '::FFFF:192.0.2.1'],
    ['192.0.2.1', '::ffff:c000:201'],
    ['192.0.2.1', '0:0:0:0:0:ffff:192.0.2.1'],
    ['192.0.2.1', '0000:0000:0000:0000:0000:FFFF:C000:0201'],
  ])('%s and %s', (one, other) => {
    expect(networkOf(other)).toBe(networkOf(one))
  })

  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['192.0.2.1', '192.0.2.2'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2'],
    ['::1', '::ffff:0.0.0.1'],
    ['192.0.2.1', '::192.0.2.1'],
  ])('%s and %s are two', (one, other) => {
    expect(networkOf(other)).not.toBe(networkOf(one))
  })

  test('spend one budget, in each tenant and for each purpose', async () => {
    const addresses = ['::1', '::2', '::ffff', '0:0:0:0:1:1:1:1'].map((tail) =>
      tail.startsWith('0:') ? `2001:db8:aaaa:bbbb:${tail.slice(8)}` : `2001:DB8:AAAA:bbbb${tail}`,
    )
    const slug = `t-${randomBytes(4).toString('hex')}`
    const { points } = LIMITS.sendPasscode
    for (let i = 0; i < points; i++) await spend('sendPasscode', slug, addresses[i % addresses.length] ?? '')
    for (const address of addresses)
      await expect(spend('sendPasscode', slug, address)).rejects.toThrow(RateLimited)
    await spend('sendPasscode', slug, '2001:db8:aaaa:bbbc::1')
    await spend('sendPasscode', `${slug}x`, addresses[0] ?? '')
    await spend('authenticatePasscode', slug, addresses[0] ?? '')
  })

  test('X-Forwarded-For of anybody makes no new network (TRUST_PROXY is 0)', async () => {
    const slug = await newTenant()
    const statuses: number[] = []
    for (let i = 0; i <= LIMITS.clientAuthentication.points; i++)
      statuses.push(
        (
          await app.fetch(`/${slug}/oidc/token`, {
            method: 'POST',
            headers: {
              'content-type': 'application/x-www-form-urlencoded',
              'x-forwarded-for': `203.0.113.${i}`,
              'x-real-ip': `203.0.113.${i}`,
              forwarded: `for=203.0.113.${i}`,
              'x-client-ip': `203.0.113.${i}`,
              'cf-connecting-ip': `203.0.113.${i}`,
            },
            body: 'client_id=x&client_secret=y',
          })
        ).status,
      )
    expect(statuses.at(-2)).toBe(401)
    expect(statuses.at(-1)).toBe(429)
  })
})

describe('security 46, 47: nobody learns who has an account', () => {
  const visitor = (): Ctx => ({
    ...ctx,
    actor: { kind: 'anonymous' },
    // Each from a network of their own.
    ip: `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`,
  })
  const KINDS = ['known', 'unknown', 'locked', 'unverified beside a verified one'] as const
  const ROUNDS = 25

  /** Addresses of all kinds, one of each for every round. */
  async function addresses(round: number): Promise<Record<(typeof KINDS)[number], string>> {
    const at = (kind: string) => `${kind}-${round}@${tenant}.example`
    await createUser(ctx, { email: at('known'), emailVerified: true })
    const locked = await createUser(ctx, { email: at('locked'), emailVerified: true })
    await lockUser(ctx, locked.id)
    const phoneNumber = `+41791${String(100_000 + round)}`
    await createUser(ctx, { email: at('unverified'), phoneNumber, phoneNumberVerified: true })
    return {
      known: at('known'),
      unknown: at('unknown'),
      locked: at('locked'),
      'unverified beside a verified one': at('unverified'),
    }
  }

  test('by the time that sending and guessing take, though a mail takes 150 ms', async () => {
    const times: Record<string, { send: number[]; guess: number[] }> = {}
    for (const kind of KINDS) times[kind] = { send: [], guess: [] }
    const timed = async (work: () => Promise<unknown>) => {
      const start = performance.now()
      await work()
      return performance.now() - start
    }
    for (let round = 0; round < ROUNDS; round++) {
      const of = await addresses(round)
      // In turn, so that whatever the machine does meanwhile falls on all alike.
      for (let i = 0; i < KINDS.length; i++) {
        const kind = KINDS[(round + i) % KINDS.length] ?? 'known'
        const by = visitor()
        times[kind]?.send.push(await timed(() => sendSignInPasscode(by, of[kind])))
        times[kind]?.guess.push(
          await timed(() => expect(verifySignInPasscode(by, of[kind], 'no-code')).rejects.toThrow('wrong')),
        )
      }
    }
    for (const step of ['send', 'guess'] as const) {
      const medians = KINDS.map((kind) => median(times[kind]?.[step] ?? []))
      // A machine under load doubles the time of one or the other; a mail that is waited for makes it twenty times.
      const spread = Math.max(...medians) - Math.min(...medians)
      expect(spread, `${step}: ${medians.map((ms) => ms.toFixed(1))} ms`).toBeLessThan(
        Math.max(10, 1.5 * Math.min(...medians)),
      )
      expect(Math.max(...medians)).toBeLessThan(SLOW_MS)
    }
    await settleDeliveries()
    expect(mail.connections.count).toBeGreaterThanOrEqual(ROUNDS)
  })

  test('by status, headers, body or cookies of any step of the hosted pages', async () => {
    const slug = await newTenant()
    const client = await makeClient(slug)
    await makeUser(slug, 'known@example.com')
    const locked = await makeUser(slug, 'locked@example.com')
    await lockUser(platformCtx(slug), locked.id)
    await createUser(platformCtx(slug), {
      email: 'unverified@example.com',
      phoneNumber: '+41791234567',
      phoneNumberVerified: true,
    })
    const seen: unknown[] = []
    for (const address of [
      'known@example.com',
      'unknown@example.com',
      'locked@example.com',
      'unverified@example.com',
      '+41791234567',
      '+41791234599',
    ]) {
      const by = new Browser(app)
      const start = await by.open(authorizePath(slug, client))
      const csrf = csrfIn(await start.response.text())
      const steps: unknown[] = []
      const note = async (response: Response) => {
        const text = await response.text()
        const {
          date: _,
          'x-request-id': _id,
          'content-length': _length,
          ...headers
        } = Object.fromEntries(response.headers)
        const neutral = (value: string) =>
          value
            .replaceAll(start.path.split('/').at(-1) ?? '', 'HANDLE')
            .replaceAll(csrf, 'CSRF')
            .replaceAll(address, 'ADDRESS')
            .replace(/vst_ix=[\w-]+/, 'vst_ix=KEY')
            .replace(/\d+ seconds?/, 'SOON')
        steps.push([response.status, neutral(JSON.stringify(headers)), neutral(text)])
      }
      await note(await by.post(start.path, { csrf, step: 'email', address }))
      await note(await by.fetch(`${start.path}/code`))
      await note(await by.post(`${start.path}/code`, { csrf, step: 'resend' }))
      for (let i = 0; i < 7; i++)
        await note(await by.post(`${start.path}/code`, { csrf, step: 'code', code: 'x' }))
      await note(await by.post(`${start.path}/code`, { csrf, step: 'restart' }))
      await note(await by.fetch(start.path))
      seen.push(steps)
    }
    for (const steps of seen.slice(1)) expect(steps).toEqual(seen[0])
  })

  test('a management caller without the scope learns it as little', async () => {
    const reader = await tokenFor(tenant, ['clients:read'])
    for (const to of [`known-0@${tenant}.example`, `unknown-0@${tenant}.example`])
      expect(await app.rest(tenant, reader, 'POST', '/passcodes/email', { to })).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN', message: expect.stringContaining('passcodes:write') },
      })
  })
})

describe('security 45: text messages cost money', () => {
  test('a network gets thirty an hour, and an unknown number none from a hosted page', async () => {
    const slug = await newTenant()
    const by: Ctx = { ...(await ctxFor(slug)), actor: { kind: 'anonymous' }, ip: '198.51.100.99' }
    const outcomes = await Promise.allSettled(
      Array.from({ length: LIMITS.sendPasscode.points + 5 }, (_, i) =>
        sendSignInPasscode(by, `+4179${String(1_000_000 + i)}`),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(5)
    const sent = await sql(
      `SELECT 1 FROM "Event" WHERE "tenantId" = $1 AND "type" = 'passcode.sent' AND "userId" IS NOT NULL`,
      [slug],
    )
    expect(sent).toEqual([])
    await settleDeliveries()
    expect(listInbox().filter(({ to }) => to.startsWith('+417910000'))).toEqual([])
  })
})

describe('security 11, 12: a planted account', () => {
  test('gets no role by an address that it never proved, where somebody else may sign in by its number', async () => {
    const slug = await newTenant()
    const platform = platformCtx(slug)
    // Somebody who may create users plants the future administrator's address beside a number of their own.
    await createUser(await ctxFor(slug, ['users:write']), {
      email: 'boss@example.com',
      phoneNumber: '+41790000001',
    })
    await expect(grantRole(platform, 'boss@example.com', 'admin')).rejects.toMatchObject({
      status: 400,
      fields: [{ field: 'email', description: expect.stringContaining('not verified') }],
    })
    await createUser(platform, {
      email: 'known@example.com',
      emailVerified: true,
      phoneNumber: '+41790000002',
    })
    expect(await grantRole(platform, 'known@example.com', 'admin')).toMatchObject({
      user: { roles: ['admin'] },
      isCreated: false,
    })
  })
})
