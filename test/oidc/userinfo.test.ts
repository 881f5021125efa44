import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { platformCtx } from '../../src/ctx.ts'
import { dbFor } from '../../src/db.ts'
import type { User } from '../../src/generated/prisma/client.ts'
import { publicKeys, signJwt } from '../../src/oidc/keys/keys.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { claimsFor } from '../../src/oidc/userinfo/claims.ts'
import { endSession } from '../../src/sessions/sessions.ts'
import { SIGNING_ALGORITHMS } from '../../src/signing-algorithms.ts'
import { newTenant } from '../support/actors.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  signInAt,
  startProvider,
  userinfoOf,
} from './provider.ts'

let provider: Provider
let tenant: string
let client: Awaited<ReturnType<typeof makeClient>>
let browser: Browser
let user: User
const EVERYTHING = 'openid profile email phone address'
const person = {
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

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  client = await makeClient(tenant)
  user = await makeUser(tenant, 'ada@example.com', person)
  browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, client), 'ada@example.com')
})
afterAll(() => provider.close())

async function newToken(scope = EVERYTHING): Promise<string> {
  const response = await browser.fetch(authorizePath(tenant, client, { prompt: 'none', scope }))
  const { body } = await exchange(
    provider,
    tenant,
    client,
    answerIn(response.headers.get('location')).code as string,
  )
  return body.access_token as string
}
const url = (of = tenant) => `${provider.origin}/${of}/oidc/userinfo`
const REALM = () => `Bearer realm="http://localhost:3000/${tenant}"`

async function expectRefused(response: Response): Promise<void> {
  const description = 'The access token is invalid, expired or revoked.'
  expect([response.status, await response.json()]).toEqual([
    401,
    { error: 'invalid_token', error_description: description },
  ])
  expect(response.headers.get('www-authenticate')).toMatch(
    /^Bearer realm="[^"]+", error="invalid_token", error_description="[^"]+"$/,
  )
}

describe('userinfo (OIDC Core, section 5.3)', () => {
  test('tells what the scopes cover', async () => {
    const answer = async (scope: string) => (await userinfoOf(provider, tenant, await newToken(scope))).json()
    expect(await answer('openid')).toEqual({ sub: user.id })
    expect(await answer('openid email')).toEqual({
      sub: user.id,
      email: 'ada@example.com',
      email_verified: true,
    })
    expect(await answer(EVERYTHING)).toEqual({
      sub: user.id,
      name: 'Ada Lovelace',
      given_name: 'Ada',
      family_name: 'Lovelace',
      birthdate: '1815-12-10',
      zoneinfo: 'Europe/London',
      locale: 'en-GB',
      updated_at: expect.any(Number),
      email: 'ada@example.com',
      email_verified: true,
      phone_number: '+41791234567',
      phone_number_verified: false,
      address: { locality: 'London', country: 'GB' },
    })
  })

  test('answers POST, with the token in the header or in the form (RFC 6750, section 2.2)', async () => {
    const token = await newToken('openid')
    const inHeader = await fetch(url(), { method: 'POST', headers: { authorization: `Bearer ${token}` } })
    const inForm = await fetch(url(), { method: 'POST', body: new URLSearchParams({ access_token: token }) })
    expect(await inHeader.json()).toEqual({ sub: user.id })
    expect(await inForm.json()).toEqual({ sub: user.id })
    expect(inForm.headers.get('cache-control')).toBe('no-store')
  })

  test('refuses a token in both places, or in the query (RFC 6750, section 2)', async () => {
    const token = await newToken('openid')
    const both = await fetch(url(), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: new URLSearchParams({ access_token: token }),
    })
    expect([both.status, ((await both.json()) as { error: string }).error]).toEqual([400, 'invalid_request'])
    expect((await fetch(`${url()}?access_token=${token}`)).status).toBe(401)
  })

  test('without a token asks for one, and names no error (RFC 6750, section 3.1)', async () => {
    const response = await fetch(url())
    const dpop = 'DPoP algs="ES256 ES384 ES512 RS256 PS256 EdDSA Ed25519"'
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, `${REALM()}, ${dpop}`])
  })

  test('refuses a token without openid', async () => {
    const audience = [`http://localhost:3000/${tenant}/oidc/userinfo`]
    const token = await issueAccessToken(tenant, {
      subject: user.id,
      clientId: client.id,
      scopes: ['email'],
      audience,
      lifetimeSeconds: 60,
    })
    const response = await userinfoOf(provider, tenant, token)
    expect(response.status).toBe(403)
    expect(response.headers.get('www-authenticate')).toMatch(
      /^Bearer realm="[^"]+", error="insufficient_scope", .*scope="openid"$/,
    )
    const told = await dbFor(tenant).event.findMany({
      where: { tenantId: tenant, requestId: response.headers.get('x-request-id') ?? '' },
    })
    expect(told).toMatchObject([
      {
        type: 'token.refused',
        subjectIds: [client.id],
        detail: { error: 'insufficient_scope', endpoint: 'userinfo', scope: 'email' },
      },
    ])
  })

  test("refuses another tenant's token, and its own for another audience (security row 36)", async () => {
    const token = await newToken()
    const other = await newTenant()
    await expectRefused(await userinfoOf(provider, other, token))
    const claims = decodeJwt(token)
    const elsewhere = await signJwt(tenant, 'at+jwt', {
      ...claims,
      aud: `http://localhost:3000/${tenant}/api`,
    })
    await expectRefused(await userinfoOf(provider, tenant, elsewhere))
    const same = await signJwt(tenant, 'at+jwt', claims)
    expect((await userinfoOf(provider, tenant, same)).status).toBe(200)
  })

  test('refuses a token that was altered, expired, or is of another kind (security rows 26 and 34)', async () => {
    const token = await newToken()
    const claims = decodeJwt(token)
    const [header = '', payload = '', signature = ''] = token.split('.')
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const known = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string }
    const jwk = (await publicKeys(tenant)).keys[0] as object
    const hmac = (input: string) =>
      createHmac('sha256', JSON.stringify(jwk)).update(input).digest('base64url')
    const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const forge = (head: object) => {
      const input = `${encode({ typ: 'at+jwt', ...head })}.${payload}`
      return `${input}.${sign('sha256', Buffer.from(input), { key: own.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
    }
    const hs256 = `${encode({ ...known, alg: 'HS256' })}.${payload}`
    const forged = {
      'cut by its last character': token.slice(0, -1),
      'with another subject': `${header}.${encode({ ...claims, sub: 'user_other' })}.${signature}`,
      'alg none': `${encode({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
      'alg HS256 with the public key': `${hs256}.${hmac(hs256)}`,
      'a key of its own in the header': forge({ alg: 'ES256', jwk: own.publicKey.export({ format: 'jwk' }) }),
      'the kid of ours, signed by another key': forge({ ...known, alg: 'ES256' }),
      'no kid': forge({ alg: 'ES256' }),
      'an unknown kid': forge({ alg: 'ES256', kid: 'x' }),
      expired: await signJwt(tenant, 'at+jwt', { ...claims, exp: Math.floor(Date.now() / 1000) - 1 }),
      'an ID token': await signJwt(tenant, 'JWT', claims),
      'no grant': await signJwt(tenant, 'at+jwt', { ...claims, gid: undefined }),
      "another user's grant": await signJwt(tenant, 'at+jwt', {
        ...claims,
        sub: (await makeUser(tenant, 'eve@example.com')).id,
      }),
      'no JWT': 'abc',
    }
    for (const [name, value] of Object.entries(forged)) {
      const response = await userinfoOf(provider, tenant, value)
      expect([name, response.status]).toEqual([name, 401])
      expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
    }
  })

  test('survives whatever stands in the Authorization header (security row 62)', async () => {
    for (const value of [
      '',
      'Bearer',
      'Bearer ',
      'Bearer a b',
      'Basic x',
      'Bearer \u00ff',
      'bearer ....',
      `Bearer ${'a'.repeat(8000)}`,
    ])
      expect((await fetch(url(), { headers: { authorization: value } })).status).toBe(401)
  })

  test('ends with the session, at once (security row 27)', async () => {
    const token = await newToken()
    await endSession(platformCtx(tenant), decodeJwt(token).sid as string, 'logout')
    await expectRefused(await userinfoOf(provider, tenant, token))
  })
})

