import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeRuntime, openRuntime } from '../../src/runtime.ts'
import { newTenant } from '../support/actors.ts'
import { DESKTOP, launchBrowser, noBrowser } from '../support/browser.ts'
import { type GraphqlServer, serveGraphql } from '../support/graphql-server.ts'

describe.skipIf(noBrowser)('GraphiQL, in development', () => {
  let server: GraphqlServer
  let browser: Browser

  beforeAll(async () => {
    await openRuntime()
    server = await serveGraphql({ isProduction: false })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
    await closeRuntime()
  })

  it('asks nobody but us for anything, and runs a query', async () => {
    const page = await (await browser.newContext({ viewport: DESKTOP })).newPage()
    const outside: string[] = []
    await page.route(
      (url) => url.protocol.startsWith('http') && url.hostname !== '127.0.0.1',
      (route) => {
        outside.push(route.request().url())
        return route.abort()
      },
    )
    const url = server.urlOf(await newTenant())
    await page.goto(`${url}?query=${encodeURIComponent('{ __typename }')}`)
    expect(await page.title()).toBe('Vestibule')
    await page.locator('.graphiql-execute-button').click({ timeout: 20_000 })
    const result = page.locator('.graphiql-response')
    await expect.poll(() => result.textContent(), { timeout: 10_000 }).toContain('__typename')
    // The icon is fetched by the browser itself, past any interception.
    const icon = await page.locator('link[rel=icon]').getAttribute('href')
    expect(icon).toMatch(/^data:/)
    if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/graphiql.png` })
    expect(outside).toEqual([])
  })
})
