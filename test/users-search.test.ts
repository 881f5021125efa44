import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { Ctx } from '../src/ctx.ts'
import { sql } from '../src/db.ts'
import { createUser, deleteUser, updateUser } from '../src/users/users.ts'
import { ctxFor, newTenant, TENANT_SCOPES, tokenFor } from './support/actors.ts'
import { countStatements } from './support/statements.ts'
import { openSurfaces, type Surfaces } from './support/surfaces.ts'

let app: Surfaces
let tenant: string
let token: string
let ctx: Ctx
/** Ids by the name that the tests call the user by. */
const ids: Record<string, string> = {}

const PEOPLE: Record<string, object> = {
  lukasz: { name: 'Łukasz Żółć', email: 'lukasz@example.com', emailVerified: true },
  muller: { name: 'Jörg MÜLLER', email: 'j.mueller+shop@example.com' },
  soren: { givenName: 'Søren', familyName: 'Ångström', nickname: 'Ærlig', locked: true },
  strasse: { name: 'Anna Groß', preferredUsername: 'anna-straße' },
  thor: { name: 'Þórður Guðmundsson' },
  ivan: { name: 'Иван Ёлкин', email: 'ivan@пример.рф' },
  odysseas: { name: 'Οδυσσέας Ελύτης' },
  hindi: { name: 'हिन्दी शर्मा' },
  yamada: { name: '山田 太郎', middleName: 'がく' },
  full: { name: 'Ａｄａ Ｌｏｖｅｌａｃｅ', email: 'ada.lovelace@example.com', emailVerified: true },
  wild: { name: '100% under_score back\\slash', email: "o'brien@example.com" },
  twice: { name: 'Anna Annabel Anna', nickname: 'Ann', email: 'anna@example.com', emailVerified: true },
  nobody: {},
}

beforeAll(async () => {
  app = await openSurfaces()
  tenant = await newTenant()
  token = await tokenFor(tenant)
  ctx = await ctxFor(tenant)
  for (const [called, input] of Object.entries(PEOPLE)) ids[called] = (await createUser(ctx, input)).id
  const other = await ctxFor(await newTenant())
  await createUser(other, {
    name: 'Anna Foreign Łukasz',
    email: 'anna@example.com',
    appMetadata: { plan: 'pro' },
  })
})
afterAll(() => app.close())

const QUERY = `query ($filter: UserFilter, $orderBy: UserOrder, $first: Int, $after: String, $last: Int, $before: String) {
  users(filter: $filter, orderBy: $orderBy, first: $first, after: $after, last: $last, before: $before) {
    totalSize edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage endCursor startCursor } } }`

const calledOf = (id: string) => Object.entries(ids).find(([, known]) => known === id)?.[0] ?? id

/** A filter as REST's parameters. */
const paramsOf = (filter: object, above = ''): [string, string][] =>
  Object.entries(filter).flatMap(([name, value]): [string, string][] =>
    typeof value === 'object' && value !== null
      ? paramsOf(value, `${above}${name}.`)
      : [[`${above}${name}`, String(value)]],
  )

/** Whom both surfaces find, in their order, as many as they count. */
async function find(filter: object, orderBy?: { field?: string; direction?: string }): Promise<string[]> {
  const graphql = await app.gql(tenant, token, QUERY, { filter, orderBy, first: 100 })
  expect(graphql.body.errors).toBeUndefined()
  const { nodes, edges, totalSize } = graphql.body.data.users
  const camel = orderBy?.field?.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  const query = new URLSearchParams([
    ...paramsOf(filter),
    ...(camel ? [['orderBy', camel]] : []),
    ...(orderBy?.direction ? [['direction', orderBy.direction.toLowerCase()]] : []),
  ])
  const rest = await app.rest(tenant, token, 'GET', `/users?${query}`)
  expect(rest.status).toBe(200)
  const found = nodes.map(({ id }: { id: string }) => id)
  expect(edges.map(({ node }: { node: { id: string } }) => node.id)).toEqual(found)
  expect(rest.body.users.map(({ id }: { id: string }) => id)).toEqual(found)
  expect([totalSize, rest.body.totalSize]).toEqual([found.length, found.length])
  return found.map(calledOf)
}
const found = async (filter: object) => (await find(filter)).sort()

