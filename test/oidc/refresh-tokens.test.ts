import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId, randomToken } from '../../src/crypto.ts'
import { readRefreshToken, writeRefreshToken } from '../../src/oidc/token/refresh-tokens.ts'

const key = randomBytes(32)
const token = { grantId: newId('grant'), generation: 7, secret: randomToken() }
const text = writeRefreshToken(key, token)

test('a refresh token reads as it was written, and the same generation is the same text', () => {
  expect(readRefreshToken(key, text)).toEqual(token)
  expect(writeRefreshToken(key, token)).toBe(text)
})

test('a changed, shortened or lengthened refresh token is none (security row 26)', () => {
  for (let at = 0; at < text.length; at++) {
    expect(readRefreshToken(key, text.slice(0, at))).toBeNull()
    for (const char of ['A', 'a', '0', '_', '.']) {
      const changed = text.slice(0, at) + char + text.slice(at + 1)
      if (changed !== text) expect(readRefreshToken(key, changed)).toBeNull()
    }
  }
  expect(readRefreshToken(key, `${text}A`)).toBeNull()
  expect(readRefreshToken(key, text.toUpperCase())).toBeNull()
})

test('a refresh token of another tenant is none', () => {
  expect(readRefreshToken(randomBytes(32), text)).toBeNull()
})

test('any other text is none', () => {
  fc.assert(fc.property(fc.string({ maxLength: 200 }), (other) => readRefreshToken(key, other) === null))
})
