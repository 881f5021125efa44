import { generateKeyPairSync } from 'node:crypto'
import { jwtVerify } from 'jose'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { addIdpUser } from '../../src/idps/idp-links.ts'
import { IDP_TYPE, PROVIDER_TYPES } from '../../src/idps/provider/provider-types.ts'
import { createUser } from '../../src/users/users.ts'
import { sql } from '../support/database.ts'
import { test, toClaims, toIssue } from '../support/provider-stub.ts'

describe('the table of provider types', () => {
  test.each(IDP_TYPE.values)('has only https URLs for type %s', (type) => {
    const { issuer, authorizationEndpoint, tokenEndpoint, userInfoEndpoint, jwksUri } = PROVIDER_TYPES[type]
    for (const url of [issuer, authorizationEndpoint, tokenEndpoint, userInfoEndpoint, jwksUri])
      expect(url === undefined || new URL(url).protocol === 'https:').toBe(true)
  })
})

describe('a provider of type oauth2', () => {
  test.for<[body: object, subject: string]>([
    [{ sub: 'a', id: 'b' }, 'a'],
    [{ id: 'b', login: 'ada' }, 'b'],
    [{ id: 4711, login: 'ada' }, '4711'],
  ])('takes the subject of %j: %s', async ([body, subject], { stub, configure, prove }) => {
    stub.answers['/user'] = body
    const idpId = await configure({
      type: 'oauth2',
      userInfoEndpoint: `${stub.origin}/user`,
    })
    expect(await prove(idpId, { accessToken: 'at' })).toEqual({
      issuer: '',
      externalId: subject,
      metadata: body,
    })
    expect(stub.asked).toEqual([{ path: '/user', authorization: 'Bearer at', form: {} }])
  })

  test('redeems a code, and treats an error with status 200 as an error', async ({
    stub,
    configure,
    prove,
  }) => {
    const idpId = await configure({
      type: 'oauth2',
      clientSecret: 'a:b c',
      userInfoEndpoint: `${stub.origin}/user`,
      tokenEndpoint: `${stub.origin}/token`,
    })
    stub.answers = { '/token': { access_token: 'at', token_type: 'bearer' }, '/user': { id: 7 } }
    expect(await prove(idpId, { code: 'c' })).toMatchObject({ externalId: '7' })
    const basic = Buffer.from('our+app:a%3Ab+c').toString('base64')
    expect(stub.asked).toMatchObject([
      {
        path: '/token',
        authorization: `Basic ${basic}`,
        form: { grant_type: 'authorization_code', code: 'c' },
      },
      { path: '/user', authorization: 'Bearer at' },
    ])
    stub.answers['/token'] = { error: 'bad_verification_code', error_description: 'c is used' }
    expect(await prove(idpId, { code: 'c' })).toEqual(
      toIssue('code', 'is not accepted by the provider: invalid_grant'),
    )
    stub.answers['/token'] = { token_type: 'bearer' }
    expect(await prove(idpId, { code: 'c' })).toMatchObject({ code: 'UNAVAILABLE' })
  })

  test('sends client_id for a client without a secret', async ({ stub, configure, prove }) => {
    const idpId = await configure({
      type: 'oauth2',
      userInfoEndpoint: `${stub.origin}/user`,
      tokenEndpoint: `${stub.origin}/token`,
    })
    stub.answers = { '/token': { access_token: 'at' }, '/user': { id: 8 } }
    expect(await prove(idpId, { code: 'c' })).toMatchObject({ externalId: '8' })
    expect(stub.asked[0]).toMatchObject({ authorization: null, form: { client_id: 'our app' } })
  })

  test('rejects ID tokens', async ({ stub, configure, prove, upstream }) => {
    const idpId = await configure({
      type: 'oauth2',
      userInfoEndpoint: `${stub.origin}/user`,
      jwksUri: upstream.endpoints.jwksUri,
    })
    expect(await prove(idpId, { idToken: await upstream.sign(toClaims({ iss: upstream.issuer })) })).toEqual(
      toIssue('idToken', 'cannot be checked: the provider has no issuer'),
    )
  })
})

