import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { takeRecoveryCode } from '../../../../src/coordination/person-budgets.ts'
import { revokeCredential } from '../../../../src/credentials/credentials.ts'
import { awaitDeliveries } from '../../../../src/delivery/background.ts'
import { listInboxMessages } from '../../../../src/delivery/inbox.ts'
import { updateSettings } from '../../../../src/tenants/settings.ts'
import { dbFor } from '../../../support/database.ts'
import { openPage } from '../../../support/hosted-pages.ts'
import { answerIn } from '../../../support/protocol.ts'
import { test as base, toLanding } from '../../../support/second-factor.ts'
import { computeWrongTotp } from '../../../support/totp.ts'

const TITLE = '<h1>Enter the code from your app</h1>'
const RECOVERY_TITLE = '<h1>Enter a recovery code</h1>'

const test = base.extend('claimsOf', ({ oidc }) => async (location: string | null) => {
  const { body } = await oidc.exchange(answerIn(location).code ?? '')
  return decodeJwt(String(body.id_token))
})

describe('a sign-in by a code of a user with an authenticator app', () => {
  test('asks for the code of the app, and reports two factors', async ({
    tenant,
    person,
    browser,
    atSecondFactor,
    enterTotp,
    countSessions,
    claimsOf,
  }) => {
    expect(atSecondFactor.html).toContain(TITLE)
    expect(atSecondFactor.html).toContain('autocomplete="one-time-code"')
    expect(atSecondFactor.html).toContain(person.email)
    expect(await countSessions()).toBe(0)
    const { location } = await enterTotp(atSecondFactor)
    const claims = await claimsOf(location)
    expect(claims).toMatchObject({ sub: person.id, acr: 'urn:vestibule:mfa', amr: ['otp', 'mfa'] })
    const session = await dbFor(tenant).session.findUniqueOrThrow({
      where: { tenantId_id: { tenantId: tenant, id: String(claims.sid) } },
    })
    const [first, second] = session.proofs as { method: string; at: string }[]
    expect([first?.method, second?.method]).toEqual(['passcode', 'totp'])
    expect(claims.auth_time).toBe(Math.floor(new Date(String(first?.at)).getTime() / 1000))
    expect(await countSessions()).toBe(1)
    const again = await openPage(browser, atSecondFactor.path)
    expect(again.html).not.toContain(TITLE)
  })

  test('has no usable session before the second factor', async ({
    oidc,
    browser,
    atSecondFactor,
    countSessions,
  }) => {
    expect(atSecondFactor.html).toContain(TITLE)
    const silent = await browser.open(oidc.authorizePath({ prompt: 'none' }))
    expect(answerIn(silent.location).error).toBe('login_required')
    const elsewhere = await openPage(browser, oidc.authorizePath())
    expect(elsewhere.html).not.toContain(TITLE)
    expect(await countSessions()).toBe(0)
  })

  test('accepts no code of an earlier time step than the last one', async ({
    tenant,
    owner,
    atSecondFactor,
    enterTotp,
  }) => {
    await dbFor(tenant).credential.updateMany({
      where: { tenantId: tenant, id: owner.totp.credentialId },
      data: { lastStep: Math.floor(Date.now() / 30_000) + 1 },
    })
    expect((await enterTotp(atSecondFactor)).location).toBeNull()
  })

  test('is limited to five guesses in 15 minutes, in all browsers', async ({
    tenant,
    owner,
    newBrowser,
    atSecondFactor,
    enterPasscode,
    enterTotp,
    failures,
    countSessions,
  }) => {
    const wrong = computeWrongTotp(owner.totp.secret)
    let page = atSecondFactor
    for (let guess = 0; guess < 5; guess++) page = await enterTotp(page, wrong)
    const limited = await enterTotp(page)
    expect(limited.status).toBe(429)
    expect(Number(limited.response.headers.get('retry-after'))).toBeGreaterThan(800)
    expect(limited.html).toContain('Too many attempts. Try again in 15 minutes.')
    const by = newBrowser()
    expect((await enterTotp(await enterPasscode({}, by), undefined, by)).status).toBe(429)
    expect((await failures()).at(-1)).toEqual({ method: 'totp', reason: 'exhausted' })
    expect(await countSessions()).toBe(0)
    await dbFor(tenant).secondFactorGuess.updateMany({
      where: { tenantId: tenant },
      data: { windowAt: new Date(Date.now() - 901_000) },
    })
    expect(answerIn((await enterTotp(limited)).location).code).toMatch(/./)
    const where = { tenantId: tenant, userId: owner.person.id }
    expect(await dbFor(tenant).secondFactorGuess.count({ where })).toBe(0)
  })

  test('counts parallel guesses before it compares them', async ({
    owner,
    atSecondFactor,
    enterTotp,
    failures,
  }) => {
    const wrong = computeWrongTotp(owner.totp.secret)
    const add = (code: string, more: number) => String((Number(code) + more) % 1e6).padStart(6, '0')
    await Promise.all(Array.from({ length: 12 }, (_, guess) => enterTotp(atSecondFactor, add(wrong, guess))))
    const reasons = (await failures()).map((detail) => detail?.reason)
    expect(reasons.filter((reason) => reason === 'wrong')).toHaveLength(5)
    expect(reasons.filter((reason) => reason === 'exhausted')).toHaveLength(7)
  })

  test('leads back to the first page, or to the client without a sign-in', async ({
    atSecondFactor,
    submit,
    enterPasscode,
    countSessions,
  }) => {
    const restarted = await submit(atSecondFactor, { step: 'restart' })
    expect(restarted.html).toContain('name="address"')
    const canceled = await submit(await enterPasscode(), { step: 'cancel' })
    expect(answerIn(canceled.location).error).toBe('access_denied')
    expect(await countSessions()).toBe(0)
  })

  test('asks again with prompt=login, and not while the session goes on', async ({
    browser,
    oidc,
    atSecondFactor,
    enterPasscode,
    enterTotp,
    tenant,
    owner,
  }) => {
    await enterTotp(atSecondFactor)
    expect(answerIn((await browser.open(oidc.authorizePath())).location).code).toMatch(/./)
    const again = await enterPasscode({ prompt: 'login' })
    expect(again.html).toContain(TITLE)
    await dbFor(tenant).credential.updateMany({
      where: { tenantId: tenant, id: owner.totp.credentialId },
      data: { lastStep: 1 },
    })
    expect(answerIn((await enterTotp(again)).location).code).toMatch(/./)
  })

  test('asks for nothing when the tenant has switched it off, or the app was revoked', async ({
    ctx,
    owner,
    newBrowser,
    enterPasscode,
  }) => {
    await updateSettings(ctx, { secondFactor: 'off' })
    try {
      expect(answerIn((await enterPasscode()).location).code).toMatch(/./)
    } finally {
      await updateSettings(ctx, { secondFactor: null })
    }
    await revokeCredential(ctx, owner.totp.credentialId)
    expect(answerIn((await enterPasscode({}, newBrowser())).location).code).toMatch(/./)
  })
})

