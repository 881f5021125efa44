import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { listClients } from '../src/clients/client-list.ts'
import { createClient } from '../src/clients/clients.ts'
import { platformCtx } from '../src/ctx.ts'
import { InvalidInput } from '../src/errors.ts'
import { parseQuery } from '../src/rest/query.ts'
import { restRoutes } from '../src/rest/rest.ts'
import { Done, type RestRoute, restRoute } from '../src/rest/route.ts'
import { createUser } from '../src/users/users.ts'
import { ctxFor, newTenant, tokenFor } from './support/actors.ts'
import { linksIn, walk } from './support/lists.ts'
import { countStatements } from './support/statements.ts'
import { openSurfaces, type Surfaces } from './support/surfaces.ts'

let app: Surfaces
let tenant: string
let token: string
const USERS = 23

beforeAll(async () => {
  app = await openSurfaces()
  tenant = await newTenant()
  token = await tokenFor(tenant)
  const ctx = await ctxFor(tenant)
  for (let number = 0; number < USERS; number += 1) await createUser(ctx, { name: `User ${number}` })
})
afterAll(() => app.close())

const get = (path: string) => app.rest(tenant, token, 'GET', path)
const faultsOf = (body: { fields: { field: string }[] }) => body.fields.map(({ field }) => field)

describe('page and pageSize (spec, Limits)', () => {
  test.each([
    ['', 0, 50],
    ['?page=0', 0, 50],
    ['?pageSize=1', 0, 1],
    ['?pageSize=1000', 0, 1000],
    ['?page=2&pageSize=10', 2, 10],
    ['?page=1000000000', 1_000_000_000, 50],
  ])('users%s is page %i of %i rows', async (query, page, pageSize) => {
    const { status, body } = await get(`/users${query}`)
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['page', 'pageSize', 'totalSize', 'users'])
    expect(body).toMatchObject({ page, pageSize, totalSize: USERS })
    expect(body.users).toHaveLength(Math.max(0, Math.min(pageSize, USERS - page * pageSize)))
  })

  test.each([
    ['page=-1', ['page']],
    ['page=1.5', ['page']],
    ['page=', ['page']],
    ['page=1e3', ['page']],
    ['page=0x1', ['page']],
    ['page=+1', ['page']],
    ['page=01', ['page']],
    ['page=1000000001', ['page']],
    ['page=99999999999999999999', ['page']],
    ['pageSize=0', ['pageSize']],
    ['pageSize=1001', ['pageSize']],
    ['pageSize=ten', ['pageSize']],
    ['page=x&pageSize=x', ['page', 'pageSize']],
    ['page=0&page=0', ['page']],
    ['page=0&pageSize=5&pageSize=5&sort=x', ['pageSize', 'sort']],
    ['first=5', ['first']],
    ['last=5', ['last']],
    ['after=', ['after']],
    ['after=x', ['after']],
    ['before=x', ['before']],
    ['after=x&before=x', ['before']],
    ['page=0&after=x', ['page']],
    ['page=0&before=x&after=y', ['page', 'before']],
    ['before=x&pageSize=0', ['pageSize']],
    ['tenantId=x&PAGE=1', ['tenantId', 'PAGE']],
    ['page=-1&email=nope', ['page', 'email']],
    ['page=-1&locked=yes&orderBy=x&createdAt.gte=x', ['page', 'locked', 'createdAt.gte', 'orderBy']],
    ['x=1&email=nope&email=nope', ['x', 'email']],
    // A + that was not percent-encoded is no fault.
    ['page=-1&phoneNumber=+436641234567', ['page']],
    ['email=nope&orderBy=x', ['email', 'orderBy']],
  ])('users?%s is refused by name', async (query, fields) => {
    const { status, body } = await get(`/users?${query}`)
    expect([status, body.code, faultsOf(body)]).toEqual([400, 'BAD_USER_INPUT', fields])
  })
})