describe('providers of types facebook and twitter', () => {
  test('identify users by the members of their own answers', async ({ stub, configure, prove }) => {
    stub.answers['/me'] = { id: '10', name: 'Ada' }
    stub.answers['/2/users/me'] = { data: { id: '20', username: 'ada' }, includes: {} }
    const facebook = await configure({ type: 'facebook', userInfoEndpoint: `${stub.origin}/me` })
    const twitter = await configure({ type: 'twitter', userInfoEndpoint: `${stub.origin}/2/users/me` })
    expect(await prove(facebook, { accessToken: 'x' })).toEqual({
      issuer: 'https://www.facebook.com',
      externalId: '10',
      metadata: { id: '10', name: 'Ada' },
    })
    expect(await prove(twitter, { accessToken: 'x' })).toEqual({
      issuer: '',
      externalId: '20',
      metadata: { id: '20', username: 'ada' },
    })
    stub.answers['/2/users/me'] = { errors: [] }
    expect(await prove(twitter, { accessToken: 'x' })).toMatchObject({ code: 'UNAVAILABLE' })
  })
})

describe('a provider of type google', () => {
  test('is one issuer with both of its names', async ({ tenant, configure, prove, upstream }) => {
    const idpId = await configure({ type: 'google', jwksUri: upstream.endpoints.jwksUri })
    const { id } = await createUser(createPlatformCtx(tenant), {})
    for (const iss of ['accounts.google.com', 'https://accounts.google.com'])
      expect(await prove(idpId, { idToken: await upstream.sign(toClaims({ iss })) }, id)).toMatchObject({
        issuer: 'https://accounts.google.com',
        externalId: 'ada',
      })
    expect(
      await prove(idpId, { idToken: await upstream.sign(toClaims({ iss: 'https://evil.example' })) }),
    ).toEqual(toIssue('idToken', 'was issued by another issuer'))
  })
})

describe('a provider of type microsoft', () => {
  const [ORGANIZATION, OTHER] = [
    '9188040d-6c67-4c5b-b112-36a304b66dad',
    '11111111-2222-3333-4444-555555555555',
  ]
  const issuerOf = (tid: string) => `https://login.microsoftonline.com/${tid}/v2.0`

  test('has an issuer for each organization, and one subject in two of them is two identities', async ({
    configure,
    prove,
    upstream,
  }) => {
    const idpId = await configure({
      type: 'microsoft',
      jwksUri: upstream.endpoints.jwksUri,
    })
    for (const tid of [ORGANIZATION, OTHER])
      expect(
        await prove(idpId, { idToken: await upstream.sign(toClaims({ iss: issuerOf(tid), tid })) }),
      ).toMatchObject({ issuer: issuerOf(tid), externalId: 'ada' })
    for (const wrong of [
      { iss: issuerOf(ORGANIZATION) },
      { iss: issuerOf(ORGANIZATION), tid: OTHER },
      { iss: issuerOf('../evil'), tid: '../evil' },
      { iss: issuerOf('common'), tid: 'common' },
      { iss: 'https://evil.example', tid: ORGANIZATION },
    ])
      expect(await prove(idpId, { idToken: await upstream.sign(toClaims(wrong)) })).toEqual(
        toIssue('idToken', 'was issued by another issuer'),
      )
  })

  test('rejects an access token, which does not name the organization', async ({
    stub,
    configure,
    prove,
  }) => {
    stub.answers['/me'] = { sub: 'ada' }
    const idpId = await configure({
      type: 'microsoft',
      userInfoEndpoint: `${stub.origin}/me`,
    })
    expect(await prove(idpId, { accessToken: 'x' })).toEqual(
      toIssue('accessToken', 'does not identify the organization: this provider requires an ID token'),
    )
  })

  test('sets the issuer of an added link by the first proof', async ({
    tenant,
    configure,
    prove,
    upstream,
  }) => {
    const ctx = createPlatformCtx(tenant)
    const idpId = await configure({
      type: 'microsoft',
      jwksUri: upstream.endpoints.jwksUri,
    })
    const { id } = await createUser(ctx, {})
    await addIdpUser(ctx, id, idpId, { externalId: 'ada' })
    const idToken = await upstream.sign(toClaims({ iss: issuerOf(ORGANIZATION), tid: ORGANIZATION }))
    expect(await prove(idpId, { idToken }, id)).toMatchObject({ issuer: issuerOf(ORGANIZATION) })
    // The issuer does not change after the first proof.
    const other = await upstream.sign(toClaims({ iss: issuerOf(OTHER), tid: OTHER }))
    expect(await prove(idpId, { idToken: other }, id)).toMatchObject({ code: 'CONFLICT' })
    const [row] = await sql(`SELECT "issuer" FROM "IdpUser" WHERE "tenantId" = $1 AND "userId" = $2`, [
      tenant,
      id,
    ])
    expect(row).toEqual({ issuer: issuerOf(ORGANIZATION) })
  })
})

