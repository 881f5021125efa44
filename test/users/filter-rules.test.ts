import { describe, expect } from 'vitest'
import type { Scope } from '../../src/core/scopes.ts'
import { createUser } from '../../src/users/users.ts'
import { newTenant, TENANT_SCOPES } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import type { Json } from '../support/json.ts'
import { leastStatements } from '../support/statements.ts'
import { test as base, QUERY, toParameters } from '../support/user-search.ts'

const test = base.extend(
  'readPage',
  { scope: 'file' },
  ({ gql, ids: _ }) =>
    async (args: object) =>
      (await gql(QUERY, args)).body,
)

describe('members that a filter must not reveal', () => {
  test.for<[scope: Scope, filter: object]>([
    ['users:read_app_metadata', { appMetadata: { plan: 'pro' } }],
    ['users:read_app_metadata', { email: 'ada.lovelace@example.com', appMetadata: { plan: 'pro' } }],
    ['idps:read', { idpId: 'acme' }],
    ['credentials:read', { hasCredential: true }],
  ])('require %s in the filter %j', async ([scope, filter], { rest, gql }) => {
    const narrow = { scopes: TENANT_SCOPES.filter((one) => one !== scope) }
    const { body } = await gql(QUERY, { filter }, narrow)
    expect(body.data.users).toBeNull()
    expect(body.errors?.[0]).toMatchObject({
      message: expect.stringContaining(scope),
      extensions: { code: 'FORBIDDEN' },
    })
    const query = new URLSearchParams(toParameters(filter))
    expect(await rest('GET', `/users?${query}`, undefined, narrow)).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN', message: expect.stringContaining(scope) },
    })
  })

  test.for([
    'secret',
    'roles',
    'nameKey',
    'emailKey',
    'tenantId',
    'userMetadata',
    'lockedAt',
    '__proto__',
    'terms',
  ])('cannot be filtered or ordered by: %s', async (name, { rest }) => {
    const { status, body } = await rest('GET', `/users?${name}=x`)
    expect([status, body.fields]).toEqual([
      400,
      [{ field: name, description: 'is not a parameter of this request' }],
    ])
    const ordered = await rest('GET', `/users?orderBy=${name}`)
    expect([ordered.status, ordered.body.fields[0].field]).toEqual([400, 'orderBy'])
  })

  test('are ignored by a search: metadata and the website', async ({ ctx, find }) => {
    await createUser(ctx, {
      appMetadata: { word: 'zebra' },
      userMetadata: { word: 'zebra' },
      website: 'https://zebra.example',
    })
    expect(await find({ search: 'zebra' })).toEqual([])
  })
})

