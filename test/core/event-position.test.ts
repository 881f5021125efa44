import { describe, expect, test } from 'vitest'
import { InvalidInput } from '../../src/core/errors.ts'
import {
  comparePositions,
  decodePosition,
  encodePosition,
  type Position,
} from '../../src/model/event-position.ts'

describe('a position', () => {
  test.each<Position>([
    { era: 1, xid: 0n, seq: 0n },
    { era: 999_999_999, xid: 2n ** 63n - 1n, seq: 2n ** 63n - 1n },
  ])('%o is the same after encoding and decoding', (position) => {
    expect(decodePosition(encodePosition(position))).toEqual(position)
  })

  test.each([
    '',
    'x',
    '1.2.3',
    ...[
      '1.2',
      '1.2.3.4',
      '-1.2.3',
      '1.2.3 ',
      ' 1.2.3',
      '1.02.3',
      '1.2.9223372036854775808',
      '1e3.2.3',
      '1.2.\n3',
    ].map((text) => Buffer.from(text).toString('base64url')),
    `${Buffer.from('1.2.3').toString('base64url')}=`,
  ])('%j is rejected', (text) => {
    expect(() => decodePosition(text)).toThrow(InvalidInput)
  })

  test('is ordered by era, then transaction, then event', () => {
    const positions: Position[] = [
      { era: 1, xid: 9n, seq: 9n },
      { era: 2, xid: 1n, seq: 10n },
      { era: 2, xid: 2n, seq: 1n },
      { era: 2, xid: 2n, seq: 2n },
    ]
    expect([...positions].reverse().sort(comparePositions)).toEqual(positions)
    expect(comparePositions(positions[1] as Position, positions[1] as Position)).toBe(0)
  })
})
