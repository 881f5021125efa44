import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { WebSocketRoute } from 'playwright-core'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { revokeUserSessions } from '../../src/sessions/revoke-sessions.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { lockUser } from '../../src/users/users.ts'
import { runAxe } from '../support/axe.ts'
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
  test('says that it is not connected, continues by itself, and misses nothing', async ({
    newPerson,
    console: { page },
  }) => {
    let isCut = false
    const sockets: WebSocketRoute[] = []
    await page.routeWebSocket(/graphql$/, (socket) => {
      if (isCut) return void socket.close({ code: 4000 })
      sockets.push(socket)
      socket.connectToServer()
    })
    await page.reload()
    await page.getByText(/^\d+ users?$/).waitFor()
    await newPerson({ name: 'Before' })
    await page.getByRole('button', { name: '1 new: show' }).waitFor(SHOWN)
    isCut = true
    for (const socket of sockets) await socket.close({ code: 4000 })
    await page.getByText('Not connected since').waitFor(SHOWN)
    await newPerson({ name: 'Meanwhile' })
    isCut = false
    await page.getByText('Connected again. The changes since then are shown.').waitFor({ timeout: 20_000 })
    await page.getByRole('button', { name: '2 new: show' }).waitFor(SHOWN)
    expect(await page.getByText('Not connected since').count()).toBe(0)
  })

  test('keeps the screen when the session ends, and asks for a sign-in', async ({ acme, openConsole }) => {
    const { page, person } = await openConsole('admin', '/roles')
    const sockets: WebSocketRoute[] = []
    await page.routeWebSocket(/graphql$/, (socket) => {
      sockets.push(socket)
      socket.connectToServer()
    })
    await page.reload()
    await page.getByLabel(/^Give auditor/).fill('typed@example.com')
    await revokeUserSessions(createPlatformCtx(acme), person.id)
    for (const socket of sockets) await socket.close({ code: 4000 })
    await page.getByText('Your session has ended.').waitFor(SHOWN)
    expect(await page.getByLabel(/^Give auditor/).inputValue()).toBe('typed@example.com')
    await page.getByRole('button', { name: 'sign in again' }).click()
    await page.waitForURL(/\/signin\//)
  })

  test('copies the query of a screen as GraphQL and as a command, both of which run', async ({
    app,
    acme,
    newPerson,
    openConsole,
    gql,
    token,
  }) => {
    const { id } = await newPerson({ name: 'Katherine O\u2019Brien' })
    const { page } = await openConsole('admin', '/users?search=brien')
    await expect.poll(() => readRows(page), SHOWN).toHaveLength(1)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: ORIGIN })
    const copyAs = async (name: string): Promise<string> => {
      await page.getByRole('button', { name, exact: true }).click()
      await page.getByText('The query of this screen is copied').last().waitFor()
      return page.evaluate(() => navigator.clipboard.readText())
    }
    const document = await copyAs('GraphQL')
    const [text = '', comment = ''] = document.split('# Variables:\n')
    const variables = JSON.parse(comment.replaceAll(/^# /gm, ''))
    expect(JSON.stringify((await gql(text, variables)).body)).toContain(id)
    expect(JSON.stringify((await gql(document, variables)).body)).toContain(id)
    const command = (await copyAs('curl')).replaceAll(ORIGIN, app.origin)
    const { stdout } = await promisify(execFile)('bash', ['-c', command.replace('curl ', 'curl -s ')], {
      env: { ...process.env, TOKEN: token },
    })
    expect(stdout).toContain(id)
    expect(command).toContain(`/${acme}/graphql`)
  })

  test('sends ids of documents, and texts to a server of another build', async ({
    acme,
    newPerson,
    console: { page },
  }) => {
    const ctx = createPlatformCtx(acme)
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/graphql')) sent.push(request.postData() ?? '')
    })
    const seeNewUser = async () => {
      await page.reload()
      await page.getByText(/^\d+ users?$/).waitFor(SHOWN)
      await newPerson({ name: 'New' })
      await page.getByRole('button', { name: '1 new: show' }).waitFor(SHOWN)
    }
    await updateSettings(ctx, { acceptedDocuments: 'trusted' })
    await seeNewUser()
    expect(sent.length).toBeGreaterThan(1)
    expect(sent.filter((body) => !body.includes('"documentId"') || body.includes('"query"'))).toEqual([])
    await updateSettings(ctx, { acceptedDocuments: 'any' })
    const renameDocument = (body: string) => body.replace(/"documentId":"\w+"/, '"documentId":"another"')
    await page.route(`${ORIGIN}/${acme}/graphql`, (route, request) =>
      route.continue({ postData: renameDocument(request.postData() ?? '') }),
    )
    await page.routeWebSocket(/graphql$/, (socket) => {
      const server = socket.connectToServer()
      socket.onMessage((message) => server.send(renameDocument(String(message))))
    })
    await seeNewUser()
  })

  test('speaks German, and English where the texts are not reached', async ({ openConsole }) => {
    const { page, errors } = await openConsole('admin', '/users')
    await page.getByLabel('Language of the console').selectOption('Deutsch')
    await page.getByRole('heading', { name: 'Benutzer' }).waitFor(SHOWN)
    expect(await page.locator('html').getAttribute('lang')).toBe('de')
    for (const name of (await page.locator('.sidebar li a').allInnerTexts()).slice(1)) {
      await page.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { name, level: 1 }).waitFor(SHOWN)
      // The descriptions of scopes are those of the API.
      if (name !== 'Rollen')
        expect(await page.locator('main').textContent()).not.toMatch(/\b(the|you|of|not|is)\b/i)
    }
    await assertAccessible(page, '/api/de')
    // The preview of a page runs no script.
    expect(errors.filter((error) => !error.includes('sandboxed'))).toEqual([])
    await page.route(/\/de-[\w-]+\.js$/, (route) => route.abort('connectionfailed'))
    await page.reload()
    await page.getByRole('link', { name: 'Users' }).waitFor(SHOWN)
  })

  test('names the request that failed, and keeps its frame', async ({ acme, console: { page } }) => {
    await page.route(`${ORIGIN}/${acme}/graphql`, (route) => route.abort('connectionfailed'))
    await page.getByRole('link', { name: 'Log' }).click()
    await page.getByText('The server was not reached.').waitFor(SHOWN)
    await page.unrouteAll({ behavior: 'wait' })
    await page.getByRole('link', { name: 'Sessions' }).click()
    await page.getByRole('heading', { name: 'Sessions' }).waitFor(SHOWN)
    await page.route(`${ORIGIN}/${acme}/graphql`, (route) =>
      route.fulfill({
        status: 503,
        json: { errors: [{ message: 'Overloaded.', extensions: { code: 'UNAVAILABLE', requestId: 'r-1' } }] },
      }),
    )
    await page.getByRole('link', { name: 'Start' }).click()
    await page.getByText('Overloaded.').waitFor(SHOWN)
    await page.getByRole('button', { name: 'r-1' }).waitFor()
  })

  test('finds screens, people, addresses and requests in one box, by keyboard alone', async ({
    acme,
    newPerson,
    events,
    console: { page },
  }) => {
    const { id, email } = await newPerson({ name: 'Dorothy Vaughan' })
    const find = async (text: string, option: string) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('combobox').waitFor()
      await page.keyboard.type(text)
      await page.getByRole('option', { name: option }).first().waitFor(SHOWN)
      await page.keyboard.press('Enter')
    }
    await find('sess', 'Sessions')
    await page.waitForURL(/\/sessions$/)
    for (const text of [id, email.toUpperCase()]) {
      await find(text, 'Dorothy Vaughan')
      await page.waitForURL(`${ORIGIN}/${acme}/console/users/${id}`)
      await page.goBack()
    }
    const [event] = await events({ type: 'grant.created' })
    const requestId = event?.requestId ?? 'none'
    await find(requestId, requestId)
    await page.waitForURL(`${ORIGIN}/${acme}/console/log?request=${requestId}`)
    await expect.poll(() => page.getByRole('grid').textContent(), SHOWN).toContain('grant.created')
    await find('127.0.0.1', '127.0.0.1')
    await page.waitForURL(`${ORIGIN}/${acme}/console/log?ip=127.0.0.1`)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('nothing at all')
    await page.getByText('Nothing has this name, id or address.').waitFor(SHOWN)
    expect((await runAxe(page)).violations).toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('option').first().waitFor()
    await page.keyboard.press('ArrowUp')
    const last = page.getByRole('dialog').getByRole('option', { selected: true })
    expect(await last.textContent()).toBe('Sign out')
    expect(
      await last.evaluate((option) => {
        const { top, bottom } = option.getBoundingClientRect()
        const list = option.parentElement?.getBoundingClientRect()
        const middle = (top + bottom) / 2
        return list && middle > list.top && middle < list.bottom
      }),
    ).toBe(true)
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    expect((await runAxe(page)).violations).toEqual([])
  })

  test('filters the log by what is pasted and by kind, and follows it as far as a stream can', async ({
    acme,
    newPerson,
    ctx,
    openConsole,
  }) => {
    const person = await newPerson({ name: 'Filtered' })
    const { page } = await openConsole('admin', '/log')
    const field = page.getByPlaceholder('Paste the number of an error page')
    for (const [text, parameter] of [
      [person.id, `subject=${person.id}`],
      ['192.0.2.0/24', 'ip=192.0.2.0%2F24'],
      ['+43 660 1234567', 'address=%2B43+660+1234567'],
      ['req-1', 'request=req-1'],
    ] as const) {
      await openScreen(page, '/log')
      await field.fill(text)
      await field.press('Enter')
      await page.waitForURL(`${ORIGIN}/${acme}/console/log?${parameter}`)
      const shown = page.locator('.event-type')
      if (text === person.id)
        await expect.poll(() => shown.allTextContents(), SHOWN).toEqual(['user.created'])
      else await page.getByText('No event has these properties.').waitFor(SHOWN)
    }
    await openScreen(page, '/log?actor=Ada')
    await page.getByRole('alert').getByText('actorId: is not the id').waitFor(SHOWN)
    await page.getByLabel('By', { exact: true }).fill(person.id)
    await page.keyboard.press('Enter')
    await page.getByText('No event has these properties.').waitFor(SHOWN)
    await openScreen(page, '/log?kind=users')
    await page.getByTitle('Live').waitFor(SHOWN)
    await lockUser(ctx, person.id)
    await page.getByText('user.locked').waitFor(SHOWN)
    const listOthers = async () =>
      (await page.locator('.event-type').allTextContents()).filter((type) => !/^(user|role)\./.test(type))
    await expect.poll(listOthers, SHOWN).toEqual([])
  })
})
