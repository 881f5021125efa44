import { describe, expect, it } from 'vitest'
import { isUnchanged, responseOnlyIssues } from '../../src/schema/response-only.ts'

const noon = new Date('2026-01-31T12:00:00.000Z')

describe('isUnchanged', () => {
  it.each([
    ['user_1', 'user_1', true],
    ['user_2', 'user_1', false],
    ['', null, false],
    ['', 'user_1', false],
    [null, null, true],
    [false, false, true],
    ['false', false, false],
    ['2026-01-31T13:00:00+01:00', noon, true],
    ['2026-01-31T12:00:01Z', noon, false],
    ['noon', noon, false],
    [null, noon, false],
  ])('compares %j with %j as %s', (sent, current, expected) => {
    expect(isUnchanged(sent, current)).toBe(expected)
  })
})

describe('responseOnlyIssues', () => {
  it('names each field that was sent with another value, in the order of the fields', () => {
    const sent = { updatedAt: '2020-01-01T00:00:00Z', id: 'b', type: undefined }
    const current = { id: 'a', type: 'oidc', updatedAt: noon }
    expect(responseOnlyIssues(['id', 'type', 'updatedAt'], sent, current, ['id', 'type'])).toEqual([
      { field: 'id', description: 'cannot be changed' },
      { field: 'updatedAt', description: 'is set by the service' },
    ])
  })
})
