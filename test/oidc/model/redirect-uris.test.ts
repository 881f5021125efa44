import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isRegisteredRedirect } from '../../../src/oidc/model/redirect-uris.ts'

/** Redirect URIs of a client. */
const REGISTERED = [
  'https://rp.example.com/cb',
  'https://rp.example.com/cb?tenant=1',
  'https://foo.example.com',
  'http://127.0.0.1/cb',
  'http://[::1]:8080/cb',
  'com.example.app:/cb',
]

/** Mutations that a lax comparison would accept. */
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

const ADMINISTERED = { registeredBy: 'administrator' }
const NATIVE = { ...ADMINISTERED, appType: 'native' }
const DOCUMENT = { registeredBy: 'document', appType: 'single-page' }

describe('a redirect_uri (RFC 9700, section 2.1)', () => {
  test('is accepted only if it equals a registered one byte for byte, whatever the mutation', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...REGISTERED),
        fc.array(fc.constantFrom(...mutations), { minLength: 1, maxLength: 3 }),
        fc.constantFrom('web', 'single-page'),
        (uri, changes, appType) => {
          const changed = changes.reduce((current, change) => change(current), uri)
          expect(isRegisteredRedirect({ ...ADMINISTERED, appType, callbacks: REGISTERED }, changed)).toBe(
            REGISTERED.includes(changed),
          )
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('is accepted only if it equals a registered one byte for byte, whatever character is replaced', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...REGISTERED),
        fc.nat(60),
        fc.string({ maxLength: 3, unit: 'binary' }),
        (uri, at, text) => {
          const changed = uri.slice(0, at) + text + uri.slice(at + 1)
          expect(
            isRegisteredRedirect({ ...ADMINISTERED, appType: 'web', callbacks: REGISTERED }, changed),
          ).toBe(REGISTERED.includes(changed))
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
    ['http://localhost:49152/local', true],
    ['http://localhost/local', true],
    ['http://LOCALHOST:49152/local', false],
    ['http://localhost.:49152/local', false],
    ['http://localhost.evil.example:49152/local', false],
    ['http://localhost:49152@evil.example/local', false],
    ['https://localhost:49152/local', false],
    ['http://127.0.0.1:49152/local', false],
    ['http://localhost:49152/local?x=1', false],
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
    'may differ in its loopback port for a native application or a metadata document: %s is %s (RFC 8252, section 7.3)',
    (uri, passes) => {
      const callbacks = [...REGISTERED, 'http://localhost/local']
      for (const client of [NATIVE, DOCUMENT])
        expect(isRegisteredRedirect({ ...client, callbacks }, uri)).toBe(passes)
    },
  )

  test('may not differ in its loopback port for other applications', () => {
    expect(
      isRegisteredRedirect(
        { ...ADMINISTERED, appType: 'web', callbacks: REGISTERED },
        'http://127.0.0.1:49152/cb',
      ),
    ).toBe(false)
  })
})
