import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { encodeText, selectEncoding } from '../../src/http/compression.ts'

describe('the content coding of a response', () => {
  test.for<[string | null, string | null]>([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.0,gzip;q=0', null],
    ['identity', null],
    ['brotli', null],
    ['', null],
    [null, null],
  ])('of a request with Accept-Encoding %j is %s', ([accepted, expected]) => {
    expect(selectEncoding(accepted)).toBe(expected)
  })

  test('restores the text, and leaves a short one as it is', () => {
    const text = 'Grüße. '.repeat(500)
    const [br, gzip] = [encodeText(text, 'br'), encodeText(text, 'gzip')]
    expect(brotliDecompressSync(br.body as Buffer).toString()).toBe(text)
    expect(gunzipSync(gzip.body as Buffer).toString()).toBe(text)
    expect([br.headers, gzip.headers]).toEqual([{ 'content-encoding': 'br' }, { 'content-encoding': 'gzip' }])
    expect(encodeText('short', 'br')).toEqual({ body: 'short', headers: {} })
  })
})
