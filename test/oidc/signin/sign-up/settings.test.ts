import { describe, expect } from 'vitest'
import { updateSettings } from '../../../../src/tenants/settings.ts'
import { createUser } from '../../../../src/users/users.ts'
import { openPage } from '../../../support/hosted-pages.ts'
import { answerIn } from '../../../support/protocol.ts'
import { test } from '../../../support/sign-up.ts'

const NUMBER = '+41791234598'
const IF_KNOWN = 'can sign in, a code is on its way'

describe('the setting signUp', () => {
  test('is off unless it is set: a stranger gets no message', async ({
    ctx,
    browser,
    stranger,
    inbox,
    atCode,
  }) => {
    await updateSettings(ctx, { signUp: null })
    expect((await atCode(browser, stranger)).html).toContain(IF_KNOWN)
    expect(await inbox.list(stranger)).toEqual([])
    await updateSettings(ctx, { signUp: 'open' })
  })

  test('limits sign-ups to addresses of the domains, not of their subdomains', async ({
    ctx,
    tenant,
    newBrowser,
    inbox,
    atCode,
    atCreation,
  }) => {
    await updateSettings(ctx, { signUp: 'domains', signUpDomains: ['Acme.Example'] })
    const inside = `ada@${'acme.example'}`
    expect((await atCode(newBrowser(), `ada@sub.acme.example`)).html).toContain(IF_KNOWN)
    expect((await atCode(newBrowser(), `ada@${tenant}-acme.example`)).html).toContain(IF_KNOWN)
    expect(await inbox.list('ada@sub.acme.example')).toEqual([])
    expect((await atCreation(newBrowser(), inside)).html).toContain('Create your account')
    await updateSettings(ctx, { signUp: 'open', signUpDomains: null })
  })

  test.for([
    [{ signUp: 'all' }, 'signUp'],
    [{ signUp: 'domains' }, 'signUpDomains'],
    [{ signUp: 'domains', signUpDomains: [] }, 'signUpDomains'],
    [{ signUpDomains: ['*.example.com'] }, 'signUpDomains.0'],
    [{ signUpDomains: ['ada@example.com'] }, 'signUpDomains.0'],
    [{ signUpDomains: [''] }, 'signUpDomains.0'],
  ] as const)('rejects %j', async ([settings, field], { ctx }) => {
    await expect(updateSettings(ctx, settings)).rejects.toMatchObject({ status: 400, fields: [{ field }] })
  })

  test('says on the first page that new accounts need an invitation', async ({
    ctx,
    start,
    stranger,
    inbox,
    browser,
    atCode,
  }) => {
    await updateSettings(ctx, { signUp: 'invitation' })
    expect((await start()).html).toContain('New accounts need an invitation.')
    expect((await atCode(browser, stranger)).html).toContain(IF_KNOWN)
    expect(await inbox.list(stranger)).toEqual([])
    await updateSettings(ctx, { signUp: 'open' })
  })
})

describe('a phone number on the first page', () => {
  test('leads to words about e-mail addresses while strangers may sign up, known or not', async ({
    ctx,
    newBrowser,
    atCode,
  }) => {
    const known = '+41791234599'
    await createUser(ctx, { phoneNumber: known, phoneNumberVerified: true })
    const read = async (address: string) => {
      const { html } = await atCode(newBrowser(), address)
      return html.includes('No account yet? Use an email address to create one.')
    }
    expect([await read(NUMBER), await read(known), await read('ada@acme.example')]).toEqual([
      true,
      true,
      false,
    ])
    await updateSettings(ctx, { signUp: null })
    expect(await read(NUMBER)).toBe(false)
    await updateSettings(ctx, { signUp: 'open' })
  })
})

describe('prompt=create', () => {
  const CREATE = { prompt: 'create' }

  test('titles the first page for a sign-up, also in a browser with a session', async ({
    browser,
    person,
    oidc,
    start,
  }) => {
    await oidc.signIn(browser, person.email)
    const { html } = await start(browser, CREATE)
    expect(html).toContain('<h1>Create your account</h1>')
    expect(html).toContain('to confirm it')
    expect(html).not.toContain(person.email)
  })

  test('asks for an e-mail address only, because a phone number cannot create an account', async ({
    browser,
    start,
    oidc,
  }) => {
    const first = await start(browser, CREATE)
    expect(first.html).toContain('<label for="address">Email address</label>')
    const { response, path } = await browser.submit(first, { step: 'email', address: NUMBER })
    expect(path).not.toMatch(/code$/)
    expect(await response.text()).toContain('Enter an email address, such as')
    // Without prompt=create, numbers sign in.
    const mixed = await openPage(browser, oidc.authorizePath({ prompt: 'login' }))
    expect(mixed.html).toContain('Email address or phone number')
  })

  test('ends in a new session of the new user', async ({
    browser,
    person,
    oidc,
    start,
    stranger,
    inbox,
    findUsers,
  }) => {
    await oidc.signIn(browser, person.email)
    const first = await start(browser, CREATE)
    const sent = await browser.submit(first, { step: 'email', address: stranger })
    const code = { html: await sent.response.text(), path: sent.path }
    const proven = await browser.submit(code, { step: 'code', code: await inbox.codeFor(stranger) })
    const page = { html: await proven.response.text(), path: proven.path }
    const { location } = await browser.submit(page, { step: 'create', name: 'Ada' })
    expect(answerIn(location)).toHaveProperty('code')
    expect(await findUsers(stranger)).toHaveLength(1)
  })

  test('signs in a person who has an account', async ({ browser, person, start, inbox }) => {
    const sent = await browser.submit(await start(browser, CREATE), { step: 'email', address: person.email })
    const page = { html: await sent.response.text(), path: sent.path }
    const { location } = await browser.submit(page, { step: 'code', code: await inbox.codeFor(person.email) })
    expect(answerIn(location)).toHaveProperty('code')
  })

  test('is listed in the metadata while strangers may sign up, and is answered with 400 otherwise', async ({
    app,
    tenant,
    ctx,
    browser,
    oidc,
  }) => {
    const readPrompts = async () => {
      const response = await app.fetch(`/${tenant}/.well-known/openid-configuration`)
      return ((await response.json()) as { prompt_values_supported: string[] }).prompt_values_supported
    }
    expect(await readPrompts()).toContain('create')
    for (const settings of [
      { signUp: 'off' },
      { signUp: 'invitation' },
      { signUp: 'open', signInMethods: ['passkey'] },
    ]) {
      await updateSettings(ctx, settings)
      expect(await readPrompts()).toEqual(['none', 'login', 'consent', 'select_account'])
      const { response, location } = await browser.open(oidc.authorizePath(CREATE))
      expect([response.status, location]).toEqual([400, null])
      const html = await response.text()
      expect(html).toContain('prompt=create is not supported')
      expect(html).toContain('invalid_request')
    }
    await updateSettings(ctx, { signUp: 'open', signInMethods: null })
    const { location } = await browser.open(oidc.authorizePath({ prompt: 'create none' }))
    expect(answerIn(location)).toMatchObject({ error: 'invalid_request' })
  })
})
