import { describe, expect } from 'vitest'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { callDirectly } from '../support/direct-rest.ts'
import { test as base } from '../support/fixtures.ts'
import { bodyOperations, createObjects } from '../support/request-bodies.ts'
import { findDisagreements, listMembers } from '../support/request-members.ts'
import { hasServices } from '../support/services.ts'

const test = base.extend('pathOf', { scope: 'file' }, async ({ tenant }) => {
  const ids = await createObjects(tenant)
  return (path: string) => path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? name)
})

describe.runIf(hasServices)('a body', () => {
  test.for(bodyOperations.map((operation) => [operation.id, operation] as const))(
    'of %s is rejected for exactly the members that the document rejects',
    async ([, { method, path, isOfOperators, contract, schema, example }], { tenant, pathOf }) => {
      const members = listMembers(schema, contract)
      for (const [name, variations] of members)
        expect([name, new Set(variations.map(({ isAllowed }) => isAllowed)).size]).toEqual([name, 2])
      // The unknown member keeps the operation from being executed.
      const found = await findDisagreements(members, { ...example, unknownMember: 1 }, async (body) => {
        const target = isOfOperators ? SYSTEM_TENANT : tenant
        const { status, body: answer } = await callDirectly(target, [method, pathOf(path), body])
        return status === 400 ? answer.fields.map(({ field }: { field: string }) => field) : []
      })
      expect(found).toEqual([])
    },
  )
})
