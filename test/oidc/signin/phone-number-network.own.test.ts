import { beforeEach, describe, expect, vi } from 'vitest'
import { openLocations } from '../../../src/core/network/ip-location.ts'
import { awaitDeliveries } from '../../../src/delivery/background.ts'
import { createUser } from '../../../src/users/users.ts'
import { openPage, test } from '../../support/hosted-pages.ts'
import { lastText } from '../../support/message-servers.ts'

const servers = await vi.hoisted(async () => {
  const { usePlace } = await import('../../support/places.ts')
  usePlace('Zurich', 'Switzerland', 'CH')
  return (await import('../../support/message-servers.ts')).startMessageServers()
})

test.beforeAll(({ app: _ }) => openLocations())
beforeEach(() => servers.reset())

describe('a phone number in national form', () => {
  test('is understood by the country of the network before the language of the browser', async ({
    ctx,
    oidc,
    newBrowser,
  }) => {
    await createUser(ctx, { phoneNumber: '+41791234567', phoneNumberVerified: true })
    const browser = newBrowser()
    const page = await openPage(browser, oidc.authorizePath({ ui_locales: 'de-DE' }))
    const { response } = await browser.submit(page, { step: 'email', address: '079 123 45 67' })
    expect(await response.text()).toContain('+41 79 123 45 67')
    await awaitDeliveries()
    expect(lastText(servers).to).toBe('+41791234567')
  })
})