describe('a signed answer (OIDC Core, section 5.3.2)', () => {
  const keys = () => createRemoteJWKSet(new URL(`${provider.origin}/${tenant}/.well-known/jwks.json`))
  beforeAll(async () => {
    browser = new Browser(provider)
    await dbFor(tenant).passcode.deleteMany({ where: { tenantId: tenant } })
    await signInAt(browser, authorizePath(tenant, client), 'ada@example.com')
  })
  const signedFor = async (alg: string) => {
    const signing = await makeClient(tenant, { userInfoSigningAlg: alg })
    const scope = 'openid email'
    const { location } = await browser.open(authorizePath(tenant, signing, { prompt: 'none', scope }))
    const { code = '' } = answerIn(location)
    const { body } = await exchange(provider, tenant, signing, code)
    const response = await userinfoOf(provider, tenant, body.access_token as string)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/jwt'])
    return { signing, response }
  }

  test.each(SIGNING_ALGORITHMS)('is a JWT of the same claims for a client that wants %s', async (alg) => {
    const { signing, response } = await signedFor(alg)
    expect(response.headers.get('cache-control')).toBe('no-store')
    const token = await response.text()
    const { payload, protectedHeader } = await jwtVerify(token, keys(), {
      issuer: `http://localhost:3000/${tenant}`,
      audience: signing.id,
      algorithms: [alg],
    })
    expect(protectedHeader).toMatchObject({ alg, kid: expect.any(String) })
    expect(payload).toEqual({
      iss: `http://localhost:3000/${tenant}`,
      aud: signing.id,
      sub: user.id,
      email: 'ada@example.com',
      email_verified: true,
    })
  })

  test('is no token of another kind: neither an access token nor an ID token', async () => {
    const { signing, response } = await signedFor('ES256')
    const token = await response.text()
    await expectRefused(await userinfoOf(provider, tenant, token))
    const hinted = authorizePath(tenant, signing, { prompt: 'none', scope: 'openid', id_token_hint: token })
    expect(answerIn((await browser.open(hinted)).location)).toMatchObject({ error: 'invalid_request' })
  })

  test('is no answer to a fault: that is JSON', async () => {
    const { signing } = await signedFor('ES256')
    const audience = [`http://localhost:3000/${tenant}/oidc/userinfo`]
    const token = await issueAccessToken(tenant, {
      subject: user.id,
      clientId: signing.id,
      scopes: ['openid'],
      audience,
      lifetimeSeconds: 60,
    })
    await expectRefused(await userinfoOf(provider, tenant, token))
  })
})

test('claims leave out what a person has no value for (OIDC Core, section 5.3.2)', () => {
  const empty = Object.fromEntries(Object.keys(user).map((name) => [name, null])) as unknown as User
  const nobody = {
    ...empty,
    id: 'user_1',
    updatedAt: new Date(1_700_000_000_999),
    emailVerified: false,
    phoneNumberVerified: false,
  }
  expect(claimsFor(nobody, EVERYTHING.split(' '))).toEqual({ sub: 'user_1', updated_at: 1_700_000_000 })
})
