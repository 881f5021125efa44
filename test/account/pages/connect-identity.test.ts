import { describe, expect } from 'vitest'
import { awaitDeliveries } from '../../../src/delivery/background.ts'
import { listInboxMessages } from '../../../src/delivery/inbox.ts'
import { startSessionIn } from '../../support/browser-session.ts'
import { test } from '../../support/connect-identity.ts'
import { dbFor } from '../../support/database.ts'
import { openPage } from '../../support/hosted-pages.ts'

describe('connecting an account elsewhere on the account page', () => {
  test('links the identity after a sign-in at the provider, records it and sends a notice', async ({
    tenant,
    person,
    browser,
    provider,
    connect,
    signInThere,
    comeBack,
    linksTo,
    events,
  }) => {
    const request = await connect()
    expect(Object.fromEntries(request.searchParams)).toMatchObject({
      redirect_uri: provider.callback,
      prompt: 'login',
      code_challenge_method: 'S256',
    })
    const page = await comeBack(await signInThere(request, 'connected'))
    expect(page.path).toMatch(new RegExp(`^/${tenant}/account/sign-in-methods\\?done=connected`))
    expect(page.html).toContain('The account is connected. You can sign in with it.')
    expect(page.html).not.toContain('value="connect"')
    expect(await linksTo('connected')).toEqual([person.id])
    expect((await events({ type: 'idpuser.linked' })).slice(-1)).toMatchObject([
      { userId: person.id, actorUserId: person.id, actorClientId: null },
    ])
    await awaitDeliveries()
    const mails = listInboxMessages(person.email).filter(({ body }) =>
      body.includes('/account/sign-in-methods'),
    )
    expect(mails).toHaveLength(1)
    const reloaded = await openPage(browser, `/${tenant}/account/sign-in-methods`)
    expect(reloaded.html).toContain('value="unlink"')
  })

  test('changes nothing when the identity is linked to another user', async ({
    person,
    newPerson,
    provider,
    link,
    connect,
    signInThere,
    comeBack,
    linksTo,
  }) => {
    const other = await newPerson()
    await link(other.id, provider, 'taken')
    const page = await comeBack(await signInThere(await connect(), 'taken'))
    expect(page.response.status).toBe(409)
    expect(page.html).toContain('is connected to another user here. Nothing was changed.')
    expect(await linksTo('taken')).toEqual([other.id])
    expect(other.id).not.toBe(person.id)
  })

  test('accepts an answer once, also of concurrent ones', async ({
    person,
    connect,
    signInThere,
    comeBack,
    linksTo,
    events,
  }) => {
    const callback = await signInThere(await connect(), 'once')
    const pages = await Promise.all([comeBack(callback), comeBack(callback), comeBack(callback)])
    // Each leads where the first one led.
    expect(pages.map(({ response }) => response.status)).toEqual([200, 200, 200])
    expect((await comeBack(callback)).response.status).toBe(200)
    expect(await linksTo('once')).toEqual([person.id])
    const linked = await events({ type: 'idpuser.linked' })
    expect(linked.filter(({ userId }) => userId === person.id)).toHaveLength(1)
  })

  test('rejects the answer in another browser, and after another user has signed in', async ({
    tenant,
    browser,
    newBrowser,
    newPerson,
    connect,
    signInThere,
    comeBack,
    linksTo,
  }) => {
    const victim = await newPerson()
    const callback = await signInThere(await connect(), 'attacker')
    const other = newBrowser()
    await startSessionIn(other, tenant, victim.id)
    expect((await comeBack(callback, other)).response.status).toBe(410)
    await startSessionIn(browser, tenant, victim.id)
    const page = await comeBack(callback)
    expect([page.response.status, page.html.includes('That is no longer there.')]).toEqual([400, true])
    expect(await linksTo('attacker')).toEqual([])
  })

  test('leads through a sign-in when the last one is older than 15 minutes', async ({
    tenant,
    person,
    browser,
    provider,
    connect,
    signInThere,
    comeBack,
    linksTo,
  }) => {
    const callback = await signInThere(await connect(), 'late')
    const page = await openPage(browser, `/${tenant}/account/sign-in-methods`)
    const at = new Date(Date.now() - 16 * 60_000)
    await dbFor(tenant).session.updateMany({
      where: { tenantId: tenant, userId: person.id },
      data: { authenticatedAt: at, proofs: [{ method: 'passcode', amr: ['otp'], at: at.toISOString() }] },
    })
    const signIn = new RegExp(`^/${tenant}/signin/`)
    expect((await browser.submit(page, { step: 'connect', idp: provider.id })).path).toMatch(signIn)
    expect((await comeBack(callback)).path).toMatch(signIn)
    expect(await linksTo('late')).toEqual([])
  })

  test('says that the user canceled at the provider', async ({
    tenant,
    person,
    provider,
    connect,
    comeBack,
    events,
  }) => {
    const request = await connect()
    const callback = new URL(provider.callback)
    callback.searchParams.set('state', request.searchParams.get('state') ?? '')
    callback.searchParams.set('error', 'access_denied')
    const page = await comeBack(callback)
    expect(page.html).toContain('You canceled the sign-in with')
    expect((await events({ type: 'signin.failed' })).slice(-1)).toMatchObject([
      { detail: { reason: 'canceled' } },
    ])
    expect(await dbFor(tenant).idpUser.count({ where: { tenantId: tenant, userId: person.id } })).toBe(0)
  })

  test('says so without state too, and leaves the attempt open', async ({
    provider,
    newBrowser,
    connect,
    signInThere,
    comeBack,
    linksTo,
    events,
    person,
  }) => {
    const callback = await signInThere(await connect(), person.id)
    const canceled = new URL(`${provider.callback}?error=access_denied`)
    const page = await comeBack(canceled)
    expect([page.response.status, page.path]).toEqual([
      400,
      expect.stringContaining('/account/sign-in-methods'),
    ])
    expect(page.html).toContain('You canceled the sign-in with')
    expect((await events({ type: 'signin.failed' })).slice(-1)).toMatchObject([
      { detail: { reason: 'canceled' } },
    ])
    expect((await comeBack(canceled, newBrowser())).response.status).toBe(410)
    await comeBack(callback)
    expect(await linksTo(person.id)).toEqual([person.id])
  })

  test('shows no text of a link to a provider that does not exist', async ({
    tenant,
    person,
    browser,
    newBrowser,
    events,
  }) => {
    const text = 'Call-555-0100-now'
    const callback = `/${tenant}/oidc/callback/${text}`
    const posted = await newBrowser().post(callback, { error: 'access_denied' })
    const { searchParams } = new URL(posted.headers.get('location') ?? '', 'https://id.example.com')
    const query = new URLSearchParams({ idp: text, answer: searchParams.get('answer') ?? '' })
    await startSessionIn(browser, tenant, person.id)
    const before = await events({ type: 'signin.failed' })
    const page = await openPage(browser, `/${tenant}/account/sign-in-methods?${query}`)
    expect(page.response.status).toBe(404)
    expect(page.html).not.toContain(`sign-in with ${text}`)
    expect(await events({ type: 'signin.failed' })).toEqual(before)
  })

  test('offers nothing for an unknown provider', async ({ tenant, person, browser }) => {
    await startSessionIn(browser, tenant, person.id)
    const page = await openPage(browser, `/${tenant}/account/sign-in-methods`)
    const { response } = await browser.submit(page, { step: 'connect', idp: 'nowhere' })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('That is no longer there.')
  })
})
