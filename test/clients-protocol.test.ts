import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deleteClient, rotateClientSecret, updateClient } from '../src/clients/client-changes.ts'
import { platformCtx } from '../src/ctx.ts'
import { dbFor } from '../src/db.ts'
import { authenticateToken } from '../src/oidc/token/access-tokens.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  csrfIn,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  refreshWith,
  signInAt,
  startProvider,
  tokenRequest,
  userinfoOf,
} from './oidc/provider.ts'
import { newTenant } from './support/actors.ts'
import { logOf } from './support/events.ts'

let provider: Provider
let tenant: string
const ADA = 'ada@example.com'
let people = 0

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
})
afterAll(() => provider.close())

type TestClient = Awaited<ReturnType<typeof makeClient>>
const platform = () => platformCtx(tenant)
const OFFLINE = { scope: 'openid email offline_access session' }

/** A browser in which a new person is signed in, with tokens of the client. */
async function signedIn(client: TestClient) {
  const browser = new Browser(provider)
  const email = `person${++people}@example.com`
  await makeUser(tenant, email)
  const done = await signInAt(browser, authorizePath(tenant, client, OFFLINE), email)
  const { body } = await exchange(provider, tenant, client, answerIn(done.location).code ?? '')
  return { browser, tokens: body }
}
const codeIn = async (browser: Browser, client: TestClient): Promise<string> => {
  const path = authorizePath(tenant, client, { ...OFFLINE, prompt: 'none' })
  return answerIn((await browser.fetch(path)).headers.get('location')).code ?? ''
}
const bearer = (token = '') =>
  authenticateToken({ tenant, requestId: 'test', ip: null, userAgent: null }, `Bearer ${token}`)
const machineToken = (client: TestClient) =>
  tokenRequest(provider, tenant, client, { grant_type: 'client_credentials' })

describe('two live secrets', () => {
  it('both work at the token endpoint, and an older one does not', async () => {
    const machine = await makeClient(tenant, { appType: 'machine', callbacks: [] })
    const second = await rotateClientSecret(platform(), machine.id, {})
    const statuses = async (...secrets: string[]) => {
      const answers = []
      for (const secret of secrets) answers.push((await machineToken({ ...machine, secret })).status)
      return answers
    }
    expect(await statuses(machine.secret, second.secret)).toEqual([200, 200])
    const third = await rotateClientSecret(platform(), machine.id, {})
    expect(await statuses(machine.secret, second.secret, third.secret)).toEqual([401, 200, 200])
    const last = await rotateClientSecret(platform(), machine.id, { overlapSeconds: 0 })
    expect(await statuses(second.secret, third.secret, last.secret)).toEqual([401, 401, 200])
  })
})

describe('a changed client', () => {
  it('is not redirected any more to a URI that was removed, nor from a sign-in that had begun', async () => {
    const client = await makeClient(tenant)
    const browser = new Browser(provider)
    const begun = await browser.open(authorizePath(tenant, client))
    const html = await begun.response.text()
    expect(csrfIn(html)).not.toBe('')
    await updateClient(platform(), client.id, { callbacks: ['https://rp.example.com/other'] })

    const refused = await new Browser(provider).fetch(authorizePath(tenant, client))
    expect(refused.status).toBe(400)
    expect(refused.headers.get('location')).toBeNull()
    expect(await refused.text()).toContain('redirect_uri')
    const late = await browser.submit({ html, path: begun.path }, { step: 'email', address: ADA })
    expect(late.response.status).toBe(400)
    const other = authorizePath(tenant, client, { redirect_uri: 'https://rp.example.com/other' })
    expect((await new Browser(provider).fetch(other)).status).toBe(303)
  })

  it('that becomes public is refused with the secret it had, and signs in with PKCE alone', async () => {
    const client = await makeClient(tenant)
    const { browser, tokens } = await signedIn(client)
    await updateClient(platform(), client.id, { appType: 'single-page' })
    const refused = await refreshWith(provider, tenant, client, tokens.refresh_token ?? '')
    expect(refused).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    const code = await codeIn(browser, client)
    expect((await exchange(provider, tenant, { ...client, secret: '' }, code)).status).toBe(200)
  })

  it('that becomes confidential gets no token until it has a secret', async () => {
    const client = await makeClient(tenant, { appType: 'single-page' })
    const { browser } = await signedIn(client)
    await updateClient(platform(), client.id, { appType: 'web' })
    const code = await codeIn(browser, client)
    expect((await exchange(provider, tenant, client, code)).status).toBe(401)
    const { secret } = await rotateClientSecret(platform(), client.id, {})
    expect((await exchange(provider, tenant, { ...client, secret }, code)).status).toBe(200)
  })

  it('that loses a scope loses it in the tokens it has', async () => {
    const machine = await makeClient(tenant, {
      appType: 'machine',
      callbacks: [],
      scopes: ['users:read', 'events:read'],
    })
    const { body } = await machineToken(machine)
    expect([...(await bearer(body.access_token)).ctx.scopes].sort()).toEqual(['events:read', 'users:read'])
    await updateClient(platform(), machine.id, { scopes: ['users:read'] })
    expect([...(await bearer(body.access_token)).ctx.scopes]).toEqual(['users:read'])
  })
})

