import { expect, test } from 'vitest'

// The environment is read with the first import of src.
process.env.BASE_URL = 'https://id.example.com'
const { clearCookie, INTERACTION_COOKIE, readCookie, SESSION_COOKIE, setCookie } = await import(
  '../../src/oidc/cookies.ts'
)
const token = 'a'.repeat(43)

test('over https, cookies have the prefix and Secure (design, section 6)', () => {
  expect([SESSION_COOKIE, INTERACTION_COOKIE]).toEqual(['__Secure-vst_sid', '__Secure-vst_ix'])
  expect(setCookie('acme', SESSION_COOKIE, token, 60)).toBe(
    `__Secure-vst_sid=${token}; Path=/acme/; Max-Age=60; HttpOnly; Secure; SameSite=Lax`,
  )
  expect(clearCookie('acme', SESSION_COOKIE)).toBe(
    '__Secure-vst_sid=; Path=/acme/; Max-Age=0; HttpOnly; Secure; SameSite=Lax',
  )
})

test.each([
  [`${'__Secure-vst_sid'}=${token}`, token],
  [`a=b;  __Secure-vst_sid=${token}; c=d`, token],
  [`x__Secure-vst_sid=${token}`, null],
  [`vst_sid=${token}`, null],
  [`__Secure-vst_sid=${token}x`, null],
  ['__Secure-vst_sid=', null],
  ['__Secure-vst_sid', null],
  ['', null],
  [null, null],
])('of the header %j the session cookie reads as %j', (header, expected) => {
  expect(readCookie(header, SESSION_COOKIE)).toBe(expected)
})
