import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { cleanUp } from '../../src/cleanup.ts'
import { updateClient } from '../../src/clients/client-changes.ts'
import { sha256 } from '../../src/crypto.ts'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor } from '../../src/db.ts'
import type { User } from '../../src/generated/prisma/client.ts'
import { startDeviceAuthorization } from '../../src/oidc/device/device-authorization.ts'
import { findTenant } from '../../src/tenants/tenant-cache.ts'
import { newTenant } from '../support/actors.ts'
import { recordStatements } from '../support/statements.ts'
import { decide, pollWith, startDevice } from './device-flow.ts'
import {
  authorizePath,
  Browser,
  makeClient,
  makeUser,
  type Provider,
  refreshWith,
  signInAt,
  startProvider,
  userinfoOf,
} from './provider.ts'

type Client = Awaited<ReturnType<typeof makeClient>>
type Tokens = Record<string, string>

let provider: Provider
let tenant: string
let tv: Client
let web: Client
let user: User
let browser: Browser
beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  tv = await makeClient(tenant, { name: 'Living room TV', appType: 'native', callbacks: [] })
  web = await makeClient(tenant)
  user = await makeUser(tenant, 'ada@example.com', { name: 'Ada' })
  browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, web), 'ada@example.com')
})
afterAll(() => provider.close())

const start = (form?: Record<string, string>, client = tv) => startDevice(provider, tenant, client, form)
const poll = (code: string, client = tv, more = {}) => pollWith(provider, tenant, client, code, more)
const started = async (form?: Record<string, string>, client = tv) =>
  (await start(form, client)).body as Tokens
const rowOf = (code: string) => ({ tenantId_codeHash: { tenantId: tenant, codeHash: sha256(code) } })
const change = (code: string, data: object) => dbFor(tenant).deviceCode.update({ where: rowOf(code), data })
const stored = (code: string) => dbFor(tenant).deviceCode.findUniqueOrThrow({ where: rowOf(code) })
const textOf = (events: object[]): string =>
  JSON.stringify(events, (_, value) => (typeof value === 'bigint' ? String(value) : value))

/** Starts a device, which the person then allows. */
async function approved(form?: Record<string, string>, client = tv): Promise<string> {
  const { device_code: code, user_code: userCode } = await started(form, client)
  expect((await decide(browser, tenant, userCode as string, 'allow')).path).toBe(`/${tenant}/device/approved`)
  return code as string
}

describe('the device authorization request (RFC 8628, section 3.1)', () => {
  test('is answered as section 3.2 says, and nobody may keep it', async () => {
    const { status, headers, body } = await start()
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    const uri = `http://localhost:3000/${tenant}/device`
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: uri,
      verification_uri_complete: `${uri}?user_code=${body.user_code}`,
      expires_in: 600,
      interval: 5,
    })
    const row = await stored(body.device_code as string)
    expect(row.expiresAt.getTime() - row.createdAt.getTime()).toBe(600_000)
    // Neither code is stored as it is, and the short one not as a mere hash.
    expect(Buffer.from(row.userCodeHash)).not.toEqual(sha256(body.user_code as string))
    expect(Buffer.from(row.userCodeHash)).not.toEqual(sha256((body.user_code as string).replace('-', '')))
    expect(row).toMatchObject({
      status: 'pending',
      userId: null,
      scopes: ['openid', 'profile', 'offline_access'],
    })
  })

  test('is for native and web clients that prove who they are; never for machines and pages in browsers', async () => {
    expect((await start(undefined, web)).status).toBe(200)
    expect(await start(undefined, { ...web, secret: `${web.secret}x` })).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    })
    for (const more of [
      { appType: 'machine', callbacks: [], scopes: ['users:read'] },
      { appType: 'single-page', callbacks: ['https://spa.example.com/cb'] },
    ]) {
      const client = await makeClient(tenant, more)
      const refused = { status: 400, body: { error: 'unauthorized_client' } }
      expect(await start({ scope: 'openid' }, client)).toMatchObject(refused)
      expect(await poll('x'.repeat(43), client)).toMatchObject(refused)
    }
  })

  test('asks for no more than the client may (security 38)', async () => {
    const { device_code: code } = await started({ scope: 'openid account users:write made-up profile' })
    expect((await stored(code as string)).scopes).toEqual(['openid', 'profile'])
    for (const form of [{ scope: 'users:write' }, { scope: 'account' }, { scope: '' }, {}])
      expect(await start(form as never)).toMatchObject({ status: 400, body: { error: 'invalid_scope' } })
    expect(await start({ scope: 'openid', resource: 'https://else.example.com' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_target' },
    })
  })

  test('gets a user code that no other device of the tenant has', async () => {
    const cached = await findTenant(tenant)
    if (!cached) throw new Error('no tenant')
    const codes = ['BBBBBBBB', 'BBBBBBBB', 'CCCCCCCC']
    const request = {
      ctx: platformCtx(tenant),
      tenant: cached,
      client: tv as never,
      form: { scope: 'openid' },
      resources: [],
      dpopJkt: null,
    }
    const make = () => startDeviceAuthorization(request, () => codes.shift() ?? '')
    expect((await make()).user_code).toBe('BBBB-BBBB')
    expect((await make()).user_code).toBe('CCCC-CCCC')
  })
})

