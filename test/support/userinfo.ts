import { expect } from 'vitest'
import { test as base } from './visitor.ts'

export const EVERY_SCOPE = 'openid profile email phone address'
const FIELDS = {
  name: 'Ada Lovelace',
  givenName: 'Ada',
  familyName: 'Lovelace',
  locale: 'en-GB',
  zoneinfo: 'Europe/London',
  birthdate: '1815-12-10',
  phoneNumber: '+41791234567',
  phoneNumberVerified: false,
  address: { locality: 'London', country: 'GB' },
}

/** `test` with a signed-in user who has a value for every standard claim, and access tokens of that user. */
export const test = base
  .extend('visitor', { scope: 'file' }, ({ newVisitor }) => newVisitor(FIELDS))
  .extend('newToken', { scope: 'file' }, ({ visitor }) => async (scope = EVERY_SCOPE): Promise<string> => {
    const { access_token: token } = await visitor.newTokens({ scope })
    return token
  })
  /** Path of the userinfo endpoint. */
  .extend('path', { scope: 'file' }, ({ tenant }) => `/${tenant}/oidc/userinfo`)

/** Expects the response to an access token that is not valid (RFC 6750, section 3.1). */
export async function expectInvalidToken(response: Response): Promise<void> {
  const description = 'The access token is invalid, expired or revoked.'
  expect([response.status, await response.json()]).toEqual([
    401,
    { error: 'invalid_token', error_description: description },
  ])
  expect(response.headers.get('www-authenticate')).toMatch(
    /^Bearer realm="[^"]+", error="invalid_token", error_description="[^"]+"$/,
  )
}
