import { describe, expect, test } from 'vitest'
import { isDocumentClientId, parseFreshSeconds } from '../../src/registration/client-document.fields.ts'

describe('isDocumentClientId', () => {
  test('accepts normalized https URLs and loopback URLs only (draft-ietf-oauth-client-id-metadata-document, section 3)', () => {
    for (const good of [
      'https://app.example.com/client.json',
      'https://app.example.com:8443/',
      'https://app.example.com/client?v=1',
      'http://127.0.0.1:8080/client',
    ])
      expect([good, isDocumentClientId(good)]).toEqual([good, true])
    for (const bad of [
      'https://app.example.com',
      'https://APP.example.com/client',
      'https://app.example.com:443/client',
      'https://app.example.com/a/../client',
      'https://app.example.com/a/%2e%2e/client',
      'https://app.example.com/client#part',
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
