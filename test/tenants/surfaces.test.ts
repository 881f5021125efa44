import { describe, expect } from 'vitest'
import { findTenant } from '../../src/access/tenant-cache.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { newTenant } from '../support/actors.ts'
import { test as base, newSlug, UNSET_SETTINGS } from '../support/tenants.ts'

const MARK = newSlug()

/** With the options of a call by an operator of tenant system. */
const test = base
  .extend('operator', { scope: 'file' }, ({ systemToken }) => ({
    tenant: SYSTEM_TENANT,
    token: systemToken,
  }))
  /** Creates tenants whose slugs begin with MARK. */
  .extend('made', { scope: 'file' }, async ({ operator, rest }) => {
    for (const [slug, friendlyName] of [
      [`${MARK}-a`, 'Zürich Notes'],
      [`${MARK}-b`, '50% Æther'],
      [`${MARK}-c`, null],
    ])
      await rest('POST', '/tenants', { slug, settings: { friendlyName } }, operator)
  })

describe('the operations on tenants over REST', () => {
  test('create, list and delete a tenant for an operator', async ({ rest, operator }) => {
    const slug = newSlug()
    const created = await rest(
      'POST',
      '/tenants',
      {
        slug,
        settings: { friendlyName: 'Made' },
      },
      operator,
    )
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/system/api/v1/tenants/${slug}`)
    expect(created.body).toEqual({
      slug,
      settings: { ...UNSET_SETTINGS, friendlyName: 'Made' },
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    const found = await rest('GET', `/tenants/${slug}`, undefined, operator)
    expect(found).toMatchObject({ status: 200, body: created.body })
    for (const unknown of ['nowhere', 'NOWHERE'])
      expect((await rest('GET', `/tenants/${unknown}`, undefined, operator)).status).toBe(404)
    const again = await rest('POST', '/tenants', { slug }, operator)
    expect(again.status).toBe(409)
    expect(again.body).toMatchObject({
      code: 'CONFLICT',
      fields: [{ field: 'slug', description: 'is taken' }],
    })
    const list = await rest('GET', '/tenants?pageSize=1000', undefined, operator)
    expect(list.body).toMatchObject({
      page: 0,
      pageSize: 1000,
      tenants: expect.arrayContaining([created.body]),
    })
    const gone = await rest('DELETE', `/tenants/${slug}`, undefined, operator)
    expect([gone.status, gone.body]).toEqual([
      200,
      { message: 'The tenant was deleted.', requestId: expect.any(String), fields: [] },
    ])
    expect(await findTenant(slug)).toBeNull()
    expect((await rest('DELETE', `/tenants/${slug}`, undefined, operator)).status).toBe(404)
    expect((await rest('DELETE', '/tenants/system', undefined, operator)).status).toBe(403)
  })

  test('reject callers of other tenants', async ({ tenant, token, rest }) => {
    const stolen = newSlug()
    for (const [method, path, body] of [
      ['GET', '/tenants'],
      ['GET', `/tenants/${tenant}`],
      ['POST', '/tenants', { slug: stolen }],
      ['DELETE', `/tenants/${tenant}`],
    ] as const) {
      expect((await rest(method, path, body)).status).toBe(403)
      expect((await rest(method, path, body, { tenant: SYSTEM_TENANT, token })).status).toBe(401)
      expect((await rest(method, path, body, { tenant: SYSTEM_TENANT, token: null })).status).toBe(401)
    }
    expect(await findTenant(tenant)).not.toBeNull()
    expect(await findTenant(stolen)).toBeNull()
  })
})

describe('the operations on tenants over GraphQL', () => {
  test('create, list and delete a tenant for an operator', async ({ gql, operator }) => {
    const slug = newSlug()
    const create = `mutation ($slug: String!) { createTenant(input: { slug: $slug }) {
      __typename ... on CreateTenantPayload { tenant { id } } ... on ConflictError { fields { field } }
      ... on ValidationError { fields { field } } } }`
    const run = async (candidate: string) =>
      (await gql(create, { slug: candidate }, operator)).body.data.createTenant
    expect(await run(slug)).toEqual({ __typename: 'CreateTenantPayload', tenant: { id: slug } })
    expect(await run(slug)).toEqual({ __typename: 'ConflictError', fields: [{ field: 'slug' }] })
    expect(await run('Gql')).toEqual({ __typename: 'ValidationError', fields: [{ field: 'slug' }] })
    const list = await gql('{ tenants(pageSize: 1000) { totalSize nodes { id } } }', {}, operator)
    expect(list.body.data.tenants.nodes).toContainEqual({ id: slug })
    expect(list.body.data.tenants.totalSize).toBe(list.body.data.tenants.nodes.length)
    const remove = `mutation { deleteTenant(input: { slug: "${slug}" }) {
      __typename ... on DeleteTenantPayload { deletedTenantId } } }`
    expect((await gql(remove, {}, operator)).body.data.deleteTenant).toEqual({
      __typename: 'DeleteTenantPayload',
      deletedTenantId: slug,
    })
    expect((await gql(remove, {}, operator)).body.data.deleteTenant.__typename).toBe('NotFoundError')
  })

  test('return a tenant by its slug to operators, and to others their own', async ({
    tenant,
    gql,
    operator,
  }) => {
    const query = 'query ($slug: ID) { tenant(slug: $slug) { id settings { friendlyName } } }'
    const read = async (slug: string | null, options = {}) => {
      const { body } = await gql(query, { slug }, options)
      return body.data.tenant?.id ?? body.errors?.[0]?.extensions.code ?? null
    }
    expect([await read(tenant, operator), await read('nowhere', operator)]).toEqual([tenant, null])
    expect([await read(null), await read(tenant)]).toEqual([tenant, tenant])
    for (const slug of [SYSTEM_TENANT, await newTenant()]) expect(await read(slug)).toBe('FORBIDDEN')
    expect(await read(tenant, { scopes: ['users:read'] })).toBe('FORBIDDEN')
    const reader = { tenant: SYSTEM_TENANT, scopes: ['tenants:read'] }
    expect([await read(tenant, reader), await read(SYSTEM_TENANT, reader)]).toEqual([tenant, SYSTEM_TENANT])
  })

  test('return the tenant of the caller only, also by node', async ({ tenant, gql }) => {
    const other = await newTenant()
    const read = await gql(
      'query ($mine: ID!, $other: ID!) { tenant { id } mine: node(id: $mine) { id } other: node(id: $other) { id } }',
      { mine: tenant, other },
    )
    expect(read.body).toEqual({ data: { tenant: { id: tenant }, mine: { id: tenant }, other: null } })
  })
})

describe('a search of tenants', () => {
  test.for<[search: string, expected: string[]]>([
    [MARK, ['a', 'b', 'c']],
    [MARK.toUpperCase(), ['a', 'b', 'c']],
    [`${MARK}-b`, ['b']],
    [`${MARK} zurich`, ['a']],
    [`ÜRICH note ${MARK}`, ['a']],
    [`${MARK} aeth 50%`, ['b']],
    [`${MARK} 5%æ`, []],
    [`${MARK} nowhere`, []],
  ])(
    'finds by parts of the slug and the name on both surfaces: %s finds %j',
    async ([search, expected], { operator, rest, gql, made: _ }) => {
      const slugs = expected.map((end) => `${MARK}-${end}`)
      const { body } = await rest('GET', `/tenants?search=${encodeURIComponent(search)}`, undefined, operator)
      expect(body.tenants.map(({ slug }: { slug: string }) => slug)).toEqual(slugs)
      const query = `query ($filter: TenantFilter, $last: Int, $before: String) {
      tenants(filter: $filter, last: $last, before: $before) { totalSize nodes { id } pageInfo { startCursor } } }`
      const list = async (variables: object) =>
        (await gql(query, { filter: { search }, ...variables }, operator)).body.data.tenants
      const all = await list({})
      expect(all.nodes.map(({ id }: { id: string }) => id)).toEqual(slugs)
      expect(all.totalSize).toBe(slugs.length)
      const backward: string[] = []
      for (let before: string | null = null; backward.length < slugs.length; ) {
        const { nodes, pageInfo } = await list({ last: 1, before })
        backward.unshift(nodes[0].id)
        before = pageInfo.startCursor
      }
      expect(backward).toEqual(slugs)
    },
  )

  test.for([
    ['search=%25', ['search']],
    [`search=${'x'.repeat(201)}`, ['search']],
    ['friendlyName=x', ['friendlyName']],
  ])(
    'is rejected for the query %s with the names of the parameters',
    async ([query, fields], { operator, rest }) => {
      const { status, body } = await rest('GET', `/tenants?${query}`, undefined, operator)
      expect([status, body.fields.map(({ field }: { field: string }) => field)]).toEqual([400, fields])
    },
  )
})
