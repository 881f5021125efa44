import { describe, expect } from 'vitest'
import { authenticateToken } from '../../src/access/authenticate.ts'
import { deleteClient, updateClient } from '../../src/clients/client-changes.ts'
import { rotateClientSecret } from '../../src/clients/client-secrets.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { dbFor } from '../support/database.ts'
import { test as base } from '../support/fixtures.ts'
import type { PageBrowser } from '../support/page-browser.ts'
import type { PersonClient } from '../support/people.ts'
import { answerIn, csrfIn } from '../support/protocol.ts'

/** Scopes by which a client gets a refresh token and a session of its own. */
const OFFLINE = { scope: 'openid email offline_access session' }

const test = base
  /** Signs a new user in at a client; returns the browser and the tokens. */
  .extend(
    'signInNew',
    { scope: 'file' },
    ({ newBrowser, newPerson, oidc }) =>
      async (client: PersonClient) => {
        const browser = newBrowser()
        const { email } = await newPerson()
        const done = await oidc.signIn(browser, email, OFFLINE, client)
        const { body } = await oidc.exchange(answerIn(done.location).code ?? '', {}, client)
        return { browser, tokens: body }
      },
  )
  /** A code of a client for the user who is signed in. */
  .extend(
    'newCode',
    { scope: 'file' },
    ({ oidc }) =>
      async (browser: PageBrowser, client: PersonClient): Promise<string> => {
        const response = await browser.fetch(oidc.authorizePath({ ...OFFLINE, prompt: 'none' }, client))
        return answerIn(response.headers.get('location')).code ?? ''
      },
  )
  .extend(
    'authenticate',
    { scope: 'file' },
    ({ tenant }) =>
      (token = '') =>
        authenticateToken({ tenant, requestId: 'test', ip: null, userAgent: null }, `Bearer ${token}`),
  )
  .extend(
    'requestToken',
    { scope: 'file' },
    ({ oidc }) =>
      (client: PersonClient) =>
        oidc.token({ grant_type: 'client_credentials' }, client),
  )

describe('two current secrets of a client', () => {
  test('are both accepted by the token endpoint, and an older one is rejected', async ({
    tenant,
    newClient,
    requestToken,
  }) => {
    const machine = await newClient({ appType: 'machine', callbacks: [] })
    const second = await rotateClientSecret(createPlatformCtx(tenant), machine.id, {})
    const statuses = async (...secrets: string[]) => {
      const answers = []
      for (const secret of secrets) answers.push((await requestToken({ ...machine, secret })).status)
      return answers
    }
    expect(await statuses(machine.secret, second.secret)).toEqual([200, 200])
    const third = await rotateClientSecret(createPlatformCtx(tenant), machine.id, {})
    expect(await statuses(machine.secret, second.secret, third.secret)).toEqual([401, 200, 200])
    const last = await rotateClientSecret(createPlatformCtx(tenant), machine.id, { overlapSeconds: 0 })
    expect(await statuses(second.secret, third.secret, last.secret)).toEqual([401, 401, 200])
  })
})

describe('an updated client', () => {
  test('is not redirected to a removed redirect URI, also not from a sign-in that has begun', async ({
    tenant,
    email,
    newClient,
    newBrowser,
    oidc,
  }) => {
    const client = await newClient()
    const browser = newBrowser()
    const begun = await browser.open(oidc.authorizePath({}, client))
    const html = await begun.response.text()
    expect(csrfIn(html)).not.toBe('')
    await updateClient(createPlatformCtx(tenant), client.id, { callbacks: ['https://rp.example.com/other'] })

    const rejected = await newBrowser().fetch(oidc.authorizePath({}, client))
    expect(rejected.status).toBe(400)
    expect(rejected.headers.get('location')).toBeNull()
    expect(await rejected.text()).toContain('redirect_uri')
    const late = await browser.submit({ html, path: begun.path }, { step: 'email', address: email('ada') })
    expect(late.response.status).toBe(400)
    const other = oidc.authorizePath({ redirect_uri: 'https://rp.example.com/other' }, client)
    expect((await newBrowser().fetch(other)).status).toBe(303)
  })

  test('that becomes public is rejected with its former secret, and redeems a code by PKCE alone', async ({
    tenant,
    newClient,
    oidc,
    signInNew,
    newCode,
  }) => {
    const client = await newClient()
    const { browser, tokens } = await signInNew(client)
    await updateClient(createPlatformCtx(tenant), client.id, { appType: 'single-page' })
    const rejected = await oidc.refresh(tokens.refresh_token ?? '', {}, client)
    expect(rejected).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    const code = await newCode(browser, client)
    expect((await oidc.exchange(code, {}, { ...client, secret: '' })).status).toBe(200)
  })

  test('that becomes confidential cannot redeem a code until it has a secret', async ({
    tenant,
    newClient,
    oidc,
    signInNew,
    newCode,
  }) => {
    const client = await newClient({ appType: 'single-page' })
    const { browser } = await signInNew(client)
    await updateClient(createPlatformCtx(tenant), client.id, { appType: 'web' })
    const code = await newCode(browser, client)
    expect((await oidc.exchange(code, {}, client)).status).toBe(401)
    const { secret } = await rotateClientSecret(createPlatformCtx(tenant), client.id, {})
    expect((await oidc.exchange(code, {}, { ...client, secret })).status).toBe(200)
  })

  test('that loses a scope loses it in the tokens it already has', async ({
    tenant,
    newClient,
    authenticate,
    requestToken,
  }) => {
    const machine = await newClient({
      appType: 'machine',
      callbacks: [],
      scopes: ['users:read', 'events:read'],
    })
    const { body } = await requestToken(machine)
    expect([...(await authenticate(body.access_token)).ctx.scopes].sort()).toEqual([
      'events:read',
      'users:read',
    ])
    await updateClient(createPlatformCtx(tenant), machine.id, { scopes: ['users:read'] })
    expect([...(await authenticate(body.access_token)).ctx.scopes]).toEqual(['users:read'])
  })
})

