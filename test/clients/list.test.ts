import { describe, expect } from 'vitest'
import { listClients } from '../../src/clients/client-list.ts'
import { createClient } from '../../src/clients/clients.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { InvalidInput } from '../../src/core/errors.ts'
import { test as base } from '../support/fixtures.ts'
import { toFieldNames } from '../support/issues.ts'
import { walk } from '../support/lists.ts'
import { countWarmStatements } from '../support/statements.ts'

const KINDS = [
  ['single-page', 'login', 3],
  ['web', 'login', 2],
  ['web', 'payment', 3],
  ['machine', 'payment', 1],
  ['native', 'login', 1],
] as const

/** The clients of the tenant, among them those of KINDS. */
const listed = base.extend('all', { scope: 'file' }, async ({ ctx, rest }) => {
  for (const [appType, type, count] of KINDS)
    for (let number = 0; number < count; number += 1) await createClient(ctx, { name: 'App', appType, type })
  return (await rest('GET', '/clients')).body.clients as { id: string; type: string; appType: string }[]
})

/** Whose names and URLs are searched, by id. */
const SEARCHED: Record<string, object> = {
  zurich: {
    name: 'Zürich Desk',
    appType: 'web',
    type: 'login',
    callbacks: ['https://app.desk.example/back', 'https://staging.desk.example/back'],
  },
  percent: {
    name: '100% under_score back\\slash',
    appType: 'native',
    type: 'login',
    clientUri: 'https://home.shop.example/',
  },
}
const test = listed.extend('searched', { scope: 'file' }, async ({ ctx, all: _ }) => {
  const names: Record<string, string> = {}
  for (const [name, input] of Object.entries(SEARCHED))
    names[(await createClient(ctx, input)).client.id] = name
  return names
})

describe('a list of clients', () => {
  const LIST = `query ($filter: ClientFilter, $first: Int, $after: String) {
    clients(filter: $filter, first: $first, after: $after) { totalSize nodes { id type appType } pageInfo { endCursor } } }`

  const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)
  const ENUMS = { 'single-page': 'SINGLE_PAGE' } as Record<string, string>
  const toEnum = (value?: string) => value && (ENUMS[value] ?? value.toUpperCase())

  test.for<{ type?: string; appType?: string }>([
    {},
    { type: 'login' },
    { type: 'payment' },
    { appType: 'web' },
    { appType: 'single-page' },
    { type: 'payment', appType: 'web' },
    { type: 'payment', appType: 'native' },
  ])(
    'filtered by %j is the same on both surfaces, and in pages in both directions',
    async ({ type, appType }, { app, tenant, token, gql, all }) => {
      const wanted = all.filter(
        (one) => (!type || one.type === type) && (!appType || one.appType === appType),
      )
      const query = `${type ? `&type=${type}` : ''}${appType ? `&appType=${appType}` : ''}`
      const pages = await walk(app, tenant, token, `/clients?pageSize=2${query}`, 'clients', 'next')
      expect(idsOf(pages.flat())).toEqual(idsOf(wanted))
      const end = Math.max(0, Math.ceil(wanted.length / 2) - 1)
      const back = await walk(
        app,
        tenant,
        token,
        `/clients?pageSize=2&page=${end}${query}`,
        'clients',
        'prev',
      )
      expect(idsOf(back.reverse().flat())).toEqual(idsOf(wanted))
      const filter = { type: toEnum(type), appType: toEnum(appType) }
      const { clients } = (await gql(LIST, { filter, first: 1000 })).body.data
      expect([clients.totalSize, idsOf(clients.nodes)]).toEqual([wanted.length, idsOf(wanted)])
      const list = () => listClients(createPlatformCtx(tenant), { filter: { type, appType } })
      const statements = await countWarmStatements(list, list)
      expect(statements).toBe(1)
    },
  )

  test.for<[search: string, expected: string[]]>([
    ['zürich', ['zurich']],
    ['ZURICH desk', ['zurich']],
    ['esk', ['zurich']],
    ['desk paris', []],
    ['100%', ['percent']],
    ['1%0', []],
    ['under_score', ['percent']],
    ['underXscore', []],
    ['back\\slash', ['percent']],
    ['0％', ['percent']],
    ['1％0', []],
    ['home.shop.example', ['percent']],
    ['https://app.desk.example/back', ['zurich']],
    ['HTTPS://APP.DESK', ['zurich']],
    ['desk.example - shop', []],
  ])(
    'is searched by parts of the name and the URLs on both surfaces: %s finds %j',
    async ([search, expected], { searched, gql, rest }) => {
      const { clients } = (await gql(LIST, { filter: { search } })).body.data
      const names = clients.nodes.map(({ id }: { id: string }) => searched[id])
      expect([names, clients.totalSize]).toEqual([expected, expected.length])
      const { body } = await rest('GET', `/clients?search=${encodeURIComponent(search)}`)
      expect(body.clients.map(({ id }: { id: string }) => searched[id])).toEqual(expected)
    },
  )

  test('is searched by an id or a part of it, with other members and in pages', async ({
    app,
    tenant,
    token,
    rest,
    gql,
    searched,
    all,
  }) => {
    const [id = ''] = Object.keys(searched)
    for (const search of [id, id.toUpperCase(), id.slice(10)])
      expect(idsOf((await rest('GET', `/clients?search=${search}`)).body.clients)).toEqual([id])
    const web = all.filter((one) => one.appType === 'web')
    const pages = await walk(
      app,
      tenant,
      token,
      '/clients?pageSize=2&search=app&appType=web',
      'clients',
      'next',
    )
    expect(idsOf(pages.flat())).toEqual(expect.arrayContaining(idsOf(web)))
    expect(pages.length).toBeGreaterThan(2)
    const { body } = await gql('{ clients(first: 1) { pageInfo { endCursor } } }')
    const after = body.data.clients.pageInfo.endCursor
    const foreign = await rest('GET', `/clients?search=desk&after=${encodeURIComponent(after)}`)
    expect([foreign.status, toFieldNames(foreign.body.fields)]).toEqual([400, ['after']])
  })

  test('returns every client for white space', async ({ rest, all, searched: _ }) => {
    const { clients } = (await rest('GET', '/clients?search=%20')).body
    expect(clients.length).toBeGreaterThan(all.length)
  })

  test.for([
    ['type=LOGIN', ['type']],
    ['type=', ['type']],
    ['type=login,payment&appType=x', ['type', 'appType']],
    ['secretHash=x&clientSecret=x&name=x', ['secretHash', 'clientSecret', 'name']],
    ['orderBy=createdAt', ['orderBy']],
    ['search=%25', ['search']],
    ['search=a%00b', ['search']],
    [`search=${'x'.repeat(201)}&type=x`, ['search', 'type']],
    ['pageSize=0&type=x&appType=web', ['pageSize', 'type']],
  ])('is rejected for the query %s with the names of the parameters', async ([query, fields], { rest }) => {
    const { status, body } = await rest('GET', `/clients?${query}`)
    expect([status, toFieldNames(body.fields)]).toEqual([400, fields])
  })

  // The enums of GraphQL reject such a filter before the service.
  test('is rejected by the service with the names of all invalid fields', async ({ tenant }) => {
    const error = await listClients(createPlatformCtx(tenant), {
      filter: { type: 'x' },
      first: 5000,
      page: 1,
    }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(InvalidInput)
    expect(toFieldNames(error.fields)).toEqual(['type', 'first', 'page'])
  })
})
