import { describe, expect, test } from 'vitest'
import { composeSms, isOneSegment } from '../../src/delivery/sms-segment.ts'

describe('isOneSegment', () => {
  test.each([
    ['160 characters of the GSM alphabet', 'é'.repeat(160), true],
    ['161', 'é'.repeat(161), false],
    ['80 characters of its extension', '€'.repeat(80), true],
    ['81 of its extension', '€'.repeat(81), false],
    ['70 other characters', 'ł'.repeat(70), true],
    ['71 characters with one other', `${'a'.repeat(70)}ł`, false],
    ['36 emoji of two code units', '😀'.repeat(36), false],
  ])('counts %s', (_what, text, expected) => {
    expect(isOneSegment(text)).toBe(expected)
  })
})

describe('composeSms', () => {
  const variants = [
    { keep: 20, write: (name = '') => `${name}${'.'.repeat(130)}` },
    { keep: 5, write: (name = '') => `${name}${'.'.repeat(50)}` },
    { keep: 0, write: () => 'none' },
  ]

  test('takes the first variant in which the name fits, cut as little as necessary', () => {
    expect(composeSms(['x'.repeat(60)], 'ltr', variants)).toBe(`${'x'.repeat(30)}${'.'.repeat(130)}`)
  })

  test('takes a shorter variant rather than a name that is cut too much', () => {
    expect(composeSms(['ł'.repeat(60)], 'ltr', variants)).toBe(`${'ł'.repeat(20)}${'.'.repeat(50)}`)
  })

  test('cuts the longest name first, and counts the characters that isolate it', () => {
    const pair = [{ keep: 1, write: (...names: string[]) => names.join(' ') }]
    expect(composeSms(['Acme', 'א'.repeat(90)], 'ltr', pair)).toBe(`Acme \u2068${'א'.repeat(63)}\u2069`)
  })

  test('writes the characters of print in the alphabet, so that they cost no second message', () => {
    const variants = [{ keep: 1, write: (name = '') => `Clé d’accès – “${name}”\u202f: ${'x'.repeat(99)}` }]
    expect(composeSms(['L’Étoile'], 'ltr', variants)).toBe(`Clé d'accès - "L'Étoile" : ${'x'.repeat(99)}`)
  })

  test('takes the last variant when no name fits', () => {
    const [first, , last] = variants
    expect(composeSms(['ł'.repeat(60)], 'ltr', first && last ? [first, last] : [])).toBe('none')
  })
})