/** What is refused about a filter or an order, alike by both surfaces. */
async function faults(filter: object, orderBy?: { field: string }) {
  const { body } = await app.gql(tenant, token, QUERY, { filter, orderBy })
  expect(body.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT')
  const named = body.errors?.[0]?.extensions.fields
  if (!orderBy) {
    const rest = await app.rest(tenant, token, 'GET', `/users?${new URLSearchParams(paramsOf(filter))}`)
    expect(rest).toMatchObject({ status: 400, body: { code: 'BAD_USER_INPUT', fields: named } })
  }
  return named.map(({ field }: { field: string }) => field)
}

describe('a search finds users by words', () => {
  test.each([
    ['łukasz', ['lukasz']],
    ['LUKASZ', ['lukasz']],
    ['zolc', ['lukasz']],
    ['müller', ['muller']],
    ['Muller', ['muller']],
    ['MULL', ['muller']],
    ['ångstrom', ['soren']],
    ['SØREN ang', ['soren']],
    ['soren angstrom aerlig', ['soren']],
    ['gross', ['strasse']],
    ['GROẞ', ['strasse']],
    ['strasse', ['strasse']],
    ['thord gudm', ['thor']],
    ['þór', ['thor']],
    ['иван', ['ivan']],
    ['ИВА елк', ['ivan']],
    ['οδυσσεας', ['odysseas']],
    ['ΟΔΥΣ', ['odysseas']],
    ['ελύτης οδυ', ['odysseas']],
    ['हिन्दी', ['hindi']],
    ['हिन', ['hindi']],
    ['न्दी', []],
    ['山田', ['yamada']],
    ['がく', ['yamada']],
    ['ada', ['full']],
    ['lovelace ada', ['full']],
    ['velace', []],
    ['ada muller', []],
    ['nobody', []],
  ])('%s: %j', async (search, expected) => {
    expect(await found({ search })).toEqual(expected)
  })

  test.each([
    ['ada.lovelace@example.com', ['full']],
    ['ADA.LOVELACE@EX', ['full']],
    ['ada.love', ['full']],
    ['j.mueller+shop@', ['muller']],
    ['shop', ['muller']],
    ['ivan@пример', ['ivan']],
    ['anna@example.com', ['twice']],
    ['Anna <anna@example.com>', ['twice']],
    ['@anna', ['strasse', 'twice']],
    ['example.com', []],
    ['@example.com', []],
  ])('an address, or its beginning: %s: %j', async (search, expected) => {
    expect(await found({ search })).toEqual(expected)
  })

  test('nobody twice, however many of their words it is that begin so', async () => {
    expect(await found({ search: 'an' })).toEqual(['soren', 'strasse', 'twice'])
    expect(await found({ search: 'ann anna annabel a' })).toEqual(['twice'])
    expect(await found({ search: 'anna anna' })).toEqual(['strasse', 'twice'])
  })

  test.each([
    ['%', 'search'],
    ['***', 'search'],
    ['_', 'search'],
    ['a\u0000b', 'search'],
    ['\ud800a', 'search'],
    ['x'.repeat(65_536), 'search'],
  ])('a text without words, of bad characters or of 64 KB is refused: %j', async (search, field) => {
    const before = await countStatements(async () => {
      const { body } = await app.gql(tenant, token, QUERY, { filter: { search } })
      expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ field }] })
    })
    expect(before).toBe(0)
  })

  test.each([
    ['100%', ['wild']],
    ['1%', ['wild']],
    ['u%r', []],
    ['under_score', ['wild']],
    ['under%', ['wild']],
    ['back\\slash', ['wild']],
    ["o'brien", ['wild']],
    ["o'brien@", ['wild']],
    ["o' OR 1=1 --", []],
    ['ada_x', []],
    ['.*', null],
  ])('wildcards and quotes are characters like others: %s', async (search, expected) => {
    if (expected) expect(await found({ search })).toEqual(expected)
    else expect(await faults({ search })).toEqual(['search'])
  })

  test('white space alone asks for nothing', async () => {
    expect(await find({ search: '  ' })).toEqual(await find({}))
  })
})

describe('a search combines with the other members', () => {
  test.each([
    [{ search: 'an', locked: true }, ['soren']],
    [{ search: 'an', locked: false }, ['strasse', 'twice']],
    [{ search: 'an', emailVerified: true, locked: false }, ['twice']],
    [{ search: 'an', hasCredential: true }, []],
    [{ search: 'an', createdAt: { lt: '2020-01-01T00:00:00Z' } }, []],
    [{ search: 'an', updatedAt: { gte: '2020-01-01T00:00:00Z' } }, ['soren', 'strasse', 'twice']],
    [{ search: 'an', email: 'ANNA@example.COM' }, ['twice']],
    [{ search: 'zz', email: 'anna@example.com' }, []],
    [{ email: 'anna@example.com', locked: true }, []],
    [{ email: 'anna@example.com', locked: false, createdAt: { gte: '2020-01-01T00:00:00Z' } }, ['twice']],
    [{ search: 'an', idpId: 'nowhere' }, []],
    [{ search: 'an', appMetadata: { plan: 'pro' } }, []],
  ])('%j: %j', async (filter, expected) => {
    expect(await found(filter)).toEqual(expected)
  })
})

