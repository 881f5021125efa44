import { describe, expect, test } from 'vitest'
import { OAuthError } from '../../../src/core/oauth-error.ts'
import { parseClaimsParameter } from '../../../src/oidc/authorize/claims-parameter.ts'

const requested = (text: string) => parseClaimsParameter(new URLSearchParams({ claims: text }))
function toError(text: string): string {
  try {
    requested(text)
  } catch (error) {
    if (error instanceof OAuthError) return `${error.error}: ${error.message}`
    throw error
  }
  return ''
}

describe('the claims parameter (OIDC Core, section 5.5)', () => {
  test('is parsed into the claims of userinfo and of the ID token', () => {
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
    ['unknown claims', '{"userinfo":{"http://example.info/claims/groups":null,"__proto__":null}}'],
    ['names of Object.prototype', '{"userinfo":{"constructor":null,"toString":{"essential":1}}}'],
    ['ID token claims in userinfo', '{"userinfo":{"acr":{"essential":true,"value":"x"},"auth_time":null}}'],
    ['unknown members', '{"verified_claims":7}'],
  ])('with %s requests no claim', (_name, text) => {
    expect(requested(text)).toBeNull()
  })

  test('ignores unknown members and claims', () => {
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
    ['claims may have at most 4000 characters.', `{"userinfo":{"name":{"value":"${'a'.repeat(4000)}"}}}`],
    ['claims is not valid JSON.', '['.repeat(4000)],
  ])('is rejected when it is malformed: %s', (message, text) => {
    expect(toError(text)).toBe(`invalid_request: ${message}`)
  })
})
