import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { sha256Base64url } from '../../src/crypto.ts'
import { type Ctx, platformCtx } from '../../src/ctx.ts'
import { inTransaction } from '../../src/db.ts'
import type { User } from '../../src/generated/prisma/client.ts'
import { startSession } from '../../src/sessions/sessions.ts'
import { createUser } from '../../src/users/users.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  codeFor,
  csrfIn,
  exchange,
  makeClient,
  makeUser,
  refreshWith,
  signInAt,
  tokenRequest,
  userinfoOf,
} from '../oidc/provider.ts'
import { ctxFor, newTenant, tokenFor } from '../support/actors.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { alterationsOf } from '../support/attacks.ts'
import { openEventStream } from '../support/streams.ts'

let app: TestApp
let tenant: string
let ctx: Ctx
let management: string
let user: User
let client: Awaited<ReturnType<typeof makeClient>>
let browser: Browser

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  ctx = await ctxFor(tenant)
  management = await tokenFor(tenant)
  client = await makeClient(tenant)
  user = await makeUser(tenant, `ada@${tenant}.example`)
  browser = new Browser(app)
  await signInAt(browser, authorizePath(tenant, client), user.email ?? '')
})
afterAll(() => app.close())

const QUIET = { prompt: 'none', scope: 'openid profile email offline_access' }
const quietly = async (by: Browser) =>
  answerIn((await by.fetch(authorizePath(tenant, client, QUIET))).headers.get('location'))
const freshCode = async () => (await quietly(browser)).code ?? ''

/** What a token is good for: true where it is taken, false where it is refused as any other text would be. */
type Use = (token: string) => Promise<boolean>

/** Tries every alteration, and the token itself last: that they were refused must not be because it is no good. */
async function expectOnlyItself(token: string, use: Use): Promise<void> {
  const taken: string[] = []
  for (const [name, altered] of alterationsOf(token)) if (await use(altered)) taken.push(name)
  expect(taken).toEqual([])
  expect(await use(token)).toBe(true)
}

/** Only these statuses are refusals: a 500 would be none. */
function isTaken({ status }: { status: number }, refusal: number): boolean {
  expect([200, 303, refusal]).toContain(status)
  return status !== refusal
}

