import { describe, expect } from 'vitest'
import { chooseLogout } from '../../src/oidc/logout/logout-accounts.ts'
import { createUser } from '../../src/users/users.ts'
import { startSessionIn } from '../support/browser-session.ts'
import { dbFor } from '../support/database.ts'
import { openPage } from '../support/hosted-pages.ts'
import { invalidFields } from '../support/issues.ts'
import { csrfIn } from '../support/page-browser.ts'
import { importLines } from '../support/user-lines.ts'
import { SURFACES, test } from '../support/user-writers.ts'

const NEEDS_COUNTRY = [
  'phoneNumberVerified',
  'cannot be true unless phoneNumber has a country code (E.164)',
] as const

describe.each(SURFACES)('a phone number without a country code, over %s', (surface) => {
  test('is kept as given, unverified, and found as given in any spelling', async ({
    tenant,
    rest,
    gql,
    writers,
  }) => {
    const given = '030 / 765-43 21'
    const { user } = await writers[surface].create({ phoneNumber: ` \u202a${given.replace('-', '\u2011')} ` })
    expect(user).toMatchObject({ phoneNumber: given, phoneNumberVerified: false })
    const where = { tenantId: tenant, id: user.id }
    // Stored keys stay the same from version to version.
    expect((await dbFor(tenant).user.findFirst({ where }))?.phoneNumberKey).toBe('unparsed:0307654321')
    for (const phoneNumber of [given, '0307654321', ' 030 765 43 21', '(030) 765 43 21', '٠٣٠٧٦٥٤٣٢١']) {
      const found = await rest('GET', `/users/by-phone-number?${new URLSearchParams({ phoneNumber })}`)
      expect(found.body.id).toBe(user.id)
      const listed = await rest('GET', `/users?${new URLSearchParams({ phoneNumber })}`)
      expect(listed.body.users).toMatchObject([{ id: user.id }])
      const { body } = await gql(
        'query ($phone: PhoneNumber!, $filter: UserFilter) { userByPhoneNumber(phoneNumber: $phone) { id } users(filter: $filter) { nodes { id } } }',
        { phone: phoneNumber, filter: { phoneNumber } },
      )
      expect(body.data).toEqual({ userByPhoneNumber: { id: user.id }, users: { nodes: [{ id: user.id }] } })
    }
    await rest('DELETE', `/users/${user.id}`)
  })

  test('is unique by its digits, and is not the same number with a country code', async ({
    rest,
    writers,
  }) => {
    const { user } = await writers[surface].create({ phoneNumber: '0791234999' })
    expect(await writers[surface].create({ phoneNumber: '079 123 49 99' })).toMatchObject({
      code: 'CONFLICT',
      fields: [{ field: 'phoneNumber', description: 'is taken by another user' }],
    })
    const others = []
    for (const phoneNumber of ['+41 79 123 49 99', '079 123 49 99 ext. 5', '41791234999'])
      others.push(await writers[surface].create({ phoneNumber }))
    expect(others.map((other) => other.user.phoneNumber)).toEqual([
      '+41791234999',
      '079 123 49 99 ext. 5',
      '41791234999',
    ])
    for (const { id } of [user, ...others.map((other) => other.user)]) await rest('DELETE', `/users/${id}`)
  })

  test('cannot be verified, and a verified one that replaces it can', async ({ rest, writers }) => {
    const { create, update } = writers[surface]
    expect(await create({ phoneNumber: '0791234998', phoneNumberVerified: true })).toEqual(
      invalidFields([...NEEDS_COUNTRY]),
    )
    const { user } = await create({ phoneNumber: '+41791234998', phoneNumberVerified: true })
    expect(await update(user.id, { phoneNumber: '079 123 49 98', phoneNumberVerified: true })).toEqual(
      invalidFields([...NEEDS_COUNTRY]),
    )
    expect(await update(user.id, { phoneNumber: '079 123 49 98' })).toMatchObject({
      user: { phoneNumber: '079 123 49 98', phoneNumberVerified: false },
    })
    expect(await update(user.id, { phoneNumberVerified: true })).toEqual(invalidFields([...NEEDS_COUNTRY]))
    expect(
      await update(user.id, { phoneNumber: '+41 79 123 49 98', phoneNumberVerified: true }),
    ).toMatchObject({ user: { phoneNumber: '+41791234998', phoneNumberVerified: true } })
    await rest('DELETE', `/users/${user.id}`)
  })
})

describe('a phone number without a country code', () => {
  test('is imported, and matches later lines', async ({ ctx, rest }) => {
    const [created] = await importLines(ctx, [{ phoneNumber: '0664 1234997', name: 'Ada' }])
    expect(created).toMatchObject({ status: 'created' })
    const [updated, wrong] = await importLines(ctx, [
      { phoneNumber: '0664-123-4997', name: 'Ada L.' },
      { phoneNumber: '0664 1234996', phoneNumberVerified: true },
    ])
    const { userId } = created as { userId: string }
    expect(updated).toMatchObject({ status: 'updated', userId })
    expect(wrong).toMatchObject({ status: 'error', fields: [{ field: NEEDS_COUNTRY[0] }] })
    await rest('DELETE', `/users/${userId}`)
  })

  test('is sent no code, and permits no sign-in', async ({ rest, inbox, newPerson }) => {
    const phoneNumber = '079 123 49 95'
    await newPerson({ phoneNumber })
    for (const [path, body] of [
      ['/passcodes/sms', { to: phoneNumber }],
      ['/passcodes/sms', { to: phoneNumber, createUser: true }],
      ['/passcodes/authenticate', { to: phoneNumber, code: '123456' }],
    ] as const)
      expect(await rest('POST', path, body)).toMatchObject({
        status: 400,
        body: { fields: [{ field: 'to' }] },
      })
    expect(await inbox.list(phoneNumber)).toEqual([])
  })

  test('is read in the country of the person by the pages, and is not the stored text', async ({
    tenant,
    newBrowser,
    newPerson,
    oidc,
    inbox,
  }) => {
    await newPerson({ phoneNumber: '079 123 49 94' })
    const by = newBrowser()
    const { html, path } = await openPage(by, oidc.authorizePath({ ui_locales: 'de-CH' }))
    await by.post(path, { csrf: csrfIn(html), step: 'email', address: '079 123 49 94' })
    expect(await inbox.list('+41791234994')).toEqual([])
    expect(
      await dbFor(tenant).passcode.count({
        where: { tenantId: tenant, address: { startsWith: 'unparsed' } },
      }),
    ).toBe(0)
  })

  test('is not filled in on the page of a new sign-in', async ({ ctx, tenant, newBrowser, oidc }) => {
    const { id } = await createUser(ctx, { phoneNumber: '079 123 49 93' })
    const by = newBrowser()
    await startSessionIn(by, tenant, id)
    const { html } = await openPage(by, oidc.authorizePath({ prompt: 'login' }))
    const field = /<input[^>]*id="address"[^>]*>/.exec(html)?.[0]
    expect(field).toContain('id="address"')
    expect(field).not.toContain('49 93')
  })

  test('is not the account of a logout_hint that has no address', () => {
    const account = (id: string, phoneNumber: string | null) => ({ id, userId: `of ${id}`, phoneNumber })
    const accounts = [account('first', '079 123 49 92'), account('second', null)].map(
      (each) => ({ ...each, email: null }) as never,
    )
    const request = { hintedSessionId: null, hintedUserId: null, logoutHint: 'nobody' }
    expect(chooseLogout(request, accounts)).toMatchObject({ step: 'choose' })
  })
})
