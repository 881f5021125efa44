import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { deleteClient } from '../../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { signJwt } from '../../../src/keys/keys.ts'
import { newTenant } from '../../support/actors.ts'
import { dbFor } from '../../support/database.ts'
import { answerIn, csrfIn } from '../../support/protocol.ts'
import { test as base, type Tokens } from '../../support/visitor.ts'

/** A registered post_logout_redirect_uri. */
const AFTER = 'https://rp.example.com/signed-out?a=1'

const ENDED = { isEnded: true, endReason: 'logout' }
const ACTIVE = { isEnded: false, endReason: null }

/** What parameters of a logout request are made of. */
type Own = { hint: { id_token_hint: string }; tokens: Tokens; client: { id: string } }

const pathOf = (tenant: string, params: Record<string, string>): string =>
  `/${tenant}/oidc/logout?${new URLSearchParams(params)}`

/**
 * `test` with a signed-in user and the tokens of a client for each test, and the session that they belong to.
 */
const test = base
  .extend('client', { scope: 'file' }, ({ newClient }) => newClient({ allowedLogoutUrls: [AFTER] }))
  .extend('visit', ({ ownVisitor }) => ownVisitor)
  .extend('tokens', ({ visit }) => visit.newTokens({ scope: 'openid offline_access' }))
  .extend('hint', ({ tokens }) => ({ id_token_hint: tokens.id_token }))
  .extend('readSession', { scope: 'file' }, ({ tenant }) => async ({ id_token: idToken }: Tokens) => {
    const { sid } = decodeJwt(idToken)
    const where = { tenantId_id: { tenantId: tenant, id: sid as string } }
    const { endedAt, endReason } = await dbFor(tenant).session.findUniqueOrThrow({ where })
    return { isEnded: endedAt !== null, endReason }
  })
  /** Users and clients that ended the session, by the event log. */
  .extend('listEnders', { scope: 'file' }, ({ events }) => async ({ id_token: idToken }: Tokens) => {
    const { sid } = decodeJwt(idToken)
    const ended = await events({ type: 'session.ended' })
    return ended
      .filter(({ sessionId }) => sessionId === sid)
      .map(({ actorUserId, actorClientId }) => [actorUserId, actorClientId])
  })

const NO_CLIENT = 'The post_logout_redirect_uri needs an id_token_hint or a client_id: no client was named.'

