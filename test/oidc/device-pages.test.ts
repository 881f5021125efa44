import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deleteClient, updateClient } from '../../src/clients/client-changes.ts'
import { revokeUserConsent } from '../../src/consents/consents.ts'
import { sha256 } from '../../src/crypto.ts'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor } from '../../src/db.ts'
import type { User } from '../../src/generated/prisma/client.ts'
import { wordsOf } from '../../src/oidc/signin/scope-words.ts'
import { endSession } from '../../src/sessions/sessions.ts'
import { deleteUser, lockUser } from '../../src/users/users.ts'
import { newTenant } from '../support/actors.ts'
import { decide, enterCode, pollWith, startDevice } from './device-flow.ts'
import {
  authorizePath,
  Browser,
  codeFor,
  csrfIn,
  makeClient,
  makeUser,
  type Provider,
  refreshWith,
  signInAt,
  startProvider,
} from './provider.ts'

let provider: Provider
let tenant: string
let tv: Awaited<ReturnType<typeof makeClient>>
let web: Awaited<ReturnType<typeof makeClient>>
let user: User
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
  user = await makeUser(tenant, email, { name: 'Ada' })
  browser = new Browser(provider)
})

type Device = { code: string; shown: string }
async function newDevice(): Promise<Device> {
  const { body } = await startDevice(provider, tenant, tv)
  return { code: body.device_code as string, shown: body.user_code as string }
}
const signIn = (who = browser, as = email) => signInAt(who, authorizePath(tenant, web), as)
const poll = ({ code }: Device) => pollWith(provider, tenant, tv, code)
const statusOf = async ({ code }: Device): Promise<string | undefined> => {
  const where = { tenantId_codeHash: { tenantId: tenant, codeHash: sha256(code) } }
  return (await dbFor(tenant).deviceCode.findUnique({ where }))?.status
}
const enter = (device: Device, who = browser) => enterCode(who, tenant, device.shown)
const page = async (path: string, who = browser) => {
  const response = await who.fetch(path)
  return { path, status: response.status, html: await response.text() }
}
const sessionOf = async () =>
  (await dbFor(tenant).session.findFirstOrThrow({ where: { tenantId: tenant, userId: user.id } })).id

