import { describe, expect, test } from 'vitest'
import { findLanguage, parseAcceptLanguage, selectLanguage } from '../../src/languages/select-language.ts'

describe('findLanguage', () => {
  test.each([
    ['de', 'de'],
    ['de-AT', 'de'],
    ['DE_at', 'de'],
    ['iw', 'he'],
    ['iw_IL', 'he'],
    ['iwx', null],
    ['ar-Arab-EG', 'ar'],
    ['xx', null],
    ['', null],
    ['*', null],
    ['de;', null],
    ['../de', null],
    ['constructor', null],
    ['x'.repeat(100_000), null],
  ])('serves %s by %s (RFC 4647, section 3.4)', (tag, language) => {
    expect(findLanguage(tag)).toBe(language)
  })
})

describe('selectLanguage', () => {
  test('takes the first tag that has a catalog', () => {
    expect(selectLanguage(['tlh', 'ar-EG', 'de'])).toBe('ar')
    expect(selectLanguage(['tlh'])).toBeNull()
  })
})

describe('parseAcceptLanguage', () => {
  test.each([
    ['de-CH, de;q=0.9, en;q=0.8', ['de-CH', 'de', 'en']],
    ['en;q=0.5, ar', ['ar', 'en']],
    ['en;q=0, de', ['de']],
    ['', []],
    [',;q=,', []],
  ])('orders %j by weight', (header, tags) => {
    expect(parseAcceptLanguage(header)).toEqual(tags)
  })
})
