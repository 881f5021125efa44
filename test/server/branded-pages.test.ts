import { describe, expect } from 'vitest'
import { updateSettings } from '../../src/tenants/settings.ts'
import { test as base } from '../support/hosted-pages.ts'

/** Pages that the server renders without a client. */
const PATHS = [
  '/oidc/authorize',
  '/oidc/authorize?client_id=unknown',
  '/oidc/logout',
  '/device',
  '/device?user_code=AAAA-BBBB',
  '/signin/unknown',
  '/enroll?token=unknown',
  '/enroll/cancel?token=unknown',
  '/invitation?token=unknown',
  '/account',
  '/nothing-here',
]

describe('a hosted page of a tenant with a brand', () => {
  base.for(PATHS)('at %s has the color of the tenant', async (path, { app, ctx, tenant }) => {
    await updateSettings(ctx, { themeColor: '#c00000', friendlyName: 'Acme' })
    const response = await fetch(`${app.origin}/${tenant}${path}`, { headers: { accept: 'text/html' } })
    const html = await response.text()
    expect([path, html.includes('--accent:#c00000;')]).toEqual([path, true])
    expect(html).toContain(`href="/${tenant}/favicon.svg"`)
  })
})
