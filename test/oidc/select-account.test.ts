import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newTenant } from '../support/actors.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  makeClient,
  makeUser,
  type Provider,
  signInAt,
  startProvider,
} from './provider.ts'

let provider: Provider
let tenant: string
let client: Awaited<ReturnType<typeof makeClient>>
beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  client = await makeClient(tenant)
  await makeUser(tenant, 'ada@example.com', { name: 'Ada' })
  await makeUser(tenant, 'grace@example.com', { name: 'Grace' })
})
afterAll(() => provider.close())

/** A browser with Ada signed in, at the page that prompt=select_account leads to. */
async function choosing(more: Record<string, string> = {}) {
  const browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, client), 'ada@example.com')
  const start = await browser.open(authorizePath(tenant, client, { prompt: 'select_account', ...more }))
  return { browser, page: { html: await start.response.text(), path: start.path } }
}

describe('prompt=select_account (OIDC Core, section 3.1.2.1)', () => {
  test('shows who is signed in, and "Continue" goes on as that person', async () => {
    const { browser, page } = await choosing()
    expect(page.path).toMatch(/\/select$/)
    expect(page.html).toContain('ada@example.com')
    const done = await browser.submit(page, { step: 'continue' })
    expect(answerIn(done.location)).toMatchObject({ code: expect.any(String), state: 'a-state' })
  })

  test('"Use another account" asks for an address, and the other person signs in', async () => {
    const { browser, page } = await choosing()
    const next = await browser.submit(page, { step: 'switch' })
    const html = await next.response.text()
    expect(html).toContain('name="address"')
    expect(html).not.toContain('ada@example.com')
  })

  test('the choice answers select_account only: max_age=0 still asks for a new sign-in', async () => {
    const { browser, page } = await choosing({ max_age: '0' })
    const next = await browser.submit(page, { step: 'continue' })
    expect(await next.response.text()).toContain('name="address"')
  })

  test('without a session there is nothing to choose from: the address is asked for', async () => {
    const browser = new Browser(provider)
    const start = await browser.open(authorizePath(tenant, client, { prompt: 'select_account' }))
    expect(await start.response.text()).toContain('name="address"')
  })
})

test('forms may end at every origin that the client has registered, since browsers hold redirects to form-action', async () => {
  const spread = await makeClient(tenant, { allowedOrigins: ['https://app.example.com'] })
  const page = await new Browser(provider).open(authorizePath(tenant, spread))
  const policy = page.response.headers.get('content-security-policy') ?? ''
  const formAction = policy.split(';').find((directive) => directive.trim().startsWith('form-action'))
  expect(formAction?.trim().split(' ').toSorted()).toEqual(
    ["'self'", 'form-action', 'https://app.example.com', 'https://rp.example.com'].toSorted(),
  )
})
