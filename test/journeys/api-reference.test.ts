import { describe, expect } from 'vitest'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { ensureBuilt } from '../support/build.ts'
import { photograph, test } from '../support/journey.ts'
import { collectPageErrors } from '../support/page-errors.ts'

test.beforeAll(() => ensureBuilt())

describe.skipIf(noBrowser)('the reference of the REST API', () => {
  test('is a page of this server alone, which calls the API with a token that one enters', async ({
    acme,
    token,
    open,
  }) => {
    const page = await (await open()).newPage()
    const errors = collectPageErrors(page)
    const foreign: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(ORIGIN) && !request.url().startsWith('data:')) foreign.push(request.url())
    })
    const response = await page.goto(`${ORIGIN}/${acme}/api/v1/docs#/users/listUsers`)
    const policy = response?.headers()['content-security-policy'] ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).not.toMatch(/unsafe|nonce|sha256/)
    const operation = page.locator('#operations-users-listUsers')
    await operation.waitFor({ timeout: 30_000 })
    await photograph(page, 'api-reference')
    await page.getByRole('button', { name: 'Authorize', exact: true }).click()
    await page.getByLabel('auth-bearer-value').fill(token)
    await page.getByRole('button', { name: 'Apply credentials', exact: true }).click()
    await page.getByRole('button', { name: 'Close', exact: true }).last().click()
    await operation.getByRole('button', { name: 'Try it out' }).click()
    await operation.getByRole('button', { name: 'Execute' }).click()
    await operation.getByText('"totalSize"').first().waitFor()
    await photograph(page, 'api-reference-operation')
    expect([errors, foreign]).toEqual([[], []])
  })

  test('is not found in a tenant that does not exist', async ({ app }) => {
    expect((await fetch(`${app.origin}/no-such-tenant/api/v1/docs`)).status).toBe(404)
  })
})
