import { createHash } from 'node:crypto'
import { H3 } from 'h3'
import { describe, expect, test } from 'vitest'
import '../../src/core/crypto.ts'
import { STYLESHEET, STYLESHEET_PATH } from '../../src/pages/assets/stylesheet.ts'
import { ErrorPage } from '../../src/pages/parts/outcome.pages.tsx'
import { renderPage } from '../../src/pages/render-page.pages.tsx'
import { addAssetRoutes } from '../../src/server/assets.routes.ts'
import { EmailPage, interaction, pagesWith, renderHtml } from '../support/pages.tsx'

const emailPage = pagesWith('Ada').email

describe('renderPage', () => {
  test('returns exactly the security headers of a hosted page', () => {
    const response = renderPage(<ErrorPage title="No" message="Not this way." requestId="r-1" />, {
      status: 400,
    })
    expect(response.status).toBe(400)
    expect(Object.fromEntries(response.headers)).toEqual({
      'cache-control': 'no-store',
      'content-language': 'en',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      vary: 'Accept-Encoding, Accept-Language, Cookie',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
  })

  test('allows the style of the theme by its hash, and the script of its form', async () => {
    const client = { name: 'Photo Shop', themeColor: '#0F766E' }
    const response = renderPage(
      <EmailPage tenant={{ tenantId: 'acme' }} client={client} interaction={interaction} />,
    )
    const style = /<style>(.*?)<\/style>/.exec(await response.text())?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(style).toContain('--accent:#0f766e;--on-accent:#ffffff')
    expect(response.headers.get('content-security-policy')).toBe(
      `default-src 'none'; script-src 'self'; style-src 'self' 'sha256-${hash}'; img-src 'self' data:; ` +
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    )
  })

  test('applies the theme of the client whether the component is called or created', async () => {
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

  test('does not restrict where a form leads when it may lead to a client, whose redirects browsers would block', () => {
    const policy = renderPage(emailPage, { leadsElsewhere: true }).headers.get('content-security-policy')
    expect(policy).not.toContain('form-action')
    expect(policy).toMatch(/^default-src 'none'.*frame-ancestors 'none'; base-uri 'none'$/)
  })

  // URLs allow these characters in a host. Of two directives with one name the first applies.
  test.each(['https://rp.example;frame-ancestors', 'https://rp.example,x', 'https://*', "https://'self'"])(
    'adds no directive for the host of %s in a frame ancestor',
    (origin) => {
      const policy =
        renderPage(emailPage, { frameAncestor: origin }).headers.get('content-security-policy') ?? ''
      expect(policy).toContain("; form-action 'self'; frame-ancestors 'none'; base-uri")
      expect(policy.split(/[;,]/)).toHaveLength(7)
    },
  )

  test.each([
    'red',
    'url(https://evil.example)',
    '#12345',
    '#fff;}body{display:none}',
    '</style><script>',
    '',
  ])('ignores the theme color %j', async (themeColor) => {
    const response = renderPage(
      <EmailPage
        tenant={{ tenantId: 'acme' }}
        client={{ name: 'Photo Shop', themeColor }}
        interaction={interaction}
      />,
    )
    expect(response.headers.get('content-security-policy')).toContain("style-src 'self';")
    expect(await response.text()).not.toContain('<style')
  })
})

describe('the stylesheet', () => {
  const app = new H3()
  addAssetRoutes(app)

  test('is served under a hash of its content as immutable', async () => {
    const response = await app.request(STYLESHEET_PATH)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe(STYLESHEET)
    expect(STYLESHEET_PATH).toBe(
      `/assets/${createHash('sha256').update(STYLESHEET).digest('hex').slice(0, 16)}.css`,
    )
    expect(Object.fromEntries(response.headers)).toEqual({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/css; charset=utf-8',
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff',
    })
  })

  test('is linked by pages', async () => {
    expect(await renderHtml(emailPage)).toContain(`<link rel="stylesheet" href="${STYLESHEET_PATH}"`)
  })

  test('has less than 10 KB, and animates no navigation for those who want less motion', () => {
    expect(Buffer.byteLength(STYLESHEET)).toBeLessThan(10_000)
    expect(STYLESHEET).toContain('no-preference){@view-transition{navigation:auto}')
  })

  test('prints no buttons and no menu', () => {
    expect(STYLESHEET).toContain('@media print{.support,button,.button{display:none}}')
  })

  test('loads no other resource and uses logical properties only', () => {
    expect(STYLESHEET).not.toMatch(/url\(|@import/)
    expect(STYLESHEET).not.toMatch(
      /[;{\s](margin|padding|border)-(left|right)|text-align:(left|right)|[;{](left|right|width|height):/,
    )
  })
})
