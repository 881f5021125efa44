import { decodeJwt, type JWTPayload } from 'jose'
import { describe, expect } from 'vitest'
import { dbFor } from '../../support/database.ts'
import { answerIn, signInAt } from '../../support/protocol.ts'
import { test as base } from '../../support/signed-in.ts'
import { countWarmStatements } from '../../support/statements.ts'

const idTokenOf = (tokens: Record<string, string>): JWTPayload => decodeJwt(tokens.id_token ?? '')

/** `test` with a user who has claims, and authorization requests with the parameter `claims`. */
const test = base
  .extend('user', { scope: 'file' }, ({ newPerson }) =>
    newPerson({ name: 'Ada Lovelace', birthdate: '1815-12-10', address: { locality: 'London' } }),
  )
  .extend('eve', { scope: 'file' }, ({ newPerson }) => newPerson())
  .extend(
    'requestPath',
    { scope: 'file' },
    ({ oidc }) =>
      (claims: unknown, more: Record<string, string> = {}) =>
        oidc.authorizePath({
          scope: 'openid',
          prompt: 'none',
          claims: typeof claims === 'string' ? claims : JSON.stringify(claims),
          ...more,
        }),
  )
  .extend(
    'ask',
    { scope: 'file' },
    ({ signedIn, requestPath }) =>
      async (claims: unknown, more: Record<string, string> = {}) =>
        answerIn((await signedIn.fetch(requestPath(claims, more))).headers.get('location')),
  )
  .extend(
    'tokensFor',
    { scope: 'file' },
    ({ oidc, ask }) =>
      async (claims: unknown, more: Record<string, string> = {}) =>
        (await oidc.exchange((await ask(claims, more)).code ?? '')).body,
  )
  .extend(
    'userinfo',
    { scope: 'file' },
    ({ oidc }) =>
      async (tokens: Record<string, string>) =>
        (await (await oidc.userinfo(tokens.access_token ?? '')).json()) as object,
  )

