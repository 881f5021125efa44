import { describe, expect } from 'vitest'
import { consumeLimit, RATE_LIMITS } from '../../../src/coordination/rate-limits.ts'
import { sha256 } from '../../../src/core/crypto.ts'
import { newTenant } from '../../support/actors.ts'
import { dbFor } from '../../support/database.ts'
import { handleIn, interactionAt, openPage, type Page, test } from '../../support/hosted-pages.ts'
import { csrfIn } from '../../support/page-browser.ts'
import { answerIn, authorizePath, makeClient } from '../../support/protocol.ts'

describe('hosted pages', () => {
  test('forbid framing, caching, scripts of others and referrers, and do not restrict what follows a form at the client', async ({
    start,
  }) => {
    const { response } = await start()
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none';(?!.*form-action).*frame-ancestors 'none'; base-uri 'none'$/,
      ),
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
    })
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self';")
  })

  test('set a cookie for one interaction, HttpOnly and SameSite=Lax', async ({ tenant, browser, oidc }) => {
    const response = await browser.fetch(oidc.authorizePath())
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        new RegExp(
          `^vst_ix_${tenant}_[0-9a-f]{12}=[\\w-]{43}; Max-Age=3600; Path=/; HttpOnly; SameSite=Lax$`,
        ),
      ),
    ])
  })

  test('store handles and browser keys as hashes', async ({ tenant, browser, start }) => {
    const { path } = await start()
    const row = await dbFor(tenant).interaction.findUniqueOrThrow({ where: interactionAt(tenant, path) })
    expect(JSON.stringify(row)).not.toContain(handleIn(path))
    expect(Buffer.from(row.browserHash)).toEqual(sha256(browser.binding?.[1] ?? ''))
    expect(row.expiresAt.getTime() - row.createdAt.getTime()).toBeCloseTo(3_600_000, -4)
  })

  test('show login_hint, escaped', async ({ browser, start }) => {
    expect((await start(browser, { login_hint: '"><b>x@example.com' })).html).toContain('value="&quot;')
  })

  test('reject input that is not an address, and show it once more', async ({ browser, start }) => {
    const page = await start()
    const { response } = await browser.submit(page, { step: 'email', address: 'not an address' })
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(html).toContain('value="not an address"')
    expect(html).toContain('Enter an email address')
    const again = await openPage(browser, page.path)
    expect(again.html).not.toContain('not an address')
    expect(again.html).not.toContain('Enter an email address')
  })
})

describe('rejected input', () => {
  test('is answered by a redirect, so that going back sends no form again', async ({
    browser,
    start,
    atCode,
  }) => {
    const post = (page: Page, form: Record<string, string>) =>
      browser.post(page.path, { csrf: csrfIn(page.html), ...form })
    const page = await start()
    const address = await post(page, { step: 'email', address: 'x' })
    expect([address.status, address.headers.get('location')]).toEqual([303, page.path])
    const next = await atCode()
    const code = await post(next, { step: 'code', code: '12' })
    expect([code.status, code.headers.get('location')]).toEqual([303, next.path])
  })

  test('shows when to try again after too many attempts', async ({ person, browser }) => {
    const other = await newTenant()
    const page = await openPage(browser, authorizePath(other, await makeClient(other)))
    const sent = await browser.submit(page, { step: 'email', address: person.email })
    for (let spent = 0; spent < RATE_LIMITS.authenticatePasscode.points; spent++)
      await consumeLimit('authenticatePasscode', other, '127.0.0.1')
    const codePage = { path: sent.path, html: await sent.response.text() }
    const { response } = await browser.submit(codePage, { step: 'code', code: '000000' })
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(3000)
    const html = await response.text()
    expect(html).toMatch(/Too many attempts\. Try again in \d+ minutes\./)
    expect(html).toContain('Sign in another way')
  })

  test.for<[name: string, address: string, kept: string]>([
    ['of U+0000', 'a\u0000b', 'ab'],
    ['cut within a character', `${'x'.repeat(319)}😀`, `${'x'.repeat(319)}\ufffd`],
  ])('%s is stored as far as the database can', async ([_name, address, kept], { browser, start }) => {
    const { response } = await browser.submit(await start(), { step: 'email', address })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain(`value="${kept}"`)
  })

  test('does not undo the right code that is sent at the same time', async ({
    inbox,
    person,
    browser,
    oidc,
  }) => {
    const page = await openPage(browser, oidc.authorizePath({ prompt: 'login' }))
    const sent = await browser.submit(page, { step: 'email', address: person.email })
    const form = { csrf: csrfIn(await sent.response.text()), step: 'code' }
    const code = await inbox.codeFor(person.email)
    await Promise.all([
      browser.post(sent.path, { ...form, code }),
      ...['1', '2', '3'].map((wrong) => browser.post(sent.path, { ...form, code: wrong })),
    ])
    expect(answerIn((await browser.open(page.path)).location)).toHaveProperty('code')
  })
})
