import { describe, expect } from 'vitest'
import { invalidateClient } from '../../../src/access/client-cache.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { Handle } from '../../../src/database/handle.ts'
import { lockUser } from '../../../src/users/users.ts'
import { dbFor } from '../../support/database.ts'
import { handleIn, interactionAt, openPage, test } from '../../support/hosted-pages.ts'
import { csrfIn } from '../../support/page-browser.ts'
import { answerIn } from '../../support/protocol.ts'

describe('a sign-in', () => {
  test('issues a new session token (session fixation)', async ({ tenant, person, browser, oidc }) => {
    browser.cookies.set(`vst_sid_${tenant}`, 'A'.repeat(43))
    await oidc.signIn(browser, person.email)
    expect(browser.sessionToken).not.toBe('A'.repeat(43))
  })

  test('keeps the session of another user in the browser', async ({
    tenant,
    events,
    client,
    newPerson,
    person,
    browser,
    oidc,
  }) => {
    await oidc.signIn(browser, person.email)
    const other = await newPerson()
    await oidc.signIn(browser, other.email, { prompt: 'login' })
    const sessions = await dbFor(tenant).session.findMany({
      where: { tenantId: tenant, kind: 'browser' },
      orderBy: { id: 'desc' },
      take: 2,
    })
    expect(sessions.map(({ userId, endReason }) => [userId === other.id, endReason])).toEqual([
      [true, null],
      [false, null],
    ])
    const [started] = sessions.map(({ id }) => id)
    const log = (await events()).filter(({ actorUserId }) => actorUserId === other.id)
    const by = { actorClientId: client.id, actorTenantId: null, ip: '127.0.0.1' }
    expect(log).toMatchObject([{ type: 'session.started', userId: other.id, sessionId: started, ...by }])
  })

  test('looks the same for a known, an unknown and a locked address', async ({
    tenant,
    inbox,
    email,
    newPerson,
    person,
    newBrowser,
    atCode,
  }) => {
    const locked = await newPerson()
    await lockUser(createPlatformCtx(tenant), locked.id)
    const pages = []
    for (const address of [person.email, email('unknown'), locked.email]) {
      const by = newBrowser()
      const page = await atCode(by, address)
      const wrong = await by.submit(page, { step: 'code', code: '000000' })
      const { headers } = page.response
      const neutral = (html: string) =>
        html
          .replaceAll(address, 'ADDRESS')
          .replaceAll(handleIn(page.path), 'HANDLE')
          .replaceAll(csrfIn(html), 'CSRF')
          .replace(/\d+ seconds?/, 'SOON')
      pages.push([
        page.response.status,
        [...headers.keys()].sort(),
        neutral(page.html),
        wrong.response.status,
        neutral(await wrong.response.text()),
      ])
    }
    expect(pages[1]).toEqual(pages[0])
    expect(pages[2]).toEqual(pages[0])
    expect(await inbox.list(email('unknown'))).toEqual([])
    expect(await inbox.list(locked.email)).toEqual([])
  })

  test('asks again after a wrong code, and accepts the right one with spaces', async ({
    inbox,
    person,
    browser,
    atCode,
  }) => {
    const page = await atCode()
    const wrong = await browser.submit(page, { step: 'code', code: '12' })
    expect([wrong.response.status, wrong.path]).toEqual([200, page.path])
    expect(await wrong.response.text()).toContain('That code is wrong.')
    expect((await openPage(browser, page.path)).html).not.toContain('That code is wrong')
    const code = await inbox.codeFor(person.email)
    const { location } = await browser.submit(page, {
      step: 'code',
      code: `${code.slice(0, 3)} ${code.slice(3)}`,
    })
    expect(answerIn(location)).toHaveProperty('code')
  })

  test('sends no second code within 30 seconds, and accepts another address', async ({
    inbox,
    person,
    browser,
    atCode,
  }) => {
    const page = await atCode()
    const again = await browser.submit(page, { step: 'resend' })
    expect(again.response.status).toBe(200)
    expect(await again.response.text()).toContain('You can request a new code in')
    expect(await inbox.list(person.email)).toHaveLength(1)
    const restarted = await browser.submit(page, { step: 'restart' })
    expect(restarted.path).toBe(page.path.replace('/code', ''))
    expect((await openPage(browser, page.path)).path).toBe(restarted.path)
  })

  test('shows the entered address again when the user goes back from the code', async ({
    person,
    browser,
    atCode,
  }) => {
    const page = await atCode()
    const back = await openPage(browser, page.path.replace('/code', ''))
    expect(back.html).toContain(`value="${person.email}"`)
    const { path } = await browser.submit(back, { step: 'email', address: person.email })
    expect(path).toBe(page.path)
  })

  test('is finished once: leads to the same answer when it is sent again, and answers 410 when it is reopened', async ({
    inbox,
    person,
    browser,
    atCode,
  }) => {
    const page = await atCode()
    const form = { step: 'code', code: await inbox.codeFor(person.email) }
    const { location } = await browser.submit(page, form)
    expect(answerIn(location)).toHaveProperty('code')
    expect((await browser.submit(page, form)).location).toBe(location)
    const { response } = await browser.open(page.path)
    expect([response.status, await response.text()]).toEqual([
      410,
      expect.stringContaining('This sign-in is finished. Go back to the application'),
    ])
  })

  test('issues one code when the form is sent twice at the same time', async ({
    inbox,
    person,
    browser,
    atCode,
  }) => {
    const page = await atCode()
    const form = { csrf: csrfIn(page.html), step: 'code', code: await inbox.codeFor(person.email) }
    const answers = await Promise.all([browser.post(page.path, form), browser.post(page.path, form)])
    expect(answers.map(({ status }) => status)).toEqual([303, 303])
    const locations = answers.map(({ headers }) => headers.get('location') ?? '')
    // The browser follows the later response, which is marked as repeated.
    const [first = '', repeated = ''] = locations.toSorted()
    expect(repeated).toBe(`${first}?again=1`)
    const ends = [await browser.fetch(first), await browser.fetch(repeated)]
    const [location] = ends.map(({ headers }) => headers.get('location'))
    expect(answerIn(location ?? null)).toHaveProperty('code')
    expect(ends.map(({ headers }) => headers.get('location'))).toEqual([location, location])
  })

  test('expires after an hour', async ({ tenant, inbox, person, browser, atCode }) => {
    const page = await atCode()
    await dbFor(tenant).interaction.update({
      where: interactionAt(tenant, page.path),
      data: { expiresAt: new Date(Date.now() - 1) },
    })
    const { response } = await browser.submit(page, { step: 'code', code: await inbox.codeFor(person.email) })
    expect(response.status).toBe(410)
  })

  test('completes in two tabs of one browser', async ({ inbox, person, browser, start }) => {
    const [one, two] = [await start(browser, { state: 'one' }), await start(browser, { state: 'two' })]
    const sent = await browser.submit(one, { step: 'email', address: person.email })
    const code = { html: await sent.response.text(), path: sent.path }
    const first = await browser.submit(code, { step: 'code', code: await inbox.codeFor(person.email) })
    expect(answerIn(first.location)).toMatchObject({ code: expect.any(String), state: 'one' })
    // The browser is signed in by now: the form of the other tab leads to the client at once, and the session
    // stays.
    const session = browser.sessionToken
    const second = await browser.submit(two, { step: 'email', address: person.email })
    expect(answerIn(second.location)).toMatchObject({ code: expect.any(String), state: 'two' })
    expect(browser.sessionToken).toBe(session)
  })

  test('is bound to its browser (login CSRF)', async ({
    inbox,
    person,
    newBrowser,
    browser,
    start,
    atCode,
  }) => {
    const page = await atCode()
    const code = await inbox.codeFor(person.email)
    const other = newBrowser()
    expect((await other.open(page.path)).response.status).toBe(410)
    await start(other)
    expect((await other.submit(page, { step: 'code', code })).response.status).toBe(410)
    expect(answerIn((await browser.submit(page, { step: 'code', code })).location)).toHaveProperty('code')
  })

  test('rejects forms of other pages', async ({ inbox, person, browser, start }) => {
    const page = await start()
    const foreign = csrfIn((await start()).html)
    for (const csrf of ['', 'x', foreign]) {
      const response = await browser.post(page.path, { step: 'email', address: person.email, csrf })
      expect(response.status).toBe(403)
      expect(await response.text()).toContain('This form is out of date')
    }
    const json = await browser.fetch(page.path, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    expect(json.status).toBe(400)
    expect(await inbox.list(person.email)).toEqual([])
  })

  test.for([
    {},
    { step: 'nonsense' },
    { step: '__proto__' },
    { step: 'allow' },
    { step: 'code', code: '123456' },
  ])('shows the current page again for a form that is out of order: %j', async (form, { browser, start }) => {
    const page = await start()
    const { response, path } = await browser.submit(page, form as Record<string, string>)
    expect([response.status, path]).toEqual([200, page.path])
  })

  test('ends on an error page when its client was deleted', async ({ tenant, newClient, browser, oidc }) => {
    const theirs = await newClient()
    const page = await openPage(browser, oidc.authorizePath({}, theirs))
    await dbFor(tenant).client.delete({ where: { tenantId_id: { tenantId: tenant, id: theirs.id } } })
    invalidateClient(new Handle({ tenant }), theirs.id)
    expect((await browser.fetch(page.path)).status).toBe(400)
  })

  test.for(['x', 'A'.repeat(43), '..', 'A'.repeat(43).concat('/code')])(
    'is not found by the unknown handle %s',
    async (handle, { tenant, browser }) => {
      expect([404, 410]).toContain((await browser.fetch(`/${tenant}/signin/${handle}`)).status)
    },
  )
})
