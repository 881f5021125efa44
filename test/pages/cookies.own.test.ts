import { describe, expect, test } from 'vitest'

// src reads the environment at its first import.
process.env.BASE_URL = 'https://id.example.com'
const { buildCookie, buildExpiredCookie, buildSurplusCookies, nameCookie, readCookie } = await import(
  '../../src/pages/cookies.ts'
)
const token = 'a'.repeat(43)
const SID = '__Host-vst_sid_acme'

describe('cookies of an https issuer', () => {
  test('have the prefix __Host-, which no other host can set, with the tenant in the name', () => {
    expect([nameCookie('sid', 'acme'), nameCookie('ix', 'acme', 'ab')]).toEqual([
      SID,
      '__Host-vst_ix_acme_ab',
    ])
    expect(buildCookie(nameCookie('sid', 'acme'), token, 60)).toBe(
      `${SID}=${token}; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Lax`,
    )
    expect(buildExpiredCookie(SID)).toBe(`${SID}=; Max-Age=0; Path=/; HttpOnly; Secure; SameSite=Lax`)
  })

  test.each([
    [`${SID}=${token}`, token],
    [`a=b;  ${SID}=${token}; c=d`, token],
    [`${SID}=forged; ${SID}=${token}`, token],
    [`x${SID}=${token}`, null],
    [`${SID}-2=${token}`, null],
    [`vst_sid_acme=${token}`, null],
    // Any host of the domain can set those of earlier versions.
    [`__Secure-vst_sid=${token}`, null],
    [`__Secure-vst_sid_acme=${token}`, null],
    [`${SID}=${token}x`, null],
    [`${SID}=`, null],
    [SID, null],
    [null, null],
  ])('are read from %s', (header, expected) => {
    expect(readCookie(header, SID)).toBe(expected)
  })
})

describe('cookies of all tenants', () => {
  const name = (index: number) => nameCookie('ix', `tenant-${index}`, 'ab')
  const build = (count: number) =>
    Array.from({ length: count }, (_, index) => `${name(index)}=${token}`).join('; ')

  test('end beyond the number of their kind, the oldest first', () => {
    expect(buildSurplusCookies(build(7), 'ix', [name(99)])).toEqual([])
    expect(buildSurplusCookies(build(9), 'ix', [name(99)])).toEqual(
      [0, 1].map((index) => buildExpiredCookie(name(index))),
    )
  })

  test('stay when they are of another kind, or are kept', () => {
    expect(buildSurplusCookies(`${SID}=${token}; ${build(8)}`, 'ix', [name(0)])).toEqual([])
  })

  test('end 16 at a time, whatever a header names', () => {
    expect(buildSurplusCookies(build(200), 'ix', [])).toHaveLength(16)
  })
})
