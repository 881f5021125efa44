import { describe, expect, test } from 'vitest'

// src reads the environment at its first import.
process.env.BASE_URL = 'https://id.example.com'
const { buildCookie, buildExpiredCookie, buildSurplusCookies, nameCookie, readCookie } = await import(
  '../../src/pages/cookies.ts'
)
const { readSessionTokens } = await import('../../src/pages/account-cookies.ts')
const { buildKnownCookies, findKnownBrowserId } = await import('../../src/pages/known-browser-cookies.ts')
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

describe('cookies that another host of the domain can set', () => {
  test.each(['vst_', '__Secure-vst_'])('are no sessions, and mark no browser: %s', (prefix) => {
    const planted = [
      `${prefix}sid=${token}`,
      `${prefix}sid_acme=${token}`,
      `${prefix}acc_${'0'.repeat(12)}=${token}`,
      `${prefix}acc_acme_${'0'.repeat(12)}=${token}`,
    ]
    expect(readSessionTokens('acme', planted.join('; '))).toEqual([])
    const [known = ''] = buildKnownCookies('acme', 'ada@example.com', null)
    const cookie = known.split(';', 1)[0] ?? ''
    expect(cookie).toMatch(/^__Host-vst_kb_acme_/)
    expect(findKnownBrowserId('acme', 'ada@example.com', cookie)).not.toBeNull()
    const former = cookie.replace('__Host-vst_', prefix)
    expect(findKnownBrowserId('acme', 'ada@example.com', former)).toBeNull()
    expect(findKnownBrowserId('acme', 'ada@example.com', former.replace('kb_acme', 'kb'))).toBeNull()
  })

  test('of the session of another tenant are no session of this one', () => {
    const cookies = `__Host-vst_sid_acme-2=${token}; __Host-vst_acc_acme-2_${'0'.repeat(12)}=${token}`
    expect(readSessionTokens('acme', cookies)).toEqual([])
    expect(readSessionTokens('acme-2', cookies)).toEqual([token])
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

  test('end 4 at a time, whatever a header names', () => {
    expect(buildSurplusCookies(build(200), 'ix', [])).toHaveLength(4)
  })
})
