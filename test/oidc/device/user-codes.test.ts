import { describe, expect } from 'vitest'
import { RATE_LIMITS } from '../../../src/coordination/rate-limits.ts'
import { hashUserCode, hashUserCodeWithAllKeys, parseUserCode } from '../../../src/oidc/device/user-codes.ts'
import { newTenant } from '../../support/actors.ts'
import { dbFor } from '../../support/database.ts'
import { decide, startDevice } from '../../support/device-flow.ts'
import { test as base } from '../../support/devices.ts'
import { csrfIn, makeClient } from '../../support/protocol.ts'

const WRONG = 'That code is wrong, has expired or was used.'

const test = base
  /** Submits a user code by the form of the page. */
  .extend('submitCode', ({ tenant, browser, openPage }) => async (entered: string) => {
    const { html } = await openPage(`/${tenant}/device`)
    return browser.post(`/${tenant}/device`, { csrf: csrfIn(html), user_code: entered })
  })

test('the hash of a user code differs between tenants', () => {
  expect(hashUserCode('acme', 'BCDFGHJK')).not.toEqual(hashUserCode('other', 'BCDFGHJK'))
  expect(hashUserCodeWithAllKeys('acme', 'BCDFGHJK')).toEqual([hashUserCode('acme', 'BCDFGHJK')])
})

describe('a user code (RFC 8628, section 6.1)', () => {
  test.each([
    ['BCDF-GHJK', 'BCDFGHJK'],
    [' bcdf ghjk ', 'BCDFGHJK'],
    ['b.c.d.f.g.h.j.k', 'BCDFGHJK'],
    ['ＢＣＤＦ－ＧＨＪＫ', 'BCDFGHJK'],
    ['BCDF—GHJK0', 'BCDFGHJK'],
    ['BCDF-GHJ', null],
    ['BCDF-GHJKL', null],
    ['', null],
    ['12345678', null],
  ])('%j is parsed as %j', (entered, code) => {
    expect(parseUserCode(entered)).toBe(code)
  })
})

