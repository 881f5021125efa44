import { describe, expect, test } from 'vitest'
import { describeClaim } from '../../src/consents/consent-items.ts'
import type { User } from '../../src/generated/prisma/client.ts'
import { listExtraClaims } from '../../src/oidc/model/claims-request.ts'
import { isAcceptableValue } from '../../src/users/claim-request.ts'
import { buildClaims, CLAIM_DEFINITIONS } from '../../src/users/claims.ts'

describe('buildClaims', () => {
  const user = {
    ...Object.fromEntries(Object.keys(CLAIM_DEFINITIONS).map((name) => [name, null])),
    id: 'user_1',
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    emailVerified: false,
    updatedAt: new Date(1_700_000_000_000),
  } as unknown as Parameters<typeof buildClaims>[0]
  const claimsOfUser = (scopes: string[], asked = {}) => buildClaims(user, scopes, asked)

  test('returns requested claims in addition to the claims of the scopes', () => {
    expect(claimsOfUser(['email'], { name: null, birthdate: { essential: true } })).toEqual({
      sub: 'user_1',
      email: 'ada@example.com',
      email_verified: false,
      name: 'Ada Lovelace',
    })
  })

  test('omits a claim whose value is not the requested one unless a scope covers it (OIDC Core, section 5.5.1)', () => {
    const verified = { email: null, email_verified: { value: true } }
    expect(claimsOfUser([], verified)).toEqual({ sub: 'user_1', email: 'ada@example.com' })
    expect(claimsOfUser(['email'], verified)).toMatchObject({ email_verified: false })
  })

  test('omits claims that the user has no value for (OIDC Core, section 5.3.2)', () => {
    const user = {
      id: 'user_1',
      updatedAt: new Date(1_700_000_000_999),
      emailVerified: false,
      phoneNumberVerified: false,
    } as User
    const empty = new Proxy(user, {
      get: (target, name) => Reflect.get(target, name) ?? null,
    })
    expect(buildClaims(empty, 'openid profile email phone address'.split(' '))).toEqual({
      sub: 'user_1',
      updated_at: 1_700_000_000,
    })
  })
})

describe('listExtraClaims', () => {
  test('returns each claim that no scope covers once', () => {
    const request = { userinfo: { email: null, name: null, sub: null }, id_token: { name: null, acr: null } }
    expect(listExtraClaims(request, ['openid', 'email'])).toEqual(['name'])
    expect(listExtraClaims(null, [])).toEqual([])
  })
})

describe('describeClaim', () => {
  test.each(Object.keys(CLAIM_DEFINITIONS))('describes the claim %s in words, or by its name', (name) => {
    expect(describeClaim(name)).toMatch(/^See (your|the|when|whether) [^_:]+$|^See “\w+”$/)
  })

  test('shows a claim without a description by its name', () => {
    expect(describeClaim('constructor')).toBe('See “constructor”')
  })
})

describe('isAcceptableValue', () => {
  test('accepts any value without a requested one, else only a requested value', () => {
    expect(isAcceptableValue(null, 'a')).toBe(true)
    expect(isAcceptableValue({ essential: true }, 'a')).toBe(true)
    expect(isAcceptableValue({ values: [] }, 'a')).toBe(true)
    expect(isAcceptableValue({ value: 'a' }, 'a')).toBe(true)
    expect(isAcceptableValue({ value: 'b' }, 'a')).toBe(false)
    expect(isAcceptableValue({ values: ['b', 'a'] }, 'a')).toBe(true)
    expect(isAcceptableValue({ values: ['b', 1] }, '1')).toBe(false)
    expect(isAcceptableValue({ value: { country: 'GB' } }, { country: 'GB' })).toBe(true)
  })
})
