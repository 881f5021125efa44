import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { ENROLMENT_SCRIPT_PATH } from '../src/assets/enrolment-script.ts'
import { createCredentialEnrollmentToken } from '../src/credentials/enrolment-tokens.ts'
import { sha256 } from '../src/crypto.ts'
import { type Ctx, platformCtx } from '../src/ctx.ts'
import { dbFor } from '../src/db.ts'
import { listInbox } from '../src/delivery/inbox.ts'
import { LIMITS } from '../src/limits.ts'
import { log } from '../src/log.ts'
import { updateSettings } from '../src/tenants/settings.ts'
import { setUserRoles } from '../src/users/roles.ts'
import { createUser, deleteUser, lockUser, unlockUser, updateUser } from '../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from './support/actors.ts'
import { startApp, type TestApp } from './support/app.ts'
import { rawRequest } from './support/attacks.ts'
import { createCredential } from './support/authenticator.ts'
import { logOf } from './support/events.ts'

let app: TestApp
let tenant: string
let ctx: Ctx
let userId: string

beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())
beforeEach(async () => {
  tenant = await newTenant()
  ctx = await ctxFor(tenant)
  const email = `ada@${tenant}.example`
  userId = (await createUser(ctx, { name: 'Ada', email, emailVerified: true })).id
})
afterEach(() => vi.useRealTimers())

const newToken = async (of = userId) =>
  (await createCredentialEnrollmentToken(ctx, of, { send: false })).token
