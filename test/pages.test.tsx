import { createHash } from 'node:crypto'
import { H3 } from 'h3'
import { describe, expect, it } from 'vitest'
import { STYLESHEET, STYLESHEET_PATH } from '../src/assets/stylesheet.ts'
import { addAssetRoutes } from '../src/assets.routes.ts'
import { SCOPE_NAMES } from '../src/ctx.ts'
import { DemoClientPage } from '../src/dev/demo-client.pages.tsx'
import { InboxPage } from '../src/dev/inbox.pages.tsx'
import { ErrorPage } from '../src/oidc/pages/outcome.pages.tsx'
import { renderPage } from '../src/oidc/pages/render-page.pages.tsx'
import { ConsentPage } from '../src/oidc/signin/consent.pages.tsx'
import { asksOf, wordsOf } from '../src/oidc/signin/scope-words.ts'
import { CodePage, EmailPage, waitWords } from '../src/oidc/signin/signin.pages.tsx'
import { htmlOf, interaction, pagesWith, tagsOf } from './support/pages.tsx'

const emailPage = pagesWith('Ada').email

describe('the response of every page', () => {
  it('has exactly the headers that a hosted page needs', () => {
    const response = renderPage(<ErrorPage title="No" message="Not this way." requestId="r-1" />, {
      status: 400,
    })
    expect(response.status).toBe(400)
    expect(Object.fromEntries(response.headers)).toEqual({
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; img-src https: data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
  })

  it("admits the theme's style by its hash and the redirect_uri's origin as a form's end", async () => {
    const client = { name: 'Photo Shop', themeColor: '#0F766E' }
    const response = renderPage(
      <EmailPage tenant={{ tenantId: 'acme' }} client={client} interaction={interaction} />,
      {
        formActionOrigins: [
          'https://photo.example/callback?x=1',
          'https://photo.example/other',
          'http://127.0.0.1:8080/cb',
        ],
      },
    )
    const style = /<style>(.*?)<\/style>/.exec(await response.text())?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(style).toContain('--accent:#0f766e;--on-accent:#ffffff')
    expect(response.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'self' 'sha256-${hash}'; img-src https: data:; ` +
        "form-action 'self' https://photo.example http://127.0.0.1:8080; frame-ancestors 'none'; base-uri 'none'",
    )
  })

  it('has the theme of the client whether the component is called or created', async () => {
    const props = {
      tenant: { tenantId: 'acme' },
      client: { name: 'Photo Shop', themeColor: '#123456' },
      interaction,
    }
    const created = renderPage(<EmailPage {...props} />)
    const called = renderPage(EmailPage(props))
    expect(await called.text()).toBe(await created.text())
    expect(called.headers.get('content-security-policy')).toBe(created.headers.get('content-security-policy'))
    expect(called.headers.get('content-security-policy')).toContain("style-src 'self' 'sha256-")
  })

  it.each([
    ['com.example.app:/callback', 'com.example.app:'],
    ['http://[::1]:9000/cb', 'http:'],
    ["https://photo.example/; script-src 'unsafe-inline'", 'https://photo.example'],
  ])('writes %s into form-action as %s', (target, source) => {
    const policy = renderPage(emailPage, { formActionOrigins: [target] }).headers.get(
      'content-security-policy',
    )
    expect(policy).toContain(`; form-action 'self' ${source}; frame-ancestors`)
    expect(policy?.split(';')).toHaveLength(6)
  })

  // URLs admit these letters in a host. Of two directives of one name the first counts.
  it.each(['https://rp.example;frame-ancestors', 'https://rp.example,x', 'https://*', "https://'self'"])(
    'security 6, 10: the host of %s adds nothing to the policy, of a form or of a frame',
    (origin) => {
      const options = { formActionOrigins: [`${origin}/cb`, 'https://evil.example'], frameAncestor: origin }
      const policy = renderPage(emailPage, options).headers.get('content-security-policy') ?? ''
      expect(policy).toContain("; form-action 'self' https://evil.example; frame-ancestors 'none'; base-uri")
      expect(policy.split(/[;,]/)).toHaveLength(6)
    },
  )

  it('leaves out what is no URL', () => {
    const policy = renderPage(emailPage, {
      formActionOrigins: ["'unsafe-inline' *"],
    }).headers.get('content-security-policy')
    expect(policy).toContain("; form-action 'self'; frame-ancestors")
  })

  it.each(['red', 'url(https://evil.example)', '#12345', '#fff;}body{display:none}', '</style><script>', ''])(
    'ignores the theme colour %j',
    async (themeColor) => {
      const response = renderPage(
        <EmailPage
          tenant={{ tenantId: 'acme' }}
          client={{ name: 'Photo Shop', themeColor }}
          interaction={interaction}
        />,
      )
      expect(response.headers.get('content-security-policy')).toContain("style-src 'self';")
      expect(await response.text()).not.toContain('<style')
    },
  )
})

describe('what the pages say', () => {
  const tenant = { tenantId: 'acme', friendlyName: 'Acme Cloud', supportUrl: 'https://acme.example/help' }
  const client = { name: 'Photo Shop' }
  const textOf = (html: string): string => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')

  it('the e-mail page takes an address for its input, keeps what was entered and announces what is wrong', async () => {
    const html = await htmlOf(
      <EmailPage {...{ tenant, client, interaction }} address="ada@" fault="Enter an email address." />,
    )
    expect(tagsOf(html).find((tag) => tag.attributes.id === 'address')?.attributes).toEqual({
      id: 'address',
      name: 'address',
      type: 'email',
      inputmode: 'email',
      autocomplete: 'email',
      autocapitalize: 'none',
      spellcheck: 'false',
      dir: 'auto',
      required: '',
      autofocus: '',
      value: 'ada@',
      'aria-invalid': 'true',
      'aria-describedby': 'address-fault address-hint',
    })
    expect(html).toContain('<p class="fault" id="address-fault" role="alert">Enter an email address.</p>')
    expect(html).toContain('<title>Error: Sign in · Acme Cloud</title>')
    expect(html).toContain('<a href="https://acme.example/help"')
  })

  it('the code page never says whether the address is known, and offers a new code and another address', async () => {
    const html = await htmlOf(<CodePage {...{ tenant, client, interaction }} address="ada@example.com" />)
    expect(textOf(html)).toContain('If ada@example.com can sign in, a code is on its way.')
    const input = tagsOf(html).find((tag) => tag.attributes.id === 'code')?.attributes
    expect(input).toMatchObject({
      inputmode: 'numeric',
      autocomplete: 'one-time-code',
      type: 'text',
      name: 'code',
    })
    const steps = tagsOf(html).filter((tag) => tag.attributes.name === 'step')
    expect(steps.map((tag) => tag.attributes.value)).toEqual(['code', 'resend', 'restart'])
  })

  it('when a new code can be had stands with the button that asks for one', async () => {
    const resendAllowedAt = new Date(Date.now() + 20_000)
    const props = { tenant, client, interaction, address: 'ada@example.com', resendAllowedAt }
    const html = await htmlOf(<CodePage {...props} />)
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
  it.each([
    [undefined, null],
    ['2029-12-31T23:59:59.000Z', null],
    ['2030-01-01T00:00:00.001Z', '1 second'],
    ['2030-01-01T00:00:30.000Z', '30 seconds'],
    ['2030-01-01T00:01:31.000Z', '2 minutes'],
    ['2030-01-01T01:00:00.000Z', '60 minutes'],
  ])('a new code allowed at %s is %s away', (at, words) => {
    expect(waitWords(at ? new Date(at) : undefined, now)).toBe(words)
  })

  it('the consent page says who asks for what, of whom, and offers to allow, to deny and to be somebody else', async () => {
    const html = await htmlOf(
      <ConsentPage
        {...{ tenant, client, interaction }}
        person={{ name: 'Ada', email: 'ada@example.com' }}
        asks={asksOf(['openid', 'email', 'openid'])}
      />,
    )
    expect(textOf(html)).toContain('Photo Shop would like to use your Acme Cloud account.')
    expect(textOf(html)).toContain('Signed in as Ada ada@example.com')
    expect(html.match(/<li>/g)).toHaveLength(2)
    const steps = tagsOf(html).filter((tag) => tag.attributes.name === 'step')
    expect(steps.map((tag) => tag.attributes.value)).toEqual(['switch', 'allow', 'deny'])
  })

  it('the error page shows the id of the request', async () => {
    const html = await htmlOf(
      <ErrorPage title="This link does not work" message="Go back." requestId="req-42" />,
    )
    expect(html).toContain('<dl class="reference"><dt>Request ID</dt><dd><code>req-42</code></dd></dl>')
    expect(html).not.toContain('<header')
  })

  it('the inbox shows the code of a message by itself', async () => {
    const sentAt = new Date('2030-01-01T00:00:00Z')
    const html = await htmlOf(
      <InboxPage messages={[{ to: '+41441234567', channel: 'sms', sentAt, body: 'Your code is 012345.' }]} />,
    )
    expect(html).toContain('<code class="message-code">012345</code>')
  })

  it('the demo client says who can sign in, and the empty inbox why nothing may come', async () => {
    const demo = await htmlOf(
      <DemoClientPage
        client={{ name: 'Demo' }}
        signInUrl="/in"
        inboxUrl="/dev/inbox"
        addresses={['ada@demo.example', 'grace@demo.example']}
      />,
    )
    expect(textOf(demo)).toContain(
      'These people can sign in: ada@demo.example , grace@demo.example . Nobody else is sent a code.',
    )
    expect(textOf(await htmlOf(<InboxPage messages={[]} />))).toContain('Codes go to people who exist')
  })

  it.each([
    'openid',
    'profile',
    'email',
    'phone',
    'address',
    'offline_access',
    'session',
    'account',
    ...SCOPE_NAMES,
  ])('scope %s is put in plain words', (scope) => {
    expect(wordsOf(scope)).toMatch(/^[A-Z][^_:]+$/)
  })

  it('a scope that nobody described is shown by its name', () => {
    expect(asksOf(['print', 'constructor', 'print'])).toEqual([
      { scope: 'print', words: 'Use “print”' },
      { scope: 'constructor', words: 'Use “constructor”' },
    ])
  })
})

describe('the stylesheet', () => {
  const app = new H3()
  addAssetRoutes(app)

  it('is served under a hash of its content, to be kept for ever', async () => {
    const response = await app.request(STYLESHEET_PATH)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(STYLESHEET)
    expect(STYLESHEET_PATH).toBe(
      `/assets/${createHash('sha256').update(STYLESHEET).digest('hex').slice(0, 16)}.css`,
    )
    expect(Object.fromEntries(response.headers)).toEqual({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/css; charset=utf-8',
      'x-content-type-options': 'nosniff',
    })
  })

  it('is what pages link to', async () => {
    expect(await htmlOf(emailPage)).toContain(`<link rel="stylesheet" href="${STYLESHEET_PATH}"`)
  })

  it('loads nothing from elsewhere and knows no left and right', () => {
    expect(STYLESHEET).not.toMatch(/url\(|@import/)
    expect(STYLESHEET).not.toMatch(
      /[;{\s](margin|padding|border)-(left|right)|text-align:(left|right)|[;{](left|right|width|height):/,
    )
  })
})