describe('a recovery code', () => {
  test('is accepted once instead of a code of the app, recorded and announced', async ({
    owner,
    browser,
    newBrowser,
    atSecondFactor,
    submit,
    enterPasscode,
    events,
    person,
    claimsOf,
  }) => {
    const link = /href="([^"]*\/recovery)"/.exec(atSecondFactor.html)?.[1] ?? ''
    const page = await openPage(browser, link)
    expect(page.html).toContain(RECOVERY_TITLE)
    const [code = ''] = owner.codes
    const { location } = await submit(page, {
      step: 'recovery',
      code: ` ${code.toUpperCase().replaceAll('-', ' ')}`,
    })
    expect(await claimsOf(location)).toMatchObject({ acr: 'urn:vestibule:mfa', amr: ['otp', 'mfa'] })
    expect(await events({ type: 'credential.recovery_code_used', userId: person.id })).toMatchObject([
      { detail: { remaining: 9 } },
    ])
    await awaitDeliveries()
    const [notice] = listInboxMessages(person.email)
    expect(notice?.body).toContain('9 codes are left')
    const by = newBrowser()
    const asked = await enterPasscode({}, by)
    const again = await toLanding(await by.submit(asked, { step: 'recovery', code }))
    expect(again.html).toContain('That recovery code did not work.')
    expect(again.html).toContain(RECOVERY_TITLE)
  })

  test('that cannot be announced any more is not used', async ({
    tenant,
    owner,
    person,
    atSecondFactor,
    submit,
    countSessions,
    events,
  }) => {
    const [code = ''] = owner.codes
    for (let n = 0; n < 20; n++) takeRecoveryCode(tenant, person.id)
    const { response } = await submit(atSecondFactor, { step: 'recovery', code })
    expect(response.status).toBe(429)
    expect(await countSessions()).toBe(0)
    expect(await events({ type: 'credential.recovery_code_used', userId: person.id })).toEqual([])
  })

  test('starts one session when it is entered twenty times at once', async ({
    owner,
    browser,
    newBrowser,
    atSecondFactor,
    submit,
    events,
    person,
    countSessions,
  }) => {
    const [code = ''] = owner.codes
    const windows = Array.from({ length: 20 }, () => {
      const by = newBrowser()
      for (const [name, value] of browser.cookies) by.cookies.set(name, value)
      return by
    })
    await Promise.all(windows.map((by) => submit(atSecondFactor, { step: 'recovery', code }, by)))
    expect(await countSessions()).toBe(1)
    expect(await events({ type: 'credential.recovery_code_used', userId: person.id })).toHaveLength(1)
  })
})

describe('other sign-ins of a user with an authenticator app', () => {
  test('by a passkey have no second step', async ({ owner, person, browser, drivers, start }) => {
    expect(owner.totp.secret).toMatch(/./)
    const begin = await drivers.passkey.equip(person)
    const { location } = await (await begin(await start(), browser)).present(browser)
    expect(answerIn(location).code).toMatch(/./)
  })

  test('at an identity provider are completed by the app', async ({
    owner,
    person,
    browser,
    drivers,
    start,
    enterTotp,
    countSessions,
    claimsOf,
  }) => {
    expect(owner.totp.secret).toMatch(/./)
    const begin = await drivers.provider.equip(person)
    const visit = await (await begin(await start(), browser)).present(browser)
    expect(visit.html).toContain(TITLE)
    expect(await countSessions()).toBe(0)
    const { location } = await enterTotp({ ...visit, response: new Response() })
    expect(await claimsOf(location)).toMatchObject({
      acr: 'urn:vestibule:mfa',
      amr: ['fed', 'otp', 'mfa'],
    })
  })
})
