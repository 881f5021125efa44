import { beforeEach, describe, expect, vi } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { listPasscodeChannels } from '../../../src/passcodes/passcode-channels.ts'
import { getSettings, updateSettings } from '../../../src/tenants/settings.ts'
import { dbFor } from '../../support/database.ts'
import { openPage, test } from '../../support/hosted-pages.ts'

const servers = await vi.hoisted(async () => {
  const started = await (await import('../../support/message-servers.ts')).startMessageServers()
  process.env.NODE_ENV = 'production'
  delete process.env.SMS_URL
  return started
})
beforeEach(() => servers.reset())

describe('a deployment without SMS_URL', () => {
  test('asks for an e-mail address only, and accepts no number', async ({ browser, oidc }) => {
    const page = await openPage(browser, oidc.authorizePath())
    expect(page.html).toContain('<label for="address">Email address</label>')
    const { response, path } = await browser.submit(page, { step: 'email', address: '+41791234567' })
    expect(path).not.toMatch(/\/code$/)
    expect(await response.text()).toContain('Enter an email address, such as you@example.com.')
  })

  test('does not let a tenant exclude e-mail', async ({ tenant }) => {
    const ctx = createPlatformCtx(tenant)
    await expect(updateSettings(ctx, { passcodeChannels: ['sms'] })).rejects.toMatchObject({
      fields: [{ field: 'passcodeChannels', description: expect.stringContaining('SMS_URL') }],
    })
    expect((await getSettings(ctx)).passcodeChannels).toEqual(['email', 'sms'])
  })

  test('answers every number alike in a tenant that excluded e-mail before', async ({
    tenant,
    browser,
    oidc,
  }) => {
    await dbFor(tenant).tenant.update({ where: { tenantId: tenant }, data: { passcodeChannels: ['sms'] } })
    expect(listPasscodeChannels({ passcodeChannels: ['sms'] })).toEqual(['sms'])
    await vi.waitFor(
      async () =>
        expect((await openPage(browser, oidc.authorizePath())).html).toContain('>Phone number</label>'),
      { timeout: 3000 },
    )
    const page = await openPage(browser, oidc.authorizePath())
    const { response } = await browser.submit(page, { step: 'email', address: '+41791234567' })
    expect(response.status).toBe(503)
    expect(await response.text()).toContain('Text messages are not configured.')
  })
})
