import { describe, expect } from 'vitest'
import { noBrowser } from '../support/browser.ts'
import { photograph, test } from '../support/journey.ts'

describe.skipIf(noBrowser)('GraphiQL', () => {
  test('explains how to start, and runs a query without requests to other hosts', async ({
    app,
    tenant,
    open,
  }) => {
    const page = await (await open()).newPage()
    const outside: string[] = []
    await page.route(
      (url) => url.protocol.startsWith('http') && url.hostname !== '127.0.0.1',
      (route) => {
        outside.push(route.request().url())
        return route.abort()
      },
    )
    await page.goto(`${app.origin}/${tenant}/graphql`)
    const editor = page.locator('.graphiql-query-editor')
    await expect
      .poll(() => editor.textContent(), { timeout: 20_000 })
      .toMatch(/management\sAPI\sof\sthis\stenant.*query\sFirstUsers/s)
    await page.goto(`${app.origin}/${tenant}/graphql?query=${encodeURIComponent('{ __typename }')}`)
    expect(await page.title()).toBe('GraphiQL')
    await page.locator('.graphiql-execute-button').click({ timeout: 20_000 })
    const result = page.locator('.graphiql-response')
    await expect.poll(() => result.textContent(), { timeout: 10_000 }).toContain('__typename')
    // The browser fetches the icon itself, and no route intercepts it.
    const icon = await page.locator('link[rel=icon]').getAttribute('href')
    expect(icon).toMatch(/^data:/)
    await photograph(page, 'graphiql')
    expect(outside).toEqual([])
  })
})
