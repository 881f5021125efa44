import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { sha256 } from '../../../src/core/crypto.ts'
import { lockUser } from '../../../src/users/users.ts'
import { postedAnswer } from '../../support/conformance-plan.ts'
import { dbFor } from '../../support/database.ts'
import { enterCode, pollWith, startDevice } from '../../support/device-flow.ts'
import { handleIn, openPage, test } from '../../support/hosted-pages.ts'
import { answerIn, signInAt } from '../../support/protocol.ts'

const CANCELED = { error: 'access_denied', error_description: 'The user canceled the sign-in.' }
const cancel = { step: 'cancel' }

describe('the button Cancel (RFC 6749, section 4.1.2.1)', () => {
  test('of the page for the address answers access_denied and ends the sign-in', async ({
    tenant,
    events,
    client,
    browser,
    start,
  }) => {
    const page = await start()
    expect(page.html).toMatch(/value="cancel"[\s\S]*Cancel/)
    const { location } = await browser.submit(page, cancel)
    expect(answerIn(location)).toEqual({
      ...CANCELED,
      state: 'a-state',
      iss: `http://localhost:3000/${tenant}`,
    })
    // The form gets its answer again; the page is gone.
    expect((await browser.submit(page, cancel)).location).toBe(location)
    expect((await browser.fetch(page.path)).status).toBe(410)
    expect(
      await dbFor(tenant).interaction.count({
        where: { tenantId: tenant, handleHash: sha256(handleIn(page.path)) },
      }),
    ).toBe(0)
    expect((await events({ type: 'authorize.refused' })).at(-1)).toMatchObject({
      subjectIds: [client.id],
      detail: { error: 'access_denied' },
    })
  })

  test('of the page for the code answers access_denied, whether the address is known or not', async ({
    tenant,
    email,
    newPerson,
    newBrowser,
    atCode,
  }) => {
    const locked = await newPerson()
    await lockUser(createPlatformCtx(tenant), locked.id)
    for (const address of [(await newPerson()).email, email('unknown'), locked.email]) {
      const by = newBrowser()
      const { location } = await by.submit(await atCode(by, address), cancel)
      expect(answerIn(location)).toMatchObject(CANCELED)
    }
  })

  test('of the page for the account answers access_denied and keeps the session', async ({
    person,
    browser,
    oidc,
  }) => {
    await oidc.signIn(browser, person.email)
    const page = await openPage(browser, oidc.authorizePath({ prompt: 'select_account' }))
    const { location } = await browser.submit(page, cancel)
    expect(answerIn(location)).toMatchObject(CANCELED)
    const silent = await browser.fetch(oidc.authorizePath({ prompt: 'none' }))
    expect(answerIn(silent.headers.get('location'))).toHaveProperty('code')
  })

  test('is answered by the response_mode of the request', async ({ browser, start }) => {
    const { response } = await browser.submit(await start(browser, { response_mode: 'form_post' }), cancel)
    expect(postedAnswer(await response.text())?.answer).toMatchObject({ ...CANCELED, state: 'a-state' })
  })

  test('never leads to a code when another tab has signed the user in', async ({
    person,
    browser,
    oidc,
    start,
  }) => {
    const page = await start()
    await signInAt(browser, oidc.authorizePath(), person.email)
    const { location } = await browser.submit(page, cancel)
    expect(answerIn(location)).toMatchObject(CANCELED)
    expect(answerIn(location)).not.toHaveProperty('code')
  })

  test('denies the device whose code was entered (RFC 8628, section 3.5)', async ({
    app,
    tenant,
    newClient,
    browser,
  }) => {
    const tv = await newClient({ appType: 'native' })
    const { body } = await startDevice(app, tenant, tv, { scope: 'openid' })
    const page = await enterCode(browser, tenant, String(body.user_code))
    const { path } = await browser.submit(page, cancel)
    expect(path).toBe(`/${tenant}/device/denied`)
    const poll = await pollWith(app, tenant, tv, String(body.device_code))
    expect(poll.body.error).toBe('access_denied')
  })

  test('is rejected without the token of the page', async ({ browser, start }) => {
    const page = await start()
    for (const csrf of ['', 'x'])
      expect((await browser.post(page.path, { ...cancel, csrf })).status).toBe(403)
    expect((await openPage(browser, page.path)).html).toContain('name="address"')
  })
})