describe('what is found follows what is changed', () => {
  test('a name, an address, metadata, and a deletion', async () => {
    const { id } = await createUser(ctx, {
      name: 'Grace Hopper',
      email: 'grace@navy.example',
      appMetadata: { rank: 1 },
    })
    expect(await find({ search: 'hopper' })).toEqual([id])
    await updateUser(ctx, id, {
      name: 'Grace Brewster',
      email: 'amazing@navy.example',
      appMetadata: { rank: 2 },
    })
    expect(await find({ search: 'hopper' })).toEqual([])
    expect(await find({ search: 'grace@' })).toEqual([])
    expect(await find({ search: 'grace brew' })).toEqual([id])
    expect(await find({ search: 'amazing@navy' })).toEqual([id])
    expect(await find({ appMetadata: { rank: 1 } })).toEqual([])
    expect(await find({ appMetadata: { rank: 2 } })).toEqual([id])
    await updateUser(ctx, id, { name: null })
    expect(await find({ search: 'brew' })).toEqual([])
    await deleteUser(ctx, id)
    expect(await find({ search: 'amazing' })).toEqual([])
    const left = await sql(`SELECT FROM "UserTerm" WHERE "tenantId" = $1 AND "userId" = $2`, [tenant, id])
    expect(left).toEqual([])
  })
})

describe('security 61: of paths that are longer than a filter takes', () => {
  const termsOf = async (appMetadata: object) => {
    const { id } = await createUser(ctx, { appMetadata })
    const terms = await sql(`SELECT FROM "UserTerm" WHERE "tenantId" = $1 AND "userId" = $2`, [tenant, id])
    await deleteUser(ctx, id)
    return terms.length
  }
  const members = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`m${i}`, i]))

  // Members below one of a long name would each repeat it: 60 KB came to 120 MB.
  test('nothing is kept, on whichever level; of the longest that it takes, all', async () => {
    expect(await termsOf({ ['k'.repeat(30_000)]: members })).toBe(0)
    expect(await termsOf({ ['k'.repeat(500)]: { ['k'.repeat(500)]: members } })).toBe(0)
    expect(await termsOf({ ['k'.repeat(1001)]: 1 })).toBe(0)
    expect(await termsOf({ ['k'.repeat(996)]: members })).toBe(100)
    const longest = { ['k'.repeat(1000)]: 1 }
    expect(await termsOf(longest)).toBe(1)
    expect(await find({ appMetadata: longest })).toEqual([])
    const { id } = await createUser(ctx, { appMetadata: longest })
    expect(await find({ appMetadata: longest })).toEqual([id])
    await deleteUser(ctx, id)
  })
})

describe('who has a credential or a link', () => {
  test('is found by it, for as long as it is there', async () => {
    const user = await createUser(ctx, { name: 'Linked Holder' })
    const lists = async () => [
      await find({ hasCredential: true, locked: false }),
      await find({ idpId: 'acme' }),
      await find({ search: 'holder', hasCredential: true, idpId: 'acme' }),
    ]
    expect(await lists()).toEqual([[], [], []])
    for (const [text, ...values] of [
      [
        `INSERT INTO "IdentityProvider" ("tenantId", "id", "type", "name") VALUES ($1, 'acme', 'oidc', 'Acme')`,
      ],
      [
        `INSERT INTO "IdpUser" ("tenantId", "id", "userId", "idpId", "externalId") VALUES ($1, 'idpuser_1', $2, 'acme', 'x')`,
        user.id,
      ],
      ...['a', 'b'].map((id) => [
        `INSERT INTO "Credential" ("tenantId", "id", "userId", "externalId") VALUES ($1, 'cred_' || $3, $2, $3)`,
        user.id,
        id,
      ]),
    ] as [string, ...unknown[]][])
      await sql(text, [tenant, ...values])
    expect(await lists()).toEqual([[user.id], [user.id], [user.id]])
    await sql(`DELETE FROM "Credential" WHERE "tenantId" = $1 AND "id" = 'cred_a'`, [tenant])
    expect((await lists())[0]).toEqual([user.id])
    await sql(`DELETE FROM "Credential" WHERE "tenantId" = $1 AND "id" = 'cred_b'`, [tenant])
    await sql(`DELETE FROM "IdpUser" WHERE "tenantId" = $1`, [tenant])
    expect(await lists()).toEqual([[], [], []])
    const [row] = await sql<{ same: boolean }>(
      `SELECT "updatedAt" = "createdAt" AS "same" FROM "User" WHERE "tenantId" = $1 AND "id" = $2`,
      [tenant, user.id],
    )
    expect(row?.same).toBe(true)
  })
})

