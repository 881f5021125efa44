import { decodeJwt, type JWTPayload } from 'jose'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { dbFor } from '../../src/db.ts'
import type { User } from '../../src/generated/prisma/client.ts'
import { newTenant } from '../support/actors.ts'
import { countWarmStatements } from '../support/statements.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  refreshWith,
  signInAt,
  startProvider,
  userinfoOf,
} from './provider.ts'

let provider: Provider
let tenant: string
let client: Awaited<ReturnType<typeof makeClient>>
let browser: Browser
let user: User

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  client = await makeClient(tenant)
  user = await makeUser(tenant, 'ada@example.com', {
    name: 'Ada Lovelace',
    birthdate: '1815-12-10',
    address: { locality: 'London' },
  })
  await makeUser(tenant, 'eve@example.com')
  browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, client), 'ada@example.com')
})
afterAll(() => provider.close())

const path = (claims: unknown, more: Record<string, string> = {}) =>
  authorizePath(tenant, client, {
    scope: 'openid',
    prompt: 'none',
    claims: typeof claims === 'string' ? claims : JSON.stringify(claims),
    ...more,
  })
const ask = async (claims: unknown, more: Record<string, string> = {}) =>
  answerIn((await browser.fetch(path(claims, more))).headers.get('location'))
const tokensFor = async (claims: unknown, more: Record<string, string> = {}) =>
  (await exchange(provider, tenant, client, (await ask(claims, more)).code ?? '')).body
const userinfo = async (tokens: Record<string, string>) =>
  (await (await userinfoOf(provider, tenant, tokens.access_token ?? '')).json()) as object
const idTokenOf = (tokens: Record<string, string>): JWTPayload => decodeJwt(tokens.id_token ?? '')

describe('claims that are asked for one by one (OIDC Core, section 5.5)', () => {
  test('in userinfo are answered beside those of the scopes, without their scope', async () => {
    const claims = { userinfo: { name: { essential: true }, address: null } }
    const tokens = await tokensFor(claims, { scope: 'openid email' })
    expect(await userinfo(tokens)).toEqual({
      sub: user.id,
      email: 'ada@example.com',
      email_verified: true,
      name: 'Ada Lovelace',
      address: { locality: 'London' },
    })
    expect(idTokenOf(tokens)).not.toHaveProperty('name')
  })

  test('in the ID token are answered there, and not in userinfo', async () => {
    const tokens = await tokensFor({ id_token: { email: { essential: true }, birthdate: null } })
    expect(idTokenOf(tokens)).toMatchObject({
      sub: user.id,
      aud: client.id,
      email: 'ada@example.com',
      birthdate: '1815-12-10',
    })
    expect(await userinfo(tokens)).toEqual({ sub: user.id })
  })

  test('are left out without a value, essential or not, and when it is another than was asked for', async () => {
    const wanted = {
      phone_number: { essential: true },
      nickname: null,
      email: { value: 'eve@example.com', essential: true },
      name: { values: ['Grace Hopper', 'Ada Lovelace'] },
    }
    const tokens = await tokensFor({ userinfo: wanted, id_token: wanted })
    expect(await userinfo(tokens)).toEqual({ sub: user.id, name: 'Ada Lovelace' })
    expect(idTokenOf(tokens)).toMatchObject({ name: 'Ada Lovelace' })
    for (const name of ['phone_number', 'nickname', 'email'])
      expect(idTokenOf(tokens)).not.toHaveProperty(name)
  })

  test('are answered after a refresh too, as they are by then', async () => {
    const claims = { userinfo: { birthdate: null }, id_token: { nickname: null } }
    const tokens = await tokensFor(claims, { scope: 'openid offline_access' })
    expect(idTokenOf(tokens)).not.toHaveProperty('nickname')
    await dbFor(tenant).user.updateMany({
      where: { tenantId: tenant, id: user.id },
      data: { nickname: 'Countess' },
    })
    const { body } = await refreshWith(provider, tenant, client, tokens.refresh_token ?? '')
    expect(idTokenOf(body)).toMatchObject({ sub: user.id, nickname: 'Countess' })
    expect(await userinfo(body)).toEqual({ sub: user.id, birthdate: '1815-12-10' })
  })

  test('survive a sign-in', async () => {
    const by = new Browser(provider)
    const claims = { userinfo: { birthdate: null }, id_token: { name: null } }
    await dbFor(tenant).passcode.deleteMany({ where: { tenantId: tenant } })
    const { location } = await signInAt(by, path(claims, { prompt: 'login' }), 'ada@example.com')
    const { body } = await exchange(provider, tenant, client, answerIn(location).code ?? '')
    expect(idTokenOf(body)).toMatchObject({ name: 'Ada Lovelace' })
    expect(await userinfo(body)).toEqual({ sub: user.id, birthdate: '1815-12-10' })
  })

  test('cannot replace what an ID token says of itself', async () => {
    const forged = { iss: { value: 'x' }, aud: { value: 'x' }, exp: { value: 1 }, amr: { value: ['hwk'] } }
    const tokens = await tokensFor({ id_token: { ...forged, nonce: { value: 'x' }, email: null } })
    expect(idTokenOf(tokens)).toMatchObject({
      iss: `http://localhost:3000/${tenant}`,
      aud: client.id,
      amr: ['otp'],
      email: 'ada@example.com',
    })
    expect(idTokenOf(tokens)).not.toHaveProperty('nonce')
  })

  test('that are malformed go back to the client, which learns what is wrong', async () => {
    expect(await ask('{"id_token":{"email":true}}')).toEqual({
      error: 'invalid_request',
      error_description: 'claims.id_token.email must be a JSON object.',
      state: 'a-state',
      iss: `http://localhost:3000/${tenant}`,
    })
  })

  test.runIf(inject('database').kind === 'postgres')(
    'cost one more statement for an ID token, and none for userinfo',
    async () => {
      const { code = '' } = await ask({ id_token: { email: null }, userinfo: { name: null } })
      const warm = () => exchange(provider, tenant, client, 'x')
      let tokens: Record<string, string> = {}
      const exchanging = async () => {
        tokens = (await exchange(provider, tenant, client, code)).body
      }
      expect(await countWarmStatements(warm, exchanging)).toBe(2)
      expect(await countWarmStatements(warm, () => userinfo(tokens))).toBe(1)
      const { code: plain = '' } = await ask({ id_token: { auth_time: { essential: true } } })
      expect(await countWarmStatements(warm, () => exchange(provider, tenant, client, plain))).toBe(1)
    },
  )
})