describe('Link (RFC 8288)', () => {
  test('leads over the whole list and back, each row once, from a page on by cursor', async () => {
    const all = (await get('/users')).body.users.map(({ id }: { id: string }) => id)
    const pages = await walk(app, tenant, token, '/users?pageSize=5', 'users', 'next')
    expect(pages.map((rows) => rows.length)).toEqual([5, 5, 5, 5, 3])
    expect(pages.flat().map(({ id }) => id)).toEqual(all)
    const back = await walk(app, tenant, token, '/users?page=4&pageSize=5', 'users', 'prev')
    expect(back.map((rows) => rows.length)).toEqual([3, 5, 5, 5, 5])
    expect(
      back
        .reverse()
        .flat()
        .map(({ id }) => id),
    ).toEqual(all)
  })

  test('keeps the rest of the query, names the first page, and ends where the list does', async () => {
    const first = await get('/users?page=0&pageSize=20')
    const links = linksIn(first.headers)
    expect(Object.keys(links)).toEqual(['first', 'next'])
    expect(links.first).toBe(`/${tenant}/api/v1/users?pageSize=20`)
    expect(links.next).toMatch(new RegExp(`^/${tenant}/api/v1/users\\?pageSize=20&after=[\\w.-]+$`))
    const last = await get(links.next?.slice(`/${tenant}/api/v1`.length) ?? '')
    expect(last.body).toMatchObject({ page: 0, pageSize: 20, totalSize: USERS })
    expect(Object.keys(linksIn(last.headers))).toEqual(['first', 'prev'])
    expect(linksIn((await get('/users')).headers)).toEqual({ first: `/${tenant}/api/v1/users` })
    expect(Object.keys(linksIn((await get('/users?page=9')).headers))).toEqual(['first'])
  })

  test('belongs to lists only', async () => {
    const { headers } = await get('/settings')
    expect(headers.get('link')).toBeNull()
  })

  test('comes with a cursor of this list alone: of no other, no other tenant, no other spelling', async () => {
    const next = linksIn((await get('/users?pageSize=5')).headers).next ?? ''
    const cursor = new URLSearchParams(next.slice(next.indexOf('?'))).get('after') ?? ''
    const [payload = '', signature = ''] = cursor.split('.')
    const other = await newTenant()
    expect((await get(`/users?after=${cursor}`)).status).toBe(200)
    const refused = [
      await app.rest(other, await tokenFor(other), 'GET', `/users?after=${cursor}`),
      await get(`/clients?after=${cursor}`),
      await get(`/users?after=${payload}.`),
      await get(`/users?after=${payload}`),
      await get(`/users?after=${cursor}.x`),
      await get(`/users?after=${signature}.${payload}`),
      await get(`/users?after=${payload.slice(1)}.${signature}`),
    ]
    for (const { status, body } of refused) expect([status, faultsOf(body)]).toEqual([400, ['after']])
  })
})

