import { describe, expect, test } from 'vitest'
import { restRoutes } from '../../src/server/rest-routes.ts'
import { findRule, rootFields } from '../support/schema.ts'

const listScopes = (kind: 'query' | 'mutation'): [name: string, scopes: readonly string[]][] =>
  rootFields
    .filter(([, root]) => root === kind)
    .map(([, , field]) => [field.name, findRule(field)?.scopes ?? []])
const [mutations, queries] = [listScopes('mutation'), listScopes('query')]

describe('every operation', () => {
  test('requires a write scope when it writes and a read scope when it reads', () => {
    const isFor = (right: string) => (scope: string) => scope.endsWith(`:${right}`)
    const others = [
      // A check reads, and has its input in the body.
      ...restRoutes
        .filter(({ operationId }) => !operationId.startsWith('checkPermission'))
        .filter(({ method, scope }) => !isFor(method === 'GET' ? 'read' : 'write')(scope)),
      // It returns tokens, and writes the event of the reading alone.
      ...mutations.filter(([name, scopes]) => name !== 'getIdpUserTokens' && !scopes.every(isFor('write'))),
      ...queries.filter(([, scopes]) => !scopes.every(isFor('read'))),
    ]
    expect(others).toEqual([])
  })

  test('requires the same scope over REST and GraphQL', () => {
    const byName = new Map([...mutations, ...queries])
    const shared = restRoutes.filter(({ operationId }) => (byName.get(operationId) ?? []).length > 0)
    expect(shared.map(({ operationId }) => operationId)).toEqual(
      expect.arrayContaining(['rotateSigningKeys', 'revokeUserConsent', 'updateClient', 'deleteTenant']),
    )
    expect(shared.map(({ operationId }) => [operationId, byName.get(operationId)])).toEqual(
      shared.map(({ operationId, scope, otherScopes = [] }) => [operationId, [scope, ...otherScopes]]),
    )
  })
})