describe('the sign-in and the question', () => {
  test('whoever is not signed in does so, and is then asked', async () => {
    const device = await newDevice()
    const start = await enter(device)
    expect(start.html).toContain('to continue to')
    const sent = await browser.submit(start, { step: 'email', address: email })
    const codePage = { html: await sent.response.text(), path: sent.path }
    const asked = await browser.submit(codePage, { step: 'code', code: await codeFor(email) })
    const html = await asked.response.text()
    expect(asked.path).toMatch(/\/consent$/)
    for (const text of ['Living room TV', device.shown, email]) expect(html).toContain(text)
    for (const scope of ['openid', 'profile', 'offline_access']) expect(html).toContain(wordsOf(scope))
    expect(await poll(device)).toMatchObject({ body: { error: 'authorization_pending' } })
    const { response, path } = await browser.submit({ html, path: asked.path }, { step: 'allow' })
    expect(path).toBe(`/${tenant}/device/approved`)
    expect(await response.text()).toContain('You can go back to your device')
    expect((await poll(device)).status).toBe(200)
  })

  test('is asked of whoever is signed in, each time, whatever they agreed to before (section 5.4)', async () => {
    await signIn()
    for (let round = 0; round < 2; round++) {
      const device = await newDevice()
      const asked = await enter(device)
      expect(asked.path).toMatch(/\/consent$/)
      expect(asked.html).toContain(device.shown)
      expect(await statusOf(device)).toBe('pending')
      await browser.submit(asked, { step: 'allow' })
      expect(await statusOf(device)).toBe('approved')
    }
  })

  test('names no more than the person can give', async () => {
    const backoffice = await makeClient(tenant, { appType: 'native', callbacks: [], scopes: ['users:write'] })
    const { body } = await startDevice(provider, tenant, backoffice, { scope: 'users:write' })
    await signIn()
    const { html } = await enterCode(browser, tenant, body.user_code as string)
    expect(html).not.toContain(wordsOf('users:write'))
    expect(html).toContain('It asks for nothing that your account could give.')
  })

  test('not you? leads to a sign-in as somebody else, who is asked', async () => {
    const other = `other-${email}`
    const grace = await makeUser(tenant, other)
    await signIn()
    const device = await newDevice()
    const asked = await enter(device)
    const login = await browser.submit(asked, { step: 'switch' })
    const emailPage = { html: await login.response.text(), path: login.path }
    const sent = await browser.submit(emailPage, { step: 'email', address: other })
    const codePage = { html: await sent.response.text(), path: sent.path }
    const again = await browser.submit(codePage, { step: 'code', code: await codeFor(other) })
    const html = await again.response.text()
    expect(html).toContain(other)
    await browser.submit({ html, path: again.path }, { step: 'allow' })
    await poll(device)
    expect(await dbFor(tenant).grant.findMany({ where: { tenantId: tenant } })).toMatchObject([
      { userId: grace.id, clientId: tv.id },
    ])
  })

  test('the last pages can be reloaded, the question cannot be answered twice', async () => {
    await signIn()
    const device = await newDevice()
    const asked = await enter(device)
    await browser.submit(asked, { step: 'allow' })
    expect((await browser.submit(asked, { step: 'deny' })).response.status).toBe(410)
    expect(await statusOf(device)).toBe('approved')
    for (const end of ['approved', 'denied'])
      expect((await page(`/${tenant}/device/${end}`)).status).toBe(200)
  })

  test('of two browsers that entered the code, the first decides', async () => {
    const other = new Browser(provider)
    await makeUser(tenant, `other-${email}`)
    await signIn()
    await signIn(other, `other-${email}`)
    const device = await newDevice()
    const [mine, theirs] = [await enter(device), await enter(device, other)]
    await browser.submit(mine, { step: 'deny' })
    const late = await other.submit(theirs, { step: 'allow' })
    expect(late.response.status).toBe(410)
    expect(await late.response.text()).toContain('Start again on your device')
    expect(await poll(device)).toMatchObject({ body: { error: 'access_denied' } })
  })

  test('a code that expires on the way is not allowed any more', async () => {
    await signIn()
    const device = await newDevice()
    const asked = await enter(device)
    const where = { tenantId_codeHash: { tenantId: tenant, codeHash: sha256(device.code) } }
    await dbFor(tenant).deviceCode.update({ where, data: { expiresAt: new Date() } })
    expect((await browser.submit(asked, { step: 'allow' })).response.status).toBe(410)
    expect(await statusOf(device)).toBe('pending')
  })

  test('an application that is gone, or is no application for devices any more, is not asked for', async () => {
    await signIn()
    const asked = await enter(await newDevice())
    await updateClient(platformCtx(tenant), tv.id, {
      appType: 'single-page',
      callbacks: ['https://spa.example.com/cb'],
    } as never)
    expect((await page(asked.path)).status).toBe(400)
    await deleteClient(platformCtx(tenant), tv.id)
    expect((await page(asked.path)).status).toBe(410)
    expect(await dbFor(tenant).deviceCode.count({ where: { tenantId: tenant } })).toBe(0)
  })
})