const page = (token: string, of = tenant) => app.fetch(`/${of}/enroll?token=${token}`)
// biome-ignore lint/suspicious/noExplicitAny: what a test asks for decides the shape
type Body = any
async function post(step: string, body: unknown, headers: Record<string, string> = {}, of = tenant) {
  const response = await app.fetch(`/${of}/enroll/${step}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Body }
}
const optionsFor = async (token: string) => (await post('options', { token })).body
type Over = Parameters<typeof createCredential>[1]
/** Everything that the page's script does. */
async function enrol(token: string, over: Over = {}, headers = {}) {
  const options = await optionsFor(token)
  return post('credential', { token, response: createCredential(options, over).response }, headers)
}
const credentials = async (of = userId): Promise<Body[]> =>
  (await app.rest(tenant, await tokenFor(tenant), 'GET', `/users/${of}/credentials`)).body
    .credentials as Body[]
const tokens = () => dbFor(tenant).enrollmentToken.findMany({ where: { tenantId: tenant } })
const GONE = { status: 410, body: { code: 'NOT_FOUND' } }

describe('the enrolment page', () => {
  it('shows whose credential it makes, leaks nothing and is not kept', async () => {
    await updateSettings(platformCtx(tenant), { friendlyName: 'Acme <b>' })
    const token = await newToken()
    const response = await page(token)
    expect(response.status).toBe(200)
    const html = await response.text()
    expect(html).toContain(`ada@${tenant}.example`)
    expect(html).toContain('Acme &lt;b>')
    expect(html).toContain(`<script src="${ENROLMENT_SCRIPT_PATH}" defer></script>`)
    expect(html.match(/<script/g)).toHaveLength(1)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'accept-ch': expect.stringContaining('Sec-CH-UA-Model'),
    })
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
      ]),
    )
    expect(policy).not.toContain('unsafe')
  })

  it('does not use the token up, however often it is looked at', async () => {
    const token = await newToken()
    for (let i = 0; i < 3; i++) expect((await page(token)).status).toBe(200)
    expect((await enrol(token)).status).toBe(201)
  })

  it('has a script that is cached for ever under the name of its content', async () => {
    const response = await app.fetch(ENROLMENT_SCRIPT_PATH)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    })
  })

  it('says the same of an unknown, used, expired and replaced link, and where to get help', async () => {
    await updateSettings(platformCtx(tenant), { supportUrl: 'https://help.example/' })
    const used = await newToken()
    await enrol(used)
    const replaced = await newToken()
    const expired = await newToken()
    const pages = [await page(used), await page(replaced), await page('unknown'), await page('')]
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 24 * 3_600_000 })
    pages.push(await page(expired))
    expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 410))
    const texts = new Set(await Promise.all(pages.map((one) => one.text())))
    expect(texts.size).toBe(1)
    const [text] = texts
    expect(text).toContain('This link does not work any more')
    expect(text).toContain('href="https://help.example/"')
  })
})

describe('the options', () => {
  it('ask for a passkey of this user at this host, named for this tenant', async () => {
    await updateSettings(platformCtx(tenant), { friendlyName: 'Acme' })
    const first = await newToken()
    await enrol(first)
    const [known] = await dbFor(tenant).credential.findMany({ where: { tenantId: tenant } })
    const { status, headers, body } = await post('options', { token: await newToken() })
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(body).toMatchObject({
      rp: { id: 'localhost', name: 'Acme' },
      user: { name: `ada@${tenant}.example (Acme)`, displayName: 'Ada (Acme)', id: expect.any(String) },
      attestation: 'none',
      excludeCredentials: [{ id: known?.externalId, type: 'public-key', transports: ['internal'] }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    expect(body.pubKeyCredParams.map(({ alg }: { alg: number }) => alg)).toEqual([-7, -8, -257])
    expect(Buffer.from(body.challenge, 'base64url')).toHaveLength(32)
    expect(Buffer.from(body.user.id, 'base64url')).toHaveLength(32)
  })

  it('name a person by the same handle each time, and by another one in another tenant', async () => {
    const handles = [
      (await optionsFor(await newToken())).user.id,
      (await optionsFor(await newToken())).user.id,
    ]
    expect(handles[0]).toBe(handles[1])
    const elsewhere = await newTenant()
    await dbFor(elsewhere).user.create({ data: { tenantId: elsewhere, id: userId } })
    const { token } = await createCredentialEnrollmentToken(await ctxFor(elsewhere), userId, { send: false })
    const { body } = await post('options', { token }, {}, elsewhere)
    expect(body.user.id).not.toBe(handles[0])
  })

  it('have a new challenge each time', async () => {
    const token = await newToken()
    expect((await optionsFor(token)).challenge).not.toBe((await optionsFor(token)).challenge)
  })
})

const HINTS = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36',
  'sec-ch-ua': '"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"',
  'sec-ch-ua-full-version-list':
    '"Chromium";v="142.0.7444.60", "Google Chrome";v="142.0.7444.60", "Not_A Brand";v="99.0"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Linux"',
  'sec-ch-ua-platform-version': '"6.1.0"',
  'sec-ch-ua-arch': '"x86"',
  'sec-ch-ua-bitness': '"64"',
  'sec-ch-ua-model': '""',
}

describe('an enrolled credential', () => {
  it('is the key that was made, of the device that made it; it is told of and flagged', async () => {
    const token = await newToken()
    const made = createCredential(await optionsFor(token))
    const { status, body } = await post('credential', { token, response: made.response }, HINTS)
    expect(status).toBe(201)
    const [row] = await dbFor(tenant).credential.findMany({ where: { tenantId: tenant } })
    expect(row).toMatchObject({
      id: body.credentialId,
      userId,
      externalId: made.response.id,
      publicKey: made.publicKey,
      signCount: 0n,
      transports: ['internal'],
      byManagement: true,
    })
    expect(await credentials()).toEqual([
      {
        id: body.credentialId,
        type: 'public-key',
        publicKey: made.publicKey,
        lastUsedAt: null,
        createdAt: expect.any(String),
        device: {
          hash: expect.stringMatching(/^[\w-]{43}$/),
          swVersion: null,
          mobile: false,
          platform: 'Linux',
          architecture: 'x86',
          bitness: '64',
          model: null,
          platformVersion: '6.1.0',
          uaBrand: 'Google Chrome',
          uaVersion: '142.0.7444.60',
          lastSeenIp: '127.0.0.1',
          lastSeenAt: expect.any(String),
        },
      },
    ])
    const user = await dbFor(tenant).user.findUnique({
      where: { tenantId_id: { tenantId: tenant, id: userId } },
    })
    expect(user?.hasCredential).toBe(true)
    const events = await logOf(tenant)
    expect(events.filter(({ type }) => type === 'credential.enrolled')).toMatchObject([
      { userId, subjectIds: [body.credentialId], actorUserId: userId, actorClientId: null, ip: '127.0.0.1' },
    ])
    expect(JSON.stringify(events)).not.toContain(token)
  })

  it('is one, of twenty attempts at once', async () => {
    const token = await newToken()
    const answers = await Promise.all(Array.from({ length: 20 }, () => enrol(token)))
    const codes = answers.map(({ status }) => status)
    // Those who asked for a challenge in between have an old one; the others find the token used.
    expect(codes.filter((code) => code === 201).length).toBeLessThanOrEqual(1)
    if (!codes.includes(201)) expect((await enrol(token)).status).toBe(201)
    expect(await credentials()).toHaveLength(1)

    const second = await newToken()
    const options = await optionsFor(second)
    const made = Array.from({ length: 20 }, () => createCredential(options).response)
    const raced = await Promise.all(made.map((response) => post('credential', { token: second, response })))
    expect(raced.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(
      raced.filter(({ status }) => status !== 201).every(({ status }) => [400, 410].includes(status)),
    ).toBe(true)
    expect(await credentials()).toHaveLength(2)
  })

  it('is one, of twenty answers that all passed the challenge', async () => {
    // What keeps them apart when the challenge does not: the token itself, used up where the credential is written.
    const { insertCredential } = await import('../src/credentials/enrolment.sql.ts')
    const { sql } = await import('../src/db.ts')
    const { newId } = await import('../src/crypto.ts')
    const { toEventRow } = await import('../src/events.ts')
    const { describeDevice, toDeviceRow } = await import('../src/credentials/device.ts')
    const now = new Date()
    const device = toDeviceRow(describeDevice(tenant, new Headers(), { ip: null, now }))
    const tokenHash = sha256(await newToken())
    const stored = await Promise.all(
      Array.from({ length: 20 }, () => {
        const id = newId('cred')
        const made = { id, externalId: id, publicKey: 'x', signCount: 0, transports: [], device }
        const event = toEventRow(ctx, { type: 'credential.enrolled' })
        return insertCredential(sql, tenant, { tokenHash, userId, now }, made, event)
      }),
    )
    expect(stored.filter(Boolean)).toHaveLength(1)
    expect(await credentials()).toHaveLength(1)
    expect((await logOf(tenant)).filter(({ type }) => type === 'credential.enrolled')).toHaveLength(1)
  })
})

describe('security 23, 25: an enrolment token is refused', () => {
  it('after its use', async () => {
    const token = await newToken()
    expect((await enrol(token)).status).toBe(201)
    expect(await post('options', { token })).toMatchObject(GONE)
    const made = createCredential({ challenge: 'AAAA', rp: { id: 'localhost' } })
    expect(await post('credential', { token, response: made.response })).toMatchObject(GONE)
    expect(await credentials()).toHaveLength(1)
  })

  /** What happens between the options and the answer to them. */
  const between: [string, () => Promise<unknown>][] = [
    ['it has expired', async () => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 24 * 3_600_000 })],
    ['another one was made', () => newToken()],
    ['the user was locked', () => lockUser(ctx, userId)],
    [
      'the user was locked and unlocked',
      async () => [await lockUser(ctx, userId), await unlockUser(ctx, userId)],
    ],
    ['the user was deleted', () => deleteUser(ctx, userId)],
    [
      'the user was given a role, which whoever made the link may not have',
      () => setUserRoles(platformCtx(tenant), userId, { roles: ['admin'] }),
    ],
  ]
  it.each(between)('once %s', async (_what, happens) => {
    const token = await newToken()
    const made = createCredential(await optionsFor(token))
    await happens()
    expect(await post('credential', { token, response: made.response })).toMatchObject(GONE)
    expect(await post('options', { token })).toMatchObject(GONE)
    expect((await page(token)).status).toBe(410)
    expect(await dbFor(tenant).credential.count({ where: { tenantId: tenant } })).toBe(0)
  })

  it('once the address that its link went to is no longer the user’s', async () => {
    const { token } = await createCredentialEnrollmentToken(ctx, userId, {})
    const made = createCredential(await optionsFor(token))
    await updateUser(ctx, userId, { email: `right@${tenant}.example`, emailVerified: true })
    expect(await post('credential', { token, response: made.response })).toMatchObject(GONE)
    expect((await page(token)).status).toBe(410)
  })

  it('in another tenant', async () => {
    const token = await newToken()
    const elsewhere = await newTenant()
    expect(await post('options', { token }, {}, elsewhere)).toMatchObject(GONE)
    expect((await page(token, elsewhere)).status).toBe(410)
    expect((await enrol(token)).status).toBe(201)
  })
})

describe('security 24: an authenticator’s answer is refused', () => {
  const wrong: [string, Over][] = [
    ['from another origin', { origin: 'https://evil.example' }],
    ['from another port', { origin: 'http://localhost:3001' }],
    ['for another RP ID', { rpId: 'evil.example' }],
    ['that is an assertion', { type: 'webauthn.get' }],
    ['without the person being verified', { flags: 0b0100_0001 }],
    ['without the person being present', { flags: 0b0100_0100 }],
    [
      'with an attestation that names certificates',
      { fmt: 'packed', attStmt: new Map([['x5c', [new Uint8Array(9)]]]) },
    ],
    ['of an unknown format', { fmt: 'fido-u2f' }],
    ['to another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
  ]
  it.each(wrong)('%s', async (_what, over) => {
    const token = await newToken()
    expect(await enrol(token, over)).toMatchObject({ status: 400, body: { code: 'BAD_USER_INPUT' } })
    expect(await credentials()).toEqual([])
    // It cost a challenge, not the token.
    expect((await enrol(token)).status).toBe(201)
  })

  it('with certificates, before any is looked at: checking one fetches what it names (security 52)', async () => {
    const reasons: unknown[] = []
    const spy = vi.spyOn(log, 'info').mockImplementation(((said: object) => reasons.push(said)) as never)
    await enrol(await newToken(), { fmt: 'packed', attStmt: new Map([['x5c', [new Uint8Array(9)]]]) })
    spy.mockRestore()
    expect(reasons).toEqual([{ reason: 'attestation of format packed' }])
  })

  it('to a challenge that was answered already, even wrongly', async () => {
    const token = await newToken()
    const options = await optionsFor(token)
    const bad = createCredential(options, { origin: 'https://evil.example' })
    expect((await post('credential', { token, response: bad.response })).status).toBe(400)
    const good = createCredential(options)
    expect((await post('credential', { token, response: good.response })).status).toBe(400)
    expect(await credentials()).toEqual([])
  })

  it('to the challenge of another token', async () => {
    const other = (await createUser(ctx, {})).id
    const [mine, theirs] = [await newToken(), await newToken(other)]
    await optionsFor(mine)
    const made = createCredential(await optionsFor(theirs))
    expect((await post('credential', { token: mine, response: made.response })).status).toBe(400)
    expect((await post('credential', { token: theirs, response: made.response })).status).toBe(201)
    expect([(await credentials()).length, (await credentials(other)).length]).toEqual([0, 1])
  })

  it('with a credential that somebody has already', async () => {
    const other = (await createUser(ctx, {})).id
    const credentialId = Buffer.alloc(16, 7)
    expect((await enrol(await newToken(other), { credentialId })).status).toBe(201)
    const token = await newToken()
    expect(await enrol(token, { credentialId })).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
    expect(await credentials()).toEqual([])
    expect((await enrol(token)).status).toBe(201)
  })

  it.each([
    ['nothing', {}],
    ['no response', { token: 'x' }],
    ['a response of nothing', { token: 'x', response: {} }],
    [
      'client data that is none',
      {
        token: 'x',
        response: {
          ...createCredential({ challenge: 'x', rp: {} }).response,
          response: { clientDataJSON: 'e30', attestationObject: 'oA' },
        },
      },
    ],
    ['a list', []],
    ['a token that is a number', { token: 1 }],
  ])('that is %s', async (_what, body) => {
    expect(await post('credential', body)).toMatchObject({ status: 400, body: { code: 'BAD_USER_INPUT' } })
  })

  it('that is no JSON, or comes as a form', async () => {
    const text = await app.fetch(`/${tenant}/enroll/options`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `token=${await newToken()}`,
    })
    expect(text.status).toBe(415)
  })
})

describe('an enrolment', () => {
  it('leads to BASE_URL, whatever the headers say (security 19)', async () => {
    const management = await tokenFor(tenant)
    const { body } = await rawRequest(
      app.origin,
      `/${tenant}/api/v1/users/${userId}/credentials/enrollment-tokens`,
      {
        authorization: `Bearer ${management}`,
        'content-type': 'application/json',
        host: 'evil.example',
        'x-forwarded-host': 'evil.example',
        forwarded: 'host=evil.example',
        origin: 'https://evil.example',
      },
      { method: 'POST', body: '{}' },
    )
    const { token, uri } = JSON.parse(body)
    expect(uri).toBe(`http://localhost:3000/${tenant}/enroll?token=${token}`)
    expect(body).not.toContain('evil')
    expect(listInbox(`ada@${tenant}.example`)[0]?.body).toContain(uri)
    const forged = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
    const html = await rawRequest(app.origin, `/${tenant}/enroll?token=${token}`, forged)
    expect([html.status, html.body.includes('evil')]).toEqual([200, false])
  })

  it('costs one round trip for the options and two for the answer', async () => {
    const { countStatements } = await import('./support/statements.ts')
    const { finishEnrolment, startEnrolment } = await import('../src/credentials/enrolment.ts')
    const { describeDevice } = await import('../src/credentials/device.ts')
    const token = await newToken()
    await page(token) // warms the tenant
    // biome-ignore lint/suspicious/noExplicitAny: handed on
    let options: any
    const started = await countStatements(async () => {
      options = await startEnrolment(ctx, { token })
    })
    const { response } = createCredential(options)
    const device = describeDevice(tenant, new Headers(), { ip: null, now: new Date() })
    const finished = await countStatements(() => finishEnrolment(ctx, { token, response }, device))
    expect([started, finished]).toEqual([1, 2])
  })

  it('has a budget of its network', async () => {
    const { findEnrolment } = await import('../src/credentials/enrolment.ts')
    const visitor = { ...ctx, ip: '2001:db8::1' }
    await Promise.all(
      Array.from({ length: LIMITS.enrolCredential.points }, () => findEnrolment(visitor, 'x')),
    )
    for (const ip of ['2001:db8::1', '2001:db8::2'])
      await expect(findEnrolment({ ...ctx, ip }, 'x')).rejects.toThrow(
        expect.objectContaining({ status: 429 }),
      )
    expect(await findEnrolment({ ...ctx, ip: '2001:db9::1' }, 'x')).toBeNull()
  })

  it('leaves one token, however many the application makes', async () => {
    for (let i = 0; i < 5; i++) await newToken()
    expect(await tokens()).toHaveLength(1)
    const raced = await Promise.all(Array.from({ length: 8 }, () => newToken()))
    const statuses = await Promise.all(raced.map(async (token) => (await page(token)).status))
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  })
})
