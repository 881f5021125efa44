import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { consumeLimit, RATE_LIMITS } from '../../../src/coordination/rate-limits.ts'
import { revokeCredential } from '../../../src/credentials/credentials.ts'
import { updateSettings } from '../../../src/tenants/settings.ts'
import { deleteUser, lockUser } from '../../../src/users/users.ts'
import { resetCooldown } from '../../support/account.ts'
import { newTenant } from '../../support/actors.ts'
import { createAssertion } from '../../support/authenticator.ts'
import { dbFor } from '../../support/database.ts'
import { openPage } from '../../support/hosted-pages.ts'
import { csrfIn } from '../../support/page-browser.ts'
import { readPasskeyOptions, test } from '../../support/passkeys.ts'
import { answerIn, authorizePath, makeClient } from '../../support/protocol.ts'

const REJECTED = 'This passkey did not work. Try again, or use a code.'
const ESSENTIAL_PHR = JSON.stringify({ id_token: { acr: { essential: true, value: 'phr' } } })

describe('a sign-in with a passkey', () => {
  test('issues a code without a user name, with acr phr and the methods in the ID token', async ({
    tenant,
    person,
    oidc,
    passkeys,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    const { location } = await passkeys.present(await passkeys.start(), passkey, { counter: 7 })
    const { code = '' } = answerIn(location)
    const { body } = await oidc.exchange(code)
    expect(decodeJwt(String(body.id_token))).toMatchObject({
      sub: person.id,
      acr: 'phr',
      amr: ['hwk', 'user', 'mfa'],
      auth_time: expect.any(Number),
    })
    const row = await dbFor(tenant).credential.findUnique({
      where: { tenantId_id: { tenantId: tenant, id: passkey.credentialId } },
    })
    expect(row).toMatchObject({ signCount: 7n, backedUp: false, deviceLastSeenIp: '127.0.0.1' })
    expect(row?.lastUsedAt).toBeInstanceOf(Date)
  })

  test('is named as synchronized when the authenticator may back the passkey up', async ({
    tenant,
    person,
    oidc,
    passkeys,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    // As one that an earlier version has stored.
    await dbFor(tenant).credential.update({
      where: { tenantId_id: { tenantId: tenant, id: passkey.credentialId } },
      data: { backupEligible: null, backedUp: null },
    })
    const { location } = await passkeys.present(await passkeys.start(), passkey, { flags: 0b0001_1101 })
    const { body } = await oidc.exchange(answerIn(location).code ?? '')
    expect(decodeJwt(String(body.id_token))).toMatchObject({ amr: ['swk', 'user', 'mfa'] })
  })

  test('continues the session of the same user under a new token', async ({
    tenant,
    person,
    browser,
    oidc,
    passkeys,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    await oidc.signIn(browser, person.email)
    const before = browser.sessionToken
    const { location } = await passkeys.present(
      await passkeys.start(browser, { claims: ESSENTIAL_PHR }),
      passkey,
    )
    expect(answerIn(location).code).toMatch(/./)
    expect(browser.sessionToken).not.toBe(before)
    const sessions = await dbFor(tenant).session.findMany({
      where: { tenantId: tenant, userId: person.id, kind: 'browser', endedAt: null },
    })
    expect(sessions).toMatchObject([
      {
        proofs: [
          { method: 'passcode', amr: ['otp'] },
          { method: 'passkey', amr: ['hwk', 'user', 'mfa'] },
        ],
      },
    ])
  })

  const deviations = {
    'for another origin': { origin: 'https://evil.example' },
    'for another RP ID': { rpId: 'evil.example' },
    'to another challenge': { challenge: 'A'.repeat(43) },
    'of another ceremony': { type: 'webauthn.create' },
    'without user verification': { flags: 0b0000_0001 },
    'without user presence': { flags: 0b0000_0100 },
    'with the handle of another user': { userHandle: Buffer.alloc(32).toString('base64url') },
  }
  test.for(Object.entries(deviations))(
    'is rejected by an assertion %s',
    async ([, over], { tenant, person, events, client, passkeys }) => {
      const passkey = await passkeys.enroll(person.id)
      const page = await passkeys.present(await passkeys.start(), passkey, over)
      expect(page.html).toContain(REJECTED)
      const [event] = (await events({ type: 'signin.failed' })).slice(-1)
      expect(event).toMatchObject({
        userId: person.id,
        subjectIds: [client.id],
        detail: { method: 'passkey', reason: 'rejected' },
      })
      expect(await dbFor(tenant).session.count({ where: { tenantId: tenant, userId: person.id } })).toBe(0)
      // The page has another challenge, which the passkey can answer.
      expect(answerIn((await passkeys.present(page, passkey)).location).code).toMatch(/./)
    },
  )

  test('is rejected by the signature of another key', async ({ person, newPerson, passkeys }) => {
    const passkey = await passkeys.enroll(person.id)
    const other = await passkeys.enroll((await newPerson()).id)
    const { html } = await passkeys.present(await passkeys.start(), {
      id: passkey.id,
      privateKey: other.privateKey,
    })
    expect(html).toContain(REJECTED)
  })

  test.for([
    ['no JSON', '{'],
    ['no assertion', '{"id":"x"}'],
    ['nothing', ''],
    ['NUL characters', JSON.stringify({ id: '\u0000', rawId: 'x', type: 'public-key', response: {} })],
  ])('is rejected by %s', async ([, assertion], { browser, start }) => {
    const { response } = await browser.submit(await start(), {
      step: 'passkey',
      assertion: assertion as string,
    })
    expect(await response.text()).toContain(REJECTED)
  })

  test('records a counter that went back as cloned, and rejects it', async ({
    person,
    events,
    browser,
    newBrowser,
    passkeys,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    await passkeys.present(await passkeys.start(), passkey, { counter: 5 })
    for (const counter of [5, 4, 0]) {
      const by = newBrowser()
      expect((await passkeys.present(await passkeys.start(by), passkey, { counter }, by)).html).toContain(
        REJECTED,
      )
    }
    const reasons = (await events({ type: 'signin.failed' })).map(({ detail }) => detail?.reason)
    expect(reasons.slice(-3)).toEqual(['cloned', 'cloned', 'cloned'])
    browser.cookies.clear()
    expect(
      answerIn((await passkeys.present(await passkeys.start(), passkey, { counter: 6 })).location).code,
    ).toMatch(/./)
  })

  test('looks the same for an unknown, a deleted and a locked one, whose reasons are recorded', async ({
    ctx,
    person,
    newPerson,
    events,
    newBrowser,
    passkeys,
  }) => {
    const revoked = await passkeys.enroll(person.id)
    await revokeCredential(ctx, revoked.credentialId)
    const locked = await newPerson()
    const ofLocked = await passkeys.enroll(locked.id)
    await lockUser(ctx, locked.id)
    const deleted = await newPerson()
    const ofDeleted = await passkeys.enroll(deleted.id)
    await deleteUser(ctx, deleted.id)
    for (const passkey of [revoked, ofLocked, ofDeleted]) {
      const by = newBrowser()
      expect((await passkeys.present(await passkeys.start(by), passkey, {}, by)).html).toContain(REJECTED)
    }
    const failed = (await events({ type: 'signin.failed' })).slice(-3)
    expect(failed.map(({ userId, detail }) => [userId, detail?.reason])).toEqual([
      [null, 'unknown'],
      [locked.id, 'locked'],
      [null, 'unknown'],
    ])
  })

  test('names a passkey that does not exist, so that the browser can remove it', async ({
    ctx,
    person,
    passkeys,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    await revokeCredential(ctx, passkey.credentialId)
    expect((await passkeys.present(await passkeys.start(), passkey)).html).toContain(
      `data-unknown="${passkey.id}"`,
    )
  })

  test('accepts an assertion once, also when it is posted 20 times at once', async ({
    tenant,
    person,
    browser,
    passkeys,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    const page = await passkeys.start()
    const assertion = createAssertion(passkey, readPasskeyOptions(page.html))
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        browser.post(page.path, { csrf: csrfIn(page.html), step: 'passkey', assertion }),
      ),
    )
    // Each gets the response of the first: a browser drops all but one.
    expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1)
    expect(new Set(answers.map(({ headers }) => headers.getSetCookie().join())).size).toBe(1)
    expect(
      await dbFor(tenant).session.count({ where: { tenantId: tenant, userId: person.id, kind: 'browser' } }),
    ).toBe(1)
  })

  test('is bound to the browser and to the sign-in that requested it', async ({
    person,
    newBrowser,
    passkeys,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    const [one, other] = [newBrowser(), newBrowser()]
    const page = await passkeys.start(one)
    const assertion = createAssertion(passkey, readPasskeyOptions(page.html))
    const form = { csrf: csrfIn(page.html), step: 'passkey', assertion }
    expect((await other.post(page.path, form)).status).toBe(410)
    const { response } = await other.submit(await passkeys.start(other), { step: 'passkey', assertion })
    expect(await response.text()).toContain(REJECTED)
  })

  test('is rejected at another tenant', async ({ person, newBrowser, passkeys }) => {
    const passkey = await passkeys.enroll(person.id)
    const other = await newTenant()
    const client = await makeClient(other)
    const by = newBrowser()
    const page = await openPage(by, authorizePath(other, client))
    expect((await passkeys.present(page, passkey, {}, by)).html).toContain(REJECTED)
    const events = await dbFor(other).event.findMany({ where: { tenantId: other, type: 'signin.failed' } })
    expect(events).toMatchObject([{ userId: null, detail: { method: 'passkey', reason: 'unknown' } }])
  })
})

describe('a request with an essential acr of phr', () => {
  test('offers passkeys only, and no code', async ({ person, browser, start }) => {
    const page = await start(browser, { claims: ESSENTIAL_PHR })
    expect(page.html).toContain('needs a sign-in with a passkey.')
    expect(page.html).not.toContain('id="address"')
    const { path } = await browser.submit(page, { step: 'email', address: person.email })
    expect(path).toMatch(/\/signin\/[\w-]+$/)
  })

  test('leads a user without a passkey to the page that creates one, and on from there', async ({
    tenant,
    person,
    browser,
    oidc,
    start,
  }) => {
    const page = await start(browser, { claims: ESSENTIAL_PHR })
    expect(page.html).toContain(`href="/${tenant}/account/sign-in-methods"`)
    await oidc.signIn(browser, person.email)
    const methods = await openPage(browser, `/${tenant}/account/sign-in-methods`)
    expect(methods.html).toContain('Create a passkey')
    expect((await openPage(browser, page.path)).html).toContain('needs a sign-in with a passkey.')
  })

  test('says in a tenant with passkeys only who makes a link that creates one', async ({ ctx, start }) => {
    await updateSettings(ctx, { signInMethods: ['passkey'] })
    const { html } = await start()
    await updateSettings(ctx, { signInMethods: null })
    expect(html).toContain('Only a passkey is accepted here.')
    expect(html).toMatch(/No passkey yet, or lost it\? Ask .* for a link/)
  })

  test('is not satisfied by a session that was started by a code', async ({
    person,
    browser,
    oidc,
    passkeys,
  }) => {
    await oidc.signIn(browser, person.email)
    const silent = await browser.open(oidc.authorizePath({ claims: ESSENTIAL_PHR, prompt: 'none' }))
    expect(answerIn(silent.location)).toMatchObject({ error: 'login_required' })
    const passkey = await passkeys.enroll(person.id)
    await passkeys.present(await passkeys.start(browser, { claims: ESSENTIAL_PHR }), passkey)
    const again = await browser.open(oidc.authorizePath({ claims: ESSENTIAL_PHR, prompt: 'none' }))
    expect(answerIn(again.location).code).toMatch(/./)
  })

  test('is satisfied by the passkey of a session whose user has entered a code since', async ({
    tenant,
    person,
    browser,
    oidc,
    passkeys,
  }) => {
    const readToken = async (location: string | null) =>
      decodeJwt(String((await oidc.exchange(answerIn(location).code ?? '')).body.id_token))
    const passkey = await passkeys.enroll(person.id)
    const first = await readToken((await passkeys.present(await passkeys.start(), passkey)).location)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    const code = await readToken((await oidc.signIn(browser, person.email, { prompt: 'login' })).location)
    // The response to prompt=login is about the new sign-in.
    expect(code).toMatchObject({ sid: first.sid, acr: 'urn:vestibule:otp', amr: ['otp'] })
    expect(Number(code.auth_time)).toBeGreaterThan(Number(first.auth_time))
    const silent = await browser.open(oidc.authorizePath({ claims: ESSENTIAL_PHR, prompt: 'none' }))
    const { acr, amr, auth_time, sid } = first
    expect(await readToken(silent.location)).toMatchObject({ acr, amr, auth_time, sid })
    expect(await dbFor(tenant).session.count({ where: { tenantId: tenant, userId: person.id } })).toBe(1)
  })
})

describe('a request with acr_values=phr', () => {
  test('leads to a sign-in once, and accepts a code', async ({ tenant, person, browser, oidc }) => {
    await oidc.signIn(browser, person.email)
    await resetCooldown(tenant, person.email)
    const { location } = await oidc.signIn(browser, person.email, { acr_values: 'phr' })
    const { body } = await oidc.exchange(answerIn(location).code ?? '')
    expect(decodeJwt(String(body.id_token))).toMatchObject({ acr: 'urn:vestibule:otp' })
  })

  test('reports acr, amr and auth_time to resource servers (RFC 9470, section 6)', async ({
    person,
    oidc,
    browser,
    passkeys,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    const { location } = await passkeys.present(await passkeys.start(browser, { acr_values: 'phr' }), passkey)
    const { body } = await oidc.exchange(answerIn(location).code ?? '')
    expect(decodeJwt(String(body.access_token))).toMatchObject({
      acr: 'phr',
      amr: ['hwk', 'user', 'mfa'],
      auth_time: expect.any(Number),
    })
  })
})

describe('the limit of rejected passkeys', () => {
  test('answers a network that presents too many with the time to wait', async ({
    tenant,
    browser,
    person,
    passkeys,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    for (let index = 0; index < RATE_LIMITS.rejectPasskey.points; index += 1)
      await consumeLimit('rejectPasskey', tenant, '127.0.0.1').catch(() => undefined)
    const page = await passkeys.present(await passkeys.start(), passkey, { origin: 'https://evil.example' })
    expect(page.html).toContain('Too many attempts. Try again in 60 minutes.')
    // A passkey that is right is not limited.
    expect(answerIn((await passkeys.present(page, passkey)).location).code).toMatch(/./)
    expect(browser.sessionToken).toMatch(/./)
  })
})
