import { H3 } from 'h3'
import { describe, expect } from 'vitest'
import { addNotFoundRoute } from '../../src/server/not-found.routes.ts'
import { test } from '../support/fixtures.ts'

/** The paths that no other route has: `/` has one in development only. */
const others = new H3()
addNotFoundRoute(others)

const html = { accept: 'text/html,application/xhtml+xml' }

describe('a path that no route has', () => {
  test('is /, where a browser reads in its language where to sign in', async () => {
    const response = await others.request('/', { headers: { ...html, 'accept-language': 'de' } })
    expect([response.status, response.headers.get('content-language')]).toEqual([200, 'de'])
    expect(await response.text()).toContain('Öffnen Sie die Anwendung, die Sie nutzen möchten')
  })

  test('is that of a tenant, which leads a browser to the account', async ({ tenant }) => {
    for (const path of [`/${tenant}`, `/${tenant}/`]) {
      const response = await others.request(path, { headers: html })
      expect([path, response.status, response.headers.get('location')]).toEqual([
        path,
        303,
        `/${tenant}/account`,
      ])
    }
  })

  test('is not found otherwise, by a browser and by a program', async ({ tenant }) => {
    for (const path of ['/no-such-tenant', `/${tenant}/nothing`, `//${tenant}`]) {
      const page = await others.request(path, { headers: html })
      expect([path, page.status]).toEqual([path, 404])
      expect(await page.text()).toContain('No such page.')
    }
    for (const path of ['/', `/${tenant}`])
      expect(await (await others.request(path)).json()).toMatchObject({ code: 'NOT_FOUND' })
  })
})