describe('a provider of type apple', () => {
  test('is sent a client secret signed with its private key', async ({
    stub,
    configure,
    prove,
    upstream,
  }) => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const idpId = await configure({
      type: 'apple',
      clientSecret: privateKey.export({ format: 'pem', type: 'pkcs8' }),
      platformTeamId: 'TEAM',
      platformKid: 'KID',
      tokenEndpoint: `${stub.origin}/auth/token`,
      jwksUri: upstream.endpoints.jwksUri,
    })
    const idToken = await upstream.sign(toClaims({ iss: 'https://appleid.apple.com', sub: '001.abc' }))
    stub.answers['/auth/token'] = { access_token: 'at', id_token: idToken }
    expect(await prove(idpId, { code: 'c', redirectUri: 'https://app.example/callback' })).toEqual({
      issuer: 'https://appleid.apple.com',
      externalId: '001.abc',
      metadata: { sub: '001.abc' },
    })
    expect(stub.asked).toHaveLength(1)
    const { client_secret: secret = '', ...form } = stub.asked[0]?.form ?? {}
    expect(form).toEqual({
      grant_type: 'authorization_code',
      code: 'c',
      redirect_uri: 'https://app.example/callback',
      client_id: 'our app',
    })
    const { payload, protectedHeader } = await jwtVerify(secret, publicKey, {
      issuer: 'TEAM',
      subject: 'our app',
      audience: 'https://appleid.apple.com',
    })
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'KID' })
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(300)
  })

  test('reports invalid_client when its private key is missing', async ({ stub, configure, prove }) => {
    const idpId = await configure({
      type: 'apple',
      tokenEndpoint: `${stub.origin}/auth/token`,
    })
    stub.answers['/auth/token'] = { error: 'invalid_client' }
    expect(await prove(idpId, { code: 'c' })).toEqual(
      toIssue('code', 'is not accepted by the provider: invalid_client'),
    )
  })
})

describe('the claims of an identity', () => {
  test('about the token are not stored', async ({ configure, prove, upstream }) => {
    const idpId = await configure({ type: 'google', jwksUri: upstream.endpoints.jwksUri })
    const idToken = await upstream.sign(
      toClaims({
        iss: 'https://accounts.google.com',
        nonce: 'n',
        at_hash: 'h',
        auth_time: 1,
        email: 'a@b.example',
        hd: 'b.example',
        sub: 'kept',
      }),
    )
    expect(await prove(idpId, { idToken })).toMatchObject({
      metadata: { sub: 'kept', email: 'a@b.example', hd: 'b.example' },
    })
  })
})
