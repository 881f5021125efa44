import { describe, expect, test } from 'vitest'
import { ACR_MFA, ACR_OTP, ACR_PHISHING_RESISTANT } from '../../../src/model/sign-in-methods.ts'
import { selectReportedAcr } from '../../../src/oidc/model/acr.ts'
import { selectAuthentication } from '../../../src/oidc/model/authentication.ts'
import { claims, now, otp, phr, totp } from '../../support/next-steps.ts'

const HOUR = 3600
const acr = (request: { essential?: boolean; values?: string[] }) => claims({ acr: request }).claims
const NO_DEMAND = { claims: null, since: null, isTwoFactor: false }
const select = (proofs: Parameters<typeof selectAuthentication>[0], demand = {}) => {
  const found = selectAuthentication(proofs, { ...NO_DEMAND, ...demand })
  return found && [found.acr, (now.getTime() - found.authenticatedAt.getTime()) / 1000, found.amr]
}
const OTP = (age: number) => [ACR_OTP, age, ['otp']]
const PHR = (age: number) => [ACR_PHISHING_RESISTANT, age, ['hwk', 'user', 'mfa']]

describe('selectAuthentication', () => {
  test('reports the strongest proof, although a weaker one is newer', () => {
    expect(select([phr(HOUR), otp(10)])).toEqual(PHR(HOUR))
    expect(select([otp(10), phr(HOUR)])).toEqual(PHR(HOUR))
  })

  test('reports the newer one of two proofs of the same strength', () => {
    expect(select([otp(HOUR), otp(10)])).toEqual(OTP(10))
  })

  test('reports only a proof that is recent enough', () => {
    const since = new Date(now.getTime() - 60_000)
    expect(select([phr(HOUR), otp(10)], { since })).toEqual(OTP(10))
    expect(select([phr(HOUR), otp(61)], { since })).toBeNull()
  })

  test('reports no time and methods of a proof that the essential acr excludes', () => {
    const essential = { claims: acr({ essential: true, values: [ACR_PHISHING_RESISTANT] }) }
    expect(select([otp(10), phr(HOUR)], essential)).toEqual(PHR(HOUR))
    expect(select([otp(10)], essential)).toBeNull()
    const since = new Date(now.getTime() - 60_000)
    expect(select([otp(10), phr(HOUR)], { ...essential, since })).toBeNull()
  })

  test('combines a first proof and a second factor, with the time of the older one', () => {
    expect(select([otp(100), totp(10)])).toEqual([ACR_MFA, 100, ['otp', 'mfa']])
    expect(select([otp(10), totp(100)])).toEqual([ACR_MFA, 100, ['otp', 'mfa']])
    const since = new Date(now.getTime() - 60_000)
    expect(select([otp(10), totp(100)], { since })).toEqual(OTP(10))
    expect(select([otp(10), totp(100), phr(HOUR)])).toEqual(PHR(HOUR))
  })

  test('reports no second factor alone, and none of a passkey', () => {
    expect(select([totp(10)])).toBeNull()
    expect(select([phr(HOUR), totp(10)])).toEqual(PHR(HOUR))
  })

  test('reports two factors only where they are required', () => {
    expect(select([otp(10)], { isTwoFactor: true })).toBeNull()
    expect(select([otp(10), totp(20)], { isTwoFactor: true })).toEqual([ACR_MFA, 20, ['otp', 'mfa']])
    expect(select([otp(10), phr(20)], { isTwoFactor: true })).toEqual(PHR(20))
  })

  test('accepts a stronger proof than the essential acr', () => {
    expect(select([phr(10)], { claims: acr({ essential: true, values: [ACR_OTP] }) })).toEqual(PHR(10))
  })

  test('accepts any proof for a voluntary acr', () => {
    expect(select([otp(10)], { claims: acr({ values: [ACR_PHISHING_RESISTANT] }) })).toEqual(OTP(10))
  })

  test('finds nothing in a session without proofs', () => {
    expect(select([])).toBeNull()
  })
})

describe('selectReportedAcr', () => {
  test.each([
    ['its own without a request', null, ACR_PHISHING_RESISTANT],
    ['its own when it is requested', { values: [ACR_OTP, ACR_PHISHING_RESISTANT] }, ACR_PHISHING_RESISTANT],
    ['a weaker one when only that is requested', { value: ACR_OTP }, ACR_OTP],
    ['its own when the requested one is unknown', { values: ['urn:example:other'] }, ACR_PHISHING_RESISTANT],
  ])('of a passkey is %s', (_, request, expected) => {
    expect(selectReportedAcr(request, ['swk', 'user', 'mfa'])).toBe(expected)
  })

  test('of a code is not the stronger one that is requested', () => {
    expect(selectReportedAcr({ values: [ACR_PHISHING_RESISTANT] }, ['otp'])).toBe(ACR_OTP)
  })
})
