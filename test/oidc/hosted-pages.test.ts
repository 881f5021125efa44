import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { forgetClient } from '../../src/clients/client-cache.ts'
import { sha256 } from '../../src/crypto.ts'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor } from '../../src/db.ts'
import { listInbox } from '../../src/delivery/inbox.ts'
import { LIMITS, spend } from '../../src/limits.ts'
import { settleDeliveries } from '../../src/passcodes/send-passcode.ts'
import { lockUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { logOf } from '../support/events.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  codeFor,
  csrfIn,
  makeClient,
  makeUser,
  type Provider,
  signInAt,
  startProvider,
} from './provider.ts'

let provider: Provider
let tenant: string
let client: Awaited<ReturnType<typeof makeClient>>
let count = 0
let email: string
let browser: Browser

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  client = await makeClient(tenant)
})
afterAll(() => provider.close())
beforeEach(async () => {
  email = `person${count++}@example.com`
  await makeUser(tenant, email)
  browser = new Browser(provider)
})

type Page = { html: string; path: string; response: Response }
async function pageAt(by: Browser, path: string): Promise<Page> {
  const { response, path: landed } = await by.open(path)
  return { response, html: await response.text(), path: landed || path }
}
const start = (by = browser, more = {}) => pageAt(by, authorizePath(tenant, client, more))
async function atCode(by = browser, address = email): Promise<Page> {
  const { response, path } = await by.submit(await start(by), { step: 'email', address })
  return { response, html: await response.text(), path }
}
const handleOf = (path: string) => path.split('/')[3] as string
const interactionOf = (path: string) => ({
  tenantId_handleHash: { tenantId: tenant, handleHash: sha256(handleOf(path)) },
})
const GONE = 'This sign-in has expired, was finished, or was started in another browser.'

describe('hosted pages', () => {
  test('are never framed, cached, scripted, or told to the next site, and their forms may lead to the client', async () => {
    const { response } = await start()
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(
        /default-src 'none'.*form-action 'self' https:\/\/rp\.example\.com;.*frame-ancestors 'none'/,
      ),
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
    })
    expect(response.headers.get('content-security-policy')).not.toContain('script-src')
  })

  test('set a cookie for this tenant alone, out of reach of scripts and of other sites', async () => {
    const response = await browser.fetch(authorizePath(tenant, client))
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        new RegExp(`^vst_ix=[\\w-]{43}; Path=/${tenant}/; Max-Age=3600; HttpOnly; SameSite=Lax$`),
      ),
    ])
  })

  test('keep handles and keys as hashes', async () => {
    const { path } = await start()
    const row = await dbFor(tenant).interaction.findUniqueOrThrow({ where: interactionOf(path) })
    expect(JSON.stringify(row)).not.toContain(handleOf(path))
    expect(Buffer.from(row.browserHash)).toEqual(sha256(browser.cookies.get('vst_ix') as string))
    expect(row.expiresAt.getTime() - row.createdAt.getTime()).toBeCloseTo(3_600_000, -4)
  })

  test('fill in login_hint', async () => {
    expect((await start(browser, { login_hint: '"><b>x@example.com' })).html).toContain('value="&quot;')
  })

  test('refuse what is no address, and keep what was entered', async () => {
    const page = await start()
    const { response } = await browser.submit(page, { step: 'email', address: 'not an address' })
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(html).toContain('value="not an address"')
    expect(html).toContain('Enter an email address')
    const again = await pageAt(browser, page.path)
    expect(again.html).not.toContain('not an address')
    expect(again.html).not.toContain('Enter an email address')
  })
})

describe('a refused input', () => {
  const refused = (page: Page, form: Record<string, string>) =>
    browser.post(page.path, { csrf: csrfIn(page.html), ...form })

  test('is answered by a redirect, so that the back button sends nothing again', async () => {
    const page = await start()
    const address = await refused(page, { step: 'email', address: 'x' })
    expect([address.status, address.headers.get('location')]).toEqual([303, page.path])
    const next = await atCode()
    const code = await refused(next, { step: 'code', code: '12' })
    expect([code.status, code.headers.get('location')]).toEqual([303, next.path])
  })

  test('says when to try again after too many', async () => {
    const other = await newTenant()
    const page = await pageAt(browser, authorizePath(other, await makeClient(other)))
    const sent = await browser.submit(page, { step: 'email', address: email })
    for (let spent = 0; spent < LIMITS.authenticatePasscode.points; spent++)
      await spend('authenticatePasscode', other, '127.0.0.1')
    const codePage = { path: sent.path, html: await sent.response.text() }
    const { response } = await browser.submit(codePage, { step: 'code', code: '000000' })
    expect(response.status).toBe(200)
    expect(await response.text()).toMatch(/Too many attempts\. Try again in \d+ (seconds|minutes)\./)
  })

  test.each([
    ['of U+0000', 'a\u0000b', 'ab'],
    ['cut within a character', `${'x'.repeat(319)}😀`, `${'x'.repeat(319)}\ufffd`],
  ])('%s is kept as far as the database can', async (_name, address, kept) => {
    const { response } = await browser.submit(await start(), { step: 'email', address })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain(`value="${kept}"`)
  })

  test('beside the right one at once does not undo it', async () => {
    const page = await pageAt(browser, authorizePath(tenant, client, { prompt: 'login' }))
    const sent = await browser.submit(page, { step: 'email', address: email })
    const form = { csrf: csrfIn(await sent.response.text()), step: 'code' }
    const code = await codeFor(email)
    await Promise.all([
      browser.post(sent.path, { ...form, code }),
      ...['1', '2', '3'].map((wrong) => browser.post(sent.path, { ...form, code: wrong })),
    ])
    expect(answerIn((await browser.open(page.path)).location)).toHaveProperty('code')
  })
})

