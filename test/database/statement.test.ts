import { describe, expect, test } from 'vitest'
import { statement } from '../../src/database/statement.ts'

const SELECT = statement({
  takes: { id: 'text', at: 'timestamptz', data: 'jsonb' },
  returns: { id: 'text' },
})`
  SELECT "id" FROM "User" WHERE "tenantId" = :tenant AND "createdAt" > :at AND "id" = :id
    AND "appMetadata" @> :data AND "updatedAt" > :at AND "roles"[1:2] IS NOT NULL AND "id" <> ''::text`

describe('statement', () => {
  test('numbers parameters by their first use and casts them to their types', () => {
    expect(SELECT.text).toContain(
      '"tenantId" = $1 AND "createdAt" > $2::timestamptz AND "id" = $3::text\n    AND "appMetadata" @> $4::jsonb AND "updatedAt" > $2::timestamptz',
    )
  })

  test('leaves slices and casts as they are', () => {
    expect(SELECT.text).toContain(`"roles"[1:2] IS NOT NULL AND "id" <> ''::text`)
  })

  test('binds values in the order of their numbers and serializes JSON', () => {
    const at = new Date()
    expect(SELECT.bind('acme', { id: 'user_1', at, data: { plan: [1] } })).toEqual([
      'acme',
      at,
      'user_1',
      '{"plan":[1]}',
    ])
  })

  test('rejects a name that is not declared', () => {
    expect(() => statement({})`SELECT FROM "User" WHERE "tenantId" = :tenant AND "id" = :id`).toThrow(
      ':id is not',
    )
  })

  test('rejects a parameter that the text does not use', () => {
    const unused = statement({ takes: { id: 'text' } })
    expect(() => unused`SELECT FROM "User" WHERE "tenantId" = :tenant`).toThrow(
      'id are declared and not used',
    )
  })

  test('rejects a text that numbers its parameters', () => {
    expect(() => statement({})`SELECT FROM "User" WHERE "tenantId" = :tenant AND "id" = $2`).toThrow(
      'numbered instead of named',
    )
  })

  test('rejects a text without the tenant', () => {
    expect(() => statement({})`SELECT FROM "User" WHERE "id" = 'user_1'`).toThrow('has no tenant condition')
  })
})
