import { describe, expect } from 'vitest'
import { test } from '../support/fixtures.ts'

describe('/ of a development server', () => {
  test('leads to everything that the start prints', async ({ app }) => {
    const response = await fetch(`${app.origin}/`)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const links = [...(await response.text()).matchAll(/<a href="([^"]+)"/g)].map(([, href]) => href)
    expect(links.map((href) => new URL(href as string).pathname)).toEqual(
      expect.arrayContaining([
        '/dev/inbox',
        expect.stringMatching(/^\/\w+\/graphql$/),
        expect.stringMatching(/openapi\.json$/),
        expect.stringMatching(/openid-configuration$/),
      ]),
    )
  })
})
