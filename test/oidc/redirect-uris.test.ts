import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isRegisteredRedirect, withParameters } from '../../src/oidc/authorize/redirect-uris.ts'

const registered = [
  'https://rp.example.com/cb',
  'https://rp.example.com/cb?tenant=1',
  'https://foo.example.com',
  'http://127.0.0.1/cb',
  'http://[::1]:8080/cb',
  'com.example.app:/cb',
]

/** What attackers do to an address that a lax comparison would let pass (security.md, rows 1 and 2). */
const mutations: ((uri: string) => string)[] = [
  (uri) => uri.toUpperCase(),
  (uri) => uri.replace('example', 'Example'),
  (uri) => uri.replace(/^(\w+:\/\/[^/:]+)/, '$1:8443'),
  (uri) => uri.replace('://', '://user@'),
  (uri) => uri.replace('://', '://rp.example.com@evil.example/'),
  (uri) => uri.replace('://', '://evil.example\\@'),
  (uri) => uri.replace('://', '://evil.example/'),
  (uri) => uri.replace('https:', 'http:'),
  (uri) => uri.replace('foo.example.com', 'fooaexample.com'),
  (uri) => uri.replace('example.com', 'example.com.evil.example'),
  (uri) => uri.replace('example.com', 'example.com.'),
  (uri) => uri.replace('.com', '%2ecom'),
  (uri) => `${uri}/`,
  (uri) => `${uri}/..`,
  (uri) => `${uri}/..%2fevil`,
  (uri) => `${uri}/..;/evil`,
  (uri) => `${uri}/%252f`,
  (uri) => `${uri}///evil.example`,
  (uri) => `${uri}\\evil`,
  (uri) => `${uri}#fragment`,
  (uri) => `${uri}?added=1`,
  (uri) => `${uri}&added=1`,
  (uri) => `${uri}%00`,
  (uri) => `${uri} `,
  (uri) => ` ${uri}`,
  (uri) => `${uri}\n`,
  (uri) => uri.slice(0, -1),
  (uri) => `*${uri}`,
  (uri) => `javascript:alert(1)${uri}`,
]

describe('a redirect_uri (RFC 9700, section 2.1)', () => {
  test('passes only byte for byte, whatever is done to it (security 1, 2)', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...registered),
        fc.array(fc.constantFrom(...mutations), { minLength: 1, maxLength: 3 }),
        fc.constantFrom('web', 'single-page'),
        (uri, changes, appType) => {
          const changed = changes.reduce((current, change) => change(current), uri)
          expect(isRegisteredRedirect({ appType, callbacks: registered }, changed)).toBe(
            registered.includes(changed),
          )
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('passes only byte for byte when single characters are changed', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...registered),
        fc.nat(60),
        fc.string({ maxLength: 3, unit: 'binary' }),
        (uri, at, text) => {
          const changed = uri.slice(0, at) + text + uri.slice(at + 1)
          expect(isRegisteredRedirect({ appType: 'web', callbacks: registered }, changed)).toBe(
            registered.includes(changed),
          )
        },
      ),
      { numRuns: 2000 },
    )
  })

  test.each([
    ['http://127.0.0.1:49152/cb', true],
    ['http://127.0.0.1/cb', true],
    ['http://[::1]:1/cb', true],
    ['http://127.0.0.1:49152/cb/', false],
    ['http://127.0.0.1:49152/other', false],
    ['https://127.0.0.1:49152/cb', false],
    ['http://localhost:49152/cb', false],
    ['http://127.0.0.2:49152/cb', false],
    ['http://127.0.0.1:80@evil.example/cb', false],
    ['http://127.0.0.1:049152/cb', false],
    ['http://127.0.0.1:/cb', false],
    ['http://127.0.0.1:65535/cb', true],
    ['http://127.0.0.1:65536/cb', false],
    ['http://127.0.0.1.evil.example/cb', false],
    ['http://127.0.0.1:49152\\@evil.example/cb', false],
    ['http://127.0.0.1:49152/cb#f', false],
    ['https://rp.example.com:8443/cb', false],
  ])(
    'of a native application may vary in its loopback port only: %s is %s (RFC 8252, section 7.3)',
    (uri, passes) => {
      expect(isRegisteredRedirect({ appType: 'native', callbacks: registered }, uri)).toBe(passes)
    },
  )

  test('of other applications may not vary in its loopback port', () => {
    expect(isRegisteredRedirect({ appType: 'web', callbacks: registered }, 'http://127.0.0.1:49152/cb')).toBe(
      false,
    )
  })
})

test.each([
  ['https://rp.example.com/cb', { code: 'x', state: null }, 'https://rp.example.com/cb?code=x'],
  ['https://rp.example.com/cb?a=%20b', { code: 'x' }, 'https://rp.example.com/cb?a=%20b&code=x'],
  ['https://rp.example.com/cb?', { code: 'x' }, 'https://rp.example.com/cb?code=x'],
  ['com.example.app:/cb', { state: 'a&b=c#d é\n' }, 'com.example.app:/cb?state=a%26b%3Dc%23d+%C3%A9%0A'],
  ['https://rp.example.com/é', {}, 'https://rp.example.com/%C3%A9'],
])('%s keeps its query when an answer is added (RFC 6749, section 4.1.2)', (uri, parameters, expected) => {
  expect(withParameters(uri, parameters)).toBe(expected)
})
