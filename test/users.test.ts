import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Scope } from '../src/ctx.ts'
import { sql } from '../src/db.ts'
import { setUserRoles } from '../src/users/roles.ts'
import { createUser } from '../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from './support/actors.ts'
import { openSurfaces, type Surfaces } from './support/surfaces.ts'

let surfaces: Surfaces
let tenant: string
let token: string

beforeAll(async () => {
  surfaces = await openSurfaces()
  tenant = await newTenant()
  token = await tokenFor(tenant)
})
afterAll(() => surfaces.close())

// biome-ignore lint/suspicious/noExplicitAny: what a test asks for decides the shape
type Any = any
type User = Record<string, Any>

const rest = (
  method: string,
  path: string,
  body?: unknown,
  options: { tenant?: string; token?: string } = {},
) => surfaces.rest(options.tenant ?? tenant, options.token ?? token, method, path, body)
const gql = (query: string, variables?: object, options: { tenant?: string; token?: string } = {}) =>
  surfaces.gql(options.tenant ?? tenant, options.token ?? token, query, variables)

/** Creates a user over REST and expects that it works. */
async function made(fields: object = {}, options: { tenant?: string; token?: string } = {}): Promise<User> {
  const { status, body } = await rest('POST', '/users', fields, options)
  expect({ status, body }).toMatchObject({ status: 201 })
  return body
}

/** The same two operations through both surfaces: what they answer to faulty and to good input must be equal. */
const ERRORS =
  '... on UserError { code message } ... on ValidationError { fields { field description } } ... on ConflictError { fields { field description } }'
const FIELDS = `id name givenName familyName middleName nickname preferredUsername profile picture website email emailVerified gender birthdate
  zoneinfo locale phoneNumber phoneNumberVerified locked lockedAt address { formatted streetAddress locality region postalCode country }
  userMetadata appMetadata lastSeenAt updatedAt createdAt`
type Outcome =
  | { user: User }
  | { code: string; message: string; fields?: { field: string; description: string }[] }

const writers: {
  surface: string
  create: (fields: object) => Promise<Outcome>
  update: (id: string, fields: object) => Promise<Outcome>
}[] = [
  {
    surface: 'REST',
    create: async (fields) => outcome(await rest('POST', '/users', fields)),
    update: async (id, fields) => outcome(await rest('PATCH', `/users/${id}`, fields)),
  },
  {
    surface: 'GraphQL',
    create: async (fields) => {
      const { body } = await gql(
        `mutation ($fields: UserFieldsInput!) { result: createUser(input: { fields: $fields }) { ... on UserPayload { user { ${FIELDS} } } ${ERRORS} } }`,
        { fields },
      )
      return body.data?.result ?? body
    },
    update: async (userId, fields) => {
      const { body } = await gql(
        `mutation ($input: UpdateUserInput!) { result: updateUser(input: $input) { ... on UserPayload { user { ${FIELDS} } } ${ERRORS} } }`,
        { input: { userId, fields } },
      )
      return body.data?.result ?? body
    },
  },
]

function outcome({ status, body }: { status: number; body: Any }): Outcome {
  if (status < 300) return { user: body }
  const { requestId: _, ...error } = body
  return error
}

const INVALID = 'The request has invalid fields.'
const faults = (...fields: [string, string][]) => ({
  code: 'BAD_USER_INPUT',
  message: INVALID,
  fields: fields.map(([field, description]) => ({ field, description })),
})

/** What the log says of a user, oldest first. */
const logOf = (userId: string, of = tenant) =>
  sql<{ type: string; changedFields: string[]; sessionId: string | null; detail: object | null }>(
    `SELECT "type", "changedFields", "sessionId", "detail" FROM "Event" WHERE "tenantId" = $1 AND "userId" = $2 ORDER BY "era", "xid", "seq"`,
    [of, userId],
  )
const typesOf = async (userId: string, of = tenant) => (await logOf(userId, of)).map(({ type }) => type)

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

