import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor } from '../../src/db.ts'
import type { User } from '../../src/generated/prisma/client.ts'
import { wordsOf, wordsOfClaim } from '../../src/oidc/signin/scope-words.ts'
import { setUserRoles } from '../../src/users/roles.ts'
import { newTenant } from '../support/actors.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  signInAt,
  startProvider,
} from './provider.ts'

let provider: Provider
let tenant: string
let client: Awaited<ReturnType<typeof makeClient>>
let user: User
let browser: Browser
let count = 0
beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
})
afterAll(() => provider.close())
beforeEach(async () => {
  const email = `person${count++}@example.com`
  client = await makeClient(tenant, { requireConsent: true })
  user = await makeUser(tenant, email, { name: 'Ada' })
  browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, await makeClient(tenant)), email)
})

const ask = async (more: Record<string, string | null> = {}) => {
  const { response, path, location } = await browser.open(authorizePath(tenant, client, more))
  return { response, path, location, html: await response.text() }
}
const none = async (scope: string) => answerIn((await ask({ prompt: 'none', scope })).location)

describe('consent (OIDC Core, section 3.1.2.4)', () => {
  test('is asked for once, shown in words, stored, and told by an event', async () => {
    expect(await none('openid email')).toMatchObject({ error: 'consent_required', state: 'a-state' })
    const page = await ask({ scope: 'openid email offline_access' })
    expect(page.path).toMatch(/\/consent$/)
    for (const scope of ['openid', 'email', 'offline_access']) expect(page.html).toContain(wordsOf(scope))
    const { location } = await browser.submit(page, { step: 'allow' })
    const { code = '' } = answerIn(location)
    const { body } = await exchange(provider, tenant, client, code)
    expect(body.scope).toBe('openid email offline_access')
    expect(body).toHaveProperty('refresh_token')
    const where = { tenantId_userId_clientId: { tenantId: tenant, userId: user.id, clientId: client.id } }
    const { scopes } = await dbFor(tenant).consent.findUniqueOrThrow({ where })
    expect([...scopes].sort()).toEqual(['email', 'offline_access', 'openid'])
    const events = await dbFor(tenant).event.findMany({
      where: { tenantId: tenant, userId: user.id, type: 'consent.granted' },
    })
    expect(events).toMatchObject([
      {
        subjectIds: [client.id],
        detail: { scope: 'openid email offline_access' },
        actorUserId: user.id,
        actorClientId: client.id,
      },
    ])
    expect(await none('openid email')).toHaveProperty('code')
    expect(await none('openid phone')).toMatchObject({ error: 'consent_required' })
  })

  test('refused goes back with access_denied, and ends the sign-in', async () => {
    const page = await ask()
    const { location } = await browser.submit(page, { step: 'deny' })
    expect(answerIn(location)).toEqual({
      error: 'access_denied',
      error_description: 'The person did not consent.',
      state: 'a-state',
      iss: `http://localhost:3000/${tenant}`,
    })
    expect((await browser.submit(page, { step: 'allow' })).response.status).toBe(410)
    expect(await dbFor(tenant).consent.count({ where: { tenantId: tenant, userId: user.id } })).toBe(0)
  })

  test('is given to what was shown: a role that came meanwhile is asked about anew', async () => {
    const admin = await makeUser(tenant, 'role-meanwhile@example.com')
    client = await makeClient(tenant, { requireConsent: true, scopes: ['users:read'] })
    const at = new Browser(provider)
    const path = authorizePath(tenant, client, { scope: 'openid users:read' })
    const page = await signInAt(at, path, 'role-meanwhile@example.com')
    const html = await page.response.text()
    expect(html).not.toContain(wordsOf('users:read'))
    await setUserRoles(platformCtx(tenant), admin.id, { roles: ['auditor'] })
    expect((await at.submit({ html, path: page.path }, { step: 'allow' })).response.status).toBe(403)
    const again = await at.open(page.path)
    const shown = await again.response.text()
    expect(shown).toContain(wordsOf('users:read'))
    const { location } = await at.submit({ html: shown, path: page.path }, { step: 'allow' })
    expect(answerIn(location)).toHaveProperty('code')
  })

  test('is asked again with prompt=consent, also by a client that needs none', async () => {
    client = await makeClient(tenant)
    expect(await none('openid')).toHaveProperty('code')
    const page = await ask({ prompt: 'consent' })
    expect(page.path).toMatch(/\/consent$/)
    expect(answerIn((await browser.submit(page, { step: 'allow' })).location)).toHaveProperty('code')
  })

  test('gives offline_access to a client that needs no consent (OIDC Core, section 11)', async () => {
    client = await makeClient(tenant)
    const { code = '' } = await none('openid offline_access')
    expect((await exchange(provider, tenant, client, code)).body).toHaveProperty('refresh_token')
  })

  test('is asked for scope account, also by a client that needs none: nobody else may permit it', async () => {
    client = await makeClient(tenant)
    expect(await none('openid account')).toMatchObject({ error: 'consent_required' })
    const page = await ask({ scope: 'openid account' })
    expect(page.path).toMatch(/\/consent$/)
    expect(page.html).toContain(wordsOf('account'))
    const { code = '' } = answerIn((await browser.submit(page, { step: 'allow' })).location)
    expect((await exchange(provider, tenant, client, code)).body.scope).toBe('openid account')
    // Of the other scopes the tenant had permitted all by registering the client.
    expect(await none('openid account email')).toHaveProperty('code')
  })

  test('by the wrong person can be left for another sign-in', async () => {
    const page = await ask()
    const { response, path } = await browser.submit(page, { step: 'switch' })
    expect([response.status, path]).toEqual([200, page.path.replace('/consent', '')])
    expect(await response.text()).toContain('Email address')
  })

  test('security 38: cannot be given by who signed in after the page was shown', async () => {
    const page = await ask()
    const other = `person${count++}@example.com`
    const { id: userId } = await makeUser(tenant, other)
    await signInAt(browser, authorizePath(tenant, await makeClient(tenant), { prompt: 'login' }), other)
    const { response } = await browser.submit(page, { step: 'allow' })
    expect(response.status).toBe(403)
    expect(await dbFor(tenant).consent.count({ where: { tenantId: tenant, userId } })).toBe(0)
  })

  test('cannot be given by a form of the page before', async () => {
    const page = await ask()
    const { path } = await browser.submit(page, { step: 'email', address: 'x@example.com' })
    expect(path).toBe(page.path)
  })

  test('names each claim that is asked for by itself, and remembers it (OIDC Core, section 5.5)', async () => {
    const claims = (idToken: object, userinfo: object) => JSON.stringify({ id_token: idToken, userinfo })
    const asked = {
      scope: 'openid email',
      claims: claims(
        { birthdate: null, auth_time: { essential: true } },
        { birthdate: null, email: null, address: null },
      ),
    }
    const page = await ask(asked)
    expect(page.path).toMatch(/\/consent$/)
    // What a scope covers is listed with it, and a claim of both places once.
    const listed = [...page.html.matchAll(/<li><bdi class="given">([^<]*)<\/bdi><\/li>/g)].map(
      ([, words]) => words,
    )
    expect(listed).toEqual([
      wordsOf('openid'),
      wordsOf('email'),
      wordsOfClaim('birthdate'),
      wordsOfClaim('address'),
    ])
    expect(answerIn((await browser.submit(page, { step: 'allow' })).location)).toHaveProperty('code')
    const where = { tenantId_userId_clientId: { tenantId: tenant, userId: user.id, clientId: client.id } }
    const consent = await dbFor(tenant).consent.findUniqueOrThrow({ where })
    expect([...consent.claims].sort()).toEqual(['address', 'birthdate'])
    const events = await dbFor(tenant).event.findMany({
      where: { tenantId: tenant, userId: user.id, type: 'consent.granted' },
    })
    expect(events).toMatchObject([{ detail: { scope: 'openid email', claims: 'birthdate address' } }])

    const again = async (more: Record<string, string | null>) =>
      answerIn((await ask({ prompt: 'none', scope: 'openid', ...more })).location)
    // Agreed to before: asked for elsewhere, or covered by a scope that was agreed to.
    for (const given of [
      claims({ address: null }, {}),
      claims({ email_verified: null }, { birthdate: null }),
    ])
      expect(await again({ claims: given })).toHaveProperty('code')
    expect(await again({ claims: claims({}, { phone_number: null }) })).toMatchObject({
      error: 'consent_required',
    })
    // The scope is more than its one claim.
    expect(await again({ scope: 'openid address' })).toMatchObject({ error: 'consent_required' })
  })

  test('of two requests adds up', async () => {
    for (const name of ['birthdate', 'phone_number']) {
      const page = await ask({ scope: 'openid', claims: `{"userinfo":{"${name}":null}}` })
      expect(page.html).toContain(wordsOfClaim(name))
      await browser.submit(page, { step: 'allow' })
    }
    const both = '{"userinfo":{"birthdate":null},"id_token":{"phone_number":null}}'
    expect(answerIn((await ask({ prompt: 'none', scope: 'openid', claims: both })).location)).toHaveProperty(
      'code',
    )
  })

  test('is asked of a client that needs it for offline_access too, and remembered (OIDC Core, section 11)', async () => {
    const page = await ask({ scope: 'openid' })
    await browser.submit(page, { step: 'allow' })
    expect(await none('openid offline_access')).toMatchObject({ error: 'consent_required' })
    const offline = await ask({ scope: 'openid offline_access', prompt: 'consent' })
    expect(offline.html).toContain(wordsOf('offline_access'))
    await browser.submit(offline, { step: 'allow' })
    const { code = '' } = await none('openid offline_access')
    expect((await exchange(provider, tenant, client, code)).body).toHaveProperty('refresh_token')
    // Not asked for, not given.
    const { code: online = '' } = await none('openid')
    expect((await exchange(provider, tenant, client, online)).body).not.toHaveProperty('refresh_token')
  })

  test('refused keeps no claim', async () => {
    const asked = { scope: 'openid', claims: '{"userinfo":{"birthdate":null}}' }
    await browser.submit(await ask(asked), { step: 'deny' })
    expect(answerIn((await ask({ prompt: 'none', ...asked })).location)).toMatchObject({
      error: 'consent_required',
    })
  })
})
