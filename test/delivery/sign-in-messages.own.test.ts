import { beforeEach, describe, expect, vi } from 'vitest'
import { openLocations } from '../../src/core/network/ip-location.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { sendPasscode } from '../../src/passcodes/send-passcode.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createUser } from '../../src/users/users.ts'
import { test as base, openPage } from '../support/hosted-pages.ts'
import { lastMail, lastText } from '../support/message-servers.ts'
import { csrfIn } from '../support/page-browser.ts'

const servers = await vi.hoisted(async () => {
  const { usePlace } = await import('../support/places.ts')
  usePlace('Zurich', 'Switzerland', 'CH')
  return (await import('../support/message-servers.ts')).startMessageServers()
})

const CHROME_ON_LINUX =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

/** With the code that a browser requests on the hosted pages of tenant Acme, to sign in to a client. */
const test = base.extend(
  'requestCode',
  ({ ctx, oidc, newClient, newBrowser }) =>
    async (address: string, clientName: string) => {
      await updateSettings(ctx, { friendlyName: 'Acme', logoUrl: 'https://acme.example/logo.png' })
      const browser = newBrowser()
      const { path, html } = await openPage(
        browser,
        oidc.authorizePath({}, await newClient({ name: clientName })),
      )
      const form = { csrf: csrfIn(html), step: 'email', address }
      await browser.post(path, form, { 'user-agent': CHROME_ON_LINUX })
      await awaitDeliveries()
    },
)

// The app sets the renderer of mails.
test.beforeAll(({ app: _ }) => openLocations())
beforeEach(() => servers.reset())

describe('the message with the code of a sign-in', () => {
  test('names the client, the browser, the place and the time, and has the code in its subject', async ({
    person,
    requestCode,
  }) => {
    await requestCode(person.email, 'Portal')
    const { subject, text = '', html = '' } = lastMail(servers).email
    const code = /^\d{6}/.exec(subject ?? '')?.[0] ?? 'none'
    expect(subject).toBe(`${code} is your code for Portal (Acme)`)
    expect(text).toContain('Enter this code to sign in to Portal with your account at Acme:')
    expect(text).toMatch(
      /^Application: Portal\nBrowser: Chrome on Linux\nNear: Zurich, Switzerland\nTime: \w+ \d+, \d{4} at \d+:\d\d [AP]M UTC$/m,
    )
    expect(html).toContain('<bdi>Chrome on Linux</bdi>')
    expect(html).toContain('src="https://acme.example/logo.png"')
  })

  test('makes no link of the name of a client and no line of its line breaks', async ({
    person,
    requestCode,
  }) => {
    await requestCode(person.email, 'https://evil.example/a\n\u202ebank.example\n@evil.example #000000')
    const { text = '', html = '' } = lastMail(servers).email
    expect(`${text}${html}`).not.toMatch(/evil\.example|bank\.example|:\/\/evil|\u202e/)
    expect(text).toMatch(/to sign in to https: \/\/evil\. example\/a bank\. example @evil\. example/)
  })

  test('ends with the host and the code when it is a text message', async ({ ctx, requestCode }) => {
    const phoneNumber = '+41791234599'
    await createUser(ctx, { phoneNumber, phoneNumberVerified: true })
    await requestCode(phoneNumber, 'Portal')
    const { body } = lastText(servers)
    const code = /^\d{6}/.exec(body)?.[0]
    expect(body.split('\n')).toEqual([
      expect.stringContaining(`${code} is your Acme code to sign in to Portal. If this was not you`),
      `@localhost #${code}`,
    ])
  })

  test('names no host, client or browser when it was requested through the management API', async ({
    ctx,
    email,
  }) => {
    await updateSettings(ctx, { friendlyName: 'Acme' })
    await sendPasscode(ctx, 'sms', { to: '+41791234598', createUser: true })
    expect(lastText(servers).body).toMatch(
      /^\d{6} is your code for Acme\. It can be used once and expires in 10 minutes\.$/,
    )
    await sendPasscode(ctx, 'email', { to: email('api'), createUser: true })
    expect(lastMail(servers).email.text).not.toMatch(/Browser|sign in/)
  })
})