describe('a filter', () => {
  const range = z.strictObject({ gte: z.iso.datetime().optional(), lt: z.iso.datetime().optional() })
  const Filter = z.strictObject({
    text: z.string().optional(),
    locked: z.boolean().nullish(),
    size: z.number().optional(),
    types: z.array(z.string()).nullish(),
    createdAt: range.nullish(),
    metadata: z.record(z.string(), z.unknown()).optional(),
    folded: z.preprocess((value) => value, z.boolean()).optional(),
    trimmed: z
      .string()
      .transform((value) => value.trim())
      .optional(),
  })
  const route = restRoute({
    method: 'GET',
    path: '/things',
    operationId: 'listThings',
    summary: 'Things.',
    scope: 'users:read',
    paged: true,
    query: z.object({ orderBy: z.string().optional() }),
    response: Done,
    filter: Filter,
    handle: async () => ({}),
  })
  const read = (query: string) => parseQuery(route, new URLSearchParams(query))
  const faults = (query: string) => {
    try {
      return read(query)
    } catch (error) {
      if (error instanceof InvalidInput) return error.fields.map(({ field }) => field)
      throw error
    }
  }

  it('comes as parameters: dots for members, commas for lists, JSON scalars in records', () => {
    expect(
      read(
        'text=a,b&locked=false&folded=true&size=-1.5&types=a,b&createdAt.gte=2026-01-01T00:00:00Z&createdAt.lt=x' +
          '&metadata.plan=pro&metadata.seats=5&metadata.ok=true&metadata.none=null&metadata.quoted="5"' +
          '&metadata.a.b=[1]&metadata.empty=&trimmed= x &orderBy=text&page=1',
      ),
    ).toEqual({
      query: { orderBy: 'text' },
      paging: { page: 1, pageSize: undefined },
      filter: {
        text: 'a,b',
        locked: false,
        folded: true,
        size: -1.5,
        types: ['a', 'b'],
        createdAt: { gte: '2026-01-01T00:00:00Z', lt: 'x' },
        metadata: { plan: 'pro', seats: 5, ok: true, none: null, quoted: '5', 'a.b': '[1]', empty: '' },
        trimmed: ' x ',
      },
    })
  })

  it('makes no member the prototype', () => {
    const { filter } = read('metadata.__proto__=1')
    expect(Object.getOwnPropertyNames(filter.metadata)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(filter.metadata)).toBe(Object.prototype)
  })

  it.each([
    ['locked=yes&folded=1&size=1e3', ['locked', 'folded', 'size']],
    ['locked=&size=', ['locked', 'size']],
    ['text=a&text=a', ['text']],
    ['createdAt=2026-01-01T00:00:00Z', ['createdAt']],
    ['createdAt.gt=x', ['createdAt.gt']],
    ['createdAt.gte.x=x', ['createdAt.gte.x']],
    ['metadata=x', ['metadata']],
    ['metadata.=x', ['metadata.']],
    ['filter.text=x&text.x=1&.text=1&text.=1', ['filter.text', 'text.x', '.text', 'text.']],
    ['__proto__.text=1&constructor=1&toString=1', ['__proto__.text', 'constructor', 'toString']],
    ['unknown=1&locked=x&pageSize=0&after=x&page=1', ['unknown', 'pageSize', 'page', 'locked']],
  ])('%s is refused by name', (query, fields) => {
    expect([...(faults(query) as string[])].sort()).toEqual([...fields].sort())
  })
})

