import { describe, expect, test } from 'vitest'
import { SessionsPage } from '../../src/account/pages/sessions.pages.tsx'
import { NewRecoveryCodesPage } from '../../src/account/pages/sign-in/authenticator-app.pages.tsx'
import { describeScope, listConsentItems, toScopeConsentItems } from '../../src/consents/consent-items.ts'
import { SCOPE_NAMES } from '../../src/core/scopes.ts'
import { DemoClientPage } from '../../src/dev/demo-client.pages.tsx'
import { InboxPage } from '../../src/dev/development.pages.tsx'
import { getWords } from '../../src/languages/translations.ts'
import { ConsentPage } from '../../src/oidc/signin/consent.pages.tsx'
import { CodePage } from '../../src/oidc/signin/passcode/code.pages.tsx'
import { formatWaitUntil } from '../../src/oidc/signin/step/input-rejection-texts.ts'
import { ErrorPage } from '../../src/pages/parts/outcome.pages.tsx'
import { EmailPage, interaction, listTags, pagesWith, renderHtml } from '../support/pages.tsx'

describe('a hosted page', () => {
  const tenant = { tenantId: 'acme', friendlyName: 'Acme Cloud', supportUrl: 'https://acme.example/help' }
  const client = { name: 'Photo Shop' }
  const textOf = (html: string): string => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')

  test('for the email address keeps the entered address and announces its error', async () => {
    const html = await renderHtml(
      <EmailPage
        {...{ tenant, client, interaction }}
        channels={['email']}
        address="ada@"
        error="Enter an email address."
      />,
    )
    expect(listTags(html).find((tag) => tag.attributes.id === 'address')?.attributes).toEqual({
      id: 'address',
      name: 'address',
      type: 'email',
      inputmode: 'email',
      autocomplete: 'username webauthn',
      autocapitalize: 'none',
      spellcheck: 'false',
      dir: 'auto',
      required: '',
      autofocus: '',
      value: 'ada@',
      'aria-invalid': 'true',
      'aria-describedby': 'address-error address-hint',
    })
    expect(html).toContain('<p class="error" id="address-error" role="alert">Enter an email address.</p>')
    expect(html).toContain('<title>Error: Sign in · Acme Cloud</title>')
    expect(html).toContain('<a href="https://acme.example/help"')
  })

  test('for the code does not reveal whether the address is known, and offers a new code and another address', async () => {
    const html = await renderHtml(<CodePage {...{ tenant, client, interaction }} address="ada@example.com" />)
    expect(textOf(html)).toContain('If ada@example.com can sign in, a code is on its way.')
    const input = listTags(html).find((tag) => tag.attributes.id === 'code')?.attributes
    expect(input).toMatchObject({
      inputmode: 'numeric',
      autocomplete: 'one-time-code',
      type: 'text',
      name: 'code',
    })
    const steps = listTags(html).filter((tag) => tag.attributes.name === 'step')
    expect(steps.map((tag) => tag.attributes.value)).toEqual(['code', 'resend', 'restart', 'cancel'])
  })

  test('for the code of a phone number shows it in its international form, with a way to change it', async () => {
    const html = await renderHtml(<CodePage {...{ tenant, client, interaction }} address="+41791234567" />)
    expect(textOf(html)).toContain('If +41 79 123 45 67 can sign in, a code is on its way.')
    expect(textOf(html)).toContain('Wrong number? Change it')
    expect(html).not.toContain('spam')
  })

  test('for the code shows the wait for a new code next to its button', async () => {
    const resendAllowedAt = new Date(Date.now() + 20_000)
    const props = { tenant, client, interaction, address: 'ada@example.com', resendAllowedAt }
    const html = await renderHtml(<CodePage {...props} />)
    const order = [
      'aria-describedby="resend-wait"',
      'Send a new code',
      'id="resend-wait"',
      'Use another address',
    ]
    const places = order.map((part) => html.indexOf(part))
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(places).not.toContain(-1)
  })

  const now = new Date('2030-01-01T00:00:00.000Z')
  test.each([
    [undefined, null],
    ['2029-12-31T23:59:59.000Z', null],
    ['2030-01-01T00:00:00.001Z', '1 second'],
    ['2030-01-01T00:00:30.000Z', '30 seconds'],
    ['2030-01-01T00:01:31.000Z', '2 minutes'],
    ['2030-01-01T01:00:00.000Z', '60 minutes'],
    ['2030-01-02T00:00:00.000Z', '24 hours'],
  ])('for the code shows the wait until %s as %s', (at, words) => {
    expect(formatWaitUntil(at ? new Date(at) : undefined, now, getWords('en'))).toBe(words)
  })

  test('for consent names the client, the user and the scopes, and offers to allow, deny and switch accounts', async () => {
    const html = await renderHtml(
      <ConsentPage
        {...{ tenant, client, interaction }}
        person={{ name: 'Ada', email: 'ada@example.com' }}
        consentItems={listConsentItems(['openid', 'email', 'openid'], [])}
      />,
    )
    expect(textOf(html)).toContain('Photo Shop would like to use your Acme Cloud account.')
    expect(textOf(html)).toContain('Signed in as Ada ada@example.com')
    expect(html.match(/<li>/g)).toHaveLength(2)
    const steps = listTags(html).filter((tag) => tag.attributes.name === 'step')
    expect(steps.map((tag) => tag.attributes.value)).toEqual(['switch', 'allow', 'deny'])
  })

  test('for consent sets apart what changes the account or lasts, and names where the user continues', async () => {
    const renderConsent = (scopes: string[]) =>
      renderHtml(
        <ConsentPage
          {...{ tenant, client, interaction, person: {} }}
          consentItems={listConsentItems(scopes, ['birthdate'])}
          destination={{ place: 'photos.example', isOnDevice: false, isOther: false }}
        />,
      )
    const html = await renderConsent(['openid', 'account', 'offline_access', 'users:write'])
    const [plain = '', sensitive = ''] = html.split('id="sensitive-asks"')
    expect(plain).toContain(describeScope('openid'))
    for (const scope of ['account', 'offline_access', 'users:write']) {
      expect(sensitive).toContain(describeScope(scope))
      expect(plain).not.toContain(describeScope(scope))
    }
    expect(textOf(html)).toContain('You continue at photos.example . If you deny')
    expect(await renderConsent(['openid', 'email'])).not.toContain('sensitive')
  })

  test('with recovery codes shows them from left to right in every language', async () => {
    const html = await renderHtml(<NewRecoveryCodesPage tenant={tenant} codes={['2345-6789-abcd-ef01']} />)
    expect(html).toContain(
      '<ul class="recovery-codes" dir="ltr"><li><code>2345-6789-abcd-ef01</code></li></ul>',
    )
  })

  test('for sessions shows the place and the IP address apart', async () => {
    const at = new Date('2026-11-23T06:58:00Z')
    const session = { id: 's', title: 'Firefox', isCurrent: true, lastSeenAt: at, startedAt: at, apps: [] }
    const show = async (place: string | null, ip: string | null) =>
      (
        await renderHtml(
          <SessionsPage
            {...{ tenant, form: interaction, timeZone: null, hasMore: false }}
            sessions={[{ ...session, place, ip }]}
          />,
        )
      )
        .match(/<dd>(?:(?!<dd>).)*<\/dd>(?=<\/dl>)/)?.[0]
        .replace(/<(?!br)[^>]*>/g, '')
    expect(await show('Zurich', '203.0.113.7')).toBe('Zurich<br/>IP 203.0.113.7')
    expect(await show(null, '203.0.113.7')).toBe('IP 203.0.113.7')
    expect(await show('Zurich', null)).toBe('Zurich')
  })

  test('for an error shows the id of the request', async () => {
    const html = await renderHtml(
      <ErrorPage title="This link does not work" message="Go back." requestId="req-42" />,
    )
    expect(html).toContain('<dl class="reference"><dt>Request ID</dt><dd><code>req-42</code></dd></dl>')
    expect(html).not.toContain('<header')
  })

  test('for the inbox shows the code of a message separately', async () => {
    const sentAt = new Date('2030-01-01T00:00:00Z')
    const html = await renderHtml(
      <InboxPage
        messages={[{ id: '1', to: '+41441234567', channel: 'sms', sentAt, body: 'Your code is 012345.' }]}
      />,
    )
    expect(html).toContain('<code class="message-code">012345</code>')
  })

  test('for the demo client names its users, and for an empty inbox says which users receive codes', async () => {
    const demo = await renderHtml(
      <DemoClientPage
        client={{ name: 'Demo' }}
        signInUrl="/in"
        inboxUrl="/dev/inbox"
        addresses={['ada@demo.example', 'grace@demo.example']}
      />,
    )
    expect(textOf(demo)).toContain(
      'These users can sign in: ada@demo.example , grace@demo.example . Codes are sent only to them.',
    )
    expect(textOf(await renderHtml(<InboxPage messages={[]} />))).toContain(
      'Codes go only to users who exist',
    )
  })

  test.each([
    'openid',
    'profile',
    'email',
    'phone',
    'address',
    'offline_access',
    'session',
    'account',
    ...SCOPE_NAMES,
  ])('for consent describes scope %s in words', (scope) => {
    expect(describeScope(scope)).toMatch(/^[A-Z][^_:]+$/)
  })

  test('for consent shows an unknown scope by its name', () => {
    expect(toScopeConsentItems(['print', 'constructor', 'print'])).toEqual([
      { scope: 'print', words: 'Use “print”' },
      { scope: 'constructor', words: 'Use “constructor”' },
    ])
  })
})

/** Pages whose link is the URL that they are given, and those whose script has the button. */
const OTHER_WAYS = ['start', 'transfer', 'upstreamLogout', 'enrollment', 'web-message']
const PAGES = Object.entries(pagesWith('Acme')).filter(([name]) => !OTHER_WAYS.includes(name))

describe('each page', () => {
  test.for(PAGES)('%s has a way on', async ([, page]) => {
    const main = (await renderHtml(page)).split('<main')[1]?.split('</main>')[0]
    expect(main).toMatch(/<a [^>]*href="|<button [^>]*type="submit"/)
  })
})
