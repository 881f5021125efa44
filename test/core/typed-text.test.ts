import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cleanTypedCode, cleanTypedEmail, cleanTypedText } from '../../src/core/typed-text.ts'

/** The zeros of all scripts, as the engine knows them. */
const ZEROS = Array.from({ length: 0x1e950 }, (_, codePoint) => codePoint).filter(
  (codePoint) =>
    /\p{Nd}/u.test(String.fromCodePoint(codePoint)) && !/\p{Nd}/u.test(String.fromCodePoint(codePoint - 1)),
)
const UNSEEN = [0xad, 0x34f, 0x61c, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c]
  .concat([0x202d, 0x202e, 0x2060, 0x2066, 0x2067, 0x2068, 0x2069, 0xfe0e, 0xfe0f, 0xfeff, 0xe0020, 0xe0100])
  .map((codePoint) => String.fromCodePoint(codePoint))
const DASHES = ['-', '‐', '‑', '‒', '–', '—', '―', '−', 'ー', '﹣', '－', '⸺', '\u30a0']
const SPACES = [' ', '\t', '\n', '\u00a0', '\u1680', '\u2002', '\u2009', '\u202f', '\u205f', '\u3000']

describe('a typed code', () => {
  test('has the digits of every script as 0 to 9', () => {
    expect(ZEROS.length).toBeGreaterThan(55)
    for (const zero of ZEROS) {
      const digits = Array.from({ length: 10 }, (_, value) => String.fromCodePoint(zero + value)).join('')
      expect(cleanTypedCode(digits)).toBe('0123456789')
    }
  })

  test.each([
    ['123-456', '123456'],
    [' 123 456\n', '123456'],
    ['١٢٣٤٥٦', '123456'],
    ['１２３－４５６', '123456'],
    ['123\u00ad456', '123456'],
    ['\u202d123456\u202c', '123456'],
    ['①2③4⁵₆', '123456'],
    ['1️2️3️4️5️6️', '123456'],
    ['ＡＢＣ', 'ABC'],
    ['12.34', '12.34'],
  ])('%j is meant as %s', (typed, meant) => {
    expect(cleanTypedCode(typed)).toBe(meant)
  })

  test('is the same with any dash, white space and unseen character between its digits', () => {
    const noise = fc.array(fc.constantFrom(...UNSEEN, ...DASHES, ...SPACES), { maxLength: 5 })
    fc.assert(
      fc.property(fc.array(fc.tuple(noise, fc.integer({ min: 0, max: 9 }))), noise, (pairs, end) => {
        const typed = pairs.map(([before, digit]) => `${before.join('')}${digit}`).join('') + end.join('')
        expect(cleanTypedCode(typed)).toBe(pairs.map(([, digit]) => digit).join(''))
      }),
    )
  })
})

describe('a typed text', () => {
  test('keeps one space and one kind of dash', () => {
    expect(cleanTypedText('\u202a+41\u00a079\u2003\u2003123\u201145\u221267\u202c ')).toBe('+41 79 123-45-67')
  })
})

describe('a typed e-mail address', () => {
  test.each([
    [' ada@example.com\u00a0', 'ada@example.com'],
    ['\u202aada@example.com\u202c', 'ada@example.com'],
    ['ad\u200ba@exam\u00adple.com\ufeff', 'ada@example.com'],
    ['ada\u200d@example.com', 'ada@example.com'],
    ['ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ', 'ada@example.com'],
    ['ada@example。com', 'ada@example.com'],
    // Another spelling may be another address.
    ['ada @example.com', 'ada @example.com'],
    ['ﬁ@example.com', 'ﬁ@example.com'],
    ['١@example.com', '١@example.com'],
    ['a—b@example.com', 'a—b@example.com'],
    ['me@نامه\u200cای.example', 'me@نامه\u200cای.example'],
  ])('%j is meant as %j', (typed, meant) => {
    expect(cleanTypedEmail(typed)).toBe(meant)
  })
})
