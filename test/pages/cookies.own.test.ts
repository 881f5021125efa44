import { describe, expect, test } from 'vitest'

// src reads the environment at its first import.
process.env.BASE_URL = 'https://id.example.com'
const { buildExpiredCookie, INTERACTION_COOKIE, readCookie, SESSION_COOKIE, buildCookie } = await import(
  '../../src/pages/cookies.ts'
)
const token = 'a'.repeat(43)

describe('cookies of an https issuer', () => {
  test('have the prefix __Secure- and the attribute Secure', () => {
    expect([SESSION_COOKIE, INTERACTION_COOKIE]).toEqual(['__Secure-vst_sid', '__Secure-vst_ix'])
    expect(buildCookie('acme', SESSION_COOKIE, token, 60)).toBe(
      `__Secure-vst_sid=${token}; Max-Age=60; Path=/acme/; HttpOnly; Secure; SameSite=Lax`,
    )
    expect(buildExpiredCookie('acme', SESSION_COOKIE)).toBe(
      '__Secure-vst_sid=; Max-Age=0; Path=/acme/; HttpOnly; Secure; SameSite=Lax',
    )
  })

  test.each([
    [`__Secure-vst_sid=${token}`, token],
    [`a=b;  __Secure-vst_sid=${token}; c=d`, token],
    [`__Secure-vst_sid=forged; __Secure-vst_sid=${token}`, token],
    [`x__Secure-vst_sid=${token}`, null],
    [`vst_sid=${token}`, null],
    [`__Secure-vst_sid=${token}x`, null],
    ['__Secure-vst_sid=', null],
    ['__Secure-vst_sid', null],
    ['', null],
    [null, null],
  ])('read from the header %j are %j', (header, expected) => {
    expect(readCookie(header, SESSION_COOKIE)).toBe(expected)
  })
})
