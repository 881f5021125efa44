import { describe, expect } from 'vitest'
import { invalidFields } from '../support/issues.ts'
import { SURFACES, test } from '../support/user-writers.ts'

describe.each(SURFACES)('fields of a new user over %s', (surface) => {
  test('reports every invalid field at once', async ({ writers }) => {
    const result = await writers[surface].create({
      name: 'x'.repeat(1001),
      profile: 'javascript:alert(1)',
      email: 'invalid',
      emailVerified: true,
      birthdate: '2001-02-29',
      zoneinfo: 'Mars/Olympus',
      locale: 'd',
      phoneNumberVerified: true,
      address: { country: 'x'.repeat(1001) },
      userMetadata: { big: 'x'.repeat(65_536) },
    })
    expect(result).toEqual(
      invalidFields(
        ['name', 'must have at most 1000 characters'],
        ['profile', 'must be an http or https URL'],
        ['email', 'must be an e-mail address such as name@example.com (RFC 5322 addr-spec)'],
        ['birthdate', 'must be a date as YYYY-MM-DD, 0000-MM-DD or YYYY'],
        ['zoneinfo', 'must be a name of the time zone database, such as Europe/Berlin'],
        ['locale', 'must be a BCP 47 language tag, such as de-AT'],
        ['address.country', 'must have at most 1000 characters'],
        ['userMetadata', 'must have at most 64 KB'],
        ['phoneNumberVerified', 'cannot be true without phoneNumber'],
      ),
    )
  })

  test.for<[field: string, value: unknown]>([
    ['name', 'A\u0000B'],
    ['nickname', '\ud800'],
    ['email', 'a\u0000@example.com'],
    ['phoneNumber', '+49\u000030123456'],
    ['address', { locality: '\udfff' }],
    ['userMetadata', { deep: [{ 'a\u0000': 1 }] }],
    ['appMetadata', { deep: [{ a: '\ud83d' }] }],
  ])('rejects U+0000 and lone surrogates in %s', async ([field, value], { writers }) => {
    const result = await writers[surface].create({ [field]: value })
    expect(result).toMatchObject({ code: 'BAD_USER_INPUT', message: 'The request has invalid fields.' })
  })

  test.for<[object, object]>([
    [{ email: 'Zoë@BÜCHER.example' }, { email: 'Zoë@BÜCHER.example' }],
    [{ email: '"two words"@example.org' }, { email: '"two words"@example.org' }],
    [{ email: 'ops@[192.0.2.1]' }, { email: 'ops@[192.0.2.1]' }],
    [{ birthdate: '2000-02-29' }, { birthdate: '2000-02-29' }],
    [{ birthdate: '0000-02-29' }, { birthdate: '0000-02-29' }],
    [{ birthdate: '1815' }, { birthdate: '1815' }],
    [{ locale: 'DE-at' }, { locale: 'de-AT' }],
    [{ locale: 'zh-hant-tw' }, { locale: 'zh-Hant-TW' }],
    [{ locale: 'pt_BR' }, { locale: 'pt-BR' }],
    [{ locale: 'iw' }, { locale: 'he' }],
    [{ email: ' \u202aGrace@Example.ORG\u202c' }, { email: 'Grace@Example.ORG' }],
    [{ email: 'ｇｒａｃｅ＠ｅｘａｍｐｌｅ．ｏｒｇ' }, { email: 'grace@example.org' }],
    [{ phoneNumber: '\u202a+49 30 1234\u2011568\u202c' }, { phoneNumber: '+49301234568' }],
    [{ phoneNumber: '+٤٩٣٠١٢٣٤٥٦٨' }, { phoneNumber: '+49301234568' }],
    [{ zoneinfo: 'Asia/Kolkata' }, { zoneinfo: 'Asia/Kolkata' }],
    [{ zoneinfo: 'europe/berlin' }, { zoneinfo: 'Europe/Berlin' }],
    [{ zoneinfo: 'UTC' }, { zoneinfo: 'UTC' }],
    [{ phoneNumber: '+49 (30) 1234-567' }, { phoneNumber: '+49301234567' }],
    [{ phoneNumber: 'tel:+1-604-555-1234;ext=5678' }, { phoneNumber: '+16045551234;ext=5678' }],
    [
      { gender: 'something else', preferredUsername: '<b>"\\' },
      { gender: 'something else', preferredUsername: '<b>"\\' },
    ],
    [{ picture: 'https://example.com/a.png' }, { picture: 'https://example.com/a.png' }],
    [
      { profile: 'https://example.com/team#ada', website: 'https://matrix.to/#/@ada:example.com' },
      { profile: 'https://example.com/team#ada', website: 'https://matrix.to/#/@ada:example.com' },
    ],
    [
      { phoneNumber: '+49301234568', phoneNumberVerified: true },
      { phoneNumber: '+49301234568', phoneNumberVerified: true },
    ],
    [
      { appMetadata: { constructor: { prototype: 1 }, toString: null } },
      { appMetadata: { constructor: { prototype: 1 }, toString: null } },
    ],
  ])('stores %j', async ([fields, expected], { rest, writers }) => {
    const result = await writers[surface].create(fields)
    expect(result).toMatchObject({ user: expected })
    const { id } = result.user
    const removed = await rest('DELETE', `/users/${id}`)
    expect(removed.status).toBe(200)
  })

  test.for<[object, string, string]>([
    [
      { email: 'a@b@example.com' },
      'email',
      'must be an e-mail address such as name@example.com (RFC 5322 addr-spec)',
    ],
    [
      { email: 'a(comment)@example.com' },
      'email',
      'must be an e-mail address such as name@example.com (RFC 5322 addr-spec)',
    ],
    [
      { email: 'a@example.com\r\nBcc: x@example.com' },
      'email',
      'must be an e-mail address such as name@example.com (RFC 5322 addr-spec)',
    ],
    [{ birthdate: '0000' }, 'birthdate', 'must be a date as YYYY-MM-DD, 0000-MM-DD or YYYY'],
    [{ birthdate: '1900-02-29' }, 'birthdate', 'must be a date as YYYY-MM-DD, 0000-MM-DD or YYYY'],
    [{ birthdate: '2000-1-1' }, 'birthdate', 'must be a date as YYYY-MM-DD, 0000-MM-DD or YYYY'],
    [{ birthdate: '2000-13-01' }, 'birthdate', 'must be a date as YYYY-MM-DD, 0000-MM-DD or YYYY'],
    [{ birthdate: '2000-01-00' }, 'birthdate', 'must be a date as YYYY-MM-DD, 0000-MM-DD or YYYY'],
    [{ zoneinfo: '+01:00' }, 'zoneinfo', 'must be a name of the time zone database, such as Europe/Berlin'],
    [{ locale: 'e' }, 'locale', 'must be a BCP 47 language tag, such as de-AT'],
    [{ website: '//example.com' }, 'website', 'must be an absolute URL'],
    [{ picture: 'data:image/png;base64,AA' }, 'picture', 'must be an http or https URL'],
    ...['   ', '1', 'extension 12', '12 or 13', '+999 123456', '+1', '+41 79 123 45 67 89'].map(
      (phoneNumber): [object, string, string] => [
        { phoneNumber },
        'phoneNumber',
        'must be a phone number, preferably with its country code, such as +14155552671',
      ],
    ),
    [{ emailVerified: true }, 'emailVerified', 'cannot be true without email'],
    [
      { userMetadata: JSON.parse('{"a":[{"__proto__":{"admin":true}}]}') },
      'userMetadata',
      'must not contain a member named __proto__',
    ],
    [
      { appMetadata: JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) },
      'appMetadata',
      'must be nested at most 32 levels deep',
    ],
  ])('rejects %j', async ([fields, field, description], { writers }) => {
    expect(await writers[surface].create(fields)).toEqual(invalidFields([field, description]))
  })

  test('stores metadata of 64 KB and rejects one byte more', async ({ writers }) => {
    const ofSize = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
    expect(await writers[surface].create({ userMetadata: ofSize(65_536) })).toMatchObject({
      user: { userMetadata: ofSize(65_536) },
    })
    expect(await writers[surface].create({ appMetadata: ofSize(65_537) })).toEqual(
      invalidFields(['appMetadata', 'must have at most 64 KB']),
    )
  })

  test('reports email and phoneNumber when both are taken', async ({ tenant, rest, writers }) => {
    const { user } = await writers[surface].create({
      email: `both@${tenant}.example`,
      phoneNumber: '+442079460958',
    })
    const taken = { code: 'CONFLICT', message: 'The value is taken.' }
    const [email, phoneNumber] = ['email', 'phoneNumber'].map((field) => ({
      field,
      description: 'is taken by another user',
    }))
    expect(
      await writers[surface].create({ email: `BOTH@${tenant}.EXAMPLE`, phoneNumber: 'tel:+44-20-7946-0958' }),
    ).toEqual({
      ...taken,
      fields: [email, phoneNumber],
    })
    expect(await writers[surface].create({ email: `"both"@${tenant}.example` })).toEqual({
      ...taken,
      fields: [email],
    })
    expect(await writers[surface].create({ phoneNumber: '+44 20 7946 0958' })).toEqual({
      ...taken,
      fields: [phoneNumber],
    })
    const other = await writers[surface].create({})
    expect(await writers[surface].update(other.user.id, { phoneNumber: '+442079460958' })).toEqual({
      ...taken,
      fields: [phoneNumber],
    })
    expect(await writers[surface].update(user.id, { email: `Both@${tenant}.example` })).toMatchObject({
      user: { email: `Both@${tenant}.example` },
    })
    await rest('DELETE', `/users/${user.id}`)
  })
})
