import { describe, expect } from 'vitest'
import { updateIdentityProvider } from '../../../src/idps/idps.ts'
import { revokeUserSessions } from '../../../src/sessions/revoke-sessions.ts'
import { dbFor } from '../../support/database.ts'
import { csrfIn } from '../../support/page-browser.ts'
import { answerIn } from '../../support/protocol.ts'
import {
  test as base,
  readTransfer,
  type SignInProvider,
  signInUpstream,
} from '../../support/provider-sign-in.ts'
import { openUpstreamBrowser } from '../../support/upstream.ts'

type UpstreamBrowser = ReturnType<typeof openUpstreamBrowser>

/** Confirms the logout at the provider; returns where the browser is sent after it. */
async function confirmUpstreamLogout(url: string, { load }: UpstreamBrowser): Promise<string | null> {
  const html = await (await load(url)).text()
  const [, action = ''] = /action="([^"]+)"/.exec(html) ?? []
  const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(html) ?? []
  const body = new URLSearchParams({ xsrf, logout: 'yes' })
  return (await load(new URL(action, url).href, { method: 'POST', body })).headers.get('location')
}

const AFTER = 'https://rp.example.com/signed-out'

const test = base
  .extend('client', { scope: 'file' }, ({ newClient }) => newClient({ allowedLogoutUrls: [AFTER] }))
  .extend('upstreamProvider', { scope: 'file' }, ({ newProvider }) => newProvider({ upstreamLogout: true }))
  /** Signs `person` in at a provider; returns the browser there and the path of the logout here. */
  .extend(
    'enter',
    ({ tenant, person, subject, oidc, link, start, choose, comeBack }) =>
      async (provider: SignInProvider) => {
        await link(person.id, provider, subject)
        const there = openUpstreamBrowser()
        const callback = await signInUpstream(await choose(await start(), provider.id), subject, there)
        const { location } = await comeBack(callback)
        const { body } = await oidc.exchange(answerIn(location).code ?? '')
        const query = new URLSearchParams({
          id_token_hint: String(body.id_token),
          post_logout_redirect_uri: AFTER,
          state: 'of-the-client',
        })
        return { there, path: `/${tenant}/oidc/logout?${query}` }
      },
  )
  .extend(
    'findOpen',
    ({ tenant, person }) =>
      () =>
        dbFor(tenant).session.count({ where: { tenantId: tenant, userId: person.id, endedAt: null } }),
  )

