import { describe, expect } from 'vitest'
import { updateIdentityProvider } from '../../../../src/idps/idps.ts'
import { updateSettings } from '../../../../src/tenants/settings.ts'
import { dbFor } from '../../../support/database.ts'
import { codeFor } from '../../../support/protocol.ts'
import { test as base } from '../../../support/provider-sign-in.ts'

const NOT_CONNECTED = 'is not connected to an account here.'

const test = base
  .extend(
    'countLinks',
    ({ tenant, person }) =>
      () =>
        dbFor(tenant).idpUser.count({ where: { tenantId: tenant, userId: person.id } }),
  )
  /** Signs `person` in by a code, from the first page. */
  .extend('enterCode', ({ person, browser }) => async (page: { html: string; path: string }) => {
    const sent = await browser.submit(page, { step: 'email', address: person.email })
    const codePage = { html: await sent.response.text(), path: sent.path }
    return browser.submit(codePage, { step: 'code', code: await codeFor(person.email) })
  })

describe('a proven identity without a link', () => {
  test('is linked to the user who signs in by a code in the same visit, and signs in from then on', async ({
    person,
    provider,
    subject,
    newBrowser,
    events,
    signInBy,
    enterCode,
    countLinks,
  }) => {
    const page = await signInBy(provider.id, subject)
    expect(page.html).toContain(NOT_CONNECTED)
    expect(await countLinks()).toBe(0)
    expect((await enterCode(page)).location).toContain('code=')
    expect(await countLinks()).toBe(1)
    expect(await events({ userId: person.id })).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ type: 'idpuser.linked', userId: person.id })]),
    )
    expect((await signInBy(provider.id, subject, newBrowser())).location).toContain('code=')
  })

  test('is linked to the user who signs up in the same visit', async ({
    tenant,
    ctx,
    email,
    browser,
    provider,
    subject,
    signInBy,
  }) => {
    await updateSettings(ctx, { signUp: 'open' })
    const address = email('signs-up')
    const page = await signInBy(provider.id, subject)
    const sent = await browser.submit(page, { step: 'email', address })
    const codePage = { html: await sent.response.text(), path: sent.path }
    const proven = await browser.submit(codePage, { step: 'code', code: await codeFor(address) })
    const form = { html: await proven.response.text(), path: proven.path }
    expect((await browser.submit(form, { step: 'create', name: 'Ada' })).location).toContain('code=')
    await updateSettings(ctx, { signUp: 'off' })
    const user = await dbFor(tenant).user.findFirst({ where: { tenantId: tenant, emailKey: address } })
    const where = { tenantId: tenant, userId: user?.id ?? '' }
    expect(await dbFor(tenant).idpUser.count({ where })).toBe(1)
  })

  test('is not linked after the user declined', async ({
    browser,
    provider,
    subject,
    signInBy,
    enterCode,
    countLinks,
  }) => {
    const page = await signInBy(provider.id, subject)
    const { response, path } = await browser.submit(page, { step: 'forget-provider' })
    const html = await response.text()
    expect(html).not.toContain(NOT_CONNECTED)
    expect((await enterCode({ html, path })).location).toContain('code=')
    expect(await countLinks()).toBe(0)
  })

  test('is not linked in another browser, or in another sign-in of this one', async ({
    browser,
    oidc,
    person,
    newBrowser,
    provider,
    subject,
    signInBy,
    countLinks,
  }) => {
    await signInBy(provider.id, subject, newBrowser())
    await oidc.signIn(browser, person.email)
    expect(await countLinks()).toBe(0)
  })

  test('is not linked by a sign-in at another provider', async ({
    person,
    provider,
    providerB,
    subject,
    tenant,
    link,
    choose,
    signInThere,
    comeBack,
    signInBy,
  }) => {
    await link(person.id, providerB, subject)
    const page = await signInBy(provider.id, subject)
    const back = await comeBack(await signInThere(await choose({ ...page }, providerB.id), subject))
    expect(back.location).toContain('code=')
    expect(
      await dbFor(tenant).idpUser.count({
        where: { tenantId: tenant, userId: person.id, idpId: provider.id },
      }),
    ).toBe(0)
  })

  test('does not replace the identity that the user has at the provider', async ({
    tenant,
    person,
    provider,
    subject,
    link,
    events,
    signInBy,
    enterCode,
  }) => {
    await link(person.id, provider, `${subject}-first`)
    const page = await signInBy(provider.id, subject)
    expect((await enterCode(page)).location).toContain('code=')
    const links = await dbFor(tenant).idpUser.findMany({ where: { tenantId: tenant, userId: person.id } })
    expect(links.map(({ externalId }) => externalId)).toEqual([`${subject}-first`])
    expect(await events({ type: 'idpuser.link_failed', userId: person.id })).toMatchObject([
      { subjectIds: [provider.id], detail: { reason: 'linked' } },
    ])
  })

  test('stays with the user to whom it was linked in the meantime, which is recorded', async ({
    person,
    newPerson,
    provider,
    subject,
    link,
    events,
    signInBy,
    enterCode,
    countLinks,
  }) => {
    const page = await signInBy(provider.id, subject)
    await link((await newPerson()).id, provider, subject)
    expect((await enterCode(page)).location).toContain('code=')
    expect(await countLinks()).toBe(0)
    expect(await events({ type: 'idpuser.link_failed', userId: person.id })).toMatchObject([
      { subjectIds: [provider.id], detail: { reason: 'taken' } },
    ])
  })

  test('is not linked at a provider that was changed in the meantime, which is recorded', async ({
    ctx,
    person,
    newProvider,
    subject,
    events,
    signInBy,
    enterCode,
    countLinks,
  }) => {
    const provider = await newProvider()
    const page = await signInBy(provider.id, subject)
    await updateIdentityProvider(ctx, provider.id, { name: 'Renamed' })
    expect((await enterCode(page)).location).toContain('code=')
    expect(await countLinks()).toBe(0)
    expect(await events({ type: 'idpuser.link_failed', userId: person.id })).toMatchObject([
      { subjectIds: [provider.id], detail: { reason: 'changed' } },
    ])
  })
})
