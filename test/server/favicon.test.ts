import { describe, expect } from 'vitest'
import { updateSettings } from '../../src/tenants/settings.ts'
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