describe('requested claims (OIDC Core, section 5.5)', () => {
  test('for userinfo are returned in addition to the claims of the scopes', async ({
    user,
    tokensFor,
    userinfo,
  }) => {
    const claims = { userinfo: { name: { essential: true }, address: null } }
    const tokens = await tokensFor(claims, { scope: 'openid email' })
    expect(await userinfo(tokens)).toEqual({
      sub: user.id,
      email: user.email,
      email_verified: true,
      name: 'Ada Lovelace',
      address: { locality: 'London' },
    })
    expect(idTokenOf(tokens)).not.toHaveProperty('name')
  })

  test('for the ID token are returned there and not in userinfo', async ({
    client,
    user,
    tokensFor,
    userinfo,
  }) => {
    const tokens = await tokensFor({ id_token: { email: { essential: true }, birthdate: null } })
    expect(idTokenOf(tokens)).toMatchObject({
      sub: user.id,
      aud: client.id,
      email: user.email,
      birthdate: '1815-12-10',
    })
    expect(await userinfo(tokens)).toEqual({ sub: user.id })
  })

  test('are omitted when the user has no value or another than the requested one', async ({
    user,
    eve,
    tokensFor,
    userinfo,
  }) => {
    const wanted = {
      phone_number: { essential: true },
      nickname: null,
      email: { value: eve.email, essential: true },
      name: { values: ['Grace Hopper', 'Ada Lovelace'] },
    }
    const tokens = await tokensFor({ userinfo: wanted, id_token: wanted })
    expect(await userinfo(tokens)).toEqual({ sub: user.id, name: 'Ada Lovelace' })
    expect(idTokenOf(tokens)).toMatchObject({ name: 'Ada Lovelace' })
    for (const name of ['phone_number', 'nickname', 'email'])
      expect(idTokenOf(tokens)).not.toHaveProperty(name)
  })

  test('are returned with their current values after a refresh', async ({
    tenant,
    oidc,
    user,
    tokensFor,
    userinfo,
  }) => {
    const claims = { userinfo: { birthdate: null }, id_token: { nickname: null } }
    const tokens = await tokensFor(claims, { scope: 'openid offline_access' })
    expect(idTokenOf(tokens)).not.toHaveProperty('nickname')
    await dbFor(tenant).user.updateMany({
      where: { tenantId: tenant, id: user.id },
      data: { nickname: 'Countess' },
    })
    const { body } = await oidc.refresh(tokens.refresh_token ?? '')
    expect(idTokenOf(body)).toMatchObject({ sub: user.id, nickname: 'Countess' })
    expect(await userinfo(body)).toEqual({ sub: user.id, birthdate: '1815-12-10' })
  })

  test('are returned after an interactive sign-in', async ({
    tenant,
    newBrowser,
    oidc,
    user,
    requestPath,
    userinfo,
  }) => {
    const by = newBrowser()
    const claims = { userinfo: { birthdate: null }, id_token: { name: null } }
    await dbFor(tenant).passcode.deleteMany({ where: { tenantId: tenant } })
    const { location } = await signInAt(by, requestPath(claims, { prompt: 'login' }), user.email)
    const { body } = await oidc.exchange(answerIn(location).code ?? '')
    expect(idTokenOf(body)).toMatchObject({ name: 'Ada Lovelace' })
    expect(await userinfo(body)).toEqual({ sub: user.id, birthdate: '1815-12-10' })
  })

  test('do not replace the protocol claims of an ID token', async ({ tenant, client, user, tokensFor }) => {
    const forged = { iss: { value: 'x' }, aud: { value: 'x' }, exp: { value: 1 }, amr: { value: ['hwk'] } }
    const tokens = await tokensFor({ id_token: { ...forged, nonce: { value: 'x' }, email: null } })
    expect(idTokenOf(tokens)).toMatchObject({
      iss: `http://localhost:3000/${tenant}`,
      aud: client.id,
      amr: ['otp'],
      email: user.email,
    })
    expect(idTokenOf(tokens)).not.toHaveProperty('nonce')
  })

  test('that are malformed redirect to the client with invalid_request and the invalid member', async ({
    tenant,
    ask,
  }) => {
    expect(await ask('{"id_token":{"email":true}}')).toEqual({
      error: 'invalid_request',
      error_description: 'claims.id_token.email must be a JSON object.',
      state: 'a-state',
      iss: `http://localhost:3000/${tenant}`,
    })
  })

  test('take no additional statement, neither for an ID token nor for userinfo', async ({
    oidc,
    ask,
    tokensFor,
    userinfo,
  }) => {
    const { code = '' } = await ask({ id_token: { email: null }, userinfo: { name: null } })
    const warm = () => tokensFor({})
    let tokens: Record<string, string> = {}
    const exchanging = async () => {
      tokens = (await oidc.exchange(code)).body
    }
    expect(await countWarmStatements(warm, exchanging)).toBe(1)
    expect(await countWarmStatements(warm, () => userinfo(tokens))).toBe(1)
    const { code: plain = '' } = await ask({ id_token: { auth_time: { essential: true } } })
    expect(await countWarmStatements(warm, () => oidc.exchange(plain))).toBe(1)
  })
})

