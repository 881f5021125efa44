import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { endSession, listUserSessions } from '../../../src/sessions/sessions.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { lockUser } from '../../../src/users/users.ts'
import { test } from '../../support/account-pages.ts'
import { startSessionIn } from '../../support/browser-session.ts'
import { dbFor } from '../../support/database.ts'
import { openPage } from '../../support/hosted-pages.ts'
import { codeFor, csrfIn } from '../../support/protocol.ts'

const PAGES = ['', '/sign-in-methods', '/sessions', '/apps']

describe('the account pages', () => {
  test.for(PAGES)(
    'lead a stranger from %j to the sign-in and back',
    async (path, { tenant, newBrowser, person }) => {
      const browser = newBrowser()
      const start = await openPage(browser, `/${tenant}/account${path}`)
      expect(start.path).toMatch(new RegExp(`^/${tenant}/signin/`))
      expect(start.html).toContain(`to continue to <bdi class="given">${tenant} account`)
      const sent = await browser.submit(start, { step: 'email', address: person.email })
      const page = { html: await sent.response.text(), path: sent.path }
      const back = await browser.submit(page, { step: 'code', code: await codeFor(person.email) })
      expect(back.path).toBe(`/${tenant}/account${path}`)
      expect(back.response.status).toBe(200)
    },
  )

  test('lead a person who cancels the sign-in to a page with a way on', async ({ tenant, newBrowser }) => {
    const browser = newBrowser()
    const start = await openPage(browser, `/${tenant}/account/sessions`)
    const left = await browser.submit(start, { step: 'cancel' })
    expect(left.path).toBe(`/${tenant}/account/signed-out`)
    expect(await left.response.text()).toContain(`href="/${tenant}/account"`)
  })

  test('say why they ask a signed-in person for a recent sign-in', async ({ tenant, here, person }) => {
    const past = new Date(Date.now() - 3_600_000)
    const data = { authenticatedAt: past, proofs: [] }
    await dbFor(tenant).session.updateMany({ where: { tenantId: tenant, userId: person.id }, data })
    const page = await openPage(here, `/${tenant}/account/authenticator-app`)
    expect(page.html).toContain('<h1>Confirm it’s you</h1>')
    expect(page.html).toContain('this page needs a recent sign-in')
    expect(page.html).toContain(person.email)
  })

  test('ask a person for a code who signed in by an old password alone', async ({
    tenant,
    ctx,
    newBrowser,
    person,
  }) => {
    await updateSettings(ctx, { accountDeletionDays: 14 })
    const browser = newBrowser()
    await startSessionIn(browser, tenant, person.id)
    const proofs = [{ method: 'password', amr: ['pwd'], at: new Date().toISOString() }]
    await dbFor(tenant).session.updateMany({
      where: { tenantId: tenant, userId: person.id },
      data: { proofs },
    })
    const asked = await openPage(browser, `/${tenant}/account/deletion`)
    expect(asked.html).toContain('<h1>Confirm it’s you</h1>')
    const entered = await browser.submit(asked, { step: 'email', address: person.email })
    const page = { path: entered.path, html: await entered.response.text() }
    const back = await browser.submit(page, { step: 'code', code: await codeFor(person.email) })
    expect(back.path).toBe(`/${tenant}/account/deletion`)
  })

  test('show the person, and are neither cached, framed nor scripted', async ({ tenant, visit, person }) => {
    const { response, html } = await visit()
    expect(html).toContain(person.email)
    expect(html).toContain(`/${tenant}/oidc/logout`)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('x-frame-options')).toBe('DENY')
    expect(response.headers.get('content-security-policy')).not.toContain('script-src')
    expect(html.length).toBeLessThan(15_000)
  })

  test('lead to the sign-in after the session ended or the user was locked', async ({
    tenant,
    visit,
    person,
  }) => {
    expect((await visit()).path).toBe(`/${tenant}/account`)
    await lockUser(createPlatformCtx(tenant), person.id)
    expect((await visit()).path).toContain('/signin/')
  })

  test('do not change anything without a session or with the form token of another session or page', async ({
    tenant,
    here,
    visit,
    newBrowser,
    newPerson,
    events,
    person,
  }) => {
    const path = `/${tenant}/account/sessions`
    const form = { step: 'sign-out-others' }
    const mine = csrfIn((await visit('/sessions')).html) || 'none'
    const stranger = newBrowser()
    expect((await stranger.post(path, { csrf: mine, ...form })).headers.get('location')).toContain('/signin/')
    const other = newBrowser()
    await startSessionIn(other, tenant, (await newPerson()).id)
    for (const csrf of ['', 'x', mine]) expect((await other.post(path, { csrf, ...form })).status).toBe(403)
    expect((await here.post(path, { csrf: 'x', ...form })).status).toBe(403)
    expect(await events({ type: 'session.ended', userId: person.id })).toEqual([])
  })

  test('reject HEAD, because a GET may start a sign-in', async ({ app, tenant }) => {
    expect((await app.fetch(`/${tenant}/account`, { method: 'HEAD' })).status).toBe(405)
  })

  test('are in the metadata of the provider', async ({ app, tenant }) => {
    const metadata = await (await app.fetch(`/${tenant}/.well-known/openid-configuration`)).json()
    expect(metadata.account_management_uri).toBe(`${metadata.issuer}/account`)
  })

  test('do not go on when the session ends during the sign-in', async ({
    tenant,
    ctx,
    newBrowser,
    person,
  }) => {
    const browser = newBrowser()
    const start = await openPage(browser, `/${tenant}/account`)
    const sent = await browser.submit(start, { step: 'email', address: person.email })
    const page = { html: await sent.response.text(), path: sent.path }
    const signedIn = await browser.post(page.path, {
      csrf: csrfIn(page.html),
      step: 'code',
      code: await codeFor(person.email),
    })
    const [session] = (await listUserSessions(ctx, person.id, {})).rows
    await endSession(ctx, session?.id ?? '', 'logout')
    const { path } = await browser.follow(signedIn)
    expect(path).toContain('/signin/')
  })
})
