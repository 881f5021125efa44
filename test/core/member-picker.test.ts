import { describe, expect, test } from 'vitest'
import { createMemberPicker } from '../../src/core/json/member-picker.ts'

describe('createMemberPicker', () => {
  test('picks the members in their order, with undefined for those that are absent', () => {
    const pick = createMemberPicker(['b', 'a', '"; }', 'none'])
    const picked = pick({ a: 1, b: null, '"; }': 2, more: 3 })
    expect(Object.entries(picked)).toEqual([
      ['b', null],
      ['a', 1],
      ['"; }', 2],
      ['none', undefined],
    ])
  })

  test('reads members with a prefix, and converts dates where that is wanted', () => {
    const at = new Date('2026-11-24T12:00:00.120Z')
    expect(createMemberPicker(['at'], { prefix: 's_' })({ s_at: at, at: null })).toEqual({ at })
    expect(createMemberPicker(['at', 'id'], { datesAsText: true })({ at, id: 'x' })).toEqual({
      at: '2026-11-24T12:00:00.120Z',
      id: 'x',
    })
  })
})
