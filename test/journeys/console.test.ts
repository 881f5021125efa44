import { describe, expect } from 'vitest'
import { endAllStreams } from '../../src/access/watch-token.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { Unavailable } from '../../src/core/errors.ts'
import { createEvent } from '../../src/events/create-event.ts'
import { recordEvents } from '../../src/events/log.ts'
import { revokeUserSessions } from '../../src/sessions/revoke-sessions.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import {
  assertAccessible,
  openScreen,
  prepareConsole,
  readRows,
  SHOWN,
  test,
} from '../support/console-journey.ts'

test.beforeAll(({ ctx }) => prepareConsole({ ctx }))

describe.skipIf(noBrowser)('the console', () => {
  test('leads back to the path that was opened, with its search', async ({
    acme,
    newPerson,
    openConsole,
  }) => {
    await newPerson({ name: 'Grace Hopper' })
    const { page } = await openConsole('admin', '/users?search=grace', { onPages: true })
    expect(page.url()).toBe(`${ORIGIN}/${acme}/console/users?search=grace`)
    await expect.poll(() => readRows(page), SHOWN).toEqual([expect.stringContaining('Grace Hopper')])
  })

  test('keeps nothing in the browser that opens anything', async ({ console: { page } }) => {
    const stored = await page.evaluate(() => ({
      local: Object.keys(localStorage),
      session: Object.keys(sessionStorage),
      cookies: document.cookie,
    }))
    // The router keeps how far each page was scrolled.
    expect(stored.session.filter((name) => !name.startsWith('tsr-scroll'))).toEqual([])
    expect([stored.local, stored.cookies]).toEqual([[], ''])
  })

  test('begins with what the tenant has, and with what happens', async ({ openConsole }) => {
    const { page } = await openConsole('admin')
    await expect
      .poll(() => page.locator('.figure').allTextContents(), SHOWN)
      .toEqual([
        expect.stringMatching(/^\d+ users$/),
        expect.stringMatching(/^\d+ sessions$/),
        '0 locked users',
      ])
    await page.locator('.events li').first().waitFor()
  })

  test('finds users as one types, and Back restores the list', async ({ newPerson, openConsole }) => {
    await newPerson({ name: 'Ada Lovelace' })
    await newPerson({ name: 'Alan Turing' })
    const { page } = await openConsole('admin', '/users')
    await page.evaluate(() => {
      const field = document.querySelector<HTMLInputElement>('input[type=search]')
      const { replaceState } = history
      // The person types on while the text is on its way to the URL.
      history.replaceState = (...state) => {
        history.replaceState = replaceState
        history.replaceState(...state)
        if (!field) return
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(field, 'turi')
        field.dispatchEvent(new Event('input', { bubbles: true }))
      }
    })
    await page.getByPlaceholder('Search by name, address or id').fill('tur')
    await page.waitForURL(/\?search=turi$/)
    await page.getByPlaceholder('Search by name, address or id').pressSequentially('ng', { delay: 30 })
    await page.waitForURL(/\?search=turing$/)
    await expect.poll(() => readRows(page), SHOWN).toEqual([expect.stringContaining('Alan Turing')])
    await page.getByRole('link', { name: 'Alan Turing' }).click()
    await page.getByRole('heading', { name: 'Alan Turing' }).waitFor()
    await page.goBack()
    await expect.poll(() => readRows(page), SHOWN).toEqual([expect.stringContaining('Alan Turing')])
    expect(await page.getByPlaceholder('Search by name, address or id').inputValue()).toBe('turing')
  })

  test('shows a lock by another administrator, and the end of the sessions, without a reload', async ({
    newPerson,
    openConsole,
    signIn,
    spa,
  }) => {
    const victim = await newPerson({ name: 'Mallory' })
    const [list, screen] = [
      await openConsole('admin', '/users?search=mallory'),
      await openConsole('admin', `/users/${victim.id}`),
    ]
    await screen.page.getByRole('heading', { name: 'Mallory' }).waitFor()
    await screen.page.getByText('No session.').waitFor()
    await signIn(victim.email, { client: spa })
    const sessions = screen.page.locator('.sessions li')
    await expect.poll(() => sessions.count(), SHOWN).toBeGreaterThan(0)
    await expect.poll(() => readRows(list.page), SHOWN).toEqual([expect.stringContaining('Mallory')])
    expect(await list.page.locator('.rows').textContent()).toContain('Active')
    await screen.page.getByRole('button', { name: 'Lock and end all sessions' }).click()
    await screen.page.getByRole('button', { name: 'Unlock' }).waitFor()
    await expect.poll(() => list.page.locator('.rows').textContent(), SHOWN).toContain('Locked')
    await expect.poll(() => sessions.count(), SHOWN).toBe(0)
    await expect.poll(() => screen.page.locator('.events').textContent(), SHOWN).toContain('user.locked')
    await screen.page.getByRole('button', { name: 'Unlock' }).click()
    await expect.poll(() => list.page.locator('.rows').textContent(), SHOWN).toContain('Active')
    expect([...list.errors, ...screen.errors]).toEqual([])
  })

  test('announces new users, and shows them on demand', async ({ newPerson, console: { page } }) => {
    await page.getByText(/^\d+ users?$/).waitFor()
    await newPerson({ name: 'Newcomer' })
    await page.getByRole('button', { name: '1 new: show' }).click(SHOWN)
    await expect
      .poll(() => readRows(page), SHOWN)
      .toEqual(expect.arrayContaining([expect.stringContaining('Newcomer')]))
  })

  test('misses nothing while its streams are interrupted', async ({ newPerson, console: { page } }) => {
    await page.getByText(/^\d+ users?$/).waitFor()
    await newPerson({ name: 'Before' })
    await page.getByRole('button', { name: '1 new: show' }).waitFor(SHOWN)
    endAllStreams(new Unavailable('The server stops.'))
    await newPerson({ name: 'Meanwhile' })
    await page.getByRole('button', { name: '2 new: show' }).waitFor(SHOWN)
    endAllStreams(new Unavailable('The server stops.'))
    await newPerson({ name: 'Later' })
    await page.getByRole('button', { name: '3 new: show' }).waitFor(SHOWN)
  })

  test('works in more tabs than a browser has connections', async ({
    acme,
    newPerson,
    console: { page },
  }) => {
    const tabs = [page]
    while (tabs.length < 7) {
      const tab = await page.context().newPage()
      await tab.goto(`${ORIGIN}/${acme}/console/users`)
      await tab.getByText(/^\d+ users?$/).waitFor()
      tabs.push(tab)
    }
    await newPerson({ name: 'Everywhere' })
    for (const tab of tabs) await tab.getByRole('button', { name: '1 new: show' }).waitFor(SHOWN)
  })

  test('finds what the number of an error page was, and follows the log live', async ({
    acme,
    newPerson,
    openConsole,
    events,
  }) => {
    const { page } = await openConsole('auditor', '/log')
    const person = await newPerson({ name: 'Logged' })
    await page.getByRole('link', { name: person.id }).waitFor(SHOWN)
    const [event] = await events({ type: 'grant.created' })
    await page.getByLabel('Number of an error page').fill(event?.requestId ?? 'none')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.getByRole('grid').textContent(), SHOWN).toContain('grant.created')
    expect(page.url()).toBe(`${ORIGIN}/${acme}/console/log?request=${event?.requestId}`)
    await page.getByLabel('Number of an error page').fill('nothing')
    await page.keyboard.press('Enter')
    await page.getByText('No event has these properties.').waitFor()
  })

  test('pauses and resumes the log, which has a scrollbar over all events', async ({
    acme,
    newPerson,
    openConsole,
  }) => {
    const { page } = await openConsole('admin', '/log')
    await page.getByTitle('Live').waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    const missed = await newPerson()
    await page.getByRole('button', { name: /^\d+ new: show$/ }).waitFor(SHOWN)
    expect(await page.getByRole('link', { name: missed.id }).count()).toBe(0)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('link', { name: missed.id }).first().waitFor(SHOWN)
    await page.getByTitle('Live').waitFor()
    const ctx = createPlatformCtx(acme)
    const event = createEvent('client.updated', { clientId: 'client_1', changedFields: ['name'] })
    await ctx.db.transaction((tx) => recordEvents(tx, ctx, Array(600).fill(event)))
    const readCount = async () => Number((await page.getByText(/^\d+ events$/).textContent())?.split(' ')[0])
    await expect.poll(readCount, SHOWN).toBeGreaterThan(600)
    // The oldest event is read by the number of its page.
    await page.getByRole('grid').press('End')
    await page.getByText('tenant.created').waitFor(SHOWN)
    const { id } = await newPerson()
    await page.getByRole('button', { name: /^\d+ new: show$/ }).click(SHOWN)
    await page.getByRole('link', { name: id }).first().waitFor(SHOWN)
  })

  test('leads a browser that found the server by another name to its issuer', async ({ acme, app, open }) => {
    const page = await (await open()).newPage()
    await page.goto(`${app.origin}/${acme}/console/users?search=ada`)
    await page.waitForURL((url) => url.origin === ORIGIN && url.pathname.startsWith(`/${acme}/signin/`))
  })

  test('asks for a sign-in when the session was ended elsewhere', async ({ acme, openConsole }) => {
    const { page, person } = await openConsole('admin', '/users')
    await revokeUserSessions(createPlatformCtx(acme), person.id)
    await page.getByRole('link', { name: 'Sessions' }).click()
    await page.waitForURL(/\/signin\//)
  })

  test('shows a role what it permits', async ({ openConsole, person }) => {
    const nobody = await openConsole(null)
    expect(await nobody.page.locator('main').textContent()).toContain('You have no role here')
    const { page } = await openConsole('auditor', '/users')
    await page.locator('.rows tbody th').first().waitFor()
    await openScreen(page, `/users/${person.id}`)
    await page.locator('.facts').waitFor()
    expect(await page.getByRole('button', { name: /Lock/ }).count()).toBe(0)
  })

  test('signs out, and asks for a sign-in again', async ({ acme, console: { page } }) => {
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(/\/signin\//)
    await page.goto(`${ORIGIN}/${acme}/console`)
    await page.waitForURL(/\/signin\//)
  })

  test('has no finding of axe on any screen, in both schemes and on a phone', async ({
    person,
    openConsole,
  }) => {
    const { page, errors } = await openConsole('admin', '/nothing')
    const refused: string[] = []
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) refused.push(message.text())
    })
    await assertAccessible(page, '/nothing')
    for (const path of ['', '/users', `/users/${person.id}`, '/users/none', '/sessions', '/log']) {
      await openScreen(page, path)
      await assertAccessible(page, path)
    }
    expect([errors, refused]).toEqual([[], []])
  })
})