describe('appMetadata is found by paths', () => {
  const metadata = {
    plan: 'pro',
    seats: 5,
    trial: false,
    note: null,
    tags: ['a', 'b', 'b'],
    org: { unit: { id: 'x=1' } },
    'dotted.name': 'd',
    quoted: '"pro"',
  }
  let pro: string
  beforeAll(async () => {
    pro = (await createUser(ctx, { appMetadata: metadata })).id
    await createUser(ctx, { appMetadata: { plan: 'free', seats: 5, tags: ['b'] } })
  })

  test.each([
    [{ plan: 'pro' }],
    [{ trial: false }],
    [{ note: null }],
    [{ tags: 'a' }],
    [{ 'org.unit.id': 'x=1' }],
    [{ 'dotted.name': 'd' }],
    [{ quoted: '"pro"' }],
    [{ plan: 'pro', seats: 5, tags: 'b' }],
  ])('%j finds who has it', async (appMetadata) => {
    const { body } = await app.gql(tenant, token, QUERY, { filter: { appMetadata } })
    expect(body.data.users).toMatchObject({ totalSize: 1, nodes: [{ id: pro }] })
  })

  test.each([
    [{ plan: 'PRO' }],
    [{ seats: '5' }],
    [{ plan: 'pro', seats: 6 }],
    [{ org: 'unit' }],
    [{ 'plan=': '' }],
  ])('%j finds nobody', async (appMetadata) => {
    const { body } = await app.gql(tenant, token, QUERY, { filter: { appMetadata } })
    expect(body.data.users).toMatchObject({ totalSize: 0, nodes: [] })
  })

  test('REST takes the same as appMetadata.path=value, numbers and quoted text included', async () => {
    for (const query of [
      'appMetadata.plan=pro&appMetadata.seats=5',
      'appMetadata.org.unit.id=x=1',
      'appMetadata.note=null',
    ]) {
      const { body } = await app.rest(tenant, token, 'GET', `/users?${query}`)
      expect(body).toMatchObject({ totalSize: 1, users: [{ id: pro }] })
    }
  })

  test.each([
    [{ plan: { name: 'pro' } }, 'appMetadata.plan'],
    [{ plan: ['pro'] }, 'appMetadata.plan'],
    [{ plan: 'a\u0000' }, 'appMetadata.plan'],
    [{}, 'appMetadata'],
    [Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`p${index}`, 1])), 'appMetadata'],
  ])('%j is refused by name', async (appMetadata, field) => {
    const { body } = await app.gql(tenant, token, QUERY, { filter: { appMetadata } })
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ field }] })
  })
})

describe('security 54: a filter tells nothing that the caller may not read', () => {
  test.each([
    ['users:read_app_metadata', { appMetadata: { plan: 'pro' } }],
    ['users:read_app_metadata', { email: 'ada.lovelace@example.com', appMetadata: { plan: 'pro' } }],
    ['idps:read', { idpId: 'acme' }],
    ['credentials:read', { hasCredential: true }],
  ] as const)('without %s, %j is forbidden', async (scope, filter) => {
    const narrow = await tokenFor(
      tenant,
      TENANT_SCOPES.filter((one) => one !== scope),
    )
    const { body } = await app.gql(tenant, narrow, QUERY, { filter })
    expect(body.data.users).toBeNull()
    expect(body.errors?.[0]).toMatchObject({
      message: expect.stringContaining(scope),
      extensions: { code: 'FORBIDDEN' },
    })
    const rest = await app.rest(tenant, narrow, 'GET', `/users?${new URLSearchParams(paramsOf(filter))}`)
    expect(rest).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN', message: expect.stringContaining(scope) },
    })
  })

  test.each([
    'secret',
    'roles',
    'nameKey',
    'emailKey',
    'tenantId',
    'userMetadata',
    'lockedAt',
    '__proto__',
    'terms',
  ])('nobody filters or orders by %s', async (name) => {
    const { status, body } = await app.rest(tenant, token, 'GET', `/users?${name}=x`)
    expect([status, body.fields]).toEqual([
      400,
      [{ field: name, description: 'is not a parameter of this request' }],
    ])
    const ordered = await app.rest(tenant, token, 'GET', `/users?orderBy=${name}`)
    expect([ordered.status, ordered.body.fields[0].field]).toEqual([400, 'orderBy'])
  })

  test('a search reads no metadata', async () => {
    await createUser(ctx, {
      appMetadata: { word: 'zebra' },
      userMetadata: { word: 'zebra' },
      website: 'https://zebra.example',
    })
    expect(await find({ search: 'zebra' })).toEqual([])
  })
})