describe('a deleted client', () => {
  it('takes its tokens, codes, grants and sessions along, and leaves people signed in', async () => {
    const client = await makeClient(tenant)
    const kept = await makeClient(tenant)
    const { browser, tokens } = await signedIn(client)
    const code = await codeIn(browser, client)
    const begun = await browser.open(authorizePath(tenant, client, { prompt: 'login' }))
    const { body: others } = await exchange(provider, tenant, kept, await codeIn(browser, kept))
    expect((await userinfoOf(provider, tenant, tokens.access_token ?? '')).status).toBe(200)
    const where = { tenantId: tenant, clientId: client.id }
    const handed = await dbFor(tenant).session.findMany({ where: { ...where, endedAt: null } })
    expect(handed.map(({ kind }) => kind)).toEqual(['oidc'])

    await deleteClient(platform(), client.id)

    expect((await userinfoOf(provider, tenant, tokens.access_token ?? '')).status).toBe(401)
    const refused = { status: 401, body: { error: 'invalid_client' } }
    expect(await exchange(provider, tenant, client, code)).toMatchObject(refused)
    expect(await refreshWith(provider, tenant, client, tokens.refresh_token ?? '')).toMatchObject(refused)
    expect((await browser.fetch(authorizePath(tenant, client))).status).toBe(400)
    expect((await browser.fetch(begun.path)).status).toBe(410)
    const db = dbFor(tenant)
    const left = [
      await db.session.count({ where }),
      await db.grant.count({ where }),
      await db.authorizationCode.count({ where }),
      await db.interaction.count({ where }),
      await db.consent.count({ where }),
      await db.clientSecret.count({ where }),
    ]
    expect(left).toEqual([0, 0, 0, 0, 0, 0])
    const told = (await logOf(tenant)).filter(({ type }) => !type.endsWith('.refused')).slice(-2)
    expect(told).toMatchObject([
      {
        type: 'session.ended',
        sessionId: handed[0]?.id,
        userId: handed[0]?.userId,
        subjectIds: [client.id],
        detail: { reason: 'revoked' },
      },
      { type: 'client.deleted', subjectIds: [client.id], requestId: 'platform' },
    ])
    // The person, and what other applications have, stay.
    expect((await userinfoOf(provider, tenant, others.access_token ?? '')).status).toBe(200)
    expect(await codeIn(browser, kept)).not.toBe('')
  })

  it('gets nothing more from the management surface with the tokens it has', async () => {
    const machine = await makeClient(tenant, { appType: 'machine', callbacks: [], scopes: ['users:read'] })
    const { body } = await machineToken(machine)
    expect((await bearer(body.access_token)).ctx.scopes).toEqual(new Set(['users:read']))
    await deleteClient(platform(), machine.id)
    await expect(bearer(body.access_token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  })

  it('leaves no code, grant or session behind when it signs people in meanwhile', async () => {
    for (let round = 0; round < 10; round++) {
      const client = await makeClient(tenant)
      const { browser, tokens } = await signedIn(client)
      const code = await codeIn(browser, client)
      const [exchanged, refreshed] = await Promise.all([
        exchange(provider, tenant, client, code),
        refreshWith(provider, tenant, client, tokens.refresh_token ?? ''),
        browser.fetch(authorizePath(tenant, client, { prompt: 'none' })),
        deleteClient(platform(), client.id),
      ])
      for (const { status } of [exchanged, refreshed]) expect([200, 400, 401, 404]).toContain(status)
      for (const { status, body } of [exchanged, refreshed])
        if (status === 200)
          expect((await userinfoOf(provider, tenant, body.access_token ?? '')).status).toBe(401)
      const where = { tenantId: tenant, clientId: client.id }
      expect(await dbFor(tenant).grant.count({ where })).toBe(0)
      expect(await dbFor(tenant).session.count({ where })).toBe(0)
    }
  })
})
