import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { takeGrant } from '../../../src/coordination/person-budgets.ts'
import { env } from '../../../src/core/env.ts'
import { endSession } from '../../../src/sessions/sessions.ts'
import { lockUser } from '../../../src/users/users.ts'
import { newTenant } from '../../support/actors.ts'
import { pollWith } from '../../support/device-flow.ts'
import { test as base } from '../../support/devices.ts'
import type { PageBrowser } from '../../support/page-browser.ts'
import { csrfIn, makeClient } from '../../support/protocol.ts'
import { repeatForm } from '../../support/repeated-forms.ts'

const test = base
  .extend('pending', async ({ browser, oidc, user, newDevice, enter }) => {
    await oidc.signIn(browser, user.email)
    const device = await newDevice()
    return { device, asked: await enter(device) }
  })
  .extend(
    'expectRejected',
    ({ findStatus, pending }) =>
      async (by: PageBrowser, form: Record<string, string>, status: number, path = pending.asked.path) => {
        const { response } = await by.follow(await by.post(path, form))
        expect(response.status).toBe(status)
        expect(await findStatus(pending.device)).toBe('pending')
      },
  )

describe('a form of a device that is sent several times', () => {
  test('leads to one sign-in by the user code, and to one decision', async ({
    tenant,
    browser,
    signedIn,
    newDevice,
    findStatus,
    poll,
  }) => {
    const device = await newDevice()
    const path = `/${tenant}/device`
    const html = await (await browser.fetch(path)).text()
    const entered = await repeatForm(signedIn, { html, path }, { user_code: device.shown })
    for (const outcome of entered.outcomes) expect(outcome).toEqual(entered.outcomes[0])
    const asked = await signedIn.follow(entered.last)
    const page = { html: await asked.response.text(), path: asked.path }
    const decided = await repeatForm(signedIn, page, { step: 'allow' })
    for (const outcome of decided.outcomes) expect(outcome).toEqual(decided.outcomes[0])
    expect((await signedIn.follow(decided.last)).path).toBe(`/${tenant}/device/approved`)
    expect(await findStatus(device)).toBe('approved')
    expect((await poll(device)).status).toBe(200)
    // The device has its tokens: the person is still led to the same page.
    const late = await signedIn.submit(page, { step: 'allow' })
    expect(late.path).toBe(`/${tenant}/device/approved`)
  })
})

describe('a decision about a device', () => {
  test('is rejected from another browser that knows the address and the form token', async ({
    newPerson,
    newBrowser,
    oidc,
    openPage,
    pending,
    expectRejected,
  }) => {
    const other = newBrowser()
    const { email } = await newPerson()
    await oidc.signIn(other, email)
    expect((await openPage(pending.asked.path, other)).status).toBe(410)
    await expectRejected(other, { csrf: csrfIn(pending.asked.html), step: 'allow' }, 410)
  })

  test('is rejected when the user has given the client too many grants', async ({
    tenant,
    user,
    tv,
    browser,
    pending,
    expectRejected,
  }) => {
    for (let n = 0; n < env.grantsPerHour; n++) takeGrant(tenant, user.id, tv.id)
    await expectRejected(browser, { csrf: csrfIn(pending.asked.html), step: 'allow' }, 429)
  })

  test('is rejected with the form token of another interaction or with none', async ({
    browser,
    newDevice,
    enter,
    expectRejected,
  }) => {
    const second = await enter(await newDevice())
    await expectRejected(browser, { csrf: csrfIn(second.html), step: 'allow' }, 403)
    await expectRejected(browser, { csrf: '', step: 'allow' }, 403)
  })

  test('is rejected when another user has signed in after the page was shown', async ({
    newPerson,
    browser,
    oidc,
    pending,
    expectRejected,
  }) => {
    const { email: other } = await newPerson()
    await oidc.signIn(browser, other, { prompt: 'login' })
    await expectRejected(browser, { csrf: csrfIn(pending.asked.html), step: 'allow' }, 403)
    // The user is asked which account approves the device.
    const { path } = await browser.open(pending.asked.path)
    expect(path).toMatch(/\/select$/)
  })

  test('is not completed by another user who signed in after the consent', async ({
    newPerson,
    browser,
    oidc,
    findStatus,
    pending,
  }) => {
    const allow = await browser.post(pending.asked.path, { csrf: csrfIn(pending.asked.html), step: 'allow' })
    const next = allow.headers.get('location') as string
    const { email: other } = await newPerson()
    await oidc.signIn(browser, other, { prompt: 'login' })
    const { path } = await browser.open(next)
    expect(path).toMatch(/\/select$/)
    expect(await findStatus(pending.device)).toBe('pending')
  })

  test('is rejected at another tenant', async ({ app, tenant, browser, pending, expectRejected }) => {
    const elsewhere = await newTenant()
    const path = pending.asked.path.replace(tenant, elsewhere)
    await expectRejected(browser, { csrf: csrfIn(pending.asked.html), step: 'allow' }, 410, path)
    const there = await makeClient(elsewhere, { appType: 'native', callbacks: [] })
    const answer = await pollWith(app, elsewhere, there, pending.device.code)
    expect(answer.body.error).toBe('invalid_grant')
  })

  test('is rejected after the session has ended', async ({
    tenant,
    browser,
    findSessionId,
    pending,
    expectRejected,
  }) => {
    await endSession(createPlatformCtx(tenant), await findSessionId(), 'logout')
    await expectRejected(browser, { csrf: csrfIn(pending.asked.html), step: 'allow' }, 403)
    expect((await browser.open(pending.asked.path)).path).not.toMatch(/\/consent$/)
  })

  test('of a locked user is rejected', async ({ tenant, browser, user, pending, expectRejected }) => {
    await lockUser(createPlatformCtx(tenant), user.id)
    await expectRejected(browser, { csrf: csrfIn(pending.asked.html), step: 'allow' }, 403)
  })
})
