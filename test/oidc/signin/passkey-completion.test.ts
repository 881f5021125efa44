import { describe, expect } from 'vitest'
import { takeSignIn } from '../../../src/coordination/person-budgets.ts'
import { env } from '../../../src/core/env.ts'
import { dbFor } from '../../support/database.ts'
import { GONE, interactionAt } from '../../support/hosted-pages.ts'
import { setLocked, whileLocked } from '../../support/locks.ts'
import { test as base, type Passkey } from '../../support/passkeys.ts'
import { answerIn } from '../../support/protocol.ts'
import { leastStatements } from '../../support/statements.ts'

const CONSENT = '<title>Allow Relying party?'
const REJECTED = 'This passkey did not work. Try again, or use a code.'

const test = base
  .extend('consenting', { scope: 'file' }, ({ newClient }) => newClient({ requireConsent: true }))
  /** Signs in at the client that requires consent, in a new browser. Returns the page that follows. */
  .extend('presentToConsenting', ({ consenting, newBrowser, passkeys }) => async (passkey: Passkey) => {
    const by = newBrowser()
    const page = await passkeys.start(by, { client_id: consenting.id })
    return { by, page, ...(await passkeys.present(page, passkey, {}, by)) }
  })

describe('a sign-in by passkey in a browser without a session', () => {
  test('takes four round trips to the database from authorize to the code', async ({
    person,
    newBrowser,
    passkeys,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    const signIn = async () => {
      const by = newBrowser()
      const { location } = await passkeys.present(await passkeys.start(by), passkey, {}, by)
      expect(answerIn(location).code).toMatch(/./)
    }
    await signIn()
    expect(await leastStatements(signIn)).toBe(4)
  })

  test('is rejected when the user has signed in too often', async ({ tenant, person, passkeys }) => {
    const passkey = await passkeys.enroll(person.id)
    for (let n = 0; n < env.grantsPerHour; n++) takeSignIn(tenant, person.id)
    const { response } = await passkeys.present(await passkeys.start(), passkey)
    expect(response.status).toBe(429)
    expect(await dbFor(tenant).session.count({ where: { tenantId: tenant, userId: person.id } })).toBe(0)
  })

  test('records the start of the session by its user at the client', async ({
    person,
    client,
    events,
    passkeys,
  }) => {
    await passkeys.present(await passkeys.start(), await passkeys.enroll(person.id))
    expect((await events({ type: 'session.started' })).slice(-1)).toMatchObject([
      {
        userId: person.id,
        actorUserId: person.id,
        actorClientId: client.id,
        detail: { kind: 'browser', method: 'passkey' },
      },
    ])
  })

  test('ends the interaction, whose page says so to a user who goes back', async ({
    person,
    browser,
    passkeys,
  }) => {
    const page = await passkeys.start()
    await passkeys.present(page, await passkeys.enroll(person.id))
    const { response } = await browser.open(page.path)
    expect(response.status).toBe(410)
    const html = await response.text()
    expect(html).toContain('This sign-in is finished.')
    expect(html).toContain(person.email)
    browser.forgetSessions()
    expect(await (await browser.open(page.path)).response.text()).toContain(GONE)
  })

  test('is answered by form_post where the request says so', async ({ person, browser, oidc, passkeys }) => {
    const { html } = await passkeys.present(
      await passkeys.start(browser, { response_mode: 'form_post' }),
      await passkeys.enroll(person.id),
    )
    const code = /name="code" value="([^"]+)"/.exec(html)?.[1] ?? ''
    expect((await oidc.exchange(code)).status).toBe(200)
  })

  test('asks for consent once, and takes four round trips afterwards', async ({
    person,
    passkeys,
    presentToConsenting,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    const { by, html, path } = await presentToConsenting(passkey)
    expect(html).toContain(CONSENT)
    expect(answerIn((await by.submit({ html, path }, { step: 'allow' })).location).code).toMatch(/./)
    const signIn = async () =>
      expect(answerIn((await presentToConsenting(passkey)).location).code).toMatch(/./)
    await signIn()
    expect(await leastStatements(signIn)).toBe(4)
  })

  test('stores nothing when the user is locked at the same time', async ({
    tenant,
    person,
    events,
    passkeys,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    const page = await passkeys.start()
    const { html } = await whileLocked(setLocked(tenant, person.id), () => passkeys.present(page, passkey))
    expect(html).toContain(REJECTED)
    expect((await events({ type: 'signin.failed' })).slice(-1)).toMatchObject([
      { userId: person.id, detail: { reason: 'locked' } },
    ])
    const where = { tenantId: tenant, userId: person.id }
    expect(await dbFor(tenant).session.count({ where })).toBe(0)
    expect(await dbFor(tenant).credential.findMany({ where })).toMatchObject([{ lastUsedAt: null }])
    expect(
      await dbFor(tenant).interaction.count({ where: interactionAt(tenant, page.path).tenantId_handleHash }),
    ).toBe(1)
  })

  test('asks for consent again when it is revoked at the same time', async ({
    tenant,
    person,
    consenting,
    passkeys,
    presentToConsenting,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    const { by, html, path } = await presentToConsenting(passkey)
    await by.submit({ html, path }, { step: 'allow' })
    const page = await whileLocked(
      (sql) =>
        sql('DELETE FROM "Consent" WHERE "tenantId" = $1 AND "userId" = $2 AND "clientId" = $3', [
          tenant,
          person.id,
          consenting.id,
        ]),
      () => presentToConsenting(passkey),
    )
    expect(page.html).toContain(CONSENT)
  })

  test('stores nothing when the interaction has ended at the same time', async ({
    tenant,
    person,
    passkeys,
  }) => {
    const passkey = await passkeys.enroll(person.id)
    const page = await passkeys.start()
    const { handleHash } = interactionAt(tenant, page.path).tenantId_handleHash
    const { html } = await whileLocked(
      (sql) =>
        sql('DELETE FROM "Interaction" WHERE "tenantId" = $1 AND "handleHash" = $2', [tenant, handleHash]),
      () => passkeys.present(page, passkey),
    )
    expect(html).toContain(GONE)
    const where = { tenantId: tenant, userId: person.id }
    expect(await dbFor(tenant).session.count({ where })).toBe(0)
  })
})
