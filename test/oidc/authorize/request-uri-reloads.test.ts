import { describe, expect } from 'vitest'
import { sha256 } from '../../../src/core/crypto.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { dbFor } from '../../support/database.ts'
import { handleIn } from '../../support/hosted-pages.ts'
import { answerIn, codeFor } from '../../support/protocol.ts'
import { PREFIX, test } from '../../support/pushed-requests.ts'
import { countWarmStatements } from '../../support/statements.ts'

describe('a request_uri whose sign-in is not finished', () => {
  test('leads the same browser back to the sign-in, which issues one code', async ({
    newBrowser,
    newPerson,
    oidc,
    pushRequest,
    pathFor,
    countInteractions,
  }) => {
    const { email } = await newPerson()
    const browser = newBrowser()
    const path = pathFor(await pushRequest())
    const before = await countInteractions()
    const first = await browser.open(path)
    const form = { html: await first.response.text(), path: first.path }
    await browser.submit(form, { step: 'email', address: email })
    const again = await browser.open(path)
    expect([again.response.status, again.path]).toEqual([200, first.path])
    expect(await countInteractions()).toBe(before + 1)
    const page = { html: await again.response.text(), path: `${first.path}/code` }
    const code = await browser.open(page.path)
    const { location } = await browser.submit(
      { html: await code.response.text(), path: page.path },
      { step: 'code', code: await codeFor(email) },
    )
    const { status } = await oidc.exchange(answerIn(location).code as string)
    expect(status).toBe(200)
    expect((await browser.fetch(path)).status).toBe(400)
  })

  test('issues one code when the signed-in user reloads it 20 times concurrently', async ({
    newBrowser,
    newVisitor,
    pushRequest,
    pathFor,
  }) => {
    const { browser } = await newVisitor()
    const path = pathFor(await pushRequest())
    const cookies = new Map(browser.cookies)
    browser.forgetSessions()
    await browser.open(path)
    // The user signs in in another tab.
    for (const [name, value] of cookies) browser.cookies.set(name, value)
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.open(path)))
    const issued = answers.flatMap(({ location }) => answerIn(location).code ?? [])
    expect(new Set(issued).size).toBe(1)
    expect((await newBrowser().fetch(path)).status).toBe(400)
  })

  test('leads back by the loginUrl of the tenant, as it started', async ({
    ctx,
    newBrowser,
    newVisitor,
    pushRequest,
    pathFor,
  }) => {
    await updateSettings(ctx, { loginUrl: 'https://start.example.com/in' })
    const browser = newBrowser()
    const path = pathFor(await pushRequest())
    const first = (await browser.fetch(path)).headers.get('location') ?? ''
    expect(first).toMatch(/^https:\/\/start\.example\.com\/in\?continue=/)
    expect((await browser.fetch(path)).headers.get('location')).toBe(first)
    // The user signs in in another tab: nothing is left to ask.
    for (const [name, value] of (await newVisitor()).browser.cookies) browser.cookies.set(name, value)
    const hosted = new URL(new URL(first).searchParams.get('continue') ?? '')
    expect((await browser.fetch(path)).headers.get('location')).toBe(hosted.pathname)
    await updateSettings(ctx, { loginUrl: null })
  })

  test('leads another browser to no sign-in', async ({ newBrowser, newVisitor, pushRequest, pathFor }) => {
    const path = pathFor(await pushRequest())
    expect((await newBrowser().open(path)).response.status).toBe(200)
    for (const browser of [newBrowser(), (await newVisitor()).browser]) {
      const { response, location } = await browser.open(path)
      expect([response.status, location]).toEqual([410, null])
    }
  })

  test('is rejected for another client, and after the user has canceled', async ({
    newBrowser,
    other,
    pushRequest,
    pathFor,
  }) => {
    const browser = newBrowser()
    const requestUri = await pushRequest()
    const first = await browser.open(pathFor(requestUri))
    expect((await browser.fetch(pathFor(requestUri, other))).status).toBe(400)
    const page = { html: await first.response.text(), path: first.path }
    const { location } = await browser.submit(page, { step: 'cancel' })
    expect(answerIn(location)).toMatchObject({ error: 'access_denied' })
    expect((await browser.fetch(pathFor(requestUri))).status).toBe(400)
  })

  test('expires with its lifetime, and the sign-in goes on', async ({
    tenant,
    newBrowser,
    pushRequest,
    pathFor,
  }) => {
    const browser = newBrowser()
    const requestUri = await pushRequest()
    const id = { tenantId: tenant, requestHash: sha256(requestUri.slice(PREFIX.length)) }
    const pushed = await dbFor(tenant).pushedRequest.findUniqueOrThrow({
      where: { tenantId_requestHash: id },
    })
    const first = await browser.open(pathFor(requestUri))
    const handle = handleIn(first.path)
    const key = { tenantId_handleHash: { tenantId: tenant, handleHash: sha256(handle) } }
    const started = await dbFor(tenant).interaction.findUniqueOrThrow({ where: key })
    expect(started.resumableUntil).toEqual(pushed.expiresAt)
    await dbFor(tenant).interaction.update({
      where: key,
      data: { resumableUntil: new Date(Date.now() - 1) },
    })
    expect((await browser.fetch(pathFor(requestUri))).status).toBe(400)
    expect((await browser.open(first.path)).response.status).toBe(200)
  })

  test('sends one statement when it leads back', async ({ newBrowser, pushRequest, pathFor }) => {
    const browser = newBrowser()
    const path = pathFor(await pushRequest())
    await browser.open(path)
    const reload = () => browser.fetch(path)
    expect(await countWarmStatements(reload, reload)).toBe(1)
  })
})