describe('who decides (security 38)', () => {
  let device: Device
  let asked: Awaited<ReturnType<typeof enterCode>>
  beforeEach(async () => {
    await signIn()
    device = await newDevice()
    asked = await enter(device)
  })
  const refused = async (who: Browser, form: Record<string, string>, status: number, path = asked.path) => {
    const { response } = await who.follow(await who.post(path, form))
    expect(response.status).toBe(status)
    expect(await statusOf(device)).toBe('pending')
  }

  test('security 38: nobody in another browser, even with the address of the page and its form', async () => {
    const other = new Browser(provider)
    await makeUser(tenant, `other-${email}`)
    await signIn(other, `other-${email}`)
    expect((await page(asked.path, other)).status).toBe(410)
    await refused(other, { csrf: csrfIn(asked.html), step: 'allow' }, 410)
  })

  test('security 38: no form of another sign-in', async () => {
    const second = await enter(await newDevice())
    await refused(browser, { csrf: csrfIn(second.html), step: 'allow' }, 403)
    await refused(browser, { csrf: '', step: 'allow' }, 403)
  })

  test('security 38: nobody who signed in after the question was asked', async () => {
    const other = `other-${email}`
    await makeUser(tenant, other)
    await signInAt(browser, authorizePath(tenant, web, { prompt: 'login' }), other)
    await refused(browser, { csrf: csrfIn(asked.html), step: 'allow' }, 403)
    // Nor is what the first one agreed to worth anything for the second one.
    const again = await page(asked.path)
    expect(again.html).toContain(other)
  })

  test('security 38: what one person agreed to is not given by another', async () => {
    const allow = await browser.post(asked.path, { csrf: csrfIn(asked.html), step: 'allow' })
    const next = allow.headers.get('location') as string
    const other = `other-${email}`
    await makeUser(tenant, other)
    await signInAt(browser, authorizePath(tenant, web, { prompt: 'login' }), other)
    const { path } = await browser.open(next)
    expect(path).toMatch(/\/consent$/)
    expect(await statusOf(device)).toBe('pending')
  })

  test('security 38: not at another tenant', async () => {
    const elsewhere = await newTenant()
    const path = asked.path.replace(tenant, elsewhere)
    await refused(browser, { csrf: csrfIn(asked.html), step: 'allow' }, 410, path)
    const there = await makeClient(elsewhere, { appType: 'native', callbacks: [] })
    const answer = await pollWith(provider, elsewhere, there, device.code)
    expect(answer.body.error).toBe('invalid_grant')
  })

  test('nobody without a session: it ended meanwhile', async () => {
    await endSession(platformCtx(tenant), await sessionOf(), 'logout')
    await refused(browser, { csrf: csrfIn(asked.html), step: 'allow' }, 403)
    expect((await browser.open(asked.path)).path).not.toMatch(/\/consent$/)
  })

  test('nobody who is locked (security 29)', async () => {
    await lockUser(platformCtx(tenant), user.id)
    await refused(browser, { csrf: csrfIn(asked.html), step: 'allow' }, 403)
  })
})

describe('what was allowed and not yet fetched', () => {
  let device: Device
  beforeEach(async () => {
    await signIn()
    device = await newDevice()
    await decide(browser, tenant, device.shown, 'allow')
  })
  const gone = async () => {
    expect(await poll(device)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await dbFor(tenant).grant.count({ where: { tenantId: tenant } })).toBe(0)
    expect(await statusOf(device)).toBeUndefined()
  }

  test('goes with the lock of its person (security 29)', async () => {
    await lockUser(platformCtx(tenant), user.id)
    await gone()
  })
  test('goes with its person', async () => {
    await deleteUser(platformCtx(tenant), user.id)
    await gone()
  })
  test('goes with the session', async () => {
    await endSession(platformCtx(tenant), await sessionOf(), 'logout')
    await gone()
  })
  test('goes with the consent', async () => {
    await revokeUserConsent(platformCtx(tenant), user.id, tv.id)
    await gone()
  })
})

test('what a device got is taken back with the consent (OIDC Core, section 11)', async () => {
  await signIn()
  const device = await newDevice()
  await decide(browser, tenant, device.shown, 'allow')
  const { body } = await poll(device)
  await revokeUserConsent(platformCtx(tenant), user.id, tv.id)
  expect(await refreshWith(provider, tenant, tv, body.refresh_token as string)).toMatchObject({
    body: { error: 'invalid_grant' },
  })
})

test('a client with a back-channel is told of the end of a session that a device has', async () => {
  const told = await makeClient(tenant, { backchannelLogoutUrl: 'https://rp.example.com/logout' })
  await signIn()
  const { body } = await startDevice(provider, tenant, told, { scope: 'openid' })
  await decide(browser, tenant, body.user_code as string, 'allow')
  expect((await pollWith(provider, tenant, told, body.device_code as string)).status).toBe(200)
  expect(await dbFor(tenant).sessionClient.findMany({ where: { tenantId: tenant } })).toMatchObject([
    { sessionId: await sessionOf(), clientId: told.id },
  ])
})