describe('a sign-in', () => {
  test('starts a session with a token of its own each time (session fixation)', async () => {
    browser.cookies.set('vst_sid', 'A'.repeat(43))
    await signInAt(browser, authorizePath(tenant, client), email)
    expect(browser.cookies.get('vst_sid')).not.toBe('A'.repeat(43))
  })

  test('ends the session that the browser had before', async () => {
    await signInAt(browser, authorizePath(tenant, client), email)
    const other = `other-${email}`
    const { id: otherId } = await makeUser(tenant, other)
    await signInAt(browser, authorizePath(tenant, client, { prompt: 'login' }), other)
    const sessions = await dbFor(tenant).session.findMany({
      where: { tenantId: tenant, kind: 'browser' },
      orderBy: { id: 'desc' },
      take: 2,
    })
    expect(sessions.map(({ userId, endReason }) => [userId === otherId, endReason])).toEqual([
      [true, null],
      [false, 'logout'],
    ])
    const [started, ended] = sessions.map(({ id }) => id)
    const log = (await logOf(tenant)).filter(({ actorUserId }) => actorUserId === otherId)
    const by = { actorClientId: client.id, actorTenantId: null, ip: '127.0.0.1' }
    expect(log).toMatchObject([
      { type: 'session.started', userId: otherId, sessionId: started, ...by },
      { type: 'session.ended', userId: sessions[1]?.userId, sessionId: ended, ...by },
    ])
  })

  test('looks the same for a known, an unknown and a locked address (security row 46)', async () => {
    const locked = await makeUser(tenant, `locked-${email}`)
    await lockUser(platformCtx(tenant), locked.id)
    const pages = []
    for (const address of [email, `unknown-${email}`, `locked-${email}`]) {
      const by = new Browser(provider)
      const page = await atCode(by, address)
      const wrong = await by.submit(page, { step: 'code', code: '000000' })
      const { headers } = page.response
      const neutral = (html: string) =>
        html
          .replaceAll(address, 'ADDRESS')
          .replaceAll(handleOf(page.path), 'HANDLE')
          .replaceAll(csrfIn(page.html), 'CSRF')
          .replace(/\d+ seconds?/, 'SOON')
      pages.push([
        page.response.status,
        [...headers.keys()].sort(),
        neutral(page.html),
        wrong.response.status,
        neutral(await wrong.response.text()),
      ])
    }
    expect(pages[1]).toEqual(pages[0])
    expect(pages[2]).toEqual(pages[0])
    await settleDeliveries()
    expect(listInbox(`unknown-${email}`)).toEqual([])
    expect(listInbox(`locked-${email}`)).toEqual([])
  })

  test('asks again after a wrong code, and takes the right one with spaces', async () => {
    const page = await atCode()
    const wrong = await browser.submit(page, { step: 'code', code: '12' })
    expect([wrong.response.status, wrong.path]).toEqual([200, page.path])
    expect(await wrong.response.text()).toContain('That code is wrong or has expired')
    expect((await pageAt(browser, page.path)).html).not.toContain('That code is wrong')
    const code = await codeFor(email)
    const { location } = await browser.submit(page, {
      step: 'code',
      code: `${code.slice(0, 3)} ${code.slice(3)}`,
    })
    expect(answerIn(location)).toHaveProperty('code')
  })

  test('sends no second code within 30 seconds, and lets another address be entered', async () => {
    const page = await atCode()
    const again = await browser.submit(page, { step: 'resend' })
    expect(again.response.status).toBe(200)
    expect(await again.response.text()).toContain('You can ask for a new code in')
    await settleDeliveries()
    expect(listInbox(email)).toHaveLength(1)
    const restarted = await browser.submit(page, { step: 'restart' })
    expect(restarted.path).toBe(page.path.replace('/code', ''))
    expect((await pageAt(browser, page.path)).path).toBe(restarted.path)
  })

  test('goes back from the code to the address with what was entered', async () => {
    const page = await atCode()
    const back = await pageAt(browser, page.path.replace('/code', ''))
    expect(back.html).toContain(`value="${email}"`)
    const { path } = await browser.submit(back, { step: 'email', address: email })
    expect(path).toBe(page.path)
  })

  test('is finished once: sent twice, or reopened, it says so', async () => {
    const page = await atCode()
    const form = { step: 'code', code: await codeFor(email) }
    const { location } = await browser.submit(page, form)
    expect(answerIn(location)).toHaveProperty('code')
    for (const again of [await browser.submit(page, form), await browser.open(page.path)]) {
      expect(again.response.status).toBe(410)
      expect(await again.response.text()).toContain(GONE)
    }
  })

  test('sent twice at once issues one code, and no 500', async () => {
    const page = await atCode()
    const form = { csrf: csrfIn(page.html), step: 'code', code: await codeFor(email) }
    const answers = await Promise.all([browser.post(page.path, form), browser.post(page.path, form)])
    expect(answers.map(({ status }) => status)).toEqual([303, 303])
    const path = page.path.replace('/code', '')
    const ends = await Promise.all([browser.fetch(path), browser.fetch(path)])
    expect(ends.map(({ status }) => status).sort()).toEqual([303, 410])
  })

  test('expires after an hour', async () => {
    const page = await atCode()
    await dbFor(tenant).interaction.update({
      where: interactionOf(page.path),
      data: { expiresAt: new Date(Date.now() - 1) },
    })
    const { response } = await browser.submit(page, { step: 'code', code: await codeFor(email) })
    expect(response.status).toBe(410)
  })

  test('in two tabs at once reaches both ends', async () => {
    const [one, two] = [await start(browser, { state: 'one' }), await start(browser, { state: 'two' })]
    const sent = await browser.submit(one, { step: 'email', address: email })
    const code = { html: await sent.response.text(), path: sent.path }
    const first = await browser.submit(code, { step: 'code', code: await codeFor(email) })
    expect(answerIn(first.location)).toMatchObject({ code: expect.any(String), state: 'one' })
    // Signed in meanwhile: the other tab's form goes straight on, and keeps the session.
    const session = browser.cookies.get('vst_sid')
    const second = await browser.submit(two, { step: 'email', address: email })
    expect(answerIn(second.location)).toMatchObject({ code: expect.any(String), state: 'two' })
    expect(browser.cookies.get('vst_sid')).toBe(session)
  })

  test('belongs to its browser (login CSRF, security row 8)', async () => {
    const page = await atCode()
    const code = await codeFor(email)
    const other = new Browser(provider)
    expect((await other.open(page.path)).response.status).toBe(410)
    await start(other)
    expect((await other.submit(page, { step: 'code', code })).response.status).toBe(410)
    expect(answerIn((await browser.submit(page, { step: 'code', code })).location)).toHaveProperty('code')
  })

  test('takes forms of its own pages only', async () => {
    const page = await start()
    const foreign = csrfIn((await start()).html)
    for (const csrf of ['', 'x', foreign]) {
      const response = await browser.post(page.path, { step: 'email', address: email, csrf })
      expect(response.status).toBe(403)
      expect(await response.text()).toContain('This form is out of date')
    }
    const json = await browser.fetch(page.path, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    expect(json.status).toBe(400)
    await settleDeliveries()
    expect(listInbox(email)).toEqual([])
  })

  test.each([
    {},
    { step: 'nonsense' },
    { step: '__proto__' },
    { step: 'allow' },
    { step: 'code', code: '123456' },
  ])('goes on from where it stands with a form out of order: %j', async (form) => {
    const page = await start()
    const { response, path } = await browser.submit(page, form as Record<string, string>)
    expect([response.status, path]).toEqual([200, page.path])
  })

  test('of a client that was deleted meanwhile ends on a page', async () => {
    const theirs = await makeClient(tenant)
    const page = await pageAt(browser, authorizePath(tenant, theirs))
    await dbFor(tenant).client.delete({ where: { tenantId_id: { tenantId: tenant, id: theirs.id } } })
    forgetClient(tenant, theirs.id)
    expect((await browser.fetch(page.path)).status).toBe(400)
  })

  test.each(['x', 'A'.repeat(43), '..', 'A'.repeat(43).concat('/code')])(
    'with the unknown handle %s finds nothing',
    async (handle) => {
      expect([404, 410]).toContain((await browser.fetch(`/${tenant}/signin/${handle}`)).status)
    },
  )
})
