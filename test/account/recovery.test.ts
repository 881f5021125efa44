import { describe, expect } from 'vitest'
import { startEnrollment } from '../../src/credentials/enrollment.ts'
import { createCredentialEnrollmentToken } from '../../src/credentials/enrollment-tokens.ts'
import { awaitDeliveries } from '../../src/delivery/background.ts'
import { listInboxMessages } from '../../src/delivery/inbox.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createUser } from '../../src/users/users.ts'
import { dbFor } from '../support/database.ts'
import { PageBrowser } from '../support/page-browser.ts'
import { test as base } from '../support/tenant-per-test.ts'
import { enrollTotp } from '../support/totp.ts'

const EMAIL = 'ada@recovery.example'
const PHONE = '+41791115501'

const test = base
  /** A user with two verified addresses and a credential. */
  .extend('userId', async ({ tenant, ctx }) => {
    const addresses = { email: `${tenant}.${EMAIL}`, emailVerified: true }
    const { id } = await createUser(ctx, { ...addresses, phoneNumber: PHONE, phoneNumberVerified: true })
    await enrollTotp(ctx, id)
    return id
  })
  .extend('notices', ({ tenant }) => async () => {
    await awaitDeliveries()
    return [`${tenant}.${EMAIL}`, PHONE].map(
      (address) =>
        listInboxMessages(address).find(({ body }) => body.includes(`/${tenant}/enroll/cancel`))?.body,
    )
  })
  .extend('openCancelPage', ({ app, notices }) => async () => {
    const path =
      /http:\/\/localhost:3000(\/\S+cancel\?token=[\w-]{43})/.exec((await notices())[0] ?? '')?.[1] ?? ''
    const browser = new PageBrowser(app.origin)
    const { response } = await browser.open(path)
    return { browser, page: { html: await response.text(), path }, status: response.status }
  })

describe('the enrollment link of an administrator for a user who has a credential', () => {
  test('works at once by default, is announced to every address and recorded', async ({
    ctx,
    userId,
    notices,
    events,
  }) => {
    const { token, usableAt } = await createCredentialEnrollmentToken(ctx, userId, { send: false })
    expect(usableAt.getTime()).toBeLessThanOrEqual(Date.now())
    for (const notice of await notices()) {
      expect(notice).toContain('An administrator of')
      expect(notice).not.toContain(token)
    }
    expect(await events({ type: 'credential.enrollment_created', userId })).toMatchObject([
      { detail: { channel: null, waitSeconds: 0 } },
    ])
    expect(await startEnrollment(ctx, { token })).toMatchObject({ challenge: expect.any(String) })
  })

  test('works after the waiting time, and says so before', async ({ app, tenant, ctx, rest, userId }) => {
    await updateSettings(ctx, { recoveryWaitingTime: 3600 })
    const made = await rest('POST', `/users/${userId}/credentials/enrollment-tokens`, { send: false })
    const { token, usableAt } = made.body
    expect(new Date(usableAt).getTime()).toBeGreaterThan(Date.now() + 3_500_000)
    const early = await app.fetch(`/${tenant}/enroll?token=${token}`)
    expect(early.status).toBe(403)
    expect(await early.text()).toContain('This link does not work yet')
    await expect(startEnrollment(ctx, { token })).rejects.toMatchObject({ status: 410 })
    const later = new Date(Date.now() + 3_601_000)
    expect(await startEnrollment(ctx, { token }, later)).toMatchObject({ challenge: expect.any(String) })
    await dbFor(tenant).enrollmentToken.updateMany({
      where: { tenantId: tenant },
      data: { usableAt: new Date() },
    })
    expect((await app.fetch(`/${tenant}/enroll?token=${token}`)).status).toBe(200)
  })

  test('is canceled by the user, once, and not by opening the link', async ({
    ctx,
    userId,
    events,
    openCancelPage,
  }) => {
    await updateSettings(ctx, { recoveryWaitingTime: 3600 })
    const { token } = await createCredentialEnrollmentToken(ctx, userId, { send: false })
    const { browser, page, status } = await openCancelPage()
    expect([status, page.html.includes('Cancel the link?')]).toEqual([200, true])
    const later = new Date(Date.now() + 3_601_000)
    expect(await startEnrollment(ctx, { token }, later)).toMatchObject({ challenge: expect.any(String) })
    expect((await browser.post(page.path, { csrf: 'forged' })).status).toBe(403)
    const shown = await openCancelPage()
    // A form that is sent again gets the same response; another one finds nothing to cancel.
    const results = await Promise.all(
      Array.from({ length: 4 }, async () => (await browser.submit(page, {})).response.status),
    )
    expect(results).toEqual([200, 200, 200, 200])
    expect((await shown.browser.submit(shown.page, {})).response.status).toBe(410)
    await expect(startEnrollment(ctx, { token }, later)).rejects.toMatchObject({ status: 410 })
    expect(await events({ type: 'credential.enrollment_canceled', userId })).toHaveLength(1)
    expect((await openCancelPage()).status).toBe(410)
  })

  test('is announced and delayed also after all credentials were removed', async ({
    tenant,
    ctx,
    rest,
    userId,
    notices,
  }) => {
    await updateSettings(ctx, { recoveryWaitingTime: 3600 })
    const { body } = await rest('GET', `/users/${userId}/credentials`)
    for (const { id } of body.credentials) await rest('DELETE', `/credentials/${id}`)
    const { token } = await createCredentialEnrollmentToken(ctx, userId, { send: false })
    expect((await notices()).filter(Boolean)).toHaveLength(2)
    await expect(startEnrollment(ctx, { token })).rejects.toMatchObject({ status: 410 })
    await dbFor(tenant).user.update({
      where: { tenantId_id: { tenantId: tenant, id: userId } },
      data: { credentialRemovedAt: new Date(Date.now() - 31 * 86_400_000) },
    })
    const later = await createCredentialEnrollmentToken(ctx, userId, { send: false })
    expect(await startEnrollment(ctx, { token: later.token })).toMatchObject({
      challenge: expect.any(String),
    })
  })

  test('is neither announced nor delayed for a user who has no credential', async ({ tenant, ctx }) => {
    await updateSettings(ctx, { recoveryWaitingTime: 3600 })
    const email = `new.${tenant}.${EMAIL}`
    const { id } = await createUser(ctx, { email, emailVerified: true })
    const { token } = await createCredentialEnrollmentToken(ctx, id, { send: false })
    expect(listInboxMessages(email)).toEqual([])
    expect(await startEnrollment(ctx, { token })).toMatchObject({ challenge: expect.any(String) })
  })
})
