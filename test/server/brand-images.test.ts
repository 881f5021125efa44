import { describe, expect } from 'vitest'
import { loadMessageTenant } from '../../src/access/message-tenant.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { PNG, toDataUrl } from '../support/images.ts'
import { test } from '../support/tenant-per-test.ts'

describe('the icon of browser tabs', () => {
  test('has the initial and the color of the tenant', async ({ tenant, ctx, app }) => {
    await updateSettings(ctx, { friendlyName: 'zoë', themeColor: '#c00000' })
    const response = await fetch(`${app.origin}/${tenant}/favicon.svg`)
    expect(response.headers.get('content-type')).toBe('image/svg+xml')
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*sandbox$/)
    const svg = await response.text()
    expect(svg).toContain('rect{fill:#c00000}')
    expect(svg).toMatch(/>Z<\/text><\/svg>$/)
    const head = await fetch(`${app.origin}/${tenant}/favicon.svg`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  test('exists for pages of no tenant, and for no unknown tenant', async ({ app }) => {
    expect((await fetch(`${app.origin}/favicon.svg`)).status).toBe(200)
    expect((await fetch(`${app.origin}/nobody/favicon.svg`)).status).toBe(404)
  })
})

describe('an image that a tenant sets as a data URL', () => {
  const logo = toDataUrl('png', PNG)

  test('is served as what it is, to be cached while it is the same', async ({ tenant, ctx, app }) => {
    await updateSettings(ctx, { logoUrl: logo })
    const html = await (await fetch(`${app.origin}/${tenant}/account`)).text()
    const path = new RegExp(`src="(/${tenant}/brand/logo\\?v=[0-9a-f]{16})"`).exec(html)?.[1]
    expect(html).not.toContain('data:image')
    const response = await fetch(`${app.origin}${path}`)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; .*sandbox$/),
      'x-content-type-options': 'nosniff',
    })
    expect(Buffer.from(await response.arrayBuffer())).toEqual(PNG)
    const former = await fetch(`${app.origin}/${tenant}/brand/logo?v=0000000000000000`)
    expect(former.headers.get('cache-control')).toBe('public, max-age=60')
  })

  test('is linked from mails by its URL at this server', async ({ tenant, ctx }) => {
    await updateSettings(ctx, { logoUrl: logo, darkLogoUrl: 'https://acme.example/dark.png' })
    const { logoUrl, darkLogoUrl } = await loadMessageTenant(tenant)
    expect(logoUrl).toMatch(new RegExp(`^http://localhost:3000/${tenant}/brand/logo\\?v=[0-9a-f]{16}$`))
    expect(darkLogoUrl).toBe('https://acme.example/dark.png')
  })

  test('does not exist where another URL or nothing is set', async ({ tenant, ctx, app }) => {
    await updateSettings(ctx, { logoUrl: 'https://acme.example/logo.png' })
    for (const name of ['logo', 'logo-dark', 'favicon', 'logoUrl', 'constructor'])
      expect((await fetch(`${app.origin}/${tenant}/brand/${name}`)).status).toBe(404)
  })
})
