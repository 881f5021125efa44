import { describe, expect } from 'vitest'
import { STYLESHEET_PATH } from '../../src/pages/assets/stylesheet.ts'
import { test } from '../support/account-pages.ts'
import { csrfIn } from '../support/page-browser.ts'

describe('a hosted page', () => {
  test.for([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['identity', null],
  ] as const)(
    'is sent to a browser that accepts %s with the coding %s',
    async ([accepted, coding], { app, tenant }) => {
      for (const path of [`/${tenant}/no-such-page`, STYLESHEET_PATH, `/${tenant}/oidc/authorize`]) {
        const { headers, status } = await fetch(app.origin + path, {
          headers: { accept: 'text/html', 'accept-encoding': accepted },
        })
        expect([status < 500, headers.get('content-encoding')]).toEqual([true, coding])
        expect(headers.get('vary')).toContain('Accept-Encoding')
      }
    },
  )

  test('has another CSRF token each time, all of which are accepted', async ({ here, visit }) => {
    const pages = [await visit('/profile'), await visit('/profile')]
    const [first, second] = pages.map(({ html }) => csrfIn(html))
    expect(first).toMatch(/^[\w-]{86}$/)
    expect(second).not.toBe(first)
    for (const page of pages)
      expect(
        (await here.submit(page, { name: 'Ada', locale: '', zoneinfo: '' })).response.status,
      ).toBeLessThan(400)
    const forged = `${first?.slice(0, -2)}${first?.endsWith('AA') ? 'BB' : 'AA'}`
    for (const csrf of ['', 'x', `${first}AAAA`, forged])
      expect((await here.post(pages[0]?.path ?? '', { csrf })).status).toBe(403)
  })

  test('is not compressed when it shows a secret', async ({ visit }) => {
    const encodings = []
    for (const path of ['/sign-in-methods', '/authenticator-app'])
      encodings.push((await visit(path)).response.headers.get('content-encoding'))
    expect(encodings).toEqual(['gzip', null])
  })
})