describe('the logout endpoint (RP-Initiated Logout 1.0)', () => {
  test('ends the session of the id_token_hint, clears the cookie and redirects with state', async ({
    tenant,
    client,
    oidc,
    visit,
    tokens,
    hint,
    readSession,
    listEnders,
  }) => {
    const response = await visit.browser.fetch(
      pathOf(tenant, { ...hint, post_logout_redirect_uri: AFTER, state: 's&' }),
    )
    expect([response.status, response.headers.get('location')]).toEqual([303, `${AFTER}&state=s%26`])
    expect(response.headers.getSetCookie()).toEqual([
      `vst_sid_${tenant}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax`,
    ])
    expect(await readSession(tokens)).toEqual(ENDED)
    expect(await listEnders(tokens)).toEqual([[visit.user.id, client.id]])
    const again = await visit.browser.fetch(oidc.authorizePath({ prompt: 'none' }))
    expect(answerIn(again.headers.get('location'))).toMatchObject({ error: 'login_required' })
    // A grant for offline access does not depend on the session.
    expect((await oidc.refresh(tokens.refresh_token)).status).toBe(200)
  })

  test("ends the session's tokens without offline access", async ({ tenant, oidc, visit, hint }) => {
    const body = await visit.newTokens({ scope: 'openid' })
    await visit.browser.fetch(pathOf(tenant, hint))
    expect((await oidc.userinfo(body.access_token)).status).toBe(401)
  })

  test('shows a page without a post_logout_redirect_uri', async ({
    tenant,
    visit,
    tokens,
    hint,
    readSession,
  }) => {
    const response = await visit.browser.fetch(pathOf(tenant, hint))
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('You are signed out')
    expect(await readSession(tokens)).toEqual(ENDED)
  })

  test('accepts an expired ID token as id_token_hint (section 2)', async ({
    tenant,
    visit,
    tokens,
    readSession,
  }) => {
    const expired = await signJwt(tenant, 'JWT', { ...decodeJwt(tokens.id_token), exp: 1 })
    await visit.browser.fetch(pathOf(tenant, { id_token_hint: expired }))
    expect(await readSession(tokens)).toEqual(ENDED)
  })

  test('asks for confirmation without an id_token_hint (section 6)', async ({
    tenant,
    client,
    visit,
    tokens,
    readSession,
  }) => {
    for (const params of [{}, { client_id: client.id, post_logout_redirect_uri: AFTER }] as Record<
      string,
      string
    >[]) {
      const response = await visit.browser.fetch(pathOf(tenant, params))
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Sign out?')])
    }
    expect(await readSession(tokens)).toEqual(ACTIVE)
  })

  test('says in development why an id_token_hint is rejected, without the token', async ({
    tenant,
    visit,
  }) => {
    const token = 'eyJhbGciOiJSUzI1NiJ9.c2VjcmV0.c2lnbmF0dXJl'
    const html = await (await visit.browser.fetch(pathOf(tenant, { id_token_hint: token }))).text()
    expect(html).toContain(
      '<dt><bdi class="given">error</bdi></dt><dd><bdi class="given">invalid_request</bdi></dd>',
    )
    // The menu of languages leads back to the request.
    expect(html.replace(/<input type="hidden" name="return_to" value="[^"]*"/, '')).not.toContain('c2VjcmV0')
  })

  test('names the user who is asked, also after an invalid request', async ({ tenant, visit }) => {
    for (const params of [{}, { post_logout_redirect_uri: AFTER }] as Record<string, string>[]) {
      const html = await (await visit.browser.fetch(pathOf(tenant, params))).text()
      expect(html).toContain('Signed in as')
      expect(html).toContain(String(visit.user.email))
    }
  })

  test('leads back to the application of a user who stays', async ({ tenant, newClient, visit }) => {
    const { id } = await newClient({ initiateLoginUrl: 'https://app.example.com/login' })
    const path = pathOf(tenant, { client_id: id })
    const csrf = csrfIn(await (await visit.browser.fetch(path)).text())
    const html = await (await visit.browser.post(path, { csrf, step: 'stay' })).text()
    expect(html).toContain(`/oidc/initiate?client_id=${id}`)
  })

  test('asks for confirmation with an ID token of another session', async ({
    tenant,
    visit,
    tokens,
    readSession,
  }) => {
    const other = await signJwt(tenant, 'JWT', {
      ...decodeJwt(tokens.id_token),
      sid: 'session_other',
    })
    const response = await visit.browser.fetch(pathOf(tenant, { id_token_hint: other }))
    expect(await response.text()).toContain('Sign out?')
    expect(await readSession(tokens)).toEqual(ACTIVE)
  })

  test('ends the session after the confirmation, and keeps it when the user stays', async ({
    tenant,
    client,
    visit,
    tokens,
    readSession,
    listEnders,
  }) => {
    const path = pathOf(tenant, { client_id: client.id, post_logout_redirect_uri: AFTER, state: 's' })
    const csrf = csrfIn(await (await visit.browser.fetch(path)).text())
    const stayed = await visit.browser.post(path, { csrf, step: 'stay' })
    expect([stayed.status, stayed.headers.getSetCookie()]).toEqual([200, []])
    expect(await stayed.text()).toContain('You are still signed in')
    expect(await readSession(tokens)).toEqual(ACTIVE)
    const left = await visit.browser.post(path, { csrf, step: 'logout' })
    expect([left.status, left.headers.get('location')]).toEqual([303, `${AFTER}&state=s`])
    expect(await readSession(tokens)).toEqual(ENDED)
    expect(await listEnders(tokens)).toEqual([[visit.user.id, client.id]])
  })

  test('rejects a confirmation by the form of another session', async ({
    tenant,
    client,
    visit,
    tokens,
    readSession,
  }) => {
    const path = pathOf(tenant, { client_id: client.id })
    for (const csrf of ['x', csrfIn(await (await visit.browser.fetch(path)).text()).slice(0, -1)])
      expect((await visit.browser.post(path, { csrf, step: 'logout' })).status).toBe(403)
    expect(await readSession(tokens)).toEqual(ACTIVE)
  })

  test('redirects a POST from another site, which has no cookies, to a GET request', async ({
    tenant,
    newBrowser,
    visit,
    tokens,
    hint,
    readSession,
  }) => {
    const params = { ...hint, post_logout_redirect_uri: AFTER }
    const response = await newBrowser().post(`/${tenant}/oidc/logout`, params)
    expect([response.status, response.headers.get('location')]).toEqual([303, pathOf(tenant, params)])
    const end = await visit.browser.open(response.headers.get('location') as string)
    expect(end.location).toBe(AFTER)
    expect(await readSession(tokens)).toEqual(ENDED)
  })

  test('redirects when no user is signed in', async ({ tenant, newBrowser, hint }) => {
    const response = await newBrowser().fetch(pathOf(tenant, { ...hint, post_logout_redirect_uri: AFTER }))
    expect([response.status, response.headers.get('location')]).toEqual([303, AFTER])
  })

  test.for<[name: string, params: (own: Own) => Record<string, string>]>([
    [
      'an unregistered post_logout_redirect_uri',
      ({ hint }) => ({ ...hint, post_logout_redirect_uri: 'https://evil.example' }),
    ],
    [
      'a post_logout_redirect_uri that continues a registered one',
      ({ hint }) => ({ ...hint, post_logout_redirect_uri: `${AFTER}/..` }),
    ],
    [
      'a callback as post_logout_redirect_uri',
      ({ hint }) => ({ ...hint, post_logout_redirect_uri: 'https://rp.example.com/cb' }),
    ],
    ['a post_logout_redirect_uri without a client', () => ({ post_logout_redirect_uri: AFTER })],
    ["another client's hint", ({ hint }) => ({ ...hint, client_id: 'client_other' })],
    ['an unknown client', () => ({ client_id: 'client_other' })],
    ['an access token as id_token_hint', ({ tokens }) => ({ id_token_hint: tokens.access_token })],
    ['an id_token_hint that is not a JWT', () => ({ id_token_hint: 'x' })],
    [
      'a parameter with U+0000',
      ({ client }) => ({ client_id: client.id, post_logout_redirect_uri: '\u0000' }),
    ],
  ])(
    'rejects %s without a redirect and offers to sign out',
    async ([_name, params], { tenant, client, visit, tokens, hint, readSession, listEnders }) => {
      const response = await visit.browser.fetch(pathOf(tenant, params({ hint, tokens, client })))
      expect([response.status, response.headers.get('location')]).toEqual([400, null])
      const html = await response.text()
      expect(html).toContain('You are still signed in')
      expect(html).toContain(response.headers.get('x-request-id'))
      expect(await readSession(tokens)).toEqual(ACTIVE)
      const action = /action="([^"]+)"/.exec(html)?.[1] as string
      const left = await visit.browser.post(action, { csrf: csrfIn(html), step: 'logout' })
      expect([left.status, left.headers.get('location')]).toEqual([200, null])
      expect(await left.text()).toContain('You are signed out')
      expect(await readSession(tokens)).toEqual(ENDED)
      expect(await listEnders(tokens)).toEqual([[visit.user.id, null]])
    },
  )

  test('shows the error, and no form when no user is signed in', async ({
    tenant,
    newBrowser,
    visit,
    hint,
  }) => {
    const path = pathOf(tenant, { ...hint, post_logout_redirect_uri: 'https://evil.example' })
    const detail = 'The post_logout_redirect_uri is not registered for this client.'
    expect(await (await visit.browser.fetch(path)).text()).toContain(detail)
    const response = await newBrowser().fetch(path)
    const html = await response.text()
    expect([response.status, html.includes(detail), html.includes('name="csrf"')]).toEqual([400, true, false])
    expect(html).toContain('This request cannot be answered')
  })

  test('says that no client was named, or that it no longer exists, instead of an unregistered address', async ({
    tenant,
    newClient,
    newBrowser,
    visit,
  }) => {
    const read = async (params: Record<string, string>) =>
      (await newBrowser().fetch(pathOf(tenant, { post_logout_redirect_uri: AFTER, ...params }))).text()
    for (const params of [{}, { logout_hint: visit.user.email }, { state: 's' }] as Record<
      string,
      string
    >[]) {
      const html = await read(params)
      expect(html).toContain(NO_CLIENT)
      expect(html).not.toContain('not registered')
    }
    const deleted = await newClient({ allowedLogoutUrls: [AFTER] })
    const { id_token: hint } = await visit.newTokens({}, deleted)
    await deleteClient(createPlatformCtx(tenant), deleted.id)
    const html = await read({ id_token_hint: hint })
    expect(html).toContain('The client of the id_token_hint no longer exists.')
    expect(html).not.toContain('not registered')
  })

  test.for([
    ['with a session', true],
    ['without a session', false],
  ] as const)(
    'records %s where the post_logout_redirect_uri differs, under the request id on the page',
    async ([_name, hasSession], { tenant, events, client, newBrowser, visit, hint }) => {
      const reject = async (params: Record<string, string>) => {
        const response = await (hasSession ? visit.browser : newBrowser()).fetch(pathOf(tenant, params))
        const id = response.headers.get('x-request-id') as string
        expect(await response.text()).toContain(id)
        return (await events()).find(({ requestId }) => requestId === id)
      }
      const given = AFTER.replace('a=1', 'a=2')
      expect(await reject({ ...hint, post_logout_redirect_uri: given })).toMatchObject({
        type: 'authorize.refused',
        detail: {
          endpoint: 'logout',
          client_id: client.id,
          member: 'allowedLogoutUrls',
          given,
          expected: AFTER,
          difference: 'query: expected "?a=1", got "?a=2"',
        },
      })
      expect(await reject({ client_id: client.id, post_logout_redirect_uri: given })).toMatchObject({
        subjectIds: [client.id],
      })
      expect(await reject({ post_logout_redirect_uri: AFTER })).toMatchObject({
        detail: { description: NO_CLIENT, given: AFTER },
      })
    },
  )

  test('accepts neither hint nor session of another tenant', async ({ visit, tokens, hint, readSession }) => {
    const other = await newTenant()
    expect((await visit.browser.fetch(`/${other}/oidc/logout?${new URLSearchParams(hint)}`)).status).toBe(400)
    expect(await (await visit.browser.fetch(`/${other}/oidc/logout`)).text()).toContain('You are signed out')
    expect(await readSession(tokens)).toEqual(ACTIVE)
  })
})
