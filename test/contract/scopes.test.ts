import type { GraphQLObjectType } from 'graphql'
import { expect, test } from 'vitest'
import { buildSchema } from '../../src/graphql/schema.ts'
import type { RuleExtensions } from '../../src/graphql/scoped.ts'
import { restRoutes } from '../../src/rest/rest.ts'

// Security 48: a scope that is too small on one surface, or that reads where the operation writes, is a hole that no test of
// the operation itself falls into.

const schema = buildSchema()
const scopesOf = (type: GraphQLObjectType | null | undefined): [string, readonly string[]][] =>
  Object.values(type?.getFields() ?? {}).map(({ name, extensions }) => [
    name,
    (extensions as Partial<RuleExtensions>).rule?.scopes ?? [],
  ])
const mutations = scopesOf(schema.getMutationType())
const queries = scopesOf(schema.getQueryType())

test('security 48: what writes takes a scope that writes, and what reads one that reads, on both surfaces', () => {
  const isFor = (right: string) => (scope: string) => scope.endsWith(`:${right}`)
  const odd = [
    ...restRoutes.filter(({ method, scope }) => !isFor(method === 'GET' ? 'read' : 'write')(scope)),
    ...mutations.filter(([, scopes]) => !scopes.every(isFor('write'))),
    ...queries.filter(([, scopes]) => !scopes.every(isFor('read'))),
  ]
  expect(odd).toEqual([])
})

test('security 48: an operation of both surfaces takes the same scope on both', () => {
  const byName = new Map([...mutations, ...queries])
  const shared = restRoutes.filter(({ operationId }) => (byName.get(operationId) ?? []).length > 0)
  expect(shared.map(({ operationId }) => operationId)).toEqual(
    expect.arrayContaining(['rotateSigningKeys', 'revokeUserConsent', 'updateClient', 'deleteTenant']),
  )
  expect(shared.map(({ operationId }) => [operationId, byName.get(operationId)])).toEqual(
    shared.map(({ operationId, scope }) => [operationId, [scope]]),
  )
})
