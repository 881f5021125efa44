import type { VNode } from 'preact'
import { describe, expect, test } from 'vitest'
import { renderMail } from '../../src/delivery/mail.pages.tsx'
import { DemoClientPage } from '../../src/dev/demo-client.pages.tsx'
import { InboxPage } from '../../src/dev/development.pages.tsx'
import { DEFAULT_THEME } from '../../src/model/palette.ts'
import { renderFavicon } from '../../src/pages/assets/favicon.ts'
import { buildThemeCss } from '../../src/pages/assets/theme.ts'
import { SignedOutPage } from '../../src/pages/parts/outcome.pages.tsx'
import { mailsWith, messageTenant } from '../support/mails.ts'
import { listTags, pagesWith, renderHtml } from '../support/pages.tsx'

const RED = '#c00000'
const colorsIn = (text: string): string[] => text.match(/#[0-9a-f]{6}\b/gi) ?? []
/** The default color in its shades for both schemes. */
const OURS = [...new Set(colorsIn(buildThemeCss({ themeColor: DEFAULT_THEME }) ?? ''))].filter(
  (color) => !['#ffffff', '#000000'].includes(color),
)
/** Pages of a development server, which belong to no tenant. */
const DEVELOPMENT: unknown[] = [DemoClientPage, InboxPage]

describe('a tenant with a brand', () => {
  const pages = pagesWith('Acme', { themeColor: RED })
  const branded = Object.entries(pages).filter(
    ([name, page]) => !DEVELOPMENT.includes((page as VNode).type) && name !== 'start',
  )

  test('is one of a palette that has shades to look for', () => {
    expect(OURS).toContain(DEFAULT_THEME)
    expect(OURS.length).toBeGreaterThan(2)
    expect(branded.length).toBeGreaterThan(30)
  })

  test.each(branded)('has its color and none of ours on the page %s', async (_name, page) => {
    const html = await renderHtml(page as VNode)
    expect(html).toContain(`:root{--accent:${RED};--on-accent:#ffffff`)
    expect(html).toContain('<link rel="icon" href="/acme/favicon.svg"')
    expect(colorsIn(html).filter((color) => OURS.includes(color))).toEqual([])
  })

  test.each(Object.keys(mailsWith('')))('has its color and none of ours in the mail %s', (kind) => {
    const mail = mailsWith('Acme', { ...messageTenant, themeColor: RED })[kind]
    const html = mail ? renderMail(mail) : ''
    expect(html).toContain(`background:${RED}`)
    expect(colorsIn(html).filter((color) => OURS.includes(color))).toEqual([])
  })

  test('has its color and none of ours in its icon', () => {
    const icon = renderFavicon('Acme', { themeColor: RED })
    expect(icon).toContain(`rect{fill:${RED}}text{fill:#ffffff}`)
    expect(icon).toMatch(/>A<\/text><\/svg>$/)
    expect(colorsIn(icon).filter((color) => OURS.includes(color))).toEqual([])
    expect(renderFavicon('<script>')).toContain('>&lt;</text>')
  })
})

describe('the brand of a page', () => {
  const tenant = { tenantId: 'acme', themeColor: RED, darkThemeColor: '#ff8080' }
  const signedOut = (brand: object, client?: object) =>
    renderHtml(
      <SignedOutPage tenant={{ ...tenant, ...brand }} client={client && { name: 'Portal', ...client }} />,
    )

  test('has a color for each scheme', async () => {
    const [light, dark] = (await signedOut({})).split('@media (prefers-color-scheme:dark)')
    expect(light).toContain(`--accent:${RED};`)
    expect(dark).toContain('--accent:#ff8080;')
  })

  test('has one color in both schemes when only one is set', async () => {
    for (const brand of [{ darkThemeColor: null }, { themeColor: null, darkThemeColor: RED }])
      expect((await signedOut(brand)).match(new RegExp(`--accent:${RED};`, 'g'))).toHaveLength(2)
  })

  test('has the color of a client that has one, and the corners and the font of the tenant', async () => {
    const html = await signedOut({ cornerRadius: 0, font: 'serif' }, { themeColor: '#0a7c66' })
    expect(html).toContain('--accent:#0a7c66;')
    expect(html).not.toContain(RED)
    expect(html).toContain(';--radius:0px;--font:ui-serif,Georgia,')
  })

  test.each([{ themeColor: 'red}body{display:none}' }, { themeColor: '</style>' }, { font: 'x;}</style>' }])(
    'takes nothing but colors and known fonts into the stylesheet from %j',
    async (brand) => {
      const html = await signedOut({ themeColor: null, darkThemeColor: null, ...brand })
      expect(html).not.toMatch(/display:none|<\/style>.*<\/style>/)
    },
  )
})

describe('the marks of a page', () => {
  const logoUrl = 'https://acme.example/logo.png'
  const darkLogoUrl = 'https://acme.example/dark.png'
  const faviconUrl = 'https://acme.example/icon.png'
  const sourcesOn = async (page: VNode) =>
    listTags(await renderHtml(page)).flatMap(({ attributes: { src, srcset } }) => src ?? srcset ?? [])
  const pageOf = (brand: object, client: object) => (
    <SignedOutPage tenant={{ tenantId: 'acme', ...brand }} client={{ name: 'Portal', ...client }} />
  )
  /** A page with the mark of its client. */
  const emailPage = (brand: object, client: object) => {
    const { email } = pagesWith('Acme')
    const { tenant, client: shown, ...props } = email.props
    const Page = email.type as (props: object) => VNode
    return <Page {...props} tenant={{ tenantId: 'acme', ...brand }} client={{ ...shown, ...client }} />
  }

  test('show a logo once when client and tenant have the same', async () => {
    const scripts = [expect.any(String), expect.any(String)]
    expect(await sourcesOn(emailPage({ logoUrl }, { logoUrl }))).toEqual([logoUrl, ...scripts])
    const other = 'https://portal.example/logo.png'
    expect(await sourcesOn(emailPage({ logoUrl }, { logoUrl: other }))).toEqual([logoUrl, other, ...scripts])
  })

  test('have a logo for dark screens', async () => {
    expect(await sourcesOn(pageOf({ logoUrl, darkLogoUrl }, {}))).toEqual([darkLogoUrl, logoUrl])
    expect(await sourcesOn(pageOf({ darkLogoUrl }, {}))).toEqual([darkLogoUrl])
  })

  test('have the icon of the tenant', async () => {
    expect(await renderHtml(pageOf({ faviconUrl }, {}))).toContain(`<link rel="icon" href="${faviconUrl}"`)
    const unsafe = await renderHtml(pageOf({ faviconUrl: 'javascript:alert(1)' }, {}))
    expect(unsafe).toContain('<link rel="icon" href="/acme/favicon.svg"')
  })
})
