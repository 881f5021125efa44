import { describe, expect, test } from 'vitest'
import {
  isDocumentClientId,
  parseClientDocument,
  parseFreshSeconds,
} from '../../src/registration/client-document.fields.ts'

describe('isDocumentClientId', () => {
  test('accepts https URLs as they are written, and loopback URLs (draft-ietf-oauth-client-id-metadata-document-03, section 3)', () => {
    for (const good of [
      'https://app.example.com/client.json',
      'https://app.example.com:8443/',
      'https://app.example.com/client?v=1',
      'https://APP.example.com/client',
      'https://app.example.com:443/client',
      'http://127.0.0.1:8080/client',
    ])
      expect([good, isDocumentClientId(good)]).toEqual([good, true])
    for (const bad of [
      'https://app.example.com',
      'https://app.example.com:0443/client',
      'https://0x7f.1/client',
      'https://b\u00fccher.example/client',
      'https://app.example.com/a/../client',
      'https://app.example.com/a/%2e%2e/client',
      'https://app.example.com/a/./client',
      'https://app.example.com/client#part',
      'https://app.example.com/client#',
      'https://user:password@app.example.com/client',
      'https://app.example.com\\client',
      'http://app.example.com/client',
      'ftp://app.example.com/client',
      'client_01m7xeb1sbendby702xerkqv3p',
      `https://app.example.com/${'x'.repeat(200)}`,
    ])
      expect([bad, isDocumentClientId(bad)]).toEqual([bad, false])
  })
})

describe('parseClientDocument', () => {
  const parse = (members: object) => {
    const client_id = 'https://app.example.com/client'
    const { input, method, issues } = parseClientDocument('acme', client_id, {
      client_id,
      redirect_uris: ['https://app.example.com/cb'],
      ...members,
    })
    return [method, input.jwksUri, ...issues.map(({ field }) => field)]
  }
  const jwks_uri = 'https://app.example.com/keys'
  const METHOD = 'token_endpoint_auth_method'
  const METHODS = 'token_endpoint_auth_methods_supported'

  test.for<[members: object, method: string, keys: string | null]>([
    [{}, 'none', null],
    [{ [METHOD]: 'none', jwks_uri }, 'none', null],
    [{ [METHOD]: 'none', [METHODS]: ['none', 'private_key_jwt'], jwks_uri }, 'none', null],
    [
      { [METHOD]: 'private_key_jwt', [METHODS]: ['none', 'private_key_jwt'], jwks_uri },
      'private_key_jwt',
      jwks_uri,
    ],
    [{ [METHODS]: ['none', 'private_key_jwt'], jwks_uri }, 'private_key_jwt', jwks_uri],
    [{ [METHODS]: ['tls_client_auth', { toString: 1 }, 'none'], jwks_uri }, 'none', null],
    [
      { [METHOD]: 'tls_client_auth', [METHODS]: ['tls_client_auth', 'private_key_jwt'], jwks_uri },
      'private_key_jwt',
      jwks_uri,
    ],
  ])(
    'takes the preferred or a supported method of %o (section 6 of the draft)',
    ([members, method, keys]) => {
      expect(parse(members)).toEqual([method, keys])
    },
  )

  test.for<[members: object, field: string]>([
    [{ [METHODS]: ['tls_client_auth'], jwks_uri }, METHOD],
    [{ [METHODS]: [], [METHOD]: 'client_secret_jwt' }, METHOD],
    [{ [METHODS]: ['none', 'client_secret_basic'] }, METHODS],
    [{ [METHODS]: 'none' }, METHODS],
    [{ [METHOD]: 'private_key_jwt', jwks_uri: 'https://10.0.0.1:x/' }, 'jwks_uri'],
    [{ jwks: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'x', d: 'x' }] } }, 'jwks'],
    [{ grant_types: ['refresh_token'] }, 'grant_types'],
    [{ response_types: ['token'] }, 'response_types'],
  ])('reports the member of %o that cannot be used', ([members, field]) => {
    expect(parse(members).slice(2)).toEqual([field])
  })

  test('ignores what other authorization servers support', () => {
    const lists = {
      grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:token-exchange'],
      response_types: ['code', 'code id_token'],
    }
    expect(parse({ ...lists, software_statement: 'x' })).toEqual(['none', null])
  })
})

describe('parseFreshSeconds', () => {
  test('is max-age of Cache-Control between five minutes and a day', () => {
    for (const [header, seconds] of [
      [null, 3600],
      ['public, max-age=7200', 7200],
      ['max-age=1', 300],
      ['max-age=99999999', 86_400],
      ['no-store', 300],
      ['no-cache, max-age=7200', 300],
      ['nonsense', 3600],
    ] as const)
      expect([header, parseFreshSeconds(header)]).toEqual([header, seconds])
  })
})