describe('creating a user', () => {
  it('answers 201 with every field of the specification, in its order, and where the user is', async () => {
    const { status, headers, body } = await rest('POST', '/users', {
      name: 'Ada Lovelace',
      email: 'Ada@Example.com',
      address: { locality: 'London' },
      userMetadata: { plan: 'gold' },
    })
    expect(status).toBe(201)
    expect(headers.get('location')).toBe(`/${tenant}/api/v1/users/${body.id}`)
    expect(body).toEqual({
      id: expect.stringMatching(/^user_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      name: 'Ada Lovelace',
      givenName: null,
      familyName: null,
      middleName: null,
      nickname: null,
      preferredUsername: null,
      profile: null,
      picture: null,
      website: null,
      email: 'Ada@Example.com',
      emailVerified: false,
      gender: null,
      birthdate: null,
      zoneinfo: null,
      locale: null,
      phoneNumber: null,
      phoneNumberVerified: false,
      locked: false,
      lockedAt: null,
      address: {
        formatted: null,
        streetAddress: null,
        locality: 'London',
        region: null,
        postalCode: null,
        country: null,
      },
      userMetadata: { plan: 'gold' },
      appMetadata: {},
      lastSeenAt: null,
      updatedAt: expect.stringMatching(ISO),
      createdAt: expect.stringMatching(ISO),
    })
    expect(await typesOf(body.id)).toEqual(['user.created'])
  })

  it('needs no field at all', async () => {
    const user = await made({})
    expect(user).toMatchObject({
      email: null,
      phoneNumber: null,
      address: null,
      userMetadata: {},
      locked: false,
    })
  })

  it('takes empty text and null for what is not given', async () => {
    const user = await made({
      name: '',
      email: '',
      phoneNumber: null,
      birthdate: '',
      locked: null,
      address: '',
      userMetadata: null,
    })
    expect(user).toMatchObject({
      name: null,
      email: null,
      phoneNumber: null,
      locked: false,
      address: null,
      userMetadata: {},
    })
  })

  it('locks at once with locked true', async () => {
    const user = await made({ locked: true })
    expect(user).toMatchObject({ locked: true, lockedAt: user.createdAt })
    expect(await typesOf(user.id)).toEqual(['user.created', 'user.locked'])
  })

  it('refuses response-only and unknown members by name', async () => {
    const { status, body } = await rest('POST', '/users', {
      id: 'user_x',
      createdAt: null,
      shoeSize: 44,
      tenantId: 'other',
    })
    expect(status).toBe(400)
    expect(body).toEqual({
      requestId: expect.any(String),
      ...faults(
        ['id', 'is not a field of this request'],
        ['createdAt', 'is not a field of this request'],
        ['shoeSize', 'is not a field of this request'],
        ['tenantId', 'is not a field of this request'],
      ),
    })
  })

  it.each([null, [], 'text', 7, true])('refuses a body that is no object: %j', async (value) => {
    expect(outcome(await rest('POST', '/users', value))).toEqual(faults(['', 'must be an object']))
  })
})

describe.each(writers)('through $surface', ({ create, update }) => {
  it('names every faulty field at once', async () => {
    const result = await create({
      name: 'x'.repeat(1001),
      profile: 'javascript:alert(1)',
      email: 'nobody',
      emailVerified: true,
      birthdate: '2001-02-29',
      zoneinfo: 'Mars/Olympus',
      locale: 'de_AT',
      phoneNumberVerified: true,
      address: { country: 'x'.repeat(1001) },
      userMetadata: { big: 'x'.repeat(65_536) },
    })
    expect(result).toEqual(
      faults(
        ['name', 'must have 1000 characters at most'],
        ['profile', 'must be an http or https URL'],
        ['email', 'must be an e-mail address such as name@example.com (RFC 5322 addr-spec)'],
        ['birthdate', 'must be a date as YYYY-MM-DD, 0000-MM-DD or YYYY'],
        ['zoneinfo', 'must be a name of the time zone database, such as Europe/Berlin'],
        ['locale', 'must be a BCP 47 language tag, such as de-AT'],
        ['address.country', 'must have 1000 characters at most'],
        ['userMetadata', 'must have 64 KB at most'],
        ['phoneNumberVerified', 'cannot be true without phoneNumber'],
      ),
    )
  })

  it.each([
    ['name', 'A\u0000B'],
    ['nickname', '\ud800'],
    ['email', 'a\u0000@example.com'],
    ['phoneNumber', '+49\u000030123456'],
    ['address', { locality: '\udfff' }],
    ['userMetadata', { deep: [{ 'a\u0000': 1 }] }],
    ['appMetadata', { deep: [{ a: '\ud83d' }] }],
  ])('refuses U+0000 and lone surrogates in %s', async (field, value) => {
    const result = await create({ [field]: value })
    expect(result).toMatchObject({ code: 'BAD_USER_INPUT', message: INVALID })
  })

  it.each<[object, object]>([
    [{ email: 'Zoë@BÜCHER.example' }, { email: 'Zoë@BÜCHER.example' }],
    [{ email: '"two words"@example.org' }, { email: '"two words"@example.org' }],
    [{ email: 'ops@[192.0.2.1]' }, { email: 'ops@[192.0.2.1]' }],
    [{ birthdate: '2000-02-29' }, { birthdate: '2000-02-29' }],
    [{ birthdate: '0000-02-29' }, { birthdate: '0000-02-29' }],
    [{ birthdate: '1815' }, { birthdate: '1815' }],
    [{ locale: 'DE-at' }, { locale: 'de-AT' }],
    [{ locale: 'zh-hant-tw' }, { locale: 'zh-Hant-TW' }],
    [{ zoneinfo: 'Asia/Kolkata' }, { zoneinfo: 'Asia/Kolkata' }],
    [{ zoneinfo: 'europe/berlin' }, { zoneinfo: 'Europe/Berlin' }],
    [{ zoneinfo: 'UTC' }, { zoneinfo: 'UTC' }],
    [{ phoneNumber: '+49 (30) 1234-567' }, { phoneNumber: '+49301234567' }],
    [{ phoneNumber: 'tel:+1-604-555-1234;ext=5678' }, { phoneNumber: '+16045551234;ext=5678' }],
    [{ phoneNumber: '030 7654321' }, { phoneNumber: '030 7654321' }],
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
  ])('keeps %j', async (fields, expected) => {
    const result = await create(fields)
    expect(result).toMatchObject({ user: expected })
    const { id } = (result as { user: User }).user
    const removed = await rest('DELETE', `/users/${id}`)
    expect(removed.status).toBe(200)
  })

  it.each<[object, string, string]>([
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
    [
      { phoneNumber: '   ' },
      'phoneNumber',
      'must be a phone number, best in E.164 form such as +14155552671',
    ],
    [
      { phoneNumber: '12', phoneNumberVerified: true },
      'phoneNumberVerified',
      'cannot be true unless phoneNumber is in E.164 form, with its extension as ;ext=',
    ],
    [{ emailVerified: true }, 'emailVerified', 'cannot be true without email'],
    [
      { userMetadata: JSON.parse('{"a":[{"__proto__":{"admin":true}}]}') },
      'userMetadata',
      'must not contain a member named __proto__',
    ],
    [
      { appMetadata: JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`) },
      'appMetadata',
      'must be nested 32 levels deep at most',
    ],
  ])('refuses %j', async (fields, field, description) => {
    expect(await create(fields)).toEqual(faults([field, description]))
  })

  it('keeps metadata of 64 KB and refuses one byte more', async () => {
    const ofSize = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
    expect(await create({ userMetadata: ofSize(65_536) })).toMatchObject({
      user: { userMetadata: ofSize(65_536) },
    })
    expect(await create({ appMetadata: ofSize(65_537) })).toEqual(
      faults(['appMetadata', 'must have 64 KB at most']),
    )
  })

  it('names e-mail address and phone number when both are taken', async () => {
    const { user } = (await create({ email: `both@${tenant}.example`, phoneNumber: '+442079460958' })) as {
      user: User
    }
    const taken = { code: 'CONFLICT', message: 'The value is taken.' }
    const [email, phoneNumber] = ['email', 'phoneNumber'].map((field) => ({
      field,
      description: 'is taken by another user',
    }))
    expect(await create({ email: `BOTH@${tenant}.EXAMPLE`, phoneNumber: 'tel:+44-20-7946-0958' })).toEqual({
      ...taken,
      fields: [email, phoneNumber],
    })
    expect(await create({ email: `"both"@${tenant}.example` })).toEqual({ ...taken, fields: [email] })
    expect(await create({ phoneNumber: '+44 20 7946 0958' })).toEqual({ ...taken, fields: [phoneNumber] })
    const other = (await create({})) as { user: User }
    expect(await update(other.user.id, { phoneNumber: '+442079460958' })).toEqual({
      ...taken,
      fields: [phoneNumber],
    })
    expect(await update(user.id, { email: `Both@${tenant}.example` })).toMatchObject({
      user: { email: `Both@${tenant}.example` },
    })
    await rest('DELETE', `/users/${user.id}`)
  })

  it('leaves omitted fields alone, and unsets with empty text and with null', async () => {
    const { user } = (await create({
      name: 'N',
      nickname: 'n',
      gender: 'g',
      userMetadata: { a: 1, b: 2 },
      appMetadata: { c: 3 },
    })) as { user: User }
    const changed = await update(user.id, { name: '', nickname: null, userMetadata: { b: 3 } })
    expect(changed).toMatchObject({
      user: {
        id: user.id,
        name: null,
        nickname: null,
        gender: 'g',
        userMetadata: { b: 3 },
        appMetadata: { c: 3 },
        createdAt: user.createdAt,
      },
    })
    expect(Date.parse((changed as { user: User }).user.updatedAt)).toBeGreaterThan(Date.parse(user.updatedAt))
    expect(await logOf(user.id)).toMatchObject([
      { type: 'user.created' },
      { type: 'user.updated', changedFields: ['name', 'nickname', 'userMetadata'] },
    ])
  })

  it('merges the address member by member', async () => {
    const { user } = (await create({ address: { locality: 'Wien', country: 'AT' } })) as { user: User }
    const merged = await update(user.id, { address: { country: '', postalCode: '1010' } })
    expect(merged).toMatchObject({
      user: { address: { locality: 'Wien', country: null, postalCode: '1010', region: null } },
    })
    expect(await update(user.id, { address: null })).toMatchObject({ user: { address: null } })
    expect((await logOf(user.id)).map(({ changedFields }) => changedFields)).toEqual([
      [],
      ['address'],
      ['address'],
    ])
  })

  it('takes a new address for unverified unless the same call says otherwise', async () => {
    const at = `${tenant}.example`
    const { user } = (await create({
      email: `flag@${at}`,
      emailVerified: true,
      phoneNumber: '+14155552671',
      phoneNumberVerified: true,
    })) as { user: User }
    expect(user).toMatchObject({ emailVerified: true, phoneNumberVerified: true })
    // The same address in another spelling is no new one.
    expect(await update(user.id, { email: `FLAG@${at}`, phoneNumber: 'tel:+1-415-555-2671' })).toMatchObject({
      user: { emailVerified: true, phoneNumberVerified: true },
    })
    expect(await update(user.id, { email: `flag2@${at}`, phoneNumber: '+14155552672' })).toMatchObject({
      user: { emailVerified: false, phoneNumberVerified: false },
    })
    expect(await update(user.id, { email: `flag3@${at}`, emailVerified: true })).toMatchObject({
      user: { emailVerified: true },
    })
    expect(await update(user.id, { email: '' })).toMatchObject({
      user: { email: null, emailVerified: false },
    })
    expect(await update(user.id, { emailVerified: true })).toEqual(
      faults(['emailVerified', 'cannot be true without email']),
    )
    expect(await update(user.id, { phoneNumber: '12', phoneNumberVerified: true })).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: [{ field: 'phoneNumberVerified' }],
    })
    await rest('DELETE', `/users/${user.id}`)
  })

  it('neither moves updatedAt nor tells of a change that changes nothing', async () => {
    const { user } = (await create({
      name: 'Same',
      address: { country: 'AT' },
      userMetadata: { a: [1] },
    })) as { user: User }
    expect(
      await update(user.id, {
        name: 'Same',
        address: { country: 'AT' },
        userMetadata: { a: [1] },
        locked: false,
      }),
    ).toEqual({ user })
    expect(await update(user.id, {})).toEqual({ user })
    expect(await typesOf(user.id)).toEqual(['user.created'])
  })

  it('locks and unlocks by the field', async () => {
    const { user } = (await create({})) as { user: User }
    const locked = (await update(user.id, { locked: true, name: 'Locked' })) as { user: User }
    expect(locked.user).toMatchObject({ locked: true, lockedAt: locked.user.updatedAt })
    // Locking again changes nothing.
    expect(await update(user.id, { locked: true })).toEqual(locked)
    expect(await update(user.id, { locked: false })).toMatchObject({
      user: { locked: false, lockedAt: null },
    })
    expect(await logOf(user.id)).toMatchObject([
      { type: 'user.created' },
      { type: 'user.updated', changedFields: ['name'] },
      { type: 'user.locked', changedFields: [] },
      { type: 'user.unlocked' },
    ])
  })
})

describe('changing a user over REST', () => {
  it('ignores response-only fields that come back unchanged, so that what was read can be sent back', async () => {
    const user = await made({ name: 'Round trip', locked: true })
    const { status, body } = await rest('PATCH', `/users/${user.id}`, { ...user, name: 'Changed' })
    expect(status).toBe(200)
    expect(body).toEqual({ ...user, name: 'Changed', updatedAt: expect.any(String) })
  })

  it('refuses response-only fields with another value, and unknown ones, by name', async () => {
    const user = await made({})
    const { body } = await rest('PATCH', `/users/${user.id}`, {
      ...user,
      name: 'X',
      id: 'user_x',
      updatedAt: '2020-01-01T00:00:00.000Z',
      lockedAt: 5,
    })
    const set = 'is set by the service'
    expect(body).toEqual({
      requestId: expect.any(String),
      ...faults(['id', set], ['lockedAt', set], ['updatedAt', set]),
    })
    const unknown = await rest('PATCH', `/users/${user.id}`, { roles: ['admin'] })
    expect(unknown.body).toMatchObject(faults(['roles', 'is not a field of this request']))
    expect((await rest('GET', `/users/${user.id}`)).body).toEqual(user)
  })

  it('does nothing where one field is refused', async () => {
    const taken = await made({ email: `taken@${tenant}.example` })
    const user = await made({ name: 'Before' })
    const { status } = await rest('PATCH', `/users/${user.id}`, {
      name: 'After',
      locked: true,
      email: taken.email,
    })
    expect(status).toBe(409)
    expect((await rest('GET', `/users/${user.id}`)).body).toEqual(user)
    expect(await typesOf(user.id)).toEqual(['user.created'])
  })
})

describe('finding users', () => {
  it('gets a user by id, e-mail address and phone number, however these are written', async () => {
    const user = await made({ email: `Find.Me@${tenant}.example`, phoneNumber: '+43 1 5880 1234' })
    const paths = [
      `/users/${user.id}`,
      `/users/by-email?email=${encodeURIComponent(`find.me@${tenant}.EXAMPLE`)}`,
      `/users/by-phone-number?phoneNumber=${encodeURIComponent('tel:+43-1-5880-1234')}`,
      // As people type it into curl.
      '/users/by-phone-number?phoneNumber=+43158801234',
    ]
    for (const path of paths) expect(await rest('GET', path)).toMatchObject({ status: 200, body: user })
    const { body } = await gql(
      `query ($id: ID!, $email: String!, $phone: String!) { a: user(id: $id) { ${FIELDS} } b: userByEmail(email: $email) { ${FIELDS} } c: userByPhoneNumber(phoneNumber: $phone) { ${FIELDS} } node(id: $id) { id ... on User { name } } }`,
      { id: user.id, email: `FIND.ME@${tenant}.example`, phone: '+43158801234' },
    )
    expect(body).toEqual({ data: { a: user, b: user, c: user, node: { id: user.id, name: null } } })
  })

  it.each([
    ['/users/user_01m7xeb1sbendby702xerkqv3p', 'No such user.'],
    ['/users/nonsense', 'No such user.'],
    ['/users/session_01m7xeb1sbendby702xerkqv3p', 'No such user.'],
    ['/users/by-email?email=nobody@example.com', 'No such user.'],
    ['/users/by-phone-number?phoneNumber=%2B14155550000', 'No such user.'],
  ])('answers 404 for %s', async (path, message) => {
    const { status, body } = await rest('GET', path)
    expect(status).toBe(404)
    expect(body).toEqual({ message, requestId: expect.any(String), fields: [], code: 'NOT_FOUND' })
  })

  it.each<[string, [string, string]]>([
    ['/users/by-email', ['email', 'is required']],
    [
      '/users/by-email?email=nobody',
      ['email', 'must be an e-mail address such as name@example.com (RFC 5322 addr-spec)'],
    ],
    [
      '/users/by-email?email=',
      ['email', 'must be an e-mail address such as name@example.com (RFC 5322 addr-spec)'],
    ],
    ['/users/by-phone-number', ['phoneNumber', 'is required']],
    [
      '/users/by-email?phoneNumber=1&email=a@example.com',
      ['phoneNumber', 'is not a parameter of this request'],
    ],
  ])('answers 400 for %s', async (path, fault) => {
    expect(outcome(await rest('GET', path))).toEqual(faults(fault))
  })

  it('answers null and BAD_USER_INPUT over GraphQL', async () => {
    const { body } = await gql(
      '{ a: user(id: "user_01m7xeb1sbendby702xerkqv3p") { id } b: userByEmail(email: "nobody@example.com") { id } c: user(id: "client_x") { id } }',
    )
    expect(body.data).toEqual({ a: null, b: null, c: null })
    expect(body.errors).toMatchObject([{ path: ['c'], extensions: { code: 'BAD_USER_INPUT' } }])
  })
})

describe('lists of users', () => {
  let ids: string[]
  let listTenant: { tenant: string; token: string }

  beforeAll(async () => {
    const slug = await newTenant()
    listTenant = { tenant: slug, token: await tokenFor(slug) }
    ids = []
    for (let i = 0; i < 7; i++) ids.push((await made({ name: `User ${i}` }, listTenant)).id)
  })

  const page = async (query: string) => {
    const { status, body } = await rest('GET', `/users${query}`, undefined, listTenant)
    return status === 200
      ? { ...body, users: body.users.map(({ id }: User) => ids.indexOf(id)) }
      : outcome({ status, body })
  }

  it.each([
    ['', { page: 0, pageSize: 50, totalSize: 7, users: [0, 1, 2, 3, 4, 5, 6] }],
    ['?pageSize=3', { page: 0, pageSize: 3, totalSize: 7, users: [0, 1, 2] }],
    ['?page=2&pageSize=3', { page: 2, pageSize: 3, totalSize: 7, users: [6] }],
    ['?page=3&pageSize=3', { page: 3, pageSize: 3, totalSize: 7, users: [] }],
    ['?pageSize=1000', { page: 0, pageSize: 1000, totalSize: 7, users: [0, 1, 2, 3, 4, 5, 6] }],
    ['?page=1000000000&pageSize=1000', { page: 1_000_000_000, pageSize: 1000, totalSize: 7, users: [] }],
  ])('answers the page that %s asks for', async (query, expected) => {
    expect(await page(query)).toEqual(expected)
  })

  const notWhole = 'must be a whole number from 0 to 1000000000'
  it.each<[string, [string, string][]]>([
    ['?pageSize=0', [['pageSize', 'must be a whole number from 1 to 1000']]],
    ['?pageSize=1001', [['pageSize', 'must be a whole number from 1 to 1000']]],
    ['?page=-1', [['page', notWhole]]],
    ['?page=1e3', [['page', notWhole]]],
    ['?page=%205', [['page', notWhole]]],
    ['?page=0x10', [['page', notWhole]]],
    ['?page=', [['page', notWhole]]],
    ['?page=1.0', [['page', notWhole]]],
    ['?page=01', [['page', notWhole]]],
    ['?page=1&page=1', [['page', 'is given more than once']]],
    [
      '?page=-1&pageSize=0&limit=5&__proto__=1',
      [
        ['limit', 'is not a parameter of this request'],
        ['__proto__', 'is not a parameter of this request'],
        ['page', notWhole],
        ['pageSize', 'must be a whole number from 1 to 1000'],
      ],
    ],
  ])('refuses %s', async (query, expected) => {
    expect(await page(query)).toEqual(faults(...expected))
  })

  const LIST =
    'query ($page: Int, $pageSize: Int, $first: Int, $after: String, $last: Int, $before: String) { users(page: $page, pageSize: $pageSize, first: $first, after: $after, last: $last, before: $before) { edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalSize page pageSize } }'
  const connection = async (variables: object) => {
    const { body } = await gql(LIST, variables, listTenant)
    if (!body.data?.users) return body.errors?.[0]
    const { edges, nodes, pageInfo, ...rest } = body.data.users
    expect(edges.map(({ node }: Any) => node)).toEqual(nodes)
    return {
      ...rest,
      next: pageInfo.hasNextPage,
      previous: pageInfo.hasPreviousPage,
      start: pageInfo.startCursor as string,
      end: pageInfo.endCursor as string,
      users: nodes.map(({ id }: User) => ids.indexOf(id)),
    }
  }

  it('goes to a page by its number and scrolls on from there by cursor, both ways', async () => {
    const second = (await connection({ page: 1, pageSize: 2 })) as Any
    expect(second).toMatchObject({
      page: 1,
      pageSize: 2,
      totalSize: 7,
      users: [2, 3],
      next: true,
      previous: true,
    })
    const on = (await connection({ first: 2, after: second.end })) as Any
    expect(on).toMatchObject({
      page: null,
      pageSize: 2,
      totalSize: 7,
      users: [4, 5],
      next: true,
      previous: true,
    })
    expect(await connection({ first: 2, after: on.end })).toMatchObject({
      users: [6],
      next: false,
      previous: true,
    })
    expect(await connection({ last: 2, before: on.start })).toMatchObject({
      users: [2, 3],
      next: true,
      previous: true,
    })
    expect(await connection({ last: 2, before: second.start })).toMatchObject({
      users: [0, 1],
      next: true,
      previous: false,
    })
    expect(await connection({ last: 3 })).toMatchObject({ users: [4, 5, 6], next: false, previous: true })
    expect(await connection({ first: 3 })).toMatchObject({ users: [0, 1, 2], next: true, previous: false })
  })

  it('refuses a cursor of another tenant, a forged one and both kinds of paging at once', async () => {
    const { end } = (await connection({ first: 1 })) as Any
    const elsewhere = await gql(LIST, { first: 1, after: end })
    expect(elsewhere.body.errors).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT', fields: [{ field: 'after' }] } },
    ])
    const payload = Buffer.from(JSON.stringify(['user_0', null])).toString('base64url')
    expect(
      await connection({ first: 1, after: `${payload}.${(end as string).split('.')[1]}` }),
    ).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } })
    expect(await connection({ page: 0, first: 1 })).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } })
  })

  it('keeps a cursor good when its row is gone', async () => {
    const all = (await connection({ first: 4 })) as Any
    await rest('DELETE', `/users/${ids[3]}`, undefined, listTenant)
    expect(await connection({ first: 2, after: all.end })).toMatchObject({ users: [4, 5], totalSize: 6 })
  })
})

describe('deleting a user', () => {
  it('answers 200 with the error-body shape, and 404 from then on', async () => {
    const user = await made({ email: `gone@${tenant}.example` })
    const { status, body } = await rest('DELETE', `/users/${user.id}`)
    expect(status).toBe(200)
    expect(body).toEqual({ message: 'The user was deleted.', requestId: expect.any(String), fields: [] })
    const again = await rest('DELETE', `/users/${user.id}`)
    expect([again.status, again.body.code]).toEqual([404, 'NOT_FOUND'])
    for (const [method, sent] of [
      ['GET', undefined],
      ['PATCH', {}],
    ] as const)
      expect((await rest(method, `/users/${user.id}`, sent)).status).toBe(404)
    // The address is free again.
    await made({ email: `gone@${tenant}.example` })
    expect(await typesOf(user.id)).toEqual(['user.created', 'user.deleted'])
  })

  it('works over GraphQL', async () => {
    const user = await made({})
    const remove =
      'mutation ($id: ID!) { deleteUser(input: { userId: $id }) { __typename ... on DeleteUserPayload { deletedUserId } ... on UserError { code message } } }'
    expect((await gql(remove, { id: user.id })).body).toEqual({
      data: { deleteUser: { __typename: 'DeleteUserPayload', deletedUserId: user.id } },
    })
    expect((await gql(remove, { id: user.id })).body).toEqual({
      data: { deleteUser: { __typename: 'NotFoundError', code: 'NOT_FOUND', message: 'No such user.' } },
    })
  })
})

describe('scopes', () => {
  const withScopes = async (...scopes: Scope[]) => ({ token: await tokenFor(tenant, scopes) })

  it('names the scope that is missing, on every route and field', async () => {
    const user = await made({})
    const reader = await withScopes('users:read')
    const writer = await withScopes('users:write')
    const refused: [string, string, object | undefined, { token: string }, string][] = [
      ['POST', '/users', {}, reader, 'users:write'],
      ['PATCH', `/users/${user.id}`, {}, reader, 'users:write'],
      ['DELETE', `/users/${user.id}`, undefined, reader, 'users:write'],
      ['GET', '/users', undefined, writer, 'users:read'],
      ['GET', `/users/${user.id}`, undefined, writer, 'users:read'],
      ['GET', '/users/by-email?email=a@example.com', undefined, writer, 'users:read'],
      ['GET', '/users/by-phone-number?phoneNumber=1', undefined, writer, 'users:read'],
    ]
    for (const [method, path, body, options, scope] of refused) {
      const answer = await rest(method, path, body, options)
      expect([answer.status, answer.body.code, answer.body.message]).toEqual([
        403,
        'FORBIDDEN',
        expect.stringContaining(scope),
      ])
    }
    for (const field of [
      'users { page }',
      `user(id: "${user.id}") { id }`,
      'userByEmail(email: "a@b.c") { id }',
      'userByPhoneNumber(phoneNumber: "1") { id }',
    ])
      expect((await gql(`{ ${field} }`, {}, writer)).body.errors).toMatchObject([
        { extensions: { code: 'FORBIDDEN' }, message: expect.stringContaining('users:read') },
      ])
    for (const field of [
      'createUser(input: { fields: {} })',
      `updateUser(input: { userId: "${user.id}", fields: {} })`,
      `deleteUser(input: { userId: "${user.id}" })`,
      `lockUser(input: { userId: "${user.id}" })`,
      `unlockUser(input: { userId: "${user.id}" })`,
    ])
      expect((await gql(`mutation { ${field} { __typename } }`, {}, reader)).body.errors).toMatchObject([
        { extensions: { code: 'FORBIDDEN' }, message: expect.stringContaining('users:write') },
      ])
    expect((await rest('GET', `/users/${user.id}`)).body).toEqual(user)
  })

  it('shows appMetadata only to those who may read it', async () => {
    const user = await made({ appMetadata: { tier: 1 } })
    const reader = await withScopes('users:read', 'users:write')
    const { appMetadata: _, ...rest_ } = user
    expect((await rest('GET', `/users/${user.id}`, undefined, reader)).body).toEqual(rest_)
    const list = await rest('GET', '/users?pageSize=1000', undefined, reader)
    expect(JSON.stringify(list.body)).not.toContain('appMetadata')
    const { body } = await gql(`{ user(id: "${user.id}") { id appMetadata } }`, {}, reader)
    expect(body).toMatchObject({
      data: { user: { id: user.id, appMetadata: null } },
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    })
    // Writing it needs users:write only, and does not tell it.
    const written = await rest('PATCH', `/users/${user.id}`, { appMetadata: { tier: 2 } }, reader)
    expect(written.body).not.toHaveProperty('appMetadata')
    expect((await rest('GET', `/users/${user.id}`)).body.appMetadata).toEqual({ tier: 2 })
  })

  it('tells a caller with users:write alone that the write was done', async () => {
    const writer = await withScopes('users:write')
    const { body } = await gql(
      'mutation { createUser(input: { fields: {} }) { __typename ... on UserPayload { user { id } } } }',
      {},
      writer,
    )
    expect(body).toMatchObject({
      data: { createUser: { __typename: 'UserPayload', user: null } },
      errors: [{ extensions: { code: 'FORBIDDEN' } }],
    })
  })

  it('lets nobody change the addresses or roles of a user whose roles exceed their own scopes, nor lock or delete them (design, section 5)', async () => {
    const admin = await createUser(await ctxFor(tenant), { email: `admin@${tenant}.example` })
    await setUserRoles(await ctxFor(tenant), admin.id, { roles: ['admin'] })
    const helper = await withScopes('users:read', 'users:write')
    for (const change of [
      { email: 'evil@example.com' },
      { emailVerified: true },
      { phoneNumber: '+14155550001' },
    ])
      expect(await rest('PATCH', `/users/${admin.id}`, change, helper)).toMatchObject({
        status: 403,
        body: { code: 'FORBIDDEN', fields: [] },
      })
    expect((await rest('PATCH', `/users/${admin.id}`, { locked: true }, helper)).status).toBe(403)
    expect((await rest('DELETE', `/users/${admin.id}`, undefined, helper)).status).toBe(403)
    expect((await rest('PATCH', `/users/${admin.id}`, { nickname: 'Boss' }, helper)).status).toBe(200)
    const mine = await made({})
    const promote =
      'mutation ($id: ID!, $roles: [Role!]!) { setUserRoles(input: { userId: $id, roles: $roles }) { __typename ... on UserPayload { user { roles } } } }'
    for (const [id, roles] of [
      [mine.id, ['ADMIN']],
      [admin.id, []],
    ] as const)
      expect((await gql(promote, { id, roles }, helper)).body.errors).toMatchObject([
        { extensions: { code: 'FORBIDDEN' } },
      ])
    expect(
      (await gql(promote, { id: mine.id, roles: ['SUPPORT', 'AUDITOR'] })).body.data.setUserRoles.user,
    ).toEqual({ roles: ['AUDITOR', 'SUPPORT'] })
    expect(await logOf(mine.id)).toMatchObject([
      { type: 'user.created' },
      { type: 'role.changed', detail: { roles: 'auditor support' } },
    ])
    const path = `/users/${mine.id}/roles`
    expect(await rest('GET', path)).toMatchObject({ status: 200, body: { roles: ['auditor', 'support'] } })
    expect((await rest('PUT', path, { roles: ['admin'] }, helper)).status).toBe(403)
    expect(await rest('PUT', path, { roles: ['chief'], x: 1 })).toMatchObject({
      status: 400,
      body: { fields: [{ field: 'roles.0' }, { field: 'x' }] },
    })
    expect(await rest('PUT', path, { roles: ['support', 'support'] })).toMatchObject({
      status: 200,
      body: { roles: ['support'] },
    })
    expect(await typesOf(admin.id)).toEqual(['user.created', 'role.changed', 'user.updated'])
  })
})

describe('tenants', () => {
  it('keeps users apart: an id of another tenant is an id of nobody', async () => {
    const other = await newTenant()
    const there = { tenant: other, token: await tokenFor(other) }
    const user = await made({ email: 'same@example.com', phoneNumber: '+43158800001' }, there)
    const nobody = 'user_01m7xeb1sbendby702xerkqv3p'
    const calls: [string, string, object?][] = [
      ['GET', ''],
      ['PATCH', '', { name: 'Mine' }],
      ['DELETE', ''],
    ]
    for (const [method, path, body] of calls) {
      const [foreign, unknown] = await Promise.all(
        [user.id, nobody].map((id) => rest(method, `/users/${id}${path}`, body)),
      )
      expect(foreign?.status).toBe(404)
      expect({ ...foreign?.body, requestId: '' }).toEqual({ ...unknown?.body, requestId: '' })
    }
    for (const field of [
      `lockUser(input: { userId: "${user.id}" })`,
      `deleteUser(input: { userId: "${user.id}" })`,
      `updateUser(input: { userId: "${user.id}", fields: { name: "x" } })`,
    ])
      expect((await gql(`mutation { result: ${field} { __typename } }`)).body).toEqual({
        data: { result: { __typename: 'NotFoundError' } },
      })
    expect((await gql(`{ user(id: "${user.id}") { id } node(id: "${user.id}") { id } }`)).body).toEqual({
      data: { user: null, node: null },
    })
    expect((await rest('GET', '/users/by-email?email=same@example.com')).status).toBe(404)
    // Their tokens are no good here, and unique is unique in a tenant.
    expect((await rest('GET', `/users/${user.id}`, undefined, { token: there.token })).status).toBe(401)
    await made({ email: 'same@example.com', phoneNumber: '+43158800001' })
    expect((await rest('GET', `/users/${user.id}`, undefined, there)).body).toEqual(user)
  })
})
