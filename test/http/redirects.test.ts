import { describe, expect, test } from 'vitest'
import { addQueryParameters } from '../../src/http/redirects.ts'

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