describe('members that name an address', () => {
  test('are compared normalised', async () => {
    const { id } = await createUser(ctx, { email: 'Tel@Example.com', phoneNumber: '+41 79 111 22 33' })
    await sql(`UPDATE "User" SET "externalId" = 'crm-1' WHERE "tenantId" = $1 AND "id" = $2`, [tenant, id])
    expect(await find({ email: 'tel@EXAMPLE.com' })).toEqual([id])
    expect(await find({ phoneNumber: '+41791112233' })).toEqual([id])
    const plus = await app.rest(tenant, token, 'GET', '/users?phoneNumber=+41791112233')
    expect(plus.body.users).toMatchObject([{ id }])
    expect(await find({ phoneNumber: '+41791112234' })).toEqual([])
    expect(await find({ externalId: 'crm-1' })).toEqual([id])
    expect(await find({ externalId: 'CRM-1' })).toEqual([])
    expect(await find({ email: 'tel@example.com' }, { field: 'NAME', direction: 'DESC' })).toEqual([id])
  })

  test('which are none are refused by name', async () => {
    expect(await faults({ email: 'nonsense' })).toEqual(['email'])
    expect(await faults({ phoneNumber: '\t' })).toEqual(['phoneNumber'])
    expect(await faults({ email: '' })).toEqual(['email'])
  })

  test.each([
    ['first: 5000, filter: { email: "nope" }', ['email', 'first']],
    [
      'first: 5000, page: 1, filter: { email: "nope", phoneNumber: "" }',
      ['email', 'phoneNumber', 'first', 'page'],
    ],
    ['pageSize: 0, filter: { email: "a@example.com" }', ['pageSize']],
  ])('are named along with every other faulty field: %s', async (args, fields) => {
    const { body } = await app.gql(tenant, token, `{ users(${args}) { totalSize } }`)
    const { extensions } = body.errors?.[0] ?? {}
    expect(extensions?.code).toBe('BAD_USER_INPUT')
    expect(extensions?.fields.map(({ field }: { field: string }) => field)).toEqual(fields)
  })
})

describe('what no index has is refused by name', () => {
  test.each([
    [{ locked: true, createdAt: { gte: '2026-01-01T00:00:00Z' } }, ['locked', 'createdAt']],
    [{ idpId: 'acme', appMetadata: { plan: 'pro' } }, ['idpId', 'appMetadata']],
    [
      { createdAt: { gte: '2026-01-01T00:00:00Z' }, lastSeenAt: { lt: '2026-01-01T00:00:00Z' } },
      ['createdAt', 'lastSeenAt'],
    ],
  ])('%j', async (filter, named) => {
    expect(await faults(filter)).toEqual(named)
  })

  test.each([
    [{ locked: true }, 'NAME'],
    [{ search: 'an' }, 'EMAIL'],
    [{ createdAt: { gte: '2026-01-01T00:00:00Z' } }, 'UPDATED_AT'],
    [{ idpId: 'acme' }, 'CREATED_AT'],
  ])('%j ordered by %s', async (filter, field) => {
    expect(await faults(filter, { field })).toEqual(['orderBy'])
  })

  test('the message says what is possible', async () => {
    const { body } = await app.rest(
      tenant,
      token,
      'GET',
      '/users?orderBy=name&createdAt.gte=2026-01-01T00:00:00Z',
    )
    expect(body.fields).toEqual([
      { field: 'orderBy', description: 'cannot be combined with createdAt, only createdAt' },
    ])
    const combined = await app.rest(tenant, token, 'GET', '/users?locked=true&idpId=acme')
    expect(combined.body.fields[0]).toEqual({
      field: 'locked',
      description:
        'cannot be combined with idpId: search, email, phoneNumber and externalId combine with everything, and flags with each other',
    })
  })

  test.each([
    ['createdAt=2026-01-01T00:00:00Z', 'createdAt.gte, createdAt.lt'],
    ['createdAt.gt=2026-01-01T00:00:00Z', null],
    ['appMetadata=pro', 'appMetadata.{member}'],
  ])('%s is refused, and the answer says what is meant', async (query, instead) => {
    const { status, body } = await app.rest(tenant, token, 'GET', `/users?${query}`)
    const description = `is not a parameter of this request${instead ? `, only ${instead}` : ''}`
    expect([status, body.fields]).toEqual([400, [{ field: query.split('=')[0], description }]])
  })

  test('null is no filter, and neither is a range without an end', async () => {
    const nothing = {
      search: null,
      email: null,
      locked: null,
      createdAt: {},
      lastSeenAt: { gte: null },
      appMetadata: null,
    }
    const { body } = await app.gql(tenant, token, QUERY, { filter: nothing, first: 100 })
    expect(body.data.users.nodes.map(({ id }: { id: string }) => calledOf(id))).toEqual(await find({}))
  })
})

