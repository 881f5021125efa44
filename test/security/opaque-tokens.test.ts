import { describe, expect, vi } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { sha256Base64url } from '../../src/core/crypto.ts'
import { startSession } from '../../src/sessions/sessions.ts'
import { createUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { listAlterations } from '../support/attacks.ts'
import type { PageBrowser } from '../support/page-browser.ts'
import { answerIn, csrfIn } from '../support/protocol.ts'
import { test as base } from '../support/signed-in.ts'
import { openEventStream } from '../support/streams.ts'

/** Parameters of an authorize request for offline access without a page. */
const OFFLINE = { prompt: 'none', scope: 'openid profile email offline_access' }

/** With authorize requests of a user who is signed in. */
const test = base
  .extend('authorize', { scope: 'file' }, ({ oidc, signedIn }) => async (browser: PageBrowser = signedIn) => {
    const response = await browser.fetch(oidc.authorizePath(OFFLINE))
    return answerIn(response.headers.get('location'))
  })
  .extend(
    'newCode',
    { scope: 'file' },
    ({ authorize }) =>
      async () =>
        (await authorize()).code ?? '',
  )

/** Uses a token; true when it is accepted, false when it is rejected like any other text. */
type Use = (token: string) => Promise<boolean>

/** Expects that every alteration is rejected, and then that the token itself is accepted. */
async function expectOnlyItself(token: string, use: Use): Promise<void> {
  const accepted: string[] = []
  for (const [name, altered] of listAlterations(token)) if (await use(altered)) accepted.push(name)
  expect(accepted).toEqual([])
  expect(await use(token)).toBe(true)
}

/** Whether a response accepts; throws unless it accepts or rejects with this status. */
function isAccepted({ status }: { status: number }, rejection: number): boolean {
  expect([200, 303, rejection]).toContain(status)
  return status !== rejection
}

describe('an altered, truncated or extended value', () => {
  test('is rejected as a session token', async ({ ctx, rest, user }) => {
    const { token } = await ctx.db.transaction((sql) =>
      startSession(sql, ctx, {
        userId: user.id,
        kind: 'api',
        expiresAt: new Date(Date.now() + 3_600_000),
        refreshable: true,
        proof: { method: 'passcode', amr: ['otp'] },
      }),
    )
    await expectOnlyItself(token, async (sessionToken) =>
      isAccepted(await rest('POST', '/sessions/authenticate', { sessionToken }), 401),
    )
  })

  test('is rejected as the cookie of a browser session', async ({
    tenant,
    newBrowser,
    signedIn,
    authorize,
  }) => {
    const good = signedIn.sessionToken ?? ''
    await expectOnlyItself(good, async (cookie) => {
      const by = newBrowser()
      by.cookies.set(`vst_sid_${tenant}`, cookie)
      const answer = await authorize(by)
      expect(answer).toHaveProperty(answer.code ? 'code' : 'error', answer.code ?? 'login_required')
      return answer.code !== undefined
    })
  })

  test('is rejected as the handle, cookie or form token of a sign-in', async ({
    tenant,
    newBrowser,
    oidc,
  }) => {
    const by = newBrowser()
    const start = await by.open(oidc.authorizePath())
    const csrf = csrfIn(await start.response.text())
    const handle = (start.path.split('/').at(-1) ?? '').slice(0, 43)
    const [name, cookie] = by.binding ?? ['', '']
    await expectOnlyItself(handle, async (text) =>
      isAccepted(await by.fetch(`/${tenant}/signin/${text}`), text.includes('=') ? 404 : 410),
    )
    await expectOnlyItself(cookie, async (text) => {
      const thief = newBrowser()
      thief.cookies.set(name, text)
      return isAccepted(await thief.fetch(start.path), 410)
    })
    await expectOnlyItself(csrf, async (text) =>
      isAccepted(await by.post(start.path, { csrf: text, step: 'restart' }), 403),
    )
  })

  test('is rejected as an authorization code, and leaves the code redeemable', async ({ oidc, newCode }) => {
    await expectOnlyItself(await newCode(), async (code) => isAccepted(await oidc.exchange(code), 400))
  })

  test('is rejected as a PKCE verifier', async ({ oidc, signedIn }) => {
    const verifier = 'v'.repeat(43)
    const path = oidc.authorizePath({ ...OFFLINE, code_challenge: sha256Base64url(verifier) })
    const { code = '' } = answerIn((await signedIn.fetch(path)).headers.get('location'))
    await expectOnlyItself(verifier, async (code_verifier) =>
      isAccepted(await oidc.exchange(code, { code_verifier }), 400),
    )
  })

  test('is rejected as a refresh token, and leaves the grant valid', async ({ oidc, newCode }) => {
    const { body } = await oidc.exchange(await newCode())
    await expectOnlyItself(body.refresh_token ?? '', async (token) =>
      isAccepted(await oidc.refresh(token), 400),
    )
    // Each part is altered alone: the MAC covers grant, generation and secret.
    const { body: next } = await oidc.refresh(body.refresh_token ?? '')
    const [grant = '', generation, secret = '', mac = ''] = (next.refresh_token ?? '').split('.')
    const forged = [
      [grant, String(Number(generation) + 1), secret, mac],
      [grant, `0${generation}`, secret, mac],
      ...listAlterations(secret).map(([, part]) => [grant, generation, part, mac]),
      ...listAlterations(mac).map(([, part]) => [grant, generation, secret, part]),
    ]
    for (const parts of forged)
      expect(await oidc.refresh(parts.join('.'))).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      })
    expect(await oidc.refresh(next.refresh_token ?? '')).toMatchObject({ status: 200 })
  })

  test('is rejected as an access token', async ({ rest, oidc, newCode }) => {
    const { body } = await oidc.exchange(await newCode())
    const token = body.access_token ?? ''
    const expectRejected = async (altered: string) => {
      expect([altered, (await oidc.userinfo(altered)).status]).toEqual([altered, 401])
      expect((await rest('GET', '/users', undefined, { token: altered })).status).toBe(401)
    }
    const [header = '', claims = '', signature = ''] = token.split('.')
    // Four bits of the last letter of a signature are padding (RFC 4648, section 3.5): the signature is the
    // same.
    for (const [name, altered] of listAlterations(token))
      if (!name.includes('unused bits') && !name.includes('another last')) await expectRejected(altered)
    await expectRejected(`${header}.${claims}.`)
    await expectRejected(`${header}.${claims}`)
    await expectRejected(`${header}..${signature}`)
    await expectRejected(`.${claims}.${signature}`)
    expect((await oidc.userinfo(token)).status).toBe(200)
  })

  test('is rejected as a client secret', async ({ newClient, oidc }) => {
    const machine = await newClient({ appType: 'machine', callbacks: [], scopes: ['users:read'] })
    await expectOnlyItself(machine.secret, async (secret) =>
      isAccepted(await oidc.token({ grant_type: 'client_credentials' }, { ...machine, secret }), 401),
    )
  })

  test('is rejected as an enrollment token', async ({ app, tenant, rest, user }) => {
    const path = `/users/${user.id}/credentials/enrollment-tokens`
    const { body } = await rest('POST', path, { send: false })
    await expectOnlyItself(String(body.token), async (token) => {
      const page = await app.fetch(`/${tenant}/enroll?token=${encodeURIComponent(token)}`)
      const options = await app.fetch(`/${tenant}/enroll/options`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      })
      expect(page.status).toBe(options.status)
      return isAccepted(options, 410)
    })
  })

  test('is rejected as a passcode', async ({ rest, inbox, newPerson }) => {
    const { email: address } = await newPerson()
    await rest('POST', '/passcodes/email', { to: address })
    const code = await inbox.codeFor(address)
    const near = [code.slice(0, -1), code.slice(1), `${code}0`, `0${code}`]
    for (const wrong of near)
      expect(await rest('POST', '/passcodes/authenticate', { to: address, code: wrong })).toMatchObject({
        status: 401,
      })
    expect(await rest('POST', '/passcodes/authenticate', { to: address, code })).toMatchObject({
      status: 200,
    })
  })

  test('is rejected as the cursor of a list, and so is a cursor of another list, filter or tenant', async ({
    ctx,
    gql,
  }) => {
    await createUser(ctx, {})
    const CLIENTS = '{ clients(first: 1) { pageInfo { endCursor } } }'
    const USERS = '{ users(first: 1) { pageInfo { endCursor } } }'
    const end = (body: { data?: Record<string, { pageInfo: { endCursor: string } }> }, list: string) =>
      body.data?.[list]?.pageInfo.endCursor ?? ''
    const cursor = end((await gql(USERS)).body, 'users')
    const accepts = async (after: string, list = 'users(first: 1, after: $after)') => {
      const query = `query ($after: String!) { ${list} { nodes { id } } }`
      const { status, body } = await gql(query, { after })
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
    const ofClients = end((await gql(CLIENTS)).body, 'clients')
    expect(await accepts(ofClients)).toBe(false)
    expect(await accepts(ofClients, 'clients(first: 1, after: $after, filter: { appType: WEB })')).toBe(false)
    expect(await accepts(ofClients, 'clients(first: 1, after: $after)')).toBe(true)
    const elsewhere = await newTenant()
    await createUser(createPlatformCtx(elsewhere), {})
    const theirs = end((await gql(USERS, {}, { tenant: elsewhere })).body, 'users')
    expect(await accepts(theirs)).toBe(false)
  })

  test('as a position of the event log shows no event of another tenant', async ({
    app,
    tenant,
    token,
    gql,
  }) => {
    const READ = 'query ($after: String) { events(first: 1000, after: $after) { nodes { id position } } }'
    const elsewhere = await newTenant()
    await createUser(createPlatformCtx(elsewhere), {})
    // Events appear once every older transaction of the cluster has ended.
    const listEvents = (at: string, least: number) =>
      vi.waitFor(async () => {
        const { nodes } = (await gql(READ, {}, { tenant: at })).body.data.events
        expect(nodes.length).toBeGreaterThanOrEqual(least)
        return nodes
      }, 10_000)
    const own = await listEvents(tenant, 4)
    const theirs = await listEvents(elsewhere, 1)
    const foreign = new Set(theirs.map(({ id }: { id: string }) => id))
    const position: string = own[3].position
    const altered = [...listAlterations(position), ['of another tenant', theirs[0].position] as const]
    for (const [name, after] of altered) {
      const { status, body } = await gql(READ, { after })
      expect([name, status]).toEqual([name, 200])
      if (body.errors) expect(body.errors[0]?.extensions.code).toBe('BAD_USER_INPUT')
      else for (const { id } of body.data.events.nodes) expect(foreign).not.toContain(id)
    }
    // A text that is not a position is rejected, also as Last-Event-ID.
    for (const after of ['A', `${position}=`, `${position}\n`, `${position} `, '-1.-1.-1', 'MS4xLjE=']) {
      const { body } = await gql(READ, { after })
      expect([after, body.errors?.[0]?.extensions.code]).toEqual([after, 'BAD_USER_INPUT'])
    }
    const stream = await openEventStream(
      `${app.origin}/${tenant}/graphql`,
      token,
      'subscription { events { id } }',
      {},
      { 'last-event-id': `${position}=` },
    )
    const first = await stream.next()
    stream.close()
    expect(first?.data?.errors?.[0]?.extensions.code ?? stream.status).toBe('BAD_USER_INPUT')
  })
})
