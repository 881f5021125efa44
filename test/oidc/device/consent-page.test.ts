import { describe, expect } from 'vitest'
import { deleteClient, updateClient } from '../../../src/clients/client-changes.ts'
import { describeScope } from '../../../src/consents/consent-items.ts'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { dbFor } from '../../support/database.ts'
import { enterCode } from '../../support/device-flow.ts'
import { test } from '../../support/devices.ts'
import { codeFor } from '../../support/protocol.ts'

describe('the consent page of a device', () => {
  test('is shown after a sign-in when the browser has no session', async ({
    tenant,
    browser,
    user,
    newDevice,
    enter,
    poll,
  }) => {
    const device = await newDevice()
    const start = await enter(device)
    expect(start.html).toContain('to continue to')
    const sent = await browser.submit(start, { step: 'email', address: user.email })
    const codePage = { html: await sent.response.text(), path: sent.path }
    const asked = await browser.submit(codePage, { step: 'code', code: await codeFor(user.email) })
    const html = await asked.response.text()
    expect(asked.path).toMatch(/\/consent$/)
    for (const text of ['Living room TV', device.shown, user.email]) expect(html).toContain(text)
    for (const scope of ['openid', 'profile', 'offline_access']) expect(html).toContain(describeScope(scope))
    expect(await poll(device)).toMatchObject({ body: { error: 'authorization_pending' } })
    const { response, path } = await browser.submit({ html, path: asked.path }, { step: 'allow' })
    expect(path).toBe(`/${tenant}/device/approved`)
    expect(await response.text()).toContain('You can go back to your device')
    expect((await poll(device)).status).toBe(200)
  })

  test('is shown to a signed-in user each time, also after an earlier consent (RFC 8628, section 5.4)', async ({
    browser,
    oidc,
    user,
    newDevice,
    enter,
    findStatus,
  }) => {
    await oidc.signIn(browser, user.email)
    for (let round = 0; round < 2; round++) {
      const device = await newDevice()
      const asked = await enter(device)
      expect(asked.path).toMatch(/\/consent$/)
      expect(asked.html).toContain(device.shown)
      expect(await findStatus(device)).toBe('pending')
      await browser.submit(asked, { step: 'allow' })
      expect(await findStatus(device)).toBe('approved')
    }
  })

  test('lists only scopes that the user can grant', async ({
    tenant,
    newClient,
    browser,
    oidc,
    user,
    requestDevice,
  }) => {
    const backoffice = await newClient({ appType: 'native', callbacks: [], scopes: ['users:write'] })
    const { body } = await requestDevice({ scope: 'users:write' }, backoffice)
    await oidc.signIn(browser, user.email)
    const { html } = await enterCode(browser, tenant, body.user_code as string)
    expect(html).not.toContain(describeScope('users:write'))
    expect(html).toContain('It does not ask for anything from your account.')
  })

  test('offers to sign in as another user, who then decides', async ({
    tenant,
    newPerson,
    browser,
    oidc,
    tv,
    user,
    newDevice,
    enter,
    poll,
  }) => {
    const grace = await newPerson()
    const other = grace.email
    await oidc.signIn(browser, user.email)
    const device = await newDevice()
    const asked = await enter(device)
    const login = await browser.submit(asked, { step: 'switch' })
    const emailPage = { html: await login.response.text(), path: login.path }
    const sent = await browser.submit(emailPage, { step: 'email', address: other })
    const codePage = { html: await sent.response.text(), path: sent.path }
    const again = await browser.submit(codePage, { step: 'code', code: await codeFor(other) })
    const html = await again.response.text()
    expect(html).toContain(other)
    await browser.submit({ html, path: again.path }, { step: 'allow' })
    await poll(device)
    expect(await dbFor(tenant).grant.findMany({ where: { tenantId: tenant } })).toMatchObject([
      { userId: grace.id, clientId: tv.id },
    ])
  })

  test('rejects a second decision; the result pages can be reloaded', async ({
    tenant,
    browser,
    oidc,
    user,
    newDevice,
    enter,
    findStatus,
    openPage,
  }) => {
    await oidc.signIn(browser, user.email)
    const device = await newDevice()
    const asked = await enter(device)
    await browser.submit(asked, { step: 'allow' })
    expect((await browser.submit(asked, { step: 'deny' })).response.status).toBe(410)
    expect(await findStatus(device)).toBe('approved')
    for (const end of ['approved', 'denied'])
      expect((await openPage(`/${tenant}/device/${end}`)).status).toBe(200)
  })

  test('accepts the first decision of two browsers that entered the same code', async ({
    newPerson,
    newBrowser,
    browser,
    oidc,
    user,
    newDevice,
    enter,
    poll,
  }) => {
    const other = newBrowser()
    const { email } = await newPerson()
    await oidc.signIn(browser, user.email)
    await oidc.signIn(other, email)
    const device = await newDevice()
    const [mine, theirs] = [await enter(device), await enter(device, other)]
    await browser.submit(mine, { step: 'deny' })
    const late = await other.submit(theirs, { step: 'allow' })
    expect(late.response.status).toBe(410)
    expect(await late.response.text()).toContain('Start again on your device')
    expect(await poll(device)).toMatchObject({ body: { error: 'access_denied' } })
  })

  test('rejects an approval of an expired code', async ({
    browser,
    oidc,
    user,
    newDevice,
    enter,
    findStatus,
    changeRow,
  }) => {
    await oidc.signIn(browser, user.email)
    const device = await newDevice()
    const asked = await enter(device)
    await changeRow(device, { expiresAt: new Date() })
    expect((await browser.submit(asked, { step: 'allow' })).response.status).toBe(410)
    expect(await findStatus(device)).toBe('pending')
  })

  test('shows an error page when the client is deleted or may no longer use the device grant', async ({
    tenant,
    browser,
    oidc,
    tv,
    user,
    newDevice,
    enter,
    openPage,
  }) => {
    await oidc.signIn(browser, user.email)
    const asked = await enter(await newDevice())
    await updateClient(createPlatformCtx(tenant), tv.id, {
      appType: 'single-page',
      callbacks: ['https://spa.example.com/cb'],
    } as never)
    expect((await openPage(asked.path)).status).toBe(400)
    await deleteClient(createPlatformCtx(tenant), tv.id)
    expect((await openPage(asked.path)).status).toBe(410)
    expect(await dbFor(tenant).deviceCode.count({ where: { tenantId: tenant } })).toBe(0)
  })
})