describe('filters and orders without an index', () => {
  test.for<[filter: object, members: string[]]>([
    [{ locked: true, createdAt: { gte: '2026-01-01T00:00:00Z' } }, ['locked', 'createdAt']],
    [{ idpId: 'acme', appMetadata: { plan: 'pro' } }, ['idpId', 'appMetadata']],
    [
      { createdAt: { gte: '2026-01-01T00:00:00Z' }, lastSeenAt: { lt: '2026-01-01T00:00:00Z' } },
      ['createdAt', 'lastSeenAt'],
    ],
  ])('are rejected by the names of the members: %j', async ([filter, named], { findInvalid }) => {
    expect(await findInvalid(filter)).toEqual(named)
  })

  test.for<[filter: object, field: string]>([
    [{ locked: true }, 'NAME'],
    [{ createdAt: { gte: '2026-01-01T00:00:00Z' } }, 'UPDATED_AT'],
    [{ idpId: 'acme' }, 'CREATED_AT'],
  ])('are rejected by orderBy: %j ordered by %s', async ([filter, field], { findInvalid }) => {
    expect(await findInvalid(filter, { field })).toEqual(['orderBy'])
  })

  test('are those of a search that matches more than 2000 words, which another word narrows', async ({
    rest,
    gql,
  }) => {
    const tenant = await newTenant()
    const fill = (from: number, to: number) =>
      sql(
        `INSERT INTO "User" ("tenantId", "id", "name")
         SELECT $1, 'user_' || lpad(i::text, 26, '0'), 'Quux ' || CASE WHEN i <= 3 THEN 'Rare' || 4 - i ELSE 'Other' END FROM generate_series($2::int, $3::int) i`,
        [tenant, from, to],
      )
    const order = '&orderBy=name&direction=desc&pageSize=3'
    const read = (search: string) => rest('GET', `/users?search=${search}${order}`, undefined, { tenant })
    await fill(1, 2000)
    expect((await read('quux')).body.users.map(({ name }: Json) => name)).toEqual([
      'Quux Rare3',
      'Quux Rare2',
      'Quux Rare1',
    ])
    await fill(2001, 2001)
    const description =
      'cannot be combined with a search that matches more than 2000 words of users; add a word, or leave orderBy out'
    expect((await read('quux')).body.fields).toEqual([{ field: 'orderBy', description }])
    const variables = { filter: { search: 'quux' }, orderBy: { field: 'NAME' } }
    const { body } = await gql(QUERY, variables, { tenant })
    expect(body.errors?.[0]?.extensions.fields).toEqual([{ field: 'orderBy', description }])
    expect((await read('quux+rare')).body.totalSize).toBe(3)
    expect((await read('nobody')).body.users).toEqual([])
  })

  test('are rejected with a description of the possible combinations', async ({ rest }) => {
    const { body } = await rest('GET', '/users?orderBy=name&createdAt.gte=2026-01-01T00:00:00Z')
    expect(body.fields).toEqual([
      { field: 'orderBy', description: 'cannot be combined with createdAt, only createdAt' },
    ])
    const combined = await rest('GET', '/users?locked=true&idpId=acme')
    expect(combined.body.fields[0]).toEqual({
      field: 'locked',
      description:
        'cannot be combined with idpId: search, email, phoneNumber and externalId combine with everything, and flags with each other',
    })
  })

  test.for<[query: string, instead: string | null]>([
    ['createdAt=2026-01-01T00:00:00Z', 'createdAt.gte, createdAt.lt'],
    ['createdAt.gt=2026-01-01T00:00:00Z', null],
    ['appMetadata=pro', 'appMetadata.{member}'],
  ])('are rejected with the parameters to use instead: %s', async ([query, instead], { rest }) => {
    const { status, body } = await rest('GET', `/users?${query}`)
    const description = `is not a parameter of this request${instead ? `, only ${instead}` : ''}`
    expect([status, body.fields]).toEqual([400, [{ field: query.split('=')[0], description }]])
  })

  test('do not include null members and ranges without an end', async ({ gql, ids, find }) => {
    const keys = new Map(Object.entries(ids).map(([key, id]) => [id, key]))
    const nothing = {
      search: null,
      email: null,
      locked: null,
      createdAt: {},
      lastSeenAt: { gte: null },
      appMetadata: null,
    }
    const { body } = await gql(QUERY, { filter: nothing, first: 100 })
    expect(body.data.users.nodes.map(({ id }: Json) => keys.get(id) ?? id)).toEqual(await find({}))
  })
})

describe('a cursor of a filtered list', () => {
  test('is rejected with another filter, order or direction, and in another tenant', async ({
    gql,
    readPage,
  }) => {
    const named = { orderBy: { field: 'NAME' } }
    const cursor = (await readPage({ ...named, first: 1 })).data.users.edges[0].cursor
    expect((await readPage({ ...named, first: 1, after: cursor })).errors).toBeUndefined()
    const others = [
      {},
      { orderBy: { field: 'EMAIL' } },
      { orderBy: { field: 'NAME', direction: 'DESC' } },
      { filter: { locked: true } },
      { filter: { email: 'anna@example.com' }, ...named },
    ]
    for (const other of others)
      expect((await readPage({ ...other, first: 1, after: cursor })).errors?.[0]?.extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        fields: [{ field: 'after', description: 'is not a cursor of this list' }],
      })
    const foreign = { tenant: await newTenant() }
    const { body } = await gql(QUERY, { ...named, first: 1, after: cursor }, foreign)
    expect(body.errors?.[0]?.extensions).toMatchObject({ fields: [{ field: 'after' }] })
  })

  test('is rejected with a changed payload or signature', async ({ ids, readPage }) => {
    const cursor: string = (await readPage({ orderBy: { field: 'NAME' }, first: 1 })).data.users.edges[0]
      .cursor
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
        (await readPage({ orderBy: { field: 'NAME' }, first: 1, after: bad })).errors?.[0]?.extensions,
      ).toMatchObject({
        code: 'BAD_USER_INPUT',
        fields: [{ field: 'after' }],
      })
  })
})

describe('statements of a list of users', () => {
  test('are one for the page, one more for relations and one more for totalSize', async ({ gql }) => {
    const run = (args: string, selection: string) => async () => {
      const { body } = await gql(`{ users(${args}) { ${selection} } }`)
      expect(body.errors).toBeUndefined()
    }
    const count = (args: string, selection: string) => leastStatements(run(args, selection))
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
