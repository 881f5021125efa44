import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { getClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { newId } from '../../src/core/crypto.ts'
import { createEvent } from '../../src/events/create-event.ts'
import { recordEvents } from '../../src/events/log.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import {
  assertAccessible,
  test as base,
  openScreen,
  prepareConsole,
  readRows,
  SHOWN,
} from '../support/console-journey.ts'
import { authorizePath } from '../support/protocol.ts'

const test = base
  /** Opens a tab of the screen of an application. */
  .extend(
    'openApplication',
    ({ openConsole }) =>
      async (client: { id: string }, tab = '', role: 'admin' | 'auditor' = 'admin') =>
        (await openConsole(role, `/applications/${client.id}${tab && `?tab=${tab}`}`)).page,
  )
  /** Asks the token endpoint for a token with a secret; returns the status of the response. */
  .extend('useSecret', ({ app, acme }) => async (clientId: string, secret: string) => {
    const { status } = await fetch(`${app.origin}/${acme}/oidc/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${clientId}:${secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    })
    return status
  })

test.beforeAll(({ ctx }) => prepareConsole({ ctx }))

/** Presses Tab until the focus is on an element of this name. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement
      return element.labels?.[0]?.textContent ?? element.getAttribute('aria-label') ?? element.textContent
    })
    if (focused?.startsWith(name)) return
  }
  throw new Error(`The keyboard does not reach ${name}.`)
}

const readSecret = async (page: Page): Promise<string> =>
  (await page.getByRole('region', { name: 'CLIENT_SECRET' }).textContent()) ?? ''

const readId = async (page: Page): Promise<string> =>
  (await page.locator('.screen-head code').textContent()) ?? ''

describe.skipIf(noBrowser)('the applications of the console', () => {
  test('connects a new single-page application by keyboard alone', async ({ acme, openConsole }) => {
    const { page, errors } = await openConsole('admin', '/applications')
    await page.locator('.rows').waitFor()
    await tabTo(page, 'New application')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'New application' }).waitFor()
    await tabTo(page, 'Web application')
    await page.keyboard.press('ArrowDown')
    await tabTo(page, 'Name')
    await page.keyboard.type('Shop window')
    await tabTo(page, 'Redirect URIs')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('not a URL')
    await tabTo(page, 'Create')
    await page.keyboard.press('Enter')
    await page.locator('.field-problem').getByText('must be an absolute URL').waitFor()
    expect(await page.getByLabel('Redirect URIs').getAttribute('aria-invalid')).toBe('true')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('https://window.example/callback')
    await tabTo(page, 'Create')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Shop window is created' }).waitFor()
    const id = await readId(page)
    expect(await getClient(createPlatformCtx(acme), id)).toMatchObject({
      appType: 'single-page',
      callbacks: ['https://window.example/callback'],
    })
    const snippet = await page.getByRole('region', { name: 'src/auth.js' }).textContent()
    for (const value of [`${ORIGIN}/${acme}`, id, 'https://window.example/callback'])
      expect(snippet).toContain(`'${value}'`)
    await tabTo(page, 'Continue')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/console/applications/${id}`)
    expect(errors).toEqual([])
  })

  test('shows a secret until it is stored, and rotates it with overlap and without', async ({
    openConsole,
    useSecret,
  }) => {
    const { page } = await openConsole('admin', '/applications/new')
    await page.getByLabel('Machine to machine').check()
    await page.getByLabel('Name').fill('Night job')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Night job is created' }).waitFor()
    const id = await readId(page)
    const storeSecret = async (otherPlace: string): Promise<string> => {
      const secret = await readSecret(page)
      await page.getByRole('link', { name: otherPlace, exact: true }).click()
      await page.getByRole('dialog').getByText('Nothing shows it again.').waitFor()
      await page.getByRole('button', { name: 'Stay' }).click()
      expect(await readSecret(page)).toBe(secret)
      const next = page.getByRole('button', { name: 'Continue' })
      expect(await next.isDisabled()).toBe(true)
      await page.getByLabel('I have stored it').check()
      await next.click()
      await page.getByRole('region', { name: 'CLIENT_SECRET' }).waitFor({ state: 'detached' })
      return secret
    }
    const use = (...secrets: string[]) => Promise.all(secrets.map((secret) => useSecret(id, secret)))
    const first = await storeSecret('Applications')
    expect(await use(first)).toEqual([200])
    await page.getByRole('link', { name: 'Secret' }).click()
    const rotate = async (overlap: string): Promise<string> => {
      await page.getByRole('button', { name: 'Rotate the secret' }).click()
      await page.getByLabel('The present secret works for').selectOption({ label: overlap })
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate the secret' }).click()
      return storeSecret('Overview')
    }
    const second = await rotate('An hour')
    expect(await use(first, second)).toEqual([200, 200])
    const third = await rotate('Not at all: it stops working at once')
    expect(await use(first, second, third)).toEqual([401, 401, 200])
  })

  test('shows a rejected request at once, and adds the address that it lacked, until that is undone', async ({
    acme,
    app,
    newClient,
    openApplication,
  }) => {
    const client = await newClient()
    const page = await openApplication(client, 'rejected')
    await page.getByText('None. A rejected request appears here at once.').waitFor()
    const given = 'https://staging.example/callback'
    const authorize = () => app.fetch(authorizePath(acme, client, { redirect_uri: given }))
    expect((await authorize()).status).toBe(400)
    const rejection = page.locator('.rejections li')
    await expect.poll(() => rejection.allTextContents(), SHOWN).toHaveLength(1)
    expect(await rejection.textContent()).toContain('host: expected "rp.example.com", got "staging.example"')
    await page.getByRole('button', { name: 'Add this redirect URI' }).click()
    expect(await page.getByRole('dialog').textContent()).toContain(given)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Added since').waitFor()
    expect((await authorize()).status).not.toBe(400)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Add this redirect URI' }).click()
    expect((await authorize()).status).toBe(400)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('Added since').first().waitFor()
    await page.getByRole('link', { name: 'Start', exact: true }).click()
    const theirs = [given, 'https://theirs.example/callback']
    await updateClient(createPlatformCtx(acme), client.id, { callbacks: theirs })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(/^Not undone: /).waitFor()
    expect((await getClient(createPlatformCtx(acme), client.id)).callbacks).toEqual(theirs)
  })

  test('keeps what is typed when another administrator changes the same application', async ({
    acme,
    newClient,
    openApplication,
  }) => {
    const ctx = createPlatformCtx(acme)
    const client = await newClient({ name: 'Before' })
    const page = await openApplication(client, 'settings')
    await page.getByLabel('Description').fill('Mine')
    await page.getByLabel('Home page').fill('https://mine.example')
    await updateClient(ctx, client.id, { description: 'Theirs', name: 'After' })
    await page.getByText('Somebody else has changed Name, Description meanwhile.').waitFor(SHOWN)
    expect(await page.getByLabel('Description').inputValue()).toBe('Mine')
    expect(await page.getByLabel('Name').inputValue()).toBe('After')
    const save = page.getByRole('button', { name: 'Save 2 changes' })
    await save.click()
    await page.getByRole('alert').getByText('changed').waitFor()
    await page.getByRole('button', { name: 'Keep my entries' }).click()
    await page.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('updateClientMutation'))
        await page.getByLabel('Description').fill('Later')
      await route.continue()
    })
    await save.click()
    await page.getByText('The settings are saved.').waitFor()
    await page.getByRole('button', { name: 'Save 1 change' }).waitFor()
    expect(await page.getByLabel('Description').inputValue()).toBe('Later')
    expect(await page.locator('.changed').count()).toBe(0)
    expect(await getClient(ctx, client.id)).toMatchObject({
      name: 'After',
      description: 'Mine',
      clientUri: 'https://mine.example',
    })
  })

  test('names the setting that is not valid, and keeps the others', async ({
    newClient,
    openApplication,
  }) => {
    const spa = await newClient({ appType: 'single-page' })
    const page = await openApplication(spa, 'settings')
    const rotation = page.getByLabel('Rotate refresh tokens')
    await rotation.uncheck()
    await page.getByRole('button', { name: 'Save 1 change' }).click()
    await page.locator('.check .field-problem').getByText('must be true').waitFor()
    expect(await rotation.getAttribute('aria-invalid')).toBe('true')
    await page.getByRole('button', { name: 'Discard' }).click()
    const { id } = await newClient()
    await openScreen(page, `/applications/${id}?tab=settings`)
    await page.getByLabel('Lifetime of access tokens (seconds)').fill('1')
    await page.getByLabel('Its keys', { exact: true }).fill('{')
    await page.getByRole('button', { name: 'Save 2 changes' }).click()
    await page.locator('.field-problem').getByText('is not valid JSON').waitFor()
    await page.getByLabel('Its keys', { exact: true }).fill('')
    await page.getByRole('button', { name: 'Save 1 change' }).click()
    await page.locator('.field-problem').getByText('60').waitFor()
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('link', { name: 'Settings' }).click()
    expect(await page.getByLabel('Lifetime of access tokens (seconds)').inputValue()).toBe('1')
    await page.getByRole('link', { name: 'Applications' }).click()
    await page.getByRole('button', { name: 'Stay' }).click()
    expect(await page.getByLabel('Lifetime of access tokens (seconds)').inputValue()).toBe('1')
  })

  test('says who changed the redirect URI', async ({ acme, newClient, openApplication }) => {
    const client = await newClient()
    await updateClient(createPlatformCtx(acme), client.id, { callbacks: ['https://rp.example.com/new'] })
    await updateClient(createPlatformCtx(acme), client.id, { name: 'Renamed' })
    const page = await openApplication(client, 'history')
    await expect.poll(() => page.locator('.events li').count(), SHOWN).toBe(3)
    await page.getByLabel('Setting').selectOption('callbacks')
    expect(await page.locator('.events li').allTextContents()).toEqual([
      expect.stringContaining('client.updated'),
    ])
  })

  test('ends the sessions of an application, and shows those that start', async ({
    newClient,
    newPerson,
    openApplication,
    signIn,
    events,
  }) => {
    const client = await newClient({ appType: 'single-page', name: 'Watched' })
    const page = await openApplication(client, 'sessions')
    await page.getByText('No session was started').waitFor()
    const person = await newPerson({ name: 'Hedy Lamarr' })
    await signIn(person.email, { client, scope: 'openid session' })
    await page.getByRole('link', { name: 'Hedy Lamarr' }).waitFor(SHOWN)
    await page.getByRole('button', { name: 'End this session' }).click()
    await page.getByLabel('Type “Watched” to confirm').fill('Watched')
    await page.getByRole('dialog').getByRole('button', { name: 'End this session' }).click()
    await page.getByText('No session was started').waitFor(SHOWN)
    const ended = await events({ type: 'session.ended', subjectId: client.id })
    expect(ended).toMatchObject([{ detail: { reason: 'revoked' } }])
  })

  test('deletes an application by its name without asking about its edits, and shows it to others', async ({
    newClient,
    openApplication,
    openConsole,
  }) => {
    const client = await newClient({ name: 'Obsolete' })
    const [page, { page: list }] = [
      await openApplication(client),
      await openConsole('admin', '/applications?search=obsolete'),
    ]
    await expect.poll(() => readRows(list), SHOWN).toEqual(['Obsolete'])
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByLabel('Description').fill('Not saved')
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('button', { name: 'Delete the application' }).click()
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete the application' })
    await page.getByLabel('Type “Obsolete” to confirm').fill('obsolete')
    expect(await confirm.isDisabled()).toBe(true)
    await page.getByLabel('Type “Obsolete” to confirm').fill('Obsolete')
    await confirm.click()
    await page.waitForURL(/\/applications$/)
    await expect.poll(() => readRows(list), SHOWN).toEqual([])
  })

  test('finds applications, and follows changes by others', async ({ acme, newClient, openConsole }) => {
    const client = await newClient({ name: 'Wunderbar' })
    const { page } = await openConsole('admin', '/applications')
    await page.getByPlaceholder('Search by name, id or URL').fill('wunder')
    await expect.poll(() => readRows(page), SHOWN).toEqual(['Wunderbar'])
    expect(page.url()).toContain('search=wunder')
    await updateClient(createPlatformCtx(acme), client.id, { name: 'Wunderkind' })
    await expect.poll(() => readRows(page), SHOWN).toEqual(['Wunderkind'])
    await newClient({ name: 'Wunder Two' })
    await page.getByRole('button', { name: '1 new: show' }).click(SHOWN)
    await expect.poll(() => readRows(page), SHOWN).toEqual(['Wunderkind', 'Wunder Two'])
  })

  test('opens an application whose id is a URL, also after a reload', async ({ acme, openConsole }) => {
    const ctx = createPlatformCtx(acme)
    const id = `https://app-${newId('client').slice(-6)}.example/client~1.json`
    await ctx.db.transaction((tx) =>
      tx.prisma.client.create({
        data: {
          tenantId: acme,
          id,
          name: 'Documented',
          appType: 'web',
          type: 'login',
          registeredBy: 'document',
        },
      }),
    )
    const { page } = await openConsole('admin', '/applications?search=documented')
    await page.getByRole('link', { name: 'Documented' }).click()
    await page.getByRole('heading', { name: 'Documented' }).waitFor()
    const url = page.url()
    await page.goBack()
    await page.getByRole('heading', { name: 'Applications' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').fill(id)
    await page.getByRole('option', { name: 'Documented' }).click(SHOWN)
    await page.getByRole('heading', { name: 'Documented' }).waitFor()
    expect(page.url()).toBe(url)
    await page.reload()
    await page.getByRole('heading', { name: 'Documented' }).waitFor()
    expect(await readId(page)).toBe(id)
  })

  test('shows an auditor everything and no action', async ({ newClient, openApplication }) => {
    const client = await newClient()
    const page = await openApplication(client, '', 'auditor')
    const tabs = page.getByRole('navigation', { name: 'Application' })
    for (const tab of ['Overview', 'Settings', 'Secret', 'Sessions', 'Rejected', 'History']) {
      await tabs.getByRole('link', { name: tab }).click()
      expect(await tabs.locator('[aria-current]').allTextContents()).toEqual([tab])
      const actions = page.locator('main button:not([title=Copy]):not(:disabled)')
      expect([tab, await actions.allTextContents()]).toEqual([tab, []])
    }
    await tabs.getByRole('link', { name: 'Settings' }).click()
    expect(await page.getByLabel('Redirect URIs').isDisabled()).toBe(true)
    await page.getByRole('link', { name: 'Applications' }).click()
    await page.locator('.rows').waitFor()
    expect(await page.getByRole('link', { name: 'New application' }).count()).toBe(0)
  })

  test('has no finding of axe in any state, in both schemes and on a phone', async ({
    acme,
    newClient,
    openConsole,
  }) => {
    const client = await newClient({ name: 'Shop', description: 'The web shop of Example Inc.' })
    const ctx = createPlatformCtx(acme)
    await ctx.db.transaction((tx) =>
      recordEvents(tx, ctx, [
        createEvent(
          'authorize.refused',
          { clientId: client.id },
          {
            error: 'invalid_request',
            description: 'The redirect_uri is not registered for this client.',
            member: 'callbacks',
            given: 'https://staging.example.com/a/very/long/path/to/the/callback/of/the/application',
          },
        ),
      ]),
    )
    const { page, errors } = await openConsole('admin')
    const one = `/applications/${client.id}`
    for (const path of [
      '/applications',
      '/applications/new',
      one,
      ...['settings', 'secret', 'rejected'].map((tab) => `${one}?tab=${tab}`),
    ]) {
      await openScreen(page, path)
      if (path === one) await page.locator('.code').first().waitFor()
      if (path.endsWith('settings')) await page.getByLabel('Description').fill('Changed')
      if (path.endsWith('secret')) await page.getByRole('button', { name: 'Rotate the secret' }).click()
      await assertAccessible(page, path.replace(client.id, 'one'))
    }
    expect(errors).toEqual([])
  })
})
