import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isExactNumber, markChangedNumbers, parseExactJson } from '../../src/core/json/exact-json.ts'

describe('a number of a JSON text', () => {
  test.for([
    '0',
    '-0',
    '1.10',
    '1e3',
    '-2.5E-3',
    '0.1',
    '9007199254740991',
    '-9007199254740991',
    '4.35',
    '1e-7',
    '1e21',
    '9007199254740992',
  ])('%s keeps its value', (text) => {
    expect(isExactNumber(text)).toBe(true)
    expect(parseExactJson(`{"a":${text}}`)).toEqual({ a: Number(text) })
  })

  test.for([
    '9007199254740993',
    '-9007199254740993.0',
    '123456789012345678901234567890',
    '1e400',
    '-1E999',
    '1e-400',
    '0.12345678901234567890',
    '4503599627370496.3',
    '1.00000000000000000001',
  ])('%s becomes Infinity', (text) => {
    expect(isExactNumber(text)).toBe(false)
    expect(parseExactJson(`{"a":[0,${text}]}`)).toEqual({ a: [0, Number.POSITIVE_INFINITY] })
  })

  test('is one outside of strings', () => {
    const value = { a: '9007199254740993', 'b"\\9007199254740993': '1e400', 'c\\': '"1e400' }
    const text = JSON.stringify(value)
    expect(markChangedNumbers(text)).toBe(text)
    expect(parseExactJson(text)).toEqual(value)
  })

  test('of up to 15 digits keeps its value', () => {
    const digits = fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 })
    fc.assert(
      fc.property(digits, fc.integer({ min: -99, max: 99 }), (whole, exponent) => {
        expect(parseExactJson(`[${whole}e${exponent}]`)).toEqual([Number(`${whole}e${exponent}`)])
      }),
    )
  })

  test('keeps its value when JavaScript wrote it', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(isExactNumber(String(value))).toBe(true)
      }),
    )
  })
})

describe('a JSON text', () => {
  test('is parsed as JSON.parse parses it, where no number changes', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (text) => {
        if (/\d{15}|\de/i.test(text)) return
        expect(parseExactJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  test.for(['', '{', '01e400', '1234567890123456789.', '-', '1e', '"1e400', '[1e400', 'NaN1e400', '1e400.5'])(
    'that is not JSON stays so: %s',
    (text) => {
      expect(() => parseExactJson(text)).toThrow(SyntaxError)
    },
  )

  test('takes time in proportion to its length, also when its strings do not end and its numbers are long', () => {
    for (const text of [
      `1e4"${'\\"'.repeat(200_000)}\\`,
      `1e4${'"\\'.repeat(200_000)}`,
      '1'.repeat(400_000),
      `1${'0'.repeat(400_000)}1e-400001`,
    ]) {
      const { user } = process.cpuUsage()
      markChangedNumbers(text)
      // Looking at each character again for each other one would take minutes.
      expect(process.cpuUsage().user - user).toBeLessThan(2_000_000)
    }
  })
})
