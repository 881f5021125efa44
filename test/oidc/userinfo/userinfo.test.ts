import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../../src/context/context.ts'
import { apiAudienceOf, issuerOf } from '../../../src/core/issuer.ts'
import { listPublicKeys, signJwt } from '../../../src/keys/keys.ts'
import { issueAccessToken } from '../../../src/oidc/token/access-tokens.ts'
import { endSession } from '../../../src/sessions/sessions.ts'
import { newTenant } from '../../support/actors.ts'
import { dbFor } from '../../support/database.ts'
import { userinfoOf } from '../../support/protocol.ts'
import { EVERY_SCOPE, expectInvalidToken, test } from '../../support/userinfo.ts'

describe('the userinfo endpoint (OIDC Core, section 5.3)', () => {
  test('returns the claims that the scopes of the token cover', async ({ oidc, visitor, newToken }) => {
    const answer = async (scope: string) => (await oidc.userinfo(await newToken(scope))).json()
    expect(await answer('openid')).toEqual({ sub: visitor.user.id })
    expect(await answer('openid email')).toEqual({
      sub: visitor.user.id,
      email: visitor.user.email,
      email_verified: true,
    })
    expect(await answer(EVERY_SCOPE)).toEqual({
      sub: visitor.user.id,
      name: 'Ada Lovelace',
      given_name: 'Ada',
      family_name: 'Lovelace',
      birthdate: '1815-12-10',
      zoneinfo: 'Europe/London',
      locale: 'en-GB',
      updated_at: expect.any(Number),
      email: visitor.user.email,
      email_verified: true,
      phone_number: '+41791234567',
      phone_number_verified: false,
      address: { locality: 'London', country: 'GB' },
    })
  })

  test('answers POST, with the token in the header or in the form (RFC 6750, section 2.2)', async ({
    app,
    visitor,
    newToken,
    path,
  }) => {
    const token = await newToken('openid')
    const inHeader = await app.fetch(path, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
    const inForm = await app.fetch(path, {
      method: 'POST',
      body: new URLSearchParams({ access_token: token }),
    })
    expect(await inHeader.json()).toEqual({ sub: visitor.user.id })
    expect(await inForm.json()).toEqual({ sub: visitor.user.id })
    expect(inForm.headers.get('cache-control')).toBe('no-store')
  })

  test('rejects a token in header and form together, and a token in the query (RFC 6750, section 2)', async ({
    app,
    newToken,
    path,
  }) => {
    const token = await newToken('openid')
    const both = await app.fetch(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: new URLSearchParams({ access_token: token }),
    })
    expect([both.status, ((await both.json()) as { error: string }).error]).toEqual([400, 'invalid_request'])
    expect((await app.fetch(`${path}?access_token=${token}`)).status).toBe(401)
  })

  test('challenges a request without a token and names no error (RFC 6750, section 3.1)', async ({
    app,
    tenant,
    path,
  }) => {
    const response = await app.fetch(path)
    const dpop = 'DPoP algs="ES256 ES384 ES512 RS256 PS256 EdDSA Ed25519"'
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer realm="${issuerOf(tenant)}", ${dpop}`,
    ])
  })

  test('rejects a token without the scope openid and records token.refused', async ({
    tenant,
    client,
    oidc,
    visitor,
  }) => {
    const audience = [`${issuerOf(tenant)}/oidc/userinfo`]
    const token = await issueAccessToken(tenant, {
      subject: visitor.user.id,
      clientId: client.id,
      scopes: ['email'],
      audience,
      lifetimeSeconds: 60,
    })
    const response = await oidc.userinfo(token)
    expect(response.status).toBe(403)
    expect(response.headers.get('www-authenticate')).toMatch(
      /^Bearer realm="[^"]+", error="insufficient_scope", .*scope="openid"$/,
    )
    const events = await dbFor(tenant).event.findMany({
      where: { tenantId: tenant, requestId: response.headers.get('x-request-id') ?? '' },
    })
    expect(events).toMatchObject([
      {
        type: 'token.refused',
        subjectIds: [client.id],
        detail: { error: 'insufficient_scope', endpoint: 'userinfo', scope: 'email' },
      },
    ])
  })

  test("rejects another tenant's token and a token for another audience", async ({
    app,
    tenant,
    oidc,
    newToken,
  }) => {
    const token = await newToken()
    const other = await newTenant()
    await expectInvalidToken(await userinfoOf(app, other, token))
    const claims = decodeJwt(token)
    const elsewhere = await signJwt(tenant, 'at+jwt', {
      ...claims,
      aud: apiAudienceOf(tenant),
    })
    await expectInvalidToken(await oidc.userinfo(elsewhere))
    const same = await signJwt(tenant, 'at+jwt', claims)
    expect((await oidc.userinfo(same)).status).toBe(200)
  })

  test('rejects a token that is altered, expired or of another type', async ({
    tenant,
    newPerson,
    oidc,
    newToken,
  }) => {
    const token = await newToken()
    const claims = decodeJwt(token)
    const [header = '', payload = '', signature = ''] = token.split('.')
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const known = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string }
    const jwk = (await listPublicKeys(tenant)).keys[0] as object
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
        sub: (await newPerson()).id,
      }),
      'no JWT': 'abc',
    }
    for (const [name, value] of Object.entries(forged)) {
      const response = await oidc.userinfo(value)
      expect([name, response.status]).toEqual([name, 401])
      expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
    }
  })

  test('answers 401 to a malformed Authorization header', async ({ app, path }) => {
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
      expect((await app.fetch(path, { headers: { authorization: value } })).status).toBe(401)
  })

  test('rejects a token as soon as its session has ended', async ({ tenant, oidc, newToken }) => {
    const token = await newToken()
    await endSession(createPlatformCtx(tenant), decodeJwt(token).sid as string, 'logout')
    await expectInvalidToken(await oidc.userinfo(token))
  })
})
