import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newId, randomToken } from '../../../src/core/crypto.ts'
import { formatRefreshToken, parseRefreshToken } from '../../../src/oidc/token/refresh-tokens.ts'

const key = randomBytes(32)
const token = { grantId: newId('grant'), generation: 7, secret: randomToken() }
const text = formatRefreshToken(key, token)

describe('readRefreshToken', () => {
  test('returns what formatRefreshToken wrote, which is the same text for the same generation', () => {
    expect(parseRefreshToken(key, text)).toEqual(token)
    expect(formatRefreshToken(key, token)).toBe(text)
  })

  test('returns null for a changed, shortened or lengthened token', () => {
    for (let at = 0; at < text.length; at++) {
      expect(parseRefreshToken(key, text.slice(0, at))).toBeNull()
      for (const char of ['A', 'a', '0', '_', '.']) {
        const changed = text.slice(0, at) + char + text.slice(at + 1)
        if (changed !== text) expect(parseRefreshToken(key, changed)).toBeNull()
      }
    }
    expect(parseRefreshToken(key, `${text}A`)).toBeNull()
    expect(parseRefreshToken(key, text.toUpperCase())).toBeNull()
  })

  test('returns null for a token of another tenant', () => {
    expect(parseRefreshToken(randomBytes(32), text)).toBeNull()
  })

  test('returns null for any other text', () => {
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (other) => parseRefreshToken(key, other) === null))
  })
})
