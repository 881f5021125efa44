import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Country, formatPhoneNumber, parsePhoneNumber } from '../../src/schema/phone-numbers.ts'

describe('a phone number (E.164, RFC 3966 extensions)', () => {
  test.each([
    ['+49 (30) 1234-567', '+49301234567'],
    ['+1 604 555 1234 ext. 56', '+16045551234;ext=56'],
    ['tel:+1-604-555-1234;ext=0056', '+16045551234;ext=0056'],
    ['＋1 415 555 2671', '+14155552671'],
    ['+٤٩ ١٥١ ٢٣٤٥٦٧٨', '+491512345678'],
    // As an address book copies it.
    ['\u202a+41\u00a079 123\u201145\u201167\u202c', '+41791234567'],
    ['+41 79ー123ー45ー67', '+41791234567'],
  ])('%s is stored as %s', (text, number) => {
    expect(parsePhoneNumber(text)).toBe(number)
  })

  test.each([
    ...['', '   ', '\u0000', '+49\u000030', 'x'.repeat(101)],
    ...['030 1234567', ' Extension  12 ', '+1 555 0100', '+999 123456'],
  ])('%j is rejected', (text) => {
    expect(parsePhoneNumber(text)).toBeNull()
  })

  test('has the same key as its displayed form', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'0123456789+-() ;ext=x.'), maxLength: 30 }),
        (text) => {
          const number = parsePhoneNumber(text)
          if (number) expect(parsePhoneNumber(number)).toBe(number)
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('is parsed within 200 ms, for long and hostile text', () => {
    const countries: Country[] = ['US', 'DE', 'CH', 'IN', 'BR']
    const start = performance.now()
    for (const text of ['1'.repeat(100_000), '('.repeat(100), '+'.repeat(100), `${'1-'.repeat(50)}`])
      expect(parsePhoneNumber(text, countries)).toBeNull()
    expect(performance.now() - start).toBeLessThan(200)
  })
})

describe('a phone number in national form', () => {
  test.each<[string, Country[], string]>([
    ['079 123 45 67', ['CH'], '+41791234567'],
    ['079-123-45-67', ['CH', 'US'], '+41791234567'],
    ['(415) 555-2671', ['US'], '+14155552671'],
    ['0041 79 123 45 67', ['CH'], '+41791234567'],
    ['+1 415 555 2671', ['CH'], '+14155552671'],
  ])('%s is understood in %j as %s', (text, countries, number) => {
    expect(parsePhoneNumber(text, countries)).toBe(number)
  })

  test('is a mobile number of a later country rather than a fixed line or an invalid number of an earlier one', () => {
    expect(parsePhoneNumber('0664 1234567', ['DE'])).toBe('+496641234567')
    expect(parsePhoneNumber('0664 1234567', ['DE', 'AT'])).toBe('+436641234567')
    expect(parsePhoneNumber('079 123 45 67', ['US', 'CH'])).toBe('+41791234567')
  })

  test.each([
    ['079 123 45 67', []],
    ['ada', ['CH']],
    ['12', ['CH']],
  ] as [string, Country[]][])('%s is not understood in %j', (text, countries) => {
    expect(parsePhoneNumber(text, countries)).toBeNull()
  })

  test('is shown in its international form', () => {
    expect(formatPhoneNumber('+41791234567')).toBe('+41 79 123 45 67')
    expect(formatPhoneNumber('no number')).toBe('no number')
  })
})
