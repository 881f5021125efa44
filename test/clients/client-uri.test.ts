import { describe, expect } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { test } from '../support/fixtures.ts'
import { authorizePath, signInAt } from '../support/protocol.ts'

const HOME =
  '<a href="https://shop.example" rel="noopener nofollow" target="_blank"><bdi class="given">Shop</bdi></a>'

describe('the clientUri of a client', () => {
  test('is linked by its name on the consent page, and on the page of apps', async ({
    tenant,
    newClient,
    browser,
    person,
  }) => {
    const client = await newClient({ name: 'Shop', clientUri: 'https://shop.example', requireConsent: true })
    const consent = await signInAt(browser, authorizePath(tenant, client), person.email)
    const html = await consent.response.text()
    expect(html).toContain(HOME)
    await browser.submit({ html, path: consent.path }, { step: 'allow' })
    const readApps = async () => (await browser.open(`/${tenant}/account/apps`)).response.text()
    expect(await readApps()).toContain(HOME)
    await updateClient(createPlatformCtx(tenant), client.id, { clientUri: null })
    expect(await readApps()).not.toContain('https://shop.example')
  })
})