describe('clients', () => {
  const kinds = [
    ['single-page', 'login', 3],
    ['web', 'login', 2],
    ['web', 'payment', 3],
    ['machine', 'payment', 1],
    ['native', 'login', 1],
  ] as const
  const LIST = `query ($filter: ClientFilter, $first: Int, $after: String) {
    clients(filter: $filter, first: $first, after: $after) { totalSize nodes { id type appType } pageInfo { endCursor } } }`
  let other: string
  let bearer: string
  let all: { id: string; type: string; appType: string }[]

  beforeAll(async () => {
    other = await newTenant()
    bearer = await tokenFor(other)
    const ctx = await ctxFor(other)
    for (const [appType, type, count] of kinds)
      for (let number = 0; number < count; number += 1)
        await createClient(ctx, { name: 'App', appType, type })
    all = (await app.rest(other, bearer, 'GET', '/clients')).body.clients
  })

  const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)
  const ENUMS = { 'single-page': 'SINGLE_PAGE' } as Record<string, string>
  const toEnum = (value?: string) => value && (ENUMS[value] ?? value.toUpperCase())

  test.each<{ type?: string; appType?: string }>([
    {},
    { type: 'login' },
    { type: 'payment' },
    { appType: 'web' },
    { appType: 'single-page' },
    { type: 'payment', appType: 'web' },
    { type: 'payment', appType: 'native' },
  ])('of %j are the same on both surfaces, page by page, there and back', async ({ type, appType }) => {
    const wanted = all.filter((one) => (!type || one.type === type) && (!appType || one.appType === appType))
    const query = `${type ? `&type=${type}` : ''}${appType ? `&appType=${appType}` : ''}`
    const pages = await walk(app, other, bearer, `/clients?pageSize=2${query}`, 'clients', 'next')
    expect(idsOf(pages.flat())).toEqual(idsOf(wanted))
    const end = Math.max(0, Math.ceil(wanted.length / 2) - 1)
    const back = await walk(app, other, bearer, `/clients?pageSize=2&page=${end}${query}`, 'clients', 'prev')
    expect(idsOf(back.reverse().flat())).toEqual(idsOf(wanted))
    const filter = { type: toEnum(type), appType: toEnum(appType) }
    const { clients } = (await app.gql(other, bearer, LIST, { filter, first: 1000 })).body.data
    expect([clients.totalSize, idsOf(clients.nodes)]).toEqual([wanted.length, idsOf(wanted)])
    const statements = await countStatements(() =>
      listClients(platformCtx(other), { filter: { type, appType } }),
    )
    expect(statements).toBe(1)
  })

  test.each([
    ['type=LOGIN', ['type']],
    ['type=', ['type']],
    ['type=login,payment&appType=x', ['type', 'appType']],
    ['secretHash=x&clientSecret=x&name=x', ['secretHash', 'clientSecret', 'name']],
    ['orderBy=createdAt', ['orderBy']],
    ['pageSize=0&type=x&appType=web', ['pageSize', 'type']],
  ])('are not filtered by %s', async (query, fields) => {
    const { status, body } = await app.rest(other, bearer, 'GET', `/clients?${query}`)
    expect([status, faultsOf(body)]).toEqual([400, fields])
  })

  // GraphQL's enums let no such filter through to the service.
  test('are refused by every faulty field at once', async () => {
    const error = await listClients(platformCtx(other), {
      filter: { type: 'x' },
      first: 5000,
      page: 1,
    }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(InvalidInput)
    expect(faultsOf(error)).toEqual(['type', 'first', 'page'])
  })
})

describe('every list', () => {
  const isList = ({ method, operationId }: RestRoute) => method === 'GET' && operationId.startsWith('list')
  const lists = restRoutes.filter(isList).map((route) => [route.path, route] as const)

  test('is paged, and nothing else is', () => {
    expect(restRoutes.filter(({ paged }) => paged).map(({ path }) => path)).toEqual(
      lists.map(([path]) => path),
    )
  })

  test.each(lists)('%s has the limits of the spec', async (path, route) => {
    const ctx = await ctxFor(tenant)
    const { id } = await createUser(ctx, {})
    const scope = route.scope.startsWith('tenants:') ? 'system' : tenant
    const bearer = await tokenFor(scope, [route.scope])
    const read = async (query: string) =>
      app.rest(scope, bearer, 'GET', `${path.replace(':userId', id)}${query}`)
    const byCursor = route.paged === 'by-cursor'
    for (const query of ['', '?pageSize=1', '?pageSize=1000', ...(byCursor ? [] : ['?page=0', '?page=1'])]) {
      const { status, headers, body } = await read(query)
      expect([query, status]).toEqual([query, 200])
      expect(body.pageSize).toBe(Number(/pageSize=(\d+)/.exec(query)?.[1] ?? 50))
      expect(linksIn(headers).first).toContain(`/${scope}/api/v1${path.replace(':userId', id)}`)
      if (byCursor) continue
      for (const name of ['page', 'pageSize', 'totalSize']) expect(body[name]).toEqual(expect.any(Number))
    }
    for (const [query, field] of [
      ['pageSize=0', 'pageSize'],
      ['pageSize=1001', 'pageSize'],
      ['page=-1', 'page'],
      ['after=x', 'after'],
      ['before=x', 'before'],
      ['page=0&after=x', 'page'],
      ['nonsense=x', 'nonsense'],
    ]) {
      const { status, body } = await read(`?${query}`)
      expect([query, status, faultsOf(body)]).toEqual([query, 400, [field]])
    }
  })
})
