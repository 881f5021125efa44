import { describe, expect } from 'vitest'
import { bulkUpdateUsers } from '../../src/bulk/bulk-jobs.ts'
import { createOrganization } from '../../src/organizations/organizations.ts'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import { createGroup } from '../../src/permissions/groups.ts'
import type { RestRoute } from '../../src/rest/route.ts'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { createUser } from '../../src/users/users.ts'
import { createWebhook } from '../../src/webhooks/webhooks.ts'
import { newTenant, tokenFor } from '../support/actors.ts'
import { test as base } from '../support/fixtures.ts'
import { toFieldNames } from '../support/issues.ts'
import { linksIn, walk } from '../support/lists.ts'

const USERS = 23

/** Lists of a tenant with USERS users. */
const test = base.extend('get', { scope: 'file' }, async ({ ctx, rest }) => {
  for (let number = 0; number < USERS; number += 1) await createUser(ctx, { name: `User ${number}` })
  return (path: string) => rest('GET', path)
})

describe('page and pageSize', () => {
  test.for<[query: string, page: number, pageSize: number]>([
    ['', 0, 50],
    ['?page=0', 0, 50],
    ['?pageSize=1', 0, 1],
    ['?pageSize=1000', 0, 1000],
    ['?page=2&pageSize=10', 2, 10],
    ['?page=1000000000', 1_000_000_000, 50],
  ])('select of users%s page %i of %i rows', async ([query, page, pageSize], { get }) => {
    const { status, body } = await get(`/users${query}`)
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['page', 'pageSize', 'totalSize', 'endsEarly', 'users'])
    expect(body).toMatchObject({ page, pageSize, totalSize: USERS })
    expect(body.users).toHaveLength(Math.max(0, Math.min(pageSize, USERS - page * pageSize)))
  })

  test.for([
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
    // A + that was not percent-encoded is valid.
    ['page=-1&phoneNumber=+436641234567', ['page']],
    ['email=nope&orderBy=x', ['email', 'orderBy']],
  ])('reject users?%s with the names of the parameters', async ([query, fields], { get }) => {
    const { status, body } = await get(`/users?${query}`)
    expect([status, body.code, toFieldNames(body.fields)]).toEqual([400, 'BAD_USER_INPUT', fields])
  })
})

describe('the header Link (RFC 8288)', () => {
  test('leads over the whole list in both directions, each row once', async ({ app, tenant, token, get }) => {
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

  test('has the other parameters of the query, the first page, and no target beyond the ends of the list', async ({
    tenant,
    get,
  }) => {
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

  test('is sent by lists only', async ({ get }) => {
    const { headers } = await get('/settings')
    expect(headers.get('link')).toBeNull()
  })

  test('has cursors that another list, another tenant and another spelling reject', async ({ rest, get }) => {
    const next = linksIn((await get('/users?pageSize=5')).headers).next ?? ''
    const cursor = new URLSearchParams(next.slice(next.indexOf('?'))).get('after') ?? ''
    const [payload = '', signature = ''] = cursor.split('.')
    const other = await newTenant()
    expect((await get(`/users?after=${cursor}`)).status).toBe(200)
    const rejected = [
      await rest('GET', `/users?after=${cursor}`, undefined, { tenant: other }),
      await get(`/clients?after=${cursor}`),
      await get(`/users?after=${payload}.`),
      await get(`/users?after=${payload}`),
      await get(`/users?after=${cursor}.x`),
      await get(`/users?after=${signature}.${payload}`),
      await get(`/users?after=${payload.slice(1)}.${signature}`),
    ]
    for (const { status, body } of rejected)
      expect([status, toFieldNames(body.fields)]).toEqual([400, ['after']])
  })
})

describe('every list', () => {
  const isList = ({ method, operationId }: RestRoute) => method === 'GET' && operationId.startsWith('list')
  const lists = restRoutes.filter(isList).map((route) => [route.path, route] as const)

  test('is paged, and no other route is', () => {
    expect(restRoutes.filter(({ paged }) => paged).map(({ path }) => path)).toEqual(
      lists.map(([path]) => path),
    )
  })

  test.for(lists)(
    '%s has the limits and parameters of every list',
    async ([path, route], { tenant, ctx, rest }) => {
      const { id } = await createUser(ctx, {})
      const owner = route.scope.startsWith('tenants:') ? 'system' : tenant
      const bearer = await tokenFor(owner, [route.scope])
      const job = path.includes(':bulkJobId')
        ? await bulkUpdateUsers(ctx, { action: 'lock', userIds: [id] })
        : null
      const organization = path.includes(':organizationId')
        ? await createOrganization(ctx, { name: 'Acme', slug: `lists-${path.split('/').at(-1)}` })
        : null
      const group = path.includes(':groupId') ? await createGroup(ctx, { name: 'Lists' }) : null
      const role = path.includes(':appRoleId') ? await createAppRole(ctx, { name: 'lists' }) : null
      const hook = path.includes(':webhookId') ? await createWebhook(ctx, { url: 'https://a.example' }) : null
      const target = path
        .replace(':webhookId', hook?.webhook.id ?? '')
        .replace(':appRoleId', role?.id ?? '')
        .replace(':userId', id)
        .replace(':bulkJobId', job?.id ?? '')
        .replace(':organizationId', organization?.id ?? '')
        .replace(':groupId', group?.id ?? '')
      const read = (query: string) =>
        rest('GET', `${target}${query}`, undefined, { tenant: owner, token: bearer })
      const byCursor = route.paged === 'by-cursor'
      for (const query of [
        '',
        '?pageSize=1',
        '?pageSize=1000',
        ...(byCursor ? [] : ['?page=0', '?page=1']),
      ]) {
        const { status, headers, body } = await read(query)
        expect([query, status]).toEqual([query, 200])
        expect(body.pageSize).toBe(Number(/pageSize=(\d+)/.exec(query)?.[1] ?? 50))
        expect(linksIn(headers).first).toContain(`/${owner}/api/v1${target}`)
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
        expect([query, status, toFieldNames(body.fields)]).toEqual([query, 400, [field]])
      }
    },
  )
})