describe('security 53: a cursor is of one list', () => {
  const page = async (args: object) => (await app.gql(tenant, token, QUERY, args)).body
  test('another filter, order or direction refuses it, and so does another tenant', async () => {
    const named = { orderBy: { field: 'NAME' } }
    const cursor = (await page({ ...named, first: 1 })).data.users.edges[0].cursor
    expect((await page({ ...named, first: 1, after: cursor })).errors).toBeUndefined()
    const others = [
      {},
      { orderBy: { field: 'EMAIL' } },
      { orderBy: { field: 'NAME', direction: 'DESC' } },
      { filter: { locked: true } },
      { filter: { email: 'anna@example.com' }, ...named },
    ]
    for (const other of others)
      expect((await page({ ...other, first: 1, after: cursor })).errors?.[0]?.extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        fields: [{ field: 'after', description: 'is not a cursor of this list' }],
      })
    const foreign = await newTenant()
    const { body } = await app.gql(foreign, await tokenFor(foreign), QUERY, {
      ...named,
      first: 1,
      after: cursor,
    })
    expect(body.errors?.[0]?.extensions).toMatchObject({ fields: [{ field: 'after' }] })
  })

  test('a changed one is refused, whatever was changed', async () => {
    const cursor: string = (await page({ orderBy: { field: 'NAME' }, first: 1 })).data.users.edges[0].cursor
    const [payload = '', signature = ''] = cursor.split('.')
    const forged = Buffer.from(JSON.stringify([ids.lukasz, "x' OR 1=1"])).toString('base64url')
    for (const bad of [
      `${forged}.${signature}`,
      `${payload}.`,
      payload,
      `${cursor}=`,
      `${cursor}.x`,
      '',
      `.${signature}`,
    ])
      expect(
        (await page({ orderBy: { field: 'NAME' }, first: 1, after: bad })).errors?.[0]?.extensions,
      ).toMatchObject({
        code: 'BAD_USER_INPUT',
        fields: [{ field: 'after' }],
      })
  })
})

describe.runIf(inject('database').kind === 'postgres')('statements (design, section 9)', () => {
  test('a list is one statement, one more with relations, and one more for totalSize', async () => {
    const run = (args: string, selection: string) => async () => {
      const { body } = await app.gql(tenant, token, `{ users(${args}) { ${selection} } }`)
      expect(body.errors).toBeUndefined()
    }
    const count = async (args: string, selection: string) => {
      // Of three calls at most one falls on the end of the second that caches keep things.
      const runs: number[] = []
      for (let turn = 0; turn < 3; turn++) runs.push(await countStatements(run(args, selection)))
      return Math.min(...runs)
    }
    const lists = [
      'filter: {search: "an li"}',
      'filter: {locked: false}',
      'filter: {appMetadata: {plan: "pro"}}',
      'orderBy: {field: LAST_SEEN_AT, direction: DESC}',
      'filter: {email: "anna@example.com", search: "anna"}',
    ]
    const nested = 'nodes { id sessions(first: 5) { nodes { id } } }'
    for (const args of lists)
      expect([
        await count(args, 'nodes { id name }'),
        await count(args, 'totalSize nodes { id }'),
        await count(args, nested),
      ]).toEqual([1, 2, 2])
    expect(await count('orderBy: {direction: DESC}', nested)).toBe(1)
  })
})