describe('polls (RFC 8628, sections 3.4 and 3.5)', () => {
  let code: string
  let userCode: string
  beforeEach(async () => {
    const body = await started()
    code = body.device_code as string
    userCode = body.user_code as string
  })

  test('of a code that nobody decided about are authorization_pending, and leave nothing in the log', async () => {
    const { status, headers, body } = await poll(code)
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: 'authorization_pending', error_description: 'The person has not decided yet.' },
    })
    expect(headers.get('cache-control')).toBe('no-store')
    const where = { tenantId: tenant, requestId: headers.get('x-request-id') as string }
    expect(await dbFor(tenant).event.count({ where })).toBe(0)
  })

  test('that come too early are slow_down, each makes the interval 5 s longer; punctual ones are not', async () => {
    expect(await poll(code)).toMatchObject({ body: { error: 'authorization_pending' } })
    for (const intervalSeconds of [10, 15]) {
      expect(await poll(code)).toMatchObject({ status: 400, body: { error: 'slow_down' } })
      expect(await stored(code)).toMatchObject({ intervalSeconds, status: 'pending' })
    }
    await change(code, { lastPolledAt: new Date(Date.now() - 5000) })
    expect(await poll(code)).toMatchObject({ body: { error: 'slow_down' } })
    await change(code, { lastPolledAt: new Date(Date.now() - 20_000) })
    expect(await poll(code)).toMatchObject({ body: { error: 'authorization_pending' } })
    expect((await stored(code)).intervalSeconds).toBe(20)
    // Whoever was approved has nothing to wait for.
    await decide(browser, tenant, userCode, 'allow')
    expect((await poll(code)).status).toBe(200)
  })

  test('are access_denied after a refusal, whoever asks for how long', async () => {
    const { path, html } = await decide(browser, tenant, userCode, 'deny')
    expect(path).toBe(`/${tenant}/device/denied`)
    expect(html).toContain('Your device is not connected')
    for (let i = 0; i < 2; i++)
      expect(await poll(code)).toMatchObject({ status: 400, body: { error: 'access_denied' } })
  })

  test('are expired_token after ten minutes, approved or not', async () => {
    const expired = { expiresAt: new Date(Date.now() - 1) }
    await change(code, expired)
    expect(await poll(code)).toMatchObject({ status: 400, body: { error: 'expired_token' } })
    const late = await approved()
    await change(late, expired)
    expect(await poll(late)).toMatchObject({ status: 400, body: { error: 'expired_token' } })
  })

  test('of unknown codes, or of another client, are invalid_grant, and change nothing', async () => {
    const other = await makeClient(tenant, { appType: 'native', callbacks: [] })
    const refused = { status: 400, body: { error: 'invalid_grant' } }
    for (const wrong of ['x', code.slice(0, -1), `${code}x`, code.toLowerCase(), userCode])
      expect(await poll(wrong)).toMatchObject(refused)
    expect(await poll(code, other)).toMatchObject(refused)
    await decide(browser, tenant, userCode, 'allow')
    expect(await poll(code, other)).toMatchObject(refused)
    expect((await poll(code)).status).toBe(200)
    expect(await pollWith(provider, tenant, tv, '')).toMatchObject({ body: { error: 'invalid_request' } })
  })

  test('tell the log why they were refused, and never a code', async () => {
    const { headers } = await poll(`${code}x`)
    const requestId = headers.get('x-request-id') as string
    const events = await dbFor(tenant).event.findMany({ where: { tenantId: tenant, requestId } })
    expect(events).toMatchObject([{ type: 'token.refused', detail: { error: 'invalid_grant' } }])
    expect(textOf(events)).not.toContain(code)
  })
})

test('rows go an hour after they have expired', async () => {
  const [old, live] = [await started(), await started()]
  await change(old.device_code as string, { expiresAt: new Date(Date.now() - 3_601_000) })
  await change(live.device_code as string, { expiresAt: new Date(Date.now() - 3_000_000) })
  await cleanUp(new Date())
  expect(await poll(old.device_code as string)).toMatchObject({ body: { error: 'invalid_grant' } })
  expect(await poll(live.device_code as string)).toMatchObject({ body: { error: 'expired_token' } })
})

