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
let browser: Browser

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  client = await makeClient(tenant)
  await makeUser(tenant, 'ada@example.com', { phoneNumber: '+41791234567' })
  await makeUser(tenant, 'eve@example.com')
  await makeUser(tenant, 'bob@example.com')
  browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, client), 'ada@example.com')
})
afterAll(() => provider.close())

/** Where a request leads, with the address that is filled in when that is the sign-in page. */
async function visit(more: Record<string, string>, by = browser) {
  const { response, path, location } = await by.open(authorizePath(tenant, client, more))
  const html = await response.text()
  const field = /<input id="address"[^>]*>/.exec(html)?.[0]
  const filledIn = field && (/ value="([^"]*)"/.exec(field)?.[1] ?? '')
  return { filledIn, page: { html, path }, answer: answerIn(location) }
}
const login = { prompt: 'login' }

describe('the address filled in', () => {
  test.each([
    ['is that of who is signed in, with prompt=login', login, 'ada@example.com'],
    ['is that of who is signed in, with max_age=0', { max_age: '0' }, 'ada@example.com'],
    ['is the login_hint', { ...login, login_hint: 'Ada@Example.com' }, 'Ada@Example.com'],
    ["is another's login_hint", { ...login, login_hint: 'eve@example.com' }, 'eve@example.com'],
    ['is no login_hint that is no address', { ...login, login_hint: 'ada' }, 'ada@example.com'],
  ])('%s', async (_name, more, expected) => {
    expect((await visit(more)).filledIn).toBe(expected)
  })

  test('is unknown to another browser', async () => {
    expect((await visit(login, new Browser(provider))).filledIn).toBe('')
  })

  test('is left out for who wants to use another', async () => {
    const { page } = await visit({ ...login, login_hint: 'ada@example.com' })
    const sent = await browser.submit(page, { step: 'email', address: 'ada@example.com' })
    const codePage = { path: sent.path, html: await sent.response.text() }
    const { response } = await browser.submit(codePage, { step: 'restart' })
    expect(await response.text()).not.toContain('ada@example.com')
  })
})

describe('login_hint (OIDC Core, section 3.1.2.1)', () => {
  test.each(['ada@example.com', 'ADA@Example.COM', ' ada@example.com', '+41 79 123 45 67', 'ada', '42'])(
    '%j lets who is signed in go on',
    async (hint) => {
      expect((await visit({ login_hint: hint, prompt: 'none' })).answer).toHaveProperty('code')
    },
  )

  test.each(['eve@example.com', 'nobody@example.com', '+41 79 765 43 21'])(
    '%j names another person, who must sign in',
    async (hint) => {
      expect((await visit({ login_hint: hint })).filledIn).toBe(hint)
      expect((await visit({ login_hint: hint, prompt: 'none' })).answer).toMatchObject({
        error: 'login_required',
      })
    },
  )

  test('is no demand: who signs in with another address goes on', async () => {
    const by = new Browser(provider)
    await signInAt(by, authorizePath(tenant, client), 'eve@example.com')
    const path = authorizePath(tenant, client, { login_hint: 'alias@example.com' })
    expect(answerIn((await signInAt(by, path, 'bob@example.com')).location)).toHaveProperty('code')
  })

  test('cut within a character is no 500', async () => {
    const { filledIn } = await visit({ login_hint: `${'x'.repeat(319)}😀` }, new Browser(provider))
    expect(filledIn).toBe(`${'x'.repeat(319)}\ufffd`)
  })
})
