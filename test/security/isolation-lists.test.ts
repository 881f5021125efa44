import { getNamedType, isInputObjectType } from 'graphql'
import { describe, expect } from 'vitest'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { createUser } from '../../src/users/users.ts'
import { ctxFor } from '../support/actors.ts'
import { type PopulatedTenant, test } from '../support/isolation.ts'
import { rootFields } from '../support/schema.ts'

describe('totalSize', () => {
  const COUNTS = '{ users { totalSize nodes { id } } clients { totalSize nodes { id } } }'

  test('counts the rows of the own tenant that the caller can list', async ({ rest, gql, own, foreign }) => {
    for (const target of [own, foreign]) {
      const { users, clients } = (await gql(COUNTS, {}, target)).body.data
      expect(users.totalSize).toBe(users.nodes.length)
      expect(clients.totalSize).toBe(clients.nodes.length)
      for (const path of ['users', 'clients', 'idps']) {
        const { body } = await rest('GET', `/${path}`, undefined, target)
        expect(body.totalSize).toBe((body[path] as object[]).length)
      }
    }
    const { body: sessions } = await rest('GET', `/users/${own.userId}/sessions`)
    expect(sessions.totalSize).toBe((sessions.sessions as object[]).length)
  })

  test('stays the same when another tenant gets users', async ({ gql, own, foreign }) => {
    const countUsers = async (target: PopulatedTenant) =>
      (await gql(COUNTS, {}, target)).body.data.users.totalSize
    const before = [await countUsers(own), await countUsers(foreign)]
    for (let i = 0; i < 3; i++) await createUser(await ctxFor(foreign.tenant), {})
    expect([await countUsers(own), await countUsers(foreign)]).toEqual([before[0], before[1] + 3])
  })

  test('of tenants is for operators only', async ({ rest, gql }) => {
    expect((await rest('GET', '/tenants')).status).toBe(403)
    expect((await gql('{ tenants { totalSize } }')).body.data).toEqual({ tenants: null })
  })
})

describe('filters and orders of lists', () => {
  const SECRET = /secret|hash|token|code(?!s)|key|password|metadata/i
  /** Query parameters that name secrets, or the filters of other frameworks. */
  const FOREIGN_PARAMETERS = [
    'filter',
    'filter[secretHash]',
    'sort',
    'orderBy',
    'secret',
    'tokenHash',
    'emailKey',
    'where',
    'select',
  ]

  test('name no secret in GraphQL', () => {
    for (const [title, kind, field] of rootFields) {
      if (kind !== 'query') continue
      for (const { name, type } of field.args) {
        const inner = getNamedType(type)
        const names = [name, ...(isInputObjectType(inner) ? Object.keys(inner.getFields()) : [])]
        // A filter by appMetadata requires the scope that reading it requires.
        expect([title, names.filter((one) => SECRET.test(one) && one !== 'appMetadata')]).toEqual([title, []])
      }
    }
  })

  test('are rejected by REST when the parameter is unknown', async ({ rest }) => {
    const lists = restRoutes.filter(({ method, path }) => method === 'GET' && !path.includes(':'))
    for (const { path, scope } of lists)
      for (const name of FOREIGN_PARAMETERS)
        expect(await rest('GET', `${path}?${encodeURIComponent(name)}=x`)).toMatchObject({
          status: scope.startsWith('tenants:') ? 403 : 400,
        })
  })
})
