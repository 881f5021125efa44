import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { verifySignInPasscode } from '../../../src/passcodes/passcodes.ts'
import { sendSignInPasscode } from '../../../src/passcodes/send-passcode.ts'
import { endSession, findBrowserSession } from '../../../src/sessions/sessions.ts'
import { resetCooldown } from '../../support/account.ts'
import { dbFor } from '../../support/database.ts'
import { test as base } from '../../support/hosted-pages.ts'
import type { PageBrowser } from '../../support/page-browser.ts'
import { answerIn } from '../../support/protocol.ts'
import { VISIT } from '../../support/visit.ts'

/** `test` with a user who signs in repeatedly. */
const test = base
  /** Signs `person` in and redeems the code. */
  .extend(
    'issueTokens',
    ({ tenant, person, oidc }) =>
      async (by: PageBrowser, parameters: Record<string, string> = {}) => {
        await resetCooldown(tenant, person.email)
        const { location } = await oidc.signIn(by, person.email, parameters)
        const { body } = await oidc.exchange(answerIn(location).code ?? '')
        const claims = decodeJwt(body.id_token ?? '')
        return { accessToken: body.access_token ?? '', claims, sid: String(claims.sid) }
      },
  )
  .extend(
    'findRow',
    ({ tenant }) =>
      (id: string) =>
        dbFor(tenant).session.findUniqueOrThrow({ where: { tenantId_id: { tenantId: tenant, id } } }),
  )

describe('a sign-in of the user who is signed in (OIDC Core, section 3.1.2.1)', () => {
  test('keeps the session and raises its time and methods', async ({
    tenant,
    events,
    client,
    person,
    browser,
    oidc,
    issueTokens,
    findRow,
  }) => {
    const first = await issueTokens(browser)
    const { createdAt } = await findRow(first.sid)
    const past = new Date(Date.now() - 3_600_000)
    await dbFor(tenant).session.update({
      where: { tenantId_id: { tenantId: tenant, id: first.sid } },
      data: {
        authenticatedAt: past,
        proofs: [{ method: 'passcode', amr: ['otp', 'sms'], at: past.toISOString() }],
      },
    })
    const again = await issueTokens(browser, { prompt: 'login' })
    expect(again.claims).toMatchObject({ sid: first.sid, sub: person.id, amr: ['otp'] })
    expect(Number(again.claims.auth_time)).toBeGreaterThanOrEqual(Number(first.claims.auth_time))
    expect(await findRow(first.sid)).toMatchObject({
      endedAt: null,
      createdAt,
      proofs: [{ method: 'passcode', amr: ['otp'] }],
    })
    expect((await oidc.userinfo(first.accessToken)).status).toBe(200)
    const about = {
      userId: person.id,
      sessionId: first.sid,
      actorUserId: person.id,
      actorClientId: client.id,
    }
    const log = (await events()).filter(({ sessionId }) => sessionId === first.sid)
    expect(log.filter(({ type }) => type.startsWith('session.'))).toMatchObject([
      { type: 'session.started', ...about },
      { type: 'session.reauthenticated', ...about, detail: { method: 'passcode' }, ip: '127.0.0.1' },
    ])
  })

  test('replaces the cookie, so that a copy of it does not gain the sign-in', async ({
    tenant,
    browser,
    issueTokens,
  }) => {
    const { sid } = await issueTokens(browser)
    const former = browser.sessionToken ?? ''
    await issueTokens(browser, { max_age: '0' })
    expect(await findBrowserSession(tenant, former)).toBeNull()
    expect(await findBrowserSession(tenant, browser.sessionToken ?? '')).toMatchObject({ id: sid })
  })

  test('extends the session to 30 days from then', async ({ tenant, browser, issueTokens, findRow }) => {
    const { sid } = await issueTokens(browser)
    const day = 86_400_000
    const old = new Date(Date.now() - 29.9 * day)
    const where = { tenantId_id: { tenantId: tenant, id: sid } }
    await dbFor(tenant).session.update({ where, data: { createdAt: old, authenticatedAt: old } })
    await issueTokens(browser, { prompt: 'login' })
    await dbFor(tenant).session.update({ where, data: { lastSeenAt: old } })
    await findBrowserSession(tenant, browser.sessionToken ?? '')
    const { expiresAt } = await findRow(sid)
    expect(expiresAt.getTime()).toBeGreaterThan(Date.now() + 0.4 * day)
  })

  test('starts another session when the former one has ended', async ({
    tenant,
    inbox,
    person,
    browser,
    issueTokens,
    start,
    oidc,
  }) => {
    const { sid } = await issueTokens(browser)
    await resetCooldown(tenant, person.email)
    const page = await browser.submit(await start(browser, { prompt: 'login' }), {
      step: 'email',
      address: person.email,
    })
    const shown = { html: await page.response.text(), path: page.path }
    await endSession(createPlatformCtx(tenant), sid, 'revoked')
    const { location } = await browser.submit(shown, {
      step: 'code',
      code: await inbox.codeFor(person.email),
    })
    const { body } = await oidc.exchange(answerIn(location).code ?? '')
    expect(decodeJwt(body.id_token ?? '').sid).not.toBe(sid)
  })

  test('never leads to a session that is ended at the same time', async ({
    ctx,
    tenant,
    inbox,
    person,
    browser,
    issueTokens,
  }) => {
    let { sid } = await issueTokens(browser)
    for (let round = 0; round < 8; round++) {
      await resetCooldown(tenant, person.email)
      await sendSignInPasscode(ctx, person.email, VISIT)
      const code = await inbox.codeFor(person.email)
      const [signedIn, wasEnded] = await Promise.all([
        verifySignInPasscode(ctx, person.email, code, {
          ...VISIT,
          present: [{ id: sid, userId: person.id, isActive: true }],
        }),
        endSession(ctx, sid, 'revoked'),
      ])
      expect(wasEnded).toBe(true)
      if (!signedIn?.token) throw new Error('the user is not signed in')
      const { token, session } = signedIn
      const found = await findBrowserSession(tenant, token)
      // The end came last and ended the raised session, or came first and another session started.
      expect(found?.id ?? null).toBe(session.id === sid ? null : session.id)
      sid = found ? session.id : (await issueTokens(browser)).sid
    }
  })
})
