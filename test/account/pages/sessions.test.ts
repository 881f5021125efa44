import { describe, expect } from 'vitest'
import { test } from '../../support/account-pages.ts'
import { startSessionIn } from '../../support/browser-session.ts'
import { dbFor } from '../../support/database.ts'

const sessionsIn = (html: string): string[] =>
  [...html.matchAll(/name="session" value="([^"]+)"/g)].map(([, id]) => id as string)

describe('the sessions page', () => {
  test('lists browsers and their apps, and signs out there and of the apps', async ({
    spa,
    signIn,
    person,
    visit,
    submit,
    events,
  }) => {
    const there = await signIn(person.email, { scope: 'openid session' })
    const { html } = await visit('/sessions')
    expect(sessionsIn(html)).toHaveLength(1)
    expect(html).toContain('This browser')
    expect(html).toContain(spa.name)
    const done = await submit('/sessions', { step: 'sign-out', session: there.sessionId })
    expect(done.html).toContain('You are signed out there')
    expect(sessionsIn(done.html)).toEqual([])
    const ended = await events({ type: 'session.ended', userId: person.id })
    expect(ended).toHaveLength(2)
    for (const event of ended) expect(event).toMatchObject({ actorUserId: person.id, actorClientId: null })
  })

  test('signs out everywhere else and keeps this browser', async ({
    tenant,
    person,
    newBrowser,
    visit,
    submit,
  }) => {
    const others = [newBrowser(), newBrowser()]
    for (const other of others) await startSessionIn(other, tenant, person.id)
    expect(sessionsIn((await visit('/sessions')).html)).toHaveLength(2)
    const done = await submit('/sessions', { step: 'sign-out-others' })
    expect(done.html).toContain('You are signed out everywhere else.')
    for (const other of others) expect((await visit('', other)).path).toContain('/signin/')
    expect((await visit()).path).toBe(`/${tenant}/account`)
  })

  test("does not end another user's session, which is answered like an unknown one", async ({
    tenant,
    signIn,
    newPerson,
    submit,
    visit,
    newBrowser,
    person,
  }) => {
    // Another browser of the person, so that the page has the form.
    await startSessionIn(newBrowser(), tenant, person.id)
    const other = await newPerson()
    const { sessionId } = await signIn(other.email)
    const browser = newBrowser()
    await startSessionIn(browser, tenant, other.id)
    const answers = []
    for (const session of [sessionId, 'session_01m7xeb1sbendby702xerkqv3p', 'x', '']) {
      const { response, html } = await submit('/sessions', { step: 'sign-out', session })
      expect(html).toContain('That is no longer there.')
      answers.push(response.status)
    }
    expect(answers).toEqual([400, 400, 400, 400])
    expect(sessionsIn((await visit('/sessions', browser)).html)).toHaveLength(1)
    expect(sessionsIn((await visit('/sessions')).html)).toHaveLength(1)
  })

  test('shows the text of a hostile User-Agent by known names only', async ({
    here,
    tenant,
    person,
    visit,
  }) => {
    const hostile = { 'user-agent': '<script>alert(1)</script> Firefox/1.0 (X11; Linux x86_64)' }
    await startSessionIn(here, tenant, person.id)
    // The browser is recorded once a minute.
    await dbFor(tenant).session.updateMany({
      where: { tenantId: tenant, userId: person.id },
      data: { lastSeenAt: new Date(0) },
    })
    await here.fetch(`/${tenant}/account`, { headers: hostile })
    const { html } = await visit('/sessions')
    expect(html).toContain('Firefox on Linux')
    expect(html).not.toContain('alert(1)')
  })
})