describe('redemption (RFC 8628, section 3.5)', () => {
  test('gives the tokens of a code: access, ID and refresh token, once', async () => {
    const code = await approved()
    const { status, headers, body } = await poll(code)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'openid profile offline_access',
      refresh_token: expect.any(String),
      id_token: expect.any(String),
    })
    const session = await dbFor(tenant).session.findFirstOrThrow({
      where: { tenantId: tenant, userId: user.id },
    })
    expect(decodeJwt(body.id_token as string)).toMatchObject({ sub: user.id, aud: tv.id, sid: session.id })
    expect(decodeJwt(body.id_token as string)).toHaveProperty('auth_time')
    expect((await userinfoOf(provider, tenant, body.access_token as string)).status).toBe(200)
    expect((await refreshWith(provider, tenant, tv, body.refresh_token as string)).status).toBe(200)
    expect(await poll(code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    // It is no replay of a code that a browser may have leaked: what was issued stays.
    expect((await userinfoOf(provider, tenant, body.access_token as string)).status).toBe(200)
  })

  test('without openid there is no ID token, without offline_access no refresh token', async () => {
    const { body } = await poll(await approved({ scope: 'profile' }))
    expect(Object.keys(body).sort()).toEqual(['access_token', 'expires_in', 'scope', 'token_type'])
  })

  test('scope session gives the device a session of its own', async () => {
    const { body } = await poll(await approved({ scope: 'openid session' }))
    expect(body).toHaveProperty('session_token')
  })

  test('resources are those of the request, and narrow with the poll (RFC 8707)', async () => {
    const api = `http://localhost:3000/${tenant}/api`
    const code = await approved({ scope: 'openid', resource: api })
    expect(await poll(code, tv, { resource: 'https://else.example.com' })).toMatchObject({
      body: { error: 'invalid_target' },
    })
    const { body } = await poll(code, tv, { resource: api })
    expect(decodeJwt(body.access_token as string).aud).toContain(api)
  })

  test('a person gives what their role reaches, at the approval and at the poll (security 38)', async () => {
    const office = await makeClient(tenant, { appType: 'native', callbacks: [], scopes: ['users:read'] })
    const scope = 'openid users:read'
    const setRoles = (roles: string[]) =>
      dbFor(tenant).user.update({
        where: { tenantId_id: { tenantId: tenant, id: user.id } },
        data: { roles },
      })
    const scopeAfter = async (before: string[], atPoll: string[]) => {
      await setRoles(before)
      const code = await approved({ scope }, office)
      await setRoles(atPoll)
      const { body } = await poll(code, office)
      await setRoles([])
      return body.scope
    }
    expect(await scopeAfter(['admin'], ['admin'])).toBe(scope)
    expect(await scopeAfter(['admin'], [])).toBe('openid')
    // Nobody was asked for it.
    expect(await scopeAfter([], ['admin'])).toBe('openid')
  })

  test('a client that was made another kind meanwhile gets nothing', async () => {
    const client = await makeClient(tenant)
    const code = await approved(undefined, client)
    await updateClient(platformCtx(tenant), client.id, { appType: 'single-page' } as never)
    const answer = await poll(code, { ...client, secret: '' })
    expect(answer).toMatchObject({ status: 400, body: { error: 'unauthorized_client' } })
  })

  test('is told: who allowed or refused which client, and the grant; without the codes', async () => {
    const since = await dbFor(tenant).event.count({ where: { tenantId: tenant } })
    const [first, second] = [await started(), await started()]
    await decide(browser, tenant, first.user_code as string, 'allow')
    await decide(browser, tenant, second.user_code as string, 'deny')
    await poll(first.device_code as string)
    const events = await dbFor(tenant).event.findMany({
      where: { tenantId: tenant },
      orderBy: [{ xid: 'asc' }, { seq: 'asc' }],
      skip: since,
    })
    const session = expect.stringMatching(/^session_/)
    const person = { userId: user.id, sessionId: session, actorUserId: user.id, actorClientId: tv.id }
    expect(events.filter(({ type }) => type !== 'consent.granted')).toMatchObject([
      { type: 'device.approved', subjectIds: [tv.id], ...person },
      { type: 'device.denied', subjectIds: [tv.id], ...person },
      { type: 'grant.created', userId: user.id, sessionId: session, actorUserId: null, actorClientId: tv.id },
    ])
    const told = textOf(events)
    for (const { user_code: shown, device_code: code } of [first, second])
      for (const secret of [shown as string, (shown as string).replace('-', ''), code as string])
        expect(told).not.toContain(secret)
  })
})

// The embedded database takes the same statements; one of the two is enough to count them on.
describe.runIf(inject('database').kind === 'postgres')(
  'round trips to the database (design, section 9)',
  () => {
    test('one each to start, to poll in vain, and to redeem', async () => {
      await start()
      const code = await approved()
      await poll('x')
      const sent = await recordStatements(async () => {
        const { device_code: pending } = await started()
        await poll(pending as string)
        await poll(code)
      })
      expect(sent.map((text) => /INSERT INTO "DeviceCode"|polled AS/.exec(text)?.[0])).toEqual([
        'INSERT INTO "DeviceCode"',
        'polled AS',
        'polled AS',
      ])
      for (const statement of sent) expect(statement).toMatch(/"tenantId"/)
    })
  },
)