describe('a deleted client', () => {
  test('loses its tokens, codes, grants and sessions, and its users stay signed in', async ({
    tenant,
    events,
    newClient,
    oidc,
    signInNew,
    newCode,
  }) => {
    const client = await newClient()
    const kept = await newClient()
    const { browser, tokens } = await signInNew(client)
    const code = await newCode(browser, client)
    const begun = await browser.open(oidc.authorizePath({ prompt: 'login' }, client))
    const { body: others } = await oidc.exchange(await newCode(browser, kept), {}, kept)
    expect((await oidc.userinfo(tokens.access_token ?? '')).status).toBe(200)
    const where = { tenantId: tenant, clientId: client.id }
    const sessions = await dbFor(tenant).session.findMany({ where: { ...where, endedAt: null } })
    expect(sessions.map(({ kind }) => kind)).toEqual(['oidc'])

    await deleteClient(createPlatformCtx(tenant), client.id)

    expect((await oidc.userinfo(tokens.access_token ?? '')).status).toBe(401)
    const rejected = { status: 401, body: { error: 'invalid_client' } }
    expect(await oidc.exchange(code, {}, client)).toMatchObject(rejected)
    expect(await oidc.refresh(tokens.refresh_token ?? '', {}, client)).toMatchObject(rejected)
    expect((await browser.fetch(oidc.authorizePath({}, client))).status).toBe(400)
    expect((await browser.fetch(begun.path)).status).toBe(410)
    const db = dbFor(tenant)
    const left = [
      await db.session.count({ where }),
      await db.grant.count({ where }),
      await db.interaction.count({ where }),
      await db.consent.count({ where }),
      await db.clientSecret.count({ where }),
    ]
    expect(left).toEqual([0, 0, 0, 0, 0])
    const recorded = (await events()).filter(({ type }) => !type.endsWith('.refused')).slice(-2)
    expect(recorded).toMatchObject([
      {
        type: 'session.ended',
        sessionId: sessions[0]?.id,
        userId: sessions[0]?.userId,
        subjectIds: [client.id],
        detail: { reason: 'revoked' },
      },
      { type: 'client.deleted', subjectIds: [client.id], requestId: 'platform' },
    ])
    // The session of the user and the tokens of other clients remain valid.
    expect((await oidc.userinfo(others.access_token ?? '')).status).toBe(200)
    expect(await newCode(browser, kept)).not.toBe('')
  })

  test('is rejected by the management surface with the tokens it already has', async ({
    tenant,
    newClient,
    authenticate,
    requestToken,
  }) => {
    const machine = await newClient({ appType: 'machine', callbacks: [], scopes: ['users:read'] })
    const { body } = await requestToken(machine)
    expect((await authenticate(body.access_token)).ctx.scopes).toEqual(new Set(['users:read']))
    await deleteClient(createPlatformCtx(tenant), machine.id)
    await expect(authenticate(body.access_token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  })

  test('leaves no code, grant or session when users sign in at the same time', async ({
    tenant,
    newClient,
    oidc,
    signInNew,
    newCode,
  }) => {
    for (let round = 0; round < 10; round++) {
      const client = await newClient()
      const { browser, tokens } = await signInNew(client)
      const code = await newCode(browser, client)
      const [exchanged, refreshed] = await Promise.all([
        oidc.exchange(code, {}, client),
        oidc.refresh(tokens.refresh_token ?? '', {}, client),
        browser.fetch(oidc.authorizePath({ prompt: 'none' }, client)),
        deleteClient(createPlatformCtx(tenant), client.id),
      ])
      for (const { status } of [exchanged, refreshed]) expect([200, 400, 401, 404]).toContain(status)
      for (const { status, body } of [exchanged, refreshed])
        if (status === 200) expect((await oidc.userinfo(body.access_token ?? '')).status).toBe(401)
      const where = { tenantId: tenant, clientId: client.id }
      expect(await dbFor(tenant).grant.count({ where })).toBe(0)
      expect(await dbFor(tenant).session.count({ where })).toBe(0)
    }
  })
})
