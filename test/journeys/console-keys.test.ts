import type { Locator } from 'playwright-core'
import { Webhook as Verifier } from 'standardwebhooks'
import { describe, expect } from 'vitest'
import { createClient } from '../../src/clients/clients.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createUser } from '../../src/users/users.ts'
import { startWebhookDeliveries } from '../../src/webhooks/deliver.ts'
import { startWebhookFollowing } from '../../src/webhooks/follow-log.ts'
import { noBrowser } from '../support/browser.ts'
import { assertAccessible, openScreen, prepareConsole, SHOWN, test } from '../support/console-journey.ts'
import { addSignalStream } from '../support/signal-streams.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'

test.beforeAll(async ({ ctx }) => {
  await prepareConsole({ ctx })
  await updateSettings(ctx, { dynamicRegistration: true })
})

describe.skipIf(noBrowser)('the console', () => {
  test('rotates keys, and creates a registration token and an API key that are shown once', async ({
    acme,
    app,
    openConsole,
    gql,
  }) => {
    const { page, errors } = await openConsole('admin', '/keys')
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }).click()
    await page.getByText('The new keys are published.').waitFor(SHOWN)
    await page.getByText('Next', { exact: true }).first().waitFor(SHOWN)
    await page.getByRole('button', { name: 'Create a token' }).click()
    await page.getByLabel('Note').fill('Partners')
    await page.getByLabel('Days until it expires').fill('99')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor(SHOWN)
    expect(await page.getByLabel('Note').inputValue()).toBe('Partners')
    await page.getByLabel('Days until it expires').fill('2')
    await page.keyboard.press('Enter')
    await page.getByText('The token is shown only now.').waitFor(SHOWN)
    const token = await page.getByRole('dialog').locator('code').textContent()
    const registered = await fetch(`${app.origin}/${acme}/oidc/register`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['https://app.example/callback'] }),
    })
    expect(registered.status).toBe(201)
    // The token is shown once: neither Escape nor a press beside it closes the dialog.
    await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Create a token')
    // Text is selected in a dialog, with the release beside it.
    await page.keyboard.press('Enter')
    await page.getByLabel('Note').fill('Selected')
    await page.getByLabel('Note').hover()
    await page.mouse.down()
    await page.mouse.move(5, 5)
    await page.mouse.up()
    expect(await page.getByLabel('Note').inputValue()).toBe('Selected')
    await page.mouse.click(5, 5)
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.reload()
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
    expect(await page.content()).not.toContain(token)
    await gql('mutation { createRegistrationToken(input: { note: "Elsewhere" }) { __typename } }')
    await page.getByRole('rowheader', { name: 'Elsewhere' }).waitFor(SHOWN)
    await page.getByRole('button', { name: 'Revoke' }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await expect.poll(() => page.getByRole('rowheader', { name: 'Elsewhere' }).count(), SHOWN).toBe(0)
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('button', { name: 'Create a key' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Export')
    await page.getByLabel('USERS_READ').or(page.getByLabel('users:read')).first().check()
    await page.getByLabel('Networks').fill('10.0.0.0/33')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('must be an IPv4 or IPv6 address').first().waitFor(SHOWN)
    await page.getByLabel('Networks').fill('127.0.0.0/8 ::1')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('The key is shown only now.').waitFor(SHOWN)
    const key = (await page.getByRole('dialog').locator('code').textContent()) as string
    expect((await app.rest(acme, key, 'GET', '/users')).status).toBe(200)
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('rowheader', { name: 'Export' }).waitFor(SHOWN)
    expect(await page.content()).not.toContain(key)
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('Export')
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('No program has a key.').waitFor(SHOWN)
    expect((await app.rest(acme, key, 'GET', '/users')).status).toBe(401)
    expect(errors).toEqual([])
  })

  test('sends a document with the token of the administrator, and keeps what is typed', async ({
    newPerson,
    openConsole,
  }) => {
    const { page, errors } = await openConsole('admin', '/users')
    await page.getByRole('button', { name: 'run', exact: true }).click()
    await page.getByRole('heading', { name: 'API' }).waitFor(SHOWN)
    const [text, variables, result] = ['Document', 'Variables', 'Result'].map((name) =>
      page.getByRole('textbox', { name }),
    ) as [Locator, Locator, Locator]
    await expect.poll(() => text.textContent(), SHOWN).toContain('query usersScreenQuery')
    // As a person does: `fill` edits the element.
    const replace = async (field: Locator, entered: string) => {
      await field.focus()
      for (const key of ['Control+A', 'Delete']) await page.keyboard.press(key)
      await page.keyboard.type(entered)
    }
    const sent: string[] = []
    await page.route(/graphql$/, async (route) => {
      sent.push(route.request().postData() ?? '')
      await page.waitForTimeout(200)
      await route.continue()
    })
    await text.focus()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('# typed?')
    for (const key of ['Control', 'Enter', 'Enter']) await page.keyboard.down(key)
    for (const key of ['Enter', 'Control']) await page.keyboard.up(key)
    await page.keyboard.press('Control+Enter')
    await expect.poll(() => result.textContent(), SHOWN).toContain('"totalSize"')
    await page.waitForURL(/%23\+typed/)
    expect(sent).toEqual([expect.stringContaining('# typed?')])
    await page.keyboard.type(', on')
    expect(await text.textContent()).toMatch(/# typed\?, on$/)
    await page.unrouteAll({ behavior: 'wait' })
    await replace(variables, '[')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('The variables are not valid JSON').waitFor()
    await replace(variables, '{}')
    // Completion, marks of errors and the documentation know the schema.
    await replace(text, '{ viewer { us')
    await page.keyboard.press('Control+Space')
    await page.getByRole('option', { name: /^user/ }).first().click(SHOWN)
    await page.keyboard.type(' { nothing } } }')
    await expect
      .poll(async () => {
        await page.keyboard.press('F8')
        return page.getByText('Cannot query field "nothing" on type "User"').count()
      }, SHOWN)
      .toBeGreaterThan(0)
    await replace(text, '{ viewer { eventPosition } }')
    for (const key of ['Home', 'Control+ArrowRight', 'Control+ArrowRight', 'F1'])
      await page.keyboard.press(key)
    await page.waitForURL(/doc=Query\.viewer/)
    await page.getByLabel('Search types and fields').fill('lockUser')
    await page.getByRole('link', { name: 'Mutation.lockUser' }).click()
    await page.getByRole('link', { name: 'LockUserInput!' }).first().waitFor()
    // A subscription goes on until it is stopped; of several operations, one is chosen.
    await replace(text, 'query A { viewer { scopes } } subscription B { events { type } }')
    await page.getByLabel('Operation').selectOption('B')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor(SHOWN)
    const seeNewUser = async () => {
      await newPerson()
      return result.textContent()
    }
    await expect.poll(seeNewUser, SHOWN).toContain('USER_CREATED')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByRole('button', { name: /usersScreenQuery/ }).click()
    await expect.poll(() => text.textContent(), SHOWN).toContain('usersScreenQuery')
    expect(errors).toEqual([])
    for (const path of ['/api', '/api?panel=docs&doc=User', '/keys', '/api-keys']) {
      await openScreen(page, path)
      await assertAccessible(page, path)
    }
  })

  test('creates a webhook, sends a test and an event, and shows what its receiver answers', async ({
    ctx,
    openConsole,
    onTestFinished,
  }) => {
    const receiver = await startWebhookReceiver()
    const stops = [startWebhookFollowing(), startWebhookDeliveries(), receiver.close]
    onTestFinished(async () => {
      for (const stop of stops) await stop()
    })
    const { page, errors } = await openConsole('admin', '/webhooks')
    await page.getByRole('button', { name: 'Create a webhook' }).click()
    await page.getByLabel('URL').fill('no address')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').first().waitFor(SHOWN)
    await page.getByLabel('URL').fill(receiver.urlOf('/console'))
    await page.getByLabel('Events').fill('user.created\nuser.deleted')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('The secret is shown only now.').waitFor(SHOWN)
    const secret = (await page.getByRole('dialog').locator('code').textContent()) as string
    await page.getByRole('button', { name: 'I have stored it' }).click()
    await page.getByRole('link', { name: receiver.urlOf('/console') }).click()
    receiver.answers.set('/console', (response) => response.writeHead(200).end('thanks'))
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.locator('summary', { hasText: 'webhook.test' }).waitFor(SHOWN)
    await createUser(ctx, { email: 'hooked@example.com' })
    await page.locator('summary', { hasText: 'user.created' }).getByText('Accepted').waitFor(SHOWN)
    await page.locator('summary', { hasText: 'user.created' }).click()
    await page.getByText('thanks').first().waitFor(SHOWN)
    const [test] = receiver.at('/console')
    new Verifier(secret).verify(test?.body ?? '', test?.headers as Record<string, string>)
    await page.getByRole('button', { name: 'Send again' }).first().click()
    await expect.poll(() => receiver.at('/console').length, SHOWN).toBe(3)
    await assertAccessible(page, '/webhooks/one')
    receiver.answers.set('/console', (response) => response.writeHead(503).end())
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('Failing').waitFor(SHOWN)
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByText('Failing').waitFor(SHOWN)
    await assertAccessible(page, '/webhooks')
    expect(errors).toEqual([])
  })

  test('shows a stream of shared signals, and pauses, verifies and deletes it live', async ({
    ctx,
    openConsole,
  }) => {
    const { client } = await createClient(ctx, { name: 'Shop', appType: 'machine', type: 'login' })
    const { page, errors } = await openConsole('admin', '/signal-streams')
    await page.getByText('No stream yet.').waitFor(SHOWN)
    await addSignalStream(ctx, client.id)
    await page.getByRole('link', { name: 'Shop' }).click()
    await page.getByText('Sends').waitFor(SHOWN)
    await page.getByRole('button', { name: 'Send a verification' }).click()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused').waitFor(SHOWN)
    await assertAccessible(page, '/signal-streams/one')
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('Shop')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No stream yet.').waitFor(SHOWN)
    await assertAccessible(page, '/signal-streams')
    expect(errors).toEqual([])
  })
})