describe('security 26: a truncated, altered or extended token is refused', () => {
  test('session token', async () => {
    const { token } = await inTransaction((sql) =>
      startSession(sql, ctx, {
        userId: user.id,
        kind: 'api',
        expiresAt: new Date(Date.now() + 3_600_000),
        refreshable: true,
        amr: ['otp'],
      }),
    )
    await expectOnlyItself(token, async (sessionToken) =>
      isTaken(await app.rest(tenant, management, 'POST', '/sessions/authenticate', { sessionToken }), 401),
    )
  })

  test('cookie of the browser session', async () => {
    const good = browser.cookies.get('vst_sid') ?? ''
    await expectOnlyItself(good, async (cookie) => {
      const by = new Browser(app)
      by.cookies.set('vst_sid', cookie)
      const answer = await quietly(by)
      expect(answer).toHaveProperty(answer.code ? 'code' : 'error', answer.code ?? 'login_required')
      return answer.code !== undefined
    })
  })

  test('handle, cookie and form token of a sign-in', async () => {
    const by = new Browser(app)
    const start = await by.open(authorizePath(tenant, client))
    const csrf = csrfIn(await start.response.text())
    const handle = start.path.split('/').at(-1) ?? ''
    const cookie = by.cookies.get('vst_ix') ?? ''
    await expectOnlyItself(handle, async (text) =>
      isTaken(await by.fetch(`/${tenant}/signin/${text}`), text.includes('=') ? 404 : 410),
    )
    await expectOnlyItself(cookie, async (text) => {
      const thief = new Browser(app)
      thief.cookies.set('vst_ix', text)
      return isTaken(await thief.fetch(start.path), 410)
    })
    await expectOnlyItself(csrf, async (text) =>
      isTaken(await by.post(start.path, { csrf: text, step: 'restart' }), 403),
    )
  })

  test('authorization code, which the attempts do not use up', async () => {
    await expectOnlyItself(await freshCode(), async (code) =>
      isTaken(await exchange(app, tenant, client, code), 400),
    )
  })

  test('PKCE verifier', async () => {
    const verifier = 'v'.repeat(43)
    const path = authorizePath(tenant, client, { ...QUIET, code_challenge: sha256Base64url(verifier) })
    const { code = '' } = answerIn((await browser.fetch(path)).headers.get('location'))
    await expectOnlyItself(verifier, async (code_verifier) =>
      isTaken(await exchange(app, tenant, client, code, { code_verifier }), 400),
    )
  })

  test('refresh token, which the attempts do not revoke', async () => {
    const { body } = await exchange(app, tenant, client, await freshCode())
    await expectOnlyItself(body.refresh_token ?? '', async (token) =>
      isTaken(await refreshWith(app, tenant, client, token), 400),
    )
    // Each of its parts alone, too: the mac covers grant, generation and secret.
    const { body: next } = await refreshWith(app, tenant, client, body.refresh_token ?? '')
    const [grant = '', generation, secret = '', mac = ''] = (next.refresh_token ?? '').split('.')
    const forged = [
      [grant, String(Number(generation) + 1), secret, mac],
      [grant, `0${generation}`, secret, mac],
      ...alterationsOf(secret).map(([, part]) => [grant, generation, part, mac]),
      ...alterationsOf(mac).map(([, part]) => [grant, generation, secret, part]),
    ]
    for (const parts of forged)
      expect(await refreshWith(app, tenant, client, parts.join('.'))).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      })
    expect(await refreshWith(app, tenant, client, next.refresh_token ?? '')).toMatchObject({ status: 200 })
  })

  test('access token', async () => {
    const { body } = await exchange(app, tenant, client, await freshCode())
    const token = body.access_token ?? ''
    const refused = async (altered: string) => {
      expect([altered, (await userinfoOf(app, tenant, altered)).status]).toEqual([altered, 401])
      expect((await app.rest(tenant, altered, 'GET', '/users')).status).toBe(401)
    }
    const [header = '', claims = '', signature = ''] = token.split('.')
    // Of a signature's last letter four bits mean nothing (RFC 4648, section 3.5): the signed text is the same.
    for (const [name, altered] of alterationsOf(token))
      if (!name.includes('mean nothing') && !name.includes('another last')) await refused(altered)
    await refused(`${header}.${claims}.`)
    await refused(`${header}.${claims}`)
    await refused(`${header}..${signature}`)
    await refused(`.${claims}.${signature}`)
    expect((await userinfoOf(app, tenant, token)).status).toBe(200)
  })

  test('client secret', async () => {
    const machine = await makeClient(tenant, { appType: 'machine', callbacks: [], scopes: ['users:read'] })
    await expectOnlyItself(machine.secret, async (secret) =>
      isTaken(
        await tokenRequest(app, tenant, { ...machine, secret }, { grant_type: 'client_credentials' }),
        401,
      ),
    )
  })

  test('enrolment token', async () => {
    const path = `/users/${user.id}/credentials/enrollment-tokens`
    const { body } = await app.rest(tenant, management, 'POST', path, { send: false })
    await expectOnlyItself(String(body.token), async (token) => {
      const page = await app.fetch(`/${tenant}/enroll?token=${encodeURIComponent(token)}`)
      const options = await app.fetch(`/${tenant}/enroll/options`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      })
      expect(page.status).toBe(options.status)
      return isTaken(options, 410)
    })
  })

  test('passcode', async () => {
    const address = `code@${tenant}.example`
    await makeUser(tenant, address)
    await app.rest(tenant, management, 'POST', '/passcodes/email', { to: address })
    const code = await codeFor(address)
    const near = [code.slice(0, -1), code.slice(1), `${code}0`, `0${code}`]
    for (const wrong of near)
      expect(
        await app.rest(tenant, management, 'POST', '/passcodes/authenticate', { to: address, code: wrong }),
      ).toMatchObject({ status: 401 })
    expect(
      await app.rest(tenant, management, 'POST', '/passcodes/authenticate', { to: address, code }),
    ).toMatchObject({ status: 200 })
  })

  test('cursor of a list, also one of another list, filter or tenant (security 53)', async () => {
    await createUser(ctx, {})
    const CLIENTS = '{ clients(first: 1) { pageInfo { endCursor } } }'
    const USERS = '{ users(first: 1) { pageInfo { endCursor } } }'
    const end = (body: { data?: Record<string, { pageInfo: { endCursor: string } }> }, list: string) =>
      body.data?.[list]?.pageInfo.endCursor ?? ''
    const cursor = end((await app.gql(tenant, management, USERS)).body, 'users')
    const accepts = async (after: string, list = 'users(first: 1, after: $after)') => {
      const query = `query ($after: String!) { ${list} { nodes { id } } }`
      const { status, body } = await app.gql(tenant, management, query, { after })
      expect(status).toBe(200)
      if (body.errors) expect(body.errors[0]?.extensions.code).toBe('BAD_USER_INPUT')
      return !body.errors
    }
    await expectOnlyItself(cursor, (after) => accepts(after))
    const [payload, mac] = cursor.split('.')
    const forged = Buffer.from(JSON.stringify(["' OR 1=1 --", null])).toString('base64url')
    expect(await accepts(`${forged}.${mac}`)).toBe(false)
    expect(await accepts(`${payload}.`)).toBe(false)
    expect(await accepts(`${payload}`)).toBe(false)
    const ofClients = end((await app.gql(tenant, management, CLIENTS)).body, 'clients')
    expect(await accepts(ofClients)).toBe(false)
    expect(await accepts(ofClients, 'clients(first: 1, after: $after, filter: { appType: WEB })')).toBe(false)
    expect(await accepts(ofClients, 'clients(first: 1, after: $after)')).toBe(true)
    const elsewhere = await newTenant()
    await createUser(platformCtx(elsewhere), {})
    const theirs = end((await app.gql(elsewhere, await tokenFor(elsewhere), USERS)).body, 'users')
    expect(await accepts(theirs)).toBe(false)
  })

  test('position of the log: whatever it says, it shows nothing of another tenant', async () => {
    const READ = 'query ($after: String) { events(first: 1000, after: $after) { nodes { id position } } }'
    const elsewhere = await newTenant()
    await createUser(platformCtx(elsewhere), {})
    // Entries show once older transactions of the cluster have ended, so that more may appear meanwhile.
    const shown = (of: string, bearer: string, least: number) =>
      vi.waitFor(async () => {
        const { nodes } = (await app.gql(of, bearer, READ)).body.data.events
        expect(nodes.length).toBeGreaterThanOrEqual(least)
        return nodes
      }, 10_000)
    const own = await shown(tenant, management, 4)
    const theirs = await shown(elsewhere, await tokenFor(elsewhere), 1)
    const foreign = new Set(theirs.map(({ id }: { id: string }) => id))
    const position: string = own[3].position
    const tried = [...alterationsOf(position), ['of another tenant', theirs[0].position] as const]
    for (const [name, after] of tried) {
      const { status, body } = await app.gql(tenant, management, READ, { after })
      expect([name, status]).toEqual([name, 200])
      if (body.errors) expect(body.errors[0]?.extensions.code).toBe('BAD_USER_INPUT')
      else for (const { id } of body.data.events.nodes) expect(foreign).not.toContain(id)
    }
    // What no position is written as is refused, and a stream never starts from it.
    for (const after of ['A', `${position}=`, `${position}\n`, `${position} `, '-1.-1.-1', 'MS4xLjE=']) {
      const { body } = await app.gql(tenant, management, READ, { after })
      expect([after, body.errors?.[0]?.extensions.code]).toEqual([after, 'BAD_USER_INPUT'])
    }
    const stream = await openEventStream(
      `${app.origin}/${tenant}/graphql`,
      management,
      'subscription { events { id } }',
      {},
      { 'last-event-id': `${position}=` },
    )
    const first = await stream.next()
    stream.close()
    expect(first?.data?.errors?.[0]?.extensions.code ?? stream.status).toBe('BAD_USER_INPUT')
  })
})