test('discovery names exactly the claims that there are (OIDC Discovery 1.0, section 3)', async () => {
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
  await makeUser(tenant, 'abc@example.com', everything)
  const scope = 'openid profile email phone address'
  const { location } = await signInAt(
    new Browser(provider),
    authorizePath(tenant, client, { scope, nonce: 'n' }),
    'abc@example.com',
  )
  const { body } = await exchange(provider, tenant, client, answerIn(location).code ?? '')
  const response = await fetch(`${provider.origin}/${tenant}/.well-known/openid-configuration`)
  const { claims_supported: named } = (await response.json()) as { claims_supported: string[] }
  const given = new Set([...Object.keys(idTokenOf(body)), ...Object.keys(await userinfo(body))])
  expect([...given].sort()).toEqual([...named].sort())
})

describe('a sub with a value (OIDC Core, sections 3.1.2.2 and 5.5.1)', () => {
  const about = (sub: string) => ({ id_token: { sub: { value: sub } } })

  test('is answered when that person is signed in', async () => {
    expect(idTokenOf(await tokensFor(about(user.id)))).toMatchObject({ sub: user.id })
  })

  test('of another person is not answered with prompt=none', async () => {
    expect(await ask(about('user_other'))).toMatchObject({ error: 'login_required', state: 'a-state' })
    expect(await ask({ userinfo: { sub: { value: 'user_other' } } })).toMatchObject({
      error: 'login_required',
    })
  })

  test('of another person asks for a sign-in, and is refused when somebody else does', async () => {
    const by = new Browser(provider)
    await dbFor(tenant).passcode.deleteMany({ where: { tenantId: tenant } })
    await signInAt(by, authorizePath(tenant, client), 'ada@example.com')
    const asked = path(about(user.id), { prompt: '' })
    expect(answerIn((await by.open(asked)).location)).toHaveProperty('code')
    const { location } = await signInAt(new Browser(provider), asked, 'eve@example.com')
    expect(answerIn(location)).toMatchObject({
      error: 'login_required',
      error_description: 'Another person signed in than the request is about.',
    })
  })
})

describe('acr (OIDC Core, sections 2, 3.1.2.1 and 5.5.1.1)', () => {
  const OTP = 'urn:vestibule:otp'
  const STRONGER = 'urn:vestibule:phishing-resistant'
  const acr = (request: object | null) => ({ id_token: { acr: request } })

  test.each([
    ['essential, among several', acr({ essential: true, values: [STRONGER, OTP] }), {}],
    ['essential, whichever', acr({ essential: true }), {}],
    ['voluntary, another', acr({ value: STRONGER }), {}],
    ['by acr_values, another first', {}, { acr_values: `${STRONGER} ${OTP}` }],
    ['by acr_values, another', {}, { acr_values: 'urn:mace:incommon:iap:silver' }],
  ])('%s says how the person signed in', async (_name, claims, more) => {
    expect(idTokenOf(await tokensFor(claims, more))).toMatchObject({ acr: OTP, amr: ['otp'] })
  })

  test('essential, in ways that there are not, is a failed sign-in before anybody is asked', async () => {
    const expected = { error: 'unmet_authentication_requirements', state: 'a-state' }
    expect(await ask(acr({ essential: true, values: [STRONGER] }))).toMatchObject(expected)
    const { location } = await new Browser(provider).open(
      path(acr({ essential: true, value: STRONGER }), { prompt: '' }),
    )
    expect(answerIn(location)).toMatchObject(expected)
  })

  test('an essential auth_time is answered', async () => {
    const tokens = await tokensFor({ id_token: { auth_time: { essential: true } } })
    expect(idTokenOf(tokens)).toMatchObject({ auth_time: expect.any(Number) })
  })
})
