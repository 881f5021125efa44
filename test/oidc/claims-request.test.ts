import { describe, expect, test } from 'vitest'
import { OAuthError } from '../../src/errors.ts'
import { requestedClaims } from '../../src/oidc/authorize/claims-parameter.ts'
import { isAcceptable } from '../../src/oidc/authorize/claims-request.ts'
import { wordsOfClaim } from '../../src/oidc/signin/scope-words.ts'
import { CLAIMS, claimsBeside, claimsFor } from '../../src/oidc/userinfo/claims.ts'

const requested = (text: string) => requestedClaims(new URLSearchParams({ claims: text }))
function faultOf(text: string): string {
  try {
    requested(text)
  } catch (error) {
    if (error instanceof OAuthError) return `${error.error}: ${error.message}`
    throw error
  }
  return ''
}

describe('the claims parameter (OIDC Core, section 5.5)', () => {
  test('is taken apart into what is asked for in userinfo and in the ID token', () => {
    const request = {
      userinfo: { given_name: { essential: true }, nickname: null, email: { value: 'ada@example.com' } },
      id_token: {
        auth_time: { essential: true },
        acr: { values: ['urn:mace:incommon:iap:silver', 'urn:vestibule:otp'] },
        sub: { value: 'user_1' },
        address: {},
      },
    }
    expect(requested(JSON.stringify(request))).toEqual(request)
  })

  test.each([
    ['no parameter', ''],
    ['nothing', '{}'],
    ['empty members', '{"userinfo":{},"id_token":{}}'],
    ['claims that nobody knows', '{"userinfo":{"http://example.info/claims/groups":null,"__proto__":null}}'],
    ['names that every object has', '{"userinfo":{"constructor":null,"toString":{"essential":1}}}'],
    [
      'what only ID tokens say, in userinfo',
      '{"userinfo":{"acr":{"essential":true,"value":"x"},"auth_time":null}}',
    ],
    ['unknown members', '{"verified_claims":7}'],
  ])('with %s asks for nothing', (_name, text) => {
    expect(requested(text)).toBeNull()
  })

  test('ignores what it does not understand', () => {
    const text = '{"userinfo":{"name":{"essential":false,"purpose":"x"},"groups":7},"x":1}'
    expect(requested(text)).toEqual({ userinfo: { name: { essential: false } }, id_token: {} })
  })

  test.each([
    ['claims is not valid JSON.', '{'],
    ['claims must be a JSON object.', '7'],
    ['claims must be a JSON object.', '[]'],
    ['claims must be a JSON object.', 'null'],
    ['claims.userinfo must be a JSON object.', '{"userinfo":[]}'],
    ['claims.id_token must be a JSON object.', '{"id_token":"name"}'],
    ['claims.id_token must be a JSON object.', '{"id_token":null}'],
    ['claims.userinfo.name must be a JSON object.', '{"userinfo":{"name":true}}'],
    ['claims.id_token.acr.essential must be true or false.', '{"id_token":{"acr":{"essential":"yes"}}}'],
    ['claims.id_token.acr.values must be an array.', '{"id_token":{"acr":{"values":"x"}}}'],
    ['claims contains U+0000 or an unpaired surrogate.', '{"userinfo":{"name":{"value":"\\u0000"}}}'],
    ['claims contains U+0000 or an unpaired surrogate.', '{"userinfo":{"name":{"value":{"\\ud800":1}}}}'],
    ['claims may have 4000 characters at most.', `{"userinfo":{"name":{"value":"${'a'.repeat(4000)}"}}}`],
    ['claims is not valid JSON.', '['.repeat(4000)],
  ])('is refused when it is malformed: %s', (fault, text) => {
    expect(faultOf(text)).toBe(`invalid_request: ${fault}`)
  })

  test('takes a value that is one of those named, if any are', () => {
    expect(isAcceptable(null, 'a')).toBe(true)
    expect(isAcceptable({ essential: true }, 'a')).toBe(true)
    expect(isAcceptable({ values: [] }, 'a')).toBe(true)
    expect(isAcceptable({ value: 'a' }, 'a')).toBe(true)
    expect(isAcceptable({ value: 'b' }, 'a')).toBe(false)
    expect(isAcceptable({ values: ['b', 'a'] }, 'a')).toBe(true)
    expect(isAcceptable({ values: ['b', 1] }, '1')).toBe(false)
    expect(isAcceptable({ value: { country: 'GB' } }, { country: 'GB' })).toBe(true)
  })
})

describe('the registry of claims', () => {
  const person = {
    ...Object.fromEntries(Object.keys(CLAIMS).map((name) => [name, null])),
    id: 'user_1',
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    emailVerified: false,
    updatedAt: new Date(1_700_000_000_000),
  } as unknown as Parameters<typeof claimsFor>[0]
  const ofPerson = (scopes: string[], asked = {}) => claimsFor(person, scopes, asked)

  test('answers what is asked for one by one beside what the scopes cover', () => {
    expect(ofPerson(['email'], { name: null, birthdate: { essential: true } })).toEqual({
      sub: 'user_1',
      email: 'ada@example.com',
      email_verified: false,
      name: 'Ada Lovelace',
    })
  })

  test('leaves out what has another value than was asked for, unless a scope covers it (section 5.5.1)', () => {
    const verified = { email: null, email_verified: { value: true } }
    expect(ofPerson([], verified)).toEqual({ sub: 'user_1', email: 'ada@example.com' })
    expect(ofPerson(['email'], verified)).toMatchObject({ email_verified: false })
  })

  test('names each claim beside the scopes once', () => {
    const request = { userinfo: { email: null, name: null, sub: null }, id_token: { name: null, acr: null } }
    expect(claimsBeside(request, ['openid', 'email'])).toEqual(['name'])
    expect(claimsBeside(null, [])).toEqual([])
  })

  test.each(Object.keys(CLAIMS))('says in plain words what %s means', (name) => {
    expect(wordsOfClaim(name)).toMatch(/^See (your|the|when|whether) [^_:]+$/)
  })

  test('shows a claim that nobody described by its name', () => {
    expect(wordsOfClaim('constructor')).toBe('See “constructor”')
  })
})
