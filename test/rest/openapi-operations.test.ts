import { describe, expect, test } from 'vitest'
import { listOperations, type Schema, schemas, systemDocument } from '../support/openapi-document.ts'
import { FURTHER_OPERATIONS, STABLE_FIELDS, STABLE_LISTS, STABLE_OPERATIONS } from '../support/stable-api.ts'

describe('the REST API', () => {
  const names = new Set(listOperations(systemDocument).map(({ name }) => name))

  test.each(Object.entries(STABLE_OPERATIONS))('has the operation %s: %s', (_, name) => {
    expect(names).toContain(name)
  })
  test.each(FURTHER_OPERATIONS)('has the operation %s', (name) => {
    expect(names).toContain(name)
  })

  test.each(Object.entries(STABLE_FIELDS))('has the fields of %s, in their order', (name, fields) => {
    const { properties } = schemas[name] as Schema
    expect(Object.keys(properties ?? {}).filter((field) => fields.includes(field))).toEqual(fields)
  })

  test('returns lists with page, pageSize, totalSize, endsEarly and the rows', () => {
    for (const [path, name] of Object.entries(STABLE_LISTS)) {
      const answer = systemDocument.paths[path]?.get?.responses['200'] as {
        content: Record<string, { schema: Schema }>
      }
      expect([path, Object.keys(answer.content['application/json']?.schema.properties ?? {})]).toEqual([
        path,
        ['page', 'pageSize', 'totalSize', 'endsEarly', name],
      ])
    }
  })

  test('has no secrets in the objects that it returns', () => {
    for (const name of ['Client', 'IdentityProvider', 'Session', 'Credential', 'User'])
      expect(
        Object.keys((schemas[name] as Schema).properties ?? {}).filter(
          (field) => /secret|signingKey|token$/i.test(field) && !field.startsWith('has'),
        ),
      ).toEqual([])
  })
})
