import { describe, expect, test } from 'vitest'
import { addQueryParameters, toLocation } from '../../src/http/redirects.ts'

describe('addQueryParameters', () => {
  test.each([
    ['https://rp.example.com/cb', { code: 'x', state: null }, 'https://rp.example.com/cb?code=x'],
    ['https://rp.example.com/cb?a=%20b', { code: 'x' }, 'https://rp.example.com/cb?a=%20b&code=x'],
    ['https://rp.example.com/cb?', { code: 'x' }, 'https://rp.example.com/cb?code=x'],
    ['com.example.app:/cb', { state: 'a&b=c#d é\n' }, 'com.example.app:/cb?state=a%26b%3Dc%23d+%C3%A9%0A'],
    ['https://rp.example.com/é', {}, 'https://rp.example.com/%C3%A9'],
  ])('adds a response to %s and keeps its query (RFC 6749, section 4.1.2)', (uri, parameters, expected) => {
    expect(addQueryParameters(uri, parameters)).toBe(expected)
  })
})

describe('toLocation', () => {
  test.each([
    ['/acme/account', '/acme/account'],
    ['/acme/a\r\nb\0c d', '/acme/a%0D%0Ab%00c%20d'],
    ['/acme/\u2028ä😀', '/acme/%E2%80%A8%C3%A4%F0%9F%98%80'],
    ['/acme/\ud800', '/acme/%EF%BF%BD'],
    ['/acme/%0a', '/acme/%0a'],
  ])('encodes what a header cannot have: %j', (uri, expected) => {
    expect(toLocation(uri)).toBe(expected)
  })

  test('rejects a URI that no browser can open', () => {
    expect(() => toLocation(`/${'\n'.repeat(10_000)}`)).toThrow('at most')
  })
})