describe('a logout of a session that came from an identity provider', () => {
  test('continues at the provider, and comes back to the client', async ({
    tenant,
    subject,
    browser,
    upstreamProvider,
    enter,
    findOpen,
  }) => {
    const { there, path } = await enter(upstreamProvider)
    const stored = await dbFor(tenant).providerSession.findFirstOrThrow({
      where: { tenantId: tenant, subject },
    })
    expect(stored.idToken).toMatch(/^[\w-]{8}\./)
    const leaving = await browser.fetch(path)
    expect(leaving.status).toBe(303)
    const url = new URL(leaving.headers.get('location') ?? '')
    expect(url.origin).toBe(upstreamProvider.upstream.issuer)
    expect(Object.fromEntries(url.searchParams)).toEqual({
      id_token_hint: expect.stringMatching(/^eyJ/),
      client_id: 'vestibule',
      post_logout_redirect_uri: expect.stringMatching(/\/oidc\/logout\/callback\/[^/]+$/),
      state: expect.any(String),
    })
    const [header, payload] = (url.searchParams.get('id_token_hint') ?? '').split('.')
    for (const part of [header, payload]) expect(stored.idToken).not.toContain(part)
    // The session here has ended, whatever the user does there.
    expect(await findOpen()).toBe(0)
    expect(await dbFor(tenant).providerSession.count({ where: { tenantId: tenant, subject } })).toBe(0)
    const back = new URL((await confirmUpstreamLogout(url.href, there)) ?? '')
    const after = await browser.fetch(`${back.pathname}${back.search}`)
    expect(after.headers.get('location')).toBe(`${AFTER}?state=of-the-client`)
    expect(browser.cookies.get(`vst_out_${tenant}`)).toBeUndefined()
  })

  test('after a form leads there by a page, because form-action applies to redirects', async ({
    browser,
    tenant,
    upstreamProvider,
    enter,
    findOpen,
  }) => {
    await enter(upstreamProvider)
    const path = `/${tenant}/oidc/logout`
    const html = await (await browser.fetch(path)).text()
    const response = await browser.post(path, { csrf: csrfIn(html), step: 'logout' })
    expect(response.status).toBe(200)
    expect(readTransfer(response).origin).toBe(upstreamProvider.upstream.issuer)
    expect(await response.text()).toContain('You are signed out here.')
    expect(await findOpen()).toBe(0)
  })

  test('leads to the client only with the state of this browser', async ({
    tenant,
    browser,
    newBrowser,
    providerB,
    upstreamProvider,
    enter,
  }) => {
    const { there, path } = await enter(upstreamProvider)
    const url = (await browser.fetch(path)).headers.get('location') ?? ''
    const back = new URL((await confirmUpstreamLogout(url, there)) ?? '')
    const target = `${back.pathname}${back.search}`
    const stranger = newBrowser()
    stranger.cookies.set(`vst_out_${tenant}`, 'A'.repeat(43))
    const attempts = [
      [newBrowser(), target],
      [stranger, target],
      [browser, `${back.pathname}?state=x`],
      [browser, back.pathname],
      [browser, target.replace(upstreamProvider.id, providerB.id)],
    ] as const
    for (const [by, attempt] of attempts) {
      const response = await by.fetch(attempt)
      expect(response.status).toBe(200)
      expect(await response.text()).toContain('signed out')
    }
    expect((await browser.fetch(target)).status).toBe(303)
    expect((await browser.fetch(target)).status).toBe(200)
  })

  test.for(['revoked', 'ended by the provider', 'of a provider that switches it off'] as const)(
    'leaves no ID token behind when the session is %s',
    async (how, { ctx, tenant, subject, person, newProvider, enter }) => {
      const provider = await newProvider({ upstreamLogout: true })
      await enter(provider)
      const read = () =>
        dbFor(tenant).providerSession.findFirstOrThrow({ where: { tenantId: tenant, subject } })
      const { idToken, sid } = await read()
      expect(idToken).toMatch(/^[\w-]{8}\./)
      if (how === 'revoked') await revokeUserSessions(ctx, person.id)
      else if (how === 'ended by the provider') await provider.upstream.logOut(subject, sid as string)
      else await updateIdentityProvider(ctx, provider.id, { upstreamLogout: false })
      expect((await read()).idToken).toBeNull()
    },
  )

  test('ends here where the provider is off, has no such endpoint, or does not respond', async ({
    ctx,
    tenant,
    subject,
    browser,
    providerB,
    newProvider,
    enter,
    findOpen,
  }) => {
    const off = await enter(providerB)
    const stored = await dbFor(tenant).providerSession.findFirstOrThrow({
      where: { tenantId: tenant, subject },
    })
    expect(stored.idToken).toBeNull()
    expect((await browser.fetch(off.path)).headers.get('location')).toBe(`${AFTER}?state=of-the-client`)
    const later = await newProvider({ upstreamLogout: true })
    const { path } = await enter(later)
    await updateIdentityProvider(ctx, later.id, { issuer: 'http://127.0.0.1:9', clientSecret: null })
    expect((await browser.fetch(path)).headers.get('location')).toBe(`${AFTER}?state=of-the-client`)
    expect(await findOpen()).toBe(0)
  })

  test('cannot be set up for a provider without ID tokens', async ({ rest }) => {
    const { status, body } = await rest('POST', '/idps', {
      id: 'no-logout',
      type: 'oauth2',
      name: 'X',
      upstreamLogout: true,
    })
    expect([status, body.fields?.map(({ field }: { field: string }) => field)]).toEqual([
      400,
      ['upstreamLogout'],
    ])
  })
})