describe('the page for the user code (RFC 8628, section 3.3)', () => {
  test('accepts the code in lower case and with other separators and redirects to the sign-in', async ({
    tenant,
    newDevice,
    submitCode,
  }) => {
    for (const write of [
      (code: string) => code,
      (code: string) => code.toLowerCase().replace('-', ''),
      (code: string) => ` ${code.replace('-', ' – ').toLowerCase()} `,
    ]) {
      const response = await submitCode(write((await newDevice()).shown))
      expect(response.status).toBe(303)
      expect(response.headers.get('location')).toMatch(
        new RegExp(`^/${tenant}/signin/[\\w-]{43}-client_\\w{26}$`),
      )
    }
  })

  test('fills in the code of verification_uri_complete without submitting it (RFC 8628, section 3.3.1)', async ({
    tenant,
    browser,
    oidc,
    tv,
    user,
    newDevice,
    findStatus,
    openPage,
  }) => {
    const device = await newDevice()
    await oidc.signIn(browser, user.email)
    const { status, html } = await openPage(`/${tenant}/device?user_code=${device.shown.toLowerCase()}`)
    expect(status).toBe(200)
    expect(html).toContain(`value="${device.shown}"`)
    expect(await findStatus(device)).toBe('pending')
    expect(await dbFor(tenant).interaction.count({ where: { tenantId: tenant, clientId: tv.id } })).toBe(0)
  })

  test('shows nothing else of the query and does not reveal whether a code exists', async ({
    tenant,
    newDevice,
    openPage,
  }) => {
    const device = await newDevice()
    // Each page has another CSRF token.
    const open = async (query = '') => {
      const { html } = await openPage(`/${tenant}/device${query}`)
      return html.replace(csrfIn(html), '')
    }
    const blank = await open()
    for (const other of ['"><script>', 'made-up', 'BCDFGHJKL', '\u0000'])
      expect(await open(`?user_code=${encodeURIComponent(other)}`)).toBe(blank)
    const known = await open(`?user_code=${device.shown}`)
    const unknown = await open('?user_code=BBBB-BBBB')
    expect(known.replace(device.shown, '')).toBe(unknown.replace('BBBB-BBBB', ''))
  })

  test('shows the same error for an unknown, malformed, expired, used or denied code and one of another tenant', async ({
    app,
    tenant,
    browser,
    oidc,
    user,
    newDevice,
    poll,
    changeRow,
    submitCode,
  }) => {
    await oidc.signIn(browser, user.email)
    const [expired, approved, denied, used] = [
      await newDevice(),
      await newDevice(),
      await newDevice(),
      await newDevice(),
    ]
    await changeRow(expired, { expiresAt: new Date() })
    await decide(browser, tenant, approved.shown, 'allow')
    await decide(browser, tenant, denied.shown, 'deny')
    await decide(browser, tenant, used.shown, 'allow')
    expect((await poll(used)).status).toBe(200)
    const elsewhere = await newTenant()
    const there = await makeClient(elsewhere, { appType: 'native', callbacks: [] })
    const { body } = await startDevice(app, elsewhere, there, { scope: 'openid' })
    const answers = new Set<string>()
    for (const entered of [expired, approved, denied, used]
      .map(({ shown }) => shown)
      .concat('BBBB-BBBB', 'nonsense', '', '\u0000', body.user_code as string)) {
      const response = await submitCode(entered)
      expect(response.status).toBe(400)
      const html = await response.text()
      expect(html).toContain(WRONG)
      answers.add(html.replace(csrfIn(html), '').replace(/ value(="[^"]*")? aria-invalid/, ''))
    }
    expect(answers.size).toBe(1)
  })

  test('rejects a form token of another browser or tenant', async ({
    tenant,
    newBrowser,
    browser,
    newDevice,
    openPage,
  }) => {
    const device = await newDevice()
    const path = `/${tenant}/device`
    const csrf = csrfIn((await openPage(path)).html)
    const other = newBrowser()
    const otherCsrf = csrfIn((await openPage(path, other)).html)
    expect(csrf).not.toBe(otherCsrf)
    for (const wrong of ['', otherCsrf, `${csrf}x`])
      expect((await browser.post(path, { csrf: wrong, user_code: device.shown })).status).toBe(403)
    expect((await newBrowser().post(path, { csrf, user_code: device.shown })).status).toBe(403)
    const elsewhere = await newTenant()
    expect((await browser.post(`/${elsewhere}/device`, { csrf, user_code: device.shown })).status).toBe(403)
  })

  test('rejects a network after 100 codes an hour, also with a valid code', async ({
    tenant,
    browser,
    newDevice,
    findStatus,
    openPage,
  }) => {
    const device = await newDevice()
    const csrf = csrfIn((await openPage(`/${tenant}/device`)).html)
    const guess = (code: string) => browser.post(`/${tenant}/device`, { csrf, user_code: code })
    const { points } = RATE_LIMITS.enterUserCode
    const letters = 'BCDFGHJKLMNPQRSTVWXZ'
    const toCode = (count: number) => `BBBB-BB${letters[Math.floor(count / 20)]}${letters[count % 20]}`
    const statuses: number[] = []
    // A code counts once for a page.
    for (let count = 0; count < points + 20; count += 20) {
      const some = Array.from({ length: 20 }, (_, index) => guess(toCode(count + index)))
      statuses.push(...(await Promise.all(some)).map(({ status }) => status))
    }
    expect(statuses.filter((status) => status === 400)).toHaveLength(points)
    const rejected = await guess(device.shown)
    expect(rejected.status).toBe(429)
    expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await rejected.text()).toContain('Too many attempts. Try again in')
    expect(await findStatus(device)).toBe('pending')
  })
})
