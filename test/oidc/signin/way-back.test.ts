import { describe, expect } from 'vitest'
import { dbFor } from '../../support/database.ts'
import { test as base, GONE, interactionAt, openPage } from '../../support/hosted-pages.ts'
import { codeFor } from '../../support/protocol.ts'

const test = base
  .extend('starting', { scope: 'file' }, ({ newClient }) =>
    newClient({ name: 'Acme Mail', initiateLoginUrl: 'https://rp.example.com/start' }),
  )
  .extend(
    'atStart',
    ({ start, browser, starting }) =>
      () =>
        start(browser, { client_id: starting.id }),
  )
  .extend('expectWayBack', ({ tenant, starting, browser }) => async (path: string, by = browser) => {
    const { response, html } = await openPage(by, path)
    expect(response.status).toBe(410)
    expect(html).toContain(GONE)
    expect(html).toContain(`/${tenant}/oidc/initiate?client_id=${starting.id}`)
    expect(html).toContain('Acme Mail')
  })

describe('a page of a sign-in that is not available', () => {
  test('leads back to its client after it has expired, and after its row was deleted', async ({
    tenant,
    atStart,
    expectWayBack,
  }) => {
    const { path } = await atStart()
    const where = interactionAt(tenant, path)
    await dbFor(tenant).interaction.update({ where, data: { expiresAt: new Date(Date.now() - 1) } })
    await expectWayBack(path)
    await dbFor(tenant).interaction.delete({ where })
    await expectWayBack(path)
    await expectWayBack(`${path}/code`)
  })

  test('leads back to its client in another browser, also after a form', async ({
    newBrowser,
    atStart,
    expectWayBack,
  }) => {
    const page = await atStart()
    await expectWayBack(page.path, newBrowser())
    const { response } = await newBrowser().submit(page, { step: 'email', address: 'ada@example.com' })
    expect(await response.text()).toContain('/oidc/initiate?client_id=')
  })

  test('leads to no client that has no page that starts a sign-in, or that no administrator made', async ({
    tenant,
    newBrowser,
    starting,
    start,
    browser,
    atStart,
  }) => {
    const plain = await start(browser)
    expect((await openPage(newBrowser(), plain.path)).html).not.toContain('/oidc/initiate')
    const { path } = await atStart()
    const where = { tenantId_id: { tenantId: tenant, id: starting.id } }
    await dbFor(tenant).client.update({ where, data: { registeredBy: 'registration' } })
    const unknown = path.replace(starting.id, `client_${'0'.repeat(26)}`)
    expect((await openPage(newBrowser(), unknown)).html).not.toContain('/oidc/initiate')
    await dbFor(tenant).client.update({ where, data: { registeredBy: 'administrator' } })
  })

  test('is found by its handle alone, as an earlier version linked to it', async ({
    tenant,
    person,
    browser,
    atStart,
  }) => {
    const { path } = await atStart()
    const page = await openPage(browser, `/${tenant}/signin/${path.split('/')[3]?.slice(0, 43)}`)
    expect(page.response.status).toBe(200)
    const sent = await browser.submit(page, { step: 'email', address: person.email })
    expect(sent.path).toMatch(/\/code$/)
    expect(await codeFor(person.email)).toMatch(/^\d{6}$/)
  })
})