test('claims_supported lists exactly the claims of ID tokens and userinfo (OIDC Discovery 1.0, section 3)', async ({
  app,
  tenant,
  newPerson,
  newBrowser,
  oidc,
  userinfo,
}) => {
  const everything = {
    name: 'A B C',
    givenName: 'A',
    middleName: 'B',
    familyName: 'C',
    nickname: 'a',
    preferredUsername: 'abc',
    profile: 'https://example.com/abc',
    picture: 'https://example.com/abc.png',
    website: 'https://example.com',
    gender: 'x',
    birthdate: '2000-01-01',
    zoneinfo: 'Europe/Zurich',
    locale: 'de-CH',
    phoneNumber: '+41791234567',
    address: { country: 'CH' },
  }
  const { email } = await newPerson(everything)
  const scope = 'openid profile email phone address'
  const { location } = await oidc.signIn(newBrowser(), email, { scope, nonce: 'n' })
  const { body } = await oidc.exchange(answerIn(location).code ?? '')
  const response = await fetch(`${app.origin}/${tenant}/.well-known/openid-configuration`)
  const { claims_supported: named } = (await response.json()) as { claims_supported: string[] }
  const given = new Set([...Object.keys(idTokenOf(body)), ...Object.keys(await userinfo(body))])
  expect([...given].sort()).toEqual([...named].sort())
})

describe('a sub with a value (OIDC Core, sections 3.1.2.2 and 5.5.1)', () => {
  const about = (sub: string) => ({ id_token: { sub: { value: sub } } })

  test('is accepted when that user is signed in', async ({ user, tokensFor }) => {
    expect(idTokenOf(await tokensFor(about(user.id)))).toMatchObject({ sub: user.id })
  })

  test('of another user returns login_required with prompt=none', async ({ ask }) => {
    expect(await ask(about('user_other'))).toMatchObject({ error: 'login_required', state: 'a-state' })
    expect(await ask({ userinfo: { sub: { value: 'user_other' } } })).toMatchObject({
      error: 'login_required',
    })
  })

  test('of another user shows the sign-in and returns login_required when a different user signs in', async ({
    tenant,
    newBrowser,
    oidc,
    user,
    eve,
    requestPath,
  }) => {
    const by = newBrowser()
    await dbFor(tenant).passcode.deleteMany({ where: { tenantId: tenant } })
    await oidc.signIn(by, user.email)
    const asked = requestPath(about(user.id), { prompt: '' })
    expect(answerIn((await by.open(asked)).location)).toHaveProperty('code')
    const { location } = await signInAt(newBrowser(), asked, eve.email)
    expect(answerIn(location)).toMatchObject({
      error: 'login_required',
      error_description: 'The user who signed in is not the one that the request is about.',
    })
  })
})

describe('acr (OIDC Core, sections 2, 3.1.2.1 and 5.5.1.1)', () => {
  const OTP = 'urn:vestibule:otp'
  const STRONGER = 'urn:vestibule:phishing-resistant'
  const acr = (request: object | null) => ({ id_token: { acr: request } })

  test.for<[string, object, Record<string, string>]>([
    ['essential, among several', acr({ essential: true, values: [STRONGER, OTP] }), {}],
    ['essential, any value', acr({ essential: true }), {}],
    ['voluntary, another', acr({ value: STRONGER }), {}],
    ['by acr_values, another first', {}, { acr_values: `${STRONGER} ${OTP}` }],
    ['by acr_values, another', {}, { acr_values: 'urn:mace:incommon:iap:silver' }],
  ])('%s returns the method of the sign-in', async ([_name, claims, more], { tokensFor }) => {
    expect(idTokenOf(await tokensFor(claims, more))).toMatchObject({ acr: OTP, amr: ['otp'] })
  })

  test('essential with unsupported values returns unmet_authentication_requirements without a sign-in', async ({
    newBrowser,
    requestPath,
    ask,
  }) => {
    const expected = { error: 'unmet_authentication_requirements', state: 'a-state' }
    expect(await ask(acr({ essential: true, values: [STRONGER] }))).toMatchObject(expected)
    const { location } = await newBrowser().open(
      requestPath(acr({ essential: true, value: STRONGER }), { prompt: '' }),
    )
    expect(answerIn(location)).toMatchObject(expected)
  })

  test('an essential auth_time is returned', async ({ tokensFor }) => {
    const tokens = await tokensFor({ id_token: { auth_time: { essential: true } } })
    expect(idTokenOf(tokens)).toMatchObject({ auth_time: expect.any(Number) })
  })
})
