import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sha256 } from '../../src/crypto.ts'
import { dbFor } from '../../src/db.ts'
import { LIMITS } from '../../src/limits.ts'
import { readUserCode, userCodeHashesOf, userCodeHashOf } from '../../src/oidc/device/device-user-codes.ts'
import { newTenant } from '../support/actors.ts'
import { decide, pollWith, startDevice } from './device-flow.ts'
import {
  authorizePath,
  Browser,
  csrfIn,
  makeClient,
  makeUser,
  type Provider,
  signInAt,
  startProvider,
} from './provider.ts'

const WRONG = 'That code is wrong, has expired or was used.'

let provider: Provider
let tenant: string
let tv: Awaited<ReturnType<typeof makeClient>>
let web: Awaited<ReturnType<typeof makeClient>>
let email: string
let browser: Browser
let count = 0
beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.close())
beforeEach(async () => {
  // Of its own, as the guesses of one network are counted.
  tenant = await newTenant()
  tv = await makeClient(tenant, { name: 'Living room TV', appType: 'native', callbacks: [] })
  web = await makeClient(tenant)
  email = `person${count++}@example.com`
  await makeUser(tenant, email, { name: 'Ada' })
  browser = new Browser(provider)
})

type Device = { code: string; shown: string }
async function newDevice(): Promise<Device> {
  const { body } = await startDevice(provider, tenant, tv)
  return { code: body.device_code as string, shown: body.user_code as string }
}
const signIn = () => signInAt(browser, authorizePath(tenant, web), email)
const poll = ({ code }: Device) => pollWith(provider, tenant, tv, code)
const statusOf = async ({ code }: Device): Promise<string | undefined> => {
  const where = { tenantId_codeHash: { tenantId: tenant, codeHash: sha256(code) } }
  return (await dbFor(tenant).deviceCode.findUnique({ where }))?.status
}
const page = async (path: string, who = browser) => {
  const response = await who.fetch(path)
  return { path, status: response.status, html: await response.text() }
}
/** As a person enters it from a page that they have. */
async function submitCode(entered: string) {
  const { html } = await page(`/${tenant}/device`)
  return browser.post(`/${tenant}/device`, { csrf: csrfIn(html), user_code: entered })
}

test('security 48: a user code is stored as something else at each tenant', () => {
  expect(userCodeHashOf('acme', 'BCDFGHJK')).not.toEqual(userCodeHashOf('other', 'BCDFGHJK'))
  expect(userCodeHashesOf('acme', 'BCDFGHJK')).toEqual([userCodeHashOf('acme', 'BCDFGHJK')])
})

describe('user codes (RFC 8628, section 6.1)', () => {
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
  ])('%j is read as %j', (entered, code) => {
    expect(readUserCode(entered)).toBe(code)
  })
})

describe('the page for the code (RFC 8628, section 3.3)', () => {
  test('takes it in any writing, and leads on to the sign-in', async () => {
    for (const write of [
      (code: string) => code,
      (code: string) => code.toLowerCase().replace('-', ''),
      (code: string) => ` ${code.replace('-', ' – ').toLowerCase()} `,
    ]) {
      const response = await submitCode(write((await newDevice()).shown))
      expect(response.status).toBe(303)
      expect(response.headers.get('location')).toMatch(new RegExp(`^/${tenant}/signin/[\\w-]{43}$`))
    }
  })

  test('fills in the code of the address, and waits for the person (section 3.3.1)', async () => {
    const device = await newDevice()
    await signIn()
    const { status, html } = await page(`/${tenant}/device?user_code=${device.shown.toLowerCase()}`)
    expect(status).toBe(200)
    expect(html).toContain(`value="${device.shown}"`)
    expect(await statusOf(device)).toBe('pending')
    expect(await dbFor(tenant).interaction.count({ where: { tenantId: tenant, clientId: tv.id } })).toBe(0)
  })

  test('writes nothing else of the address into the page, and says nothing of the code', async () => {
    const device = await newDevice()
    const blank = (await page(`/${tenant}/device`)).html
    for (const other of ['"><script>', 'made-up', 'BCDFGHJKL', '\u0000'])
      expect((await page(`/${tenant}/device?user_code=${encodeURIComponent(other)}`)).html).toBe(blank)
    const known = (await page(`/${tenant}/device?user_code=${device.shown}`)).html
    const unknown = (await page(`/${tenant}/device?user_code=BBBB-BBBB`)).html
    expect(known.replace(device.shown, '')).toBe(unknown.replace('BBBB-BBBB', ''))
  })

  test('tells nothing apart: unknown, malformed, expired, used, refused, of another tenant', async () => {
    await signIn()
    const [expired, approved, denied, used] = [
      await newDevice(),
      await newDevice(),
      await newDevice(),
      await newDevice(),
    ]
    const where = { tenantId_codeHash: { tenantId: tenant, codeHash: sha256(expired.code) } }
    await dbFor(tenant).deviceCode.update({ where, data: { expiresAt: new Date() } })
    await decide(browser, tenant, approved.shown, 'allow')
    await decide(browser, tenant, denied.shown, 'deny')
    await decide(browser, tenant, used.shown, 'allow')
    expect((await poll(used)).status).toBe(200)
    const elsewhere = await newTenant()
    const there = await makeClient(elsewhere, { appType: 'native', callbacks: [] })
    const { body } = await startDevice(provider, elsewhere, there, { scope: 'openid' })
    const answers = new Set<string>()
    for (const entered of [expired, approved, denied, used]
      .map(({ shown }) => shown)
      .concat('BBBB-BBBB', 'nonsense', '', '\u0000', body.user_code as string)) {
      const response = await submitCode(entered)
      expect(response.status).toBe(400)
      const html = await response.text()
      expect(html).toContain(WRONG)
      answers.add(html.replace(/ value(="[^"]*")? aria-invalid/, ''))
    }
    expect(answers.size).toBe(1)
  })

  test('needs its own form, from this browser, for this tenant', async () => {
    const device = await newDevice()
    const path = `/${tenant}/device`
    const csrf = csrfIn((await page(path)).html)
    const other = new Browser(provider)
    const otherCsrf = csrfIn((await page(path, other)).html)
    expect(csrf).not.toBe(otherCsrf)
    for (const wrong of ['', otherCsrf, `${csrf}x`])
      expect((await browser.post(path, { csrf: wrong, user_code: device.shown })).status).toBe(403)
    expect((await new Browser(provider).post(path, { csrf, user_code: device.shown })).status).toBe(403)
    const elsewhere = await newTenant()
    expect((await browser.post(`/${elsewhere}/device`, { csrf, user_code: device.shown })).status).toBe(403)
  })

  test('lets a network guess a hundred times an hour, right or wrong, and counts before it looks', async () => {
    const device = await newDevice()
    const csrf = csrfIn((await page(`/${tenant}/device`)).html)
    const guess = (code: string) => browser.post(`/${tenant}/device`, { csrf, user_code: code })
    const { points } = LIMITS.enterUserCode
    const statuses = await Promise.all(
      Array.from({ length: points + 20 }, async () => (await guess('BBBB-BBBB')).status),
    )
    expect(statuses.filter((status) => status === 400)).toHaveLength(points)
    const refused = await guess(device.shown)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.text()).toContain('Too many attempts. Try again in')
    expect(await statusOf(device)).toBe('pending')
  })
})
