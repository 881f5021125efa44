import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { jwtVerify } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { platformCtx } from '../src/ctx.ts'
import { sql } from '../src/db.ts'
import { createIdentityProvider } from '../src/idps/idps.ts'
import { addIdpUser, linkIdpUser } from '../src/idps/link-idp-user.ts'
import { IDP_TYPES, PROVIDER_TYPES } from '../src/idps/provider-types.ts'
import { closeRuntime, openRuntime } from '../src/runtime.ts'
import { createUser } from '../src/users/users.ts'
import { newTenant } from './support/actors.ts'
import { startUpstream, type Upstream } from './support/upstream.ts'

// biome-ignore lint/suspicious/noExplicitAny: what a test asks for decides the shape
type Any = any
type Asked = { path: string; authorization: string | null; form: Record<string, string> }

let tenant: string
let upstream: Upstream
let server: Server
let origin: string
const asked: Asked[] = []
/** What stands in for the providers that do it in their own way. */
let answers: Record<string, object>

beforeAll(async () => {
  await openRuntime()
  tenant = await newTenant()
  upstream = await startUpstream()
  server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const path = request.url ?? ''
    asked.push({
      path,
      authorization: request.headers.authorization ?? null,
      form: Object.fromEntries(new URLSearchParams(body)),
    })
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers[path] ?? {}))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  upstream.close()
  server.closeAllConnections()
  server.close()
  await closeRuntime()
})
beforeEach(() => {
  answers = {}
  asked.length = 0
})

let names = 0
async function idp(fields: object): Promise<string> {
  names += 1
  const made = await createIdentityProvider(platformCtx(tenant), {
    id: `type-${names}`,
    name: 'x',
    clientId: 'our app',
    ...fields,
  })
  return made.id
}
async function link(idpId: string, proof: object, userId?: string) {
  const ctx = platformCtx(tenant)
  const user = userId ?? (await createUser(ctx, {})).id
  const done = await linkIdpUser(ctx, user, idpId, proof).catch((error: Any) => error)
  return done instanceof Error
    ? { fields: (done as Any).fields, code: (done as Any).code }
    : { issuer: done.issuer, externalId: done.externalId, metadata: done.metadata }
}
const refusal = (field: string, description: string) => ({
  code: 'BAD_USER_INPUT',
  fields: [{ field, description }],
})
const now = () => Math.floor(Date.now() / 1000)
const claims = (more: object) => ({ aud: 'our app', sub: 'ada', iat: now(), exp: now() + 300, ...more })

describe('what is known of the providers', () => {
  it.each(IDP_TYPES)('%s: every address is https', (type) => {
    const { issuer, authorizationEndpoint, tokenEndpoint, userInfoEndpoint, jwksUri } = PROVIDER_TYPES[type]
    for (const url of [issuer, authorizationEndpoint, tokenEndpoint, userInfoEndpoint, jwksUri])
      expect(url === undefined || new URL(url).protocol === 'https:').toBe(true)
  })
})

describe('oauth2', () => {
  it.each([
    [{ sub: 'a', id: 'b' }, 'a'],
    [{ id: 'b', login: 'ada' }, 'b'],
    [{ id: 4711, login: 'ada' }, '4711'],
  ])('%j is %s', async (body, subject) => {
    answers['/user'] = body
    const idpId = await idp({ type: 'oauth2', userInfoEndpoint: `${origin}/user` })
    expect(await link(idpId, { accessToken: 'at' })).toEqual({
      issuer: '',
      externalId: subject,
      metadata: body,
    })
    expect(asked).toEqual([{ path: '/user', authorization: 'Bearer at', form: {} }])
  })

  it('redeems a code; an error with status 200 is one', async () => {
    const idpId = await idp({
      type: 'oauth2',
      clientSecret: 'a:b c',
      userInfoEndpoint: `${origin}/user`,
      tokenEndpoint: `${origin}/token`,
    })
    answers = { '/token': { access_token: 'at', token_type: 'bearer' }, '/user': { id: 7 } }
    expect(await link(idpId, { code: 'c' })).toMatchObject({ externalId: '7' })
    const basic = Buffer.from('our+app:a%3Ab+c').toString('base64')
    expect(asked).toMatchObject([
      {
        path: '/token',
        authorization: `Basic ${basic}`,
        form: { grant_type: 'authorization_code', code: 'c' },
      },
      { path: '/user', authorization: 'Bearer at' },
    ])
    answers['/token'] = { error: 'bad_verification_code', error_description: 'c is used' }
    expect(await link(idpId, { code: 'c' })).toEqual(refusal('code', 'is not accepted by the provider'))
    answers['/token'] = { token_type: 'bearer' }
    expect(await link(idpId, { code: 'c' })).toMatchObject({ code: 'UNAVAILABLE' })
  })

  it('a client without a secret names itself', async () => {
    const idpId = await idp({
      type: 'oauth2',
      userInfoEndpoint: `${origin}/user`,
      tokenEndpoint: `${origin}/token`,
    })
    answers = { '/token': { access_token: 'at' }, '/user': { id: 8 } }
    expect(await link(idpId, { code: 'c' })).toMatchObject({ externalId: '8' })
    expect(asked[0]).toMatchObject({ authorization: null, form: { client_id: 'our app' } })
  })

  it('has no ID tokens', async () => {
    const idpId = await idp({
      type: 'oauth2',
      userInfoEndpoint: `${origin}/user`,
      jwksUri: upstream.endpoints.jwksUri,
    })
    expect(await link(idpId, { idToken: await upstream.sign(claims({ iss: upstream.issuer })) })).toEqual(
      refusal('idToken', 'cannot be checked: the provider has no issuer'),
    )
  })
})

describe('facebook and twitter', () => {
  it('name people where they do', async () => {
    answers['/me'] = { id: '10', name: 'Ada' }
    answers['/2/users/me'] = { data: { id: '20', username: 'ada' }, includes: {} }
    const facebook = await idp({ type: 'facebook', userInfoEndpoint: `${origin}/me` })
    const twitter = await idp({ type: 'twitter', userInfoEndpoint: `${origin}/2/users/me` })
    expect(await link(facebook, { accessToken: 'x' })).toEqual({
      issuer: 'https://www.facebook.com',
      externalId: '10',
      metadata: { id: '10', name: 'Ada' },
    })
    expect(await link(twitter, { accessToken: 'x' })).toEqual({
      issuer: '',
      externalId: '20',
      metadata: { id: '20', username: 'ada' },
    })
    answers['/2/users/me'] = { errors: [] }
    expect(await link(twitter, { accessToken: 'x' })).toMatchObject({ code: 'UNAVAILABLE' })
  })
})

describe('google', () => {
  it('is one issuer under both of its names', async () => {
    const idpId = await idp({ type: 'google', jwksUri: upstream.endpoints.jwksUri })
    const { id } = await createUser(platformCtx(tenant), {})
    for (const iss of ['accounts.google.com', 'https://accounts.google.com'])
      expect(await link(idpId, { idToken: await upstream.sign(claims({ iss })) }, id)).toMatchObject({
        issuer: 'https://accounts.google.com',
        externalId: 'ada',
      })
    expect(
      await link(idpId, { idToken: await upstream.sign(claims({ iss: 'https://evil.example' })) }),
    ).toEqual(refusal('idToken', 'was issued by somebody else'))
  })
})

describe('microsoft', () => {
  const [ORGANISATION, OTHER] = [
    '9188040d-6c67-4c5b-b112-36a304b66dad',
    '11111111-2222-3333-4444-555555555555',
  ]
  const issuerOf = (tid: string) => `https://login.microsoftonline.com/${tid}/v2.0`

  it('security 13: has an issuer for each organisation, and the same subject in two of them is two people', async () => {
    const idpId = await idp({ type: 'microsoft', jwksUri: upstream.endpoints.jwksUri })
    for (const tid of [ORGANISATION, OTHER])
      expect(
        await link(idpId, { idToken: await upstream.sign(claims({ iss: issuerOf(tid), tid })) }),
      ).toMatchObject({ issuer: issuerOf(tid), externalId: 'ada' })
    for (const wrong of [
      { iss: issuerOf(ORGANISATION) },
      { iss: issuerOf(ORGANISATION), tid: OTHER },
      { iss: issuerOf('../evil'), tid: '../evil' },
      { iss: issuerOf('common'), tid: 'common' },
      { iss: 'https://evil.example', tid: ORGANISATION },
    ])
      expect(await link(idpId, { idToken: await upstream.sign(claims(wrong)) })).toEqual(
        refusal('idToken', 'was issued by somebody else'),
      )
  })

  it('an access token does not tell the organisation', async () => {
    answers['/me'] = { sub: 'ada' }
    const idpId = await idp({ type: 'microsoft', userInfoEndpoint: `${origin}/me` })
    expect(await link(idpId, { accessToken: 'x' })).toEqual(
      refusal('accessToken', 'does not tell the organisation: this provider needs an ID token'),
    )
  })

  it('the first proof tells the issuer of what an administrator had added', async () => {
    const ctx = platformCtx(tenant)
    const idpId = await idp({ type: 'microsoft', jwksUri: upstream.endpoints.jwksUri })
    const { id } = await createUser(ctx, {})
    await addIdpUser(ctx, id, idpId, { externalId: 'ada' })
    const idToken = await upstream.sign(claims({ iss: issuerOf(ORGANISATION), tid: ORGANISATION }))
    expect(await link(idpId, { idToken }, id)).toMatchObject({ issuer: issuerOf(ORGANISATION) })
    // From then on it is that one.
    const other = await upstream.sign(claims({ iss: issuerOf(OTHER), tid: OTHER }))
    expect(await link(idpId, { idToken: other }, id)).toMatchObject({ code: 'CONFLICT' })
    const [row] = await sql(`SELECT "issuer" FROM "IdpUser" WHERE "tenantId" = $1 AND "userId" = $2`, [
      tenant,
      id,
    ])
    expect(row).toEqual({ issuer: issuerOf(ORGANISATION) })
  })
})

describe('apple', () => {
  it('gets a client secret that we sign with its key', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const idpId = await idp({
      type: 'apple',
      clientSecret: privateKey.export({ format: 'pem', type: 'pkcs8' }),
      platformTeamId: 'TEAM',
      platformKid: 'KID',
      tokenEndpoint: `${origin}/auth/token`,
      jwksUri: upstream.endpoints.jwksUri,
    })
    const idToken = await upstream.sign(claims({ iss: 'https://appleid.apple.com', sub: '001.abc' }))
    answers['/auth/token'] = { access_token: 'at', id_token: idToken }
    expect(await link(idpId, { code: 'c', redirectUri: 'https://app.example/callback' })).toEqual({
      issuer: 'https://appleid.apple.com',
      externalId: '001.abc',
      metadata: { sub: '001.abc' },
    })
    expect(asked).toHaveLength(1)
    const { client_secret: secret = '', ...form } = asked[0]?.form ?? {}
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

  it('says when the key is not there', async () => {
    const idpId = await idp({ type: 'apple', tokenEndpoint: `${origin}/auth/token` })
    answers['/auth/token'] = { error: 'invalid_client' }
    expect(await link(idpId, { code: 'c' })).toEqual(
      refusal('code', 'is not accepted by the provider: invalid_client'),
    )
  })
})

describe('claims', () => {
  it('that cannot be stored are left out, and the person is linked all the same', async () => {
    const idpId = await idp({ type: 'oauth2', userInfoEndpoint: `${origin}/user` })
    answers['/user'] = { id: 'odd', name: 'a\u0000b' }
    expect(await link(idpId, { accessToken: 'x' })).toMatchObject({ externalId: 'odd', metadata: {} })
    answers['/user'] = { id: 'large', bio: 'x'.repeat(70_000) }
    expect(await link(idpId, { accessToken: 'x' })).toMatchObject({ externalId: 'large', metadata: {} })
    for (const id of ['a\u0000b', 'x'.repeat(256), '', null, {}, [], true, 1e300]) {
      answers['/user'] = { id }
      expect([id, await link(idpId, { accessToken: 'x' })]).toMatchObject([id, { code: 'UNAVAILABLE' }])
    }
  })

  it('about the token are not kept', async () => {
    const idpId = await idp({ type: 'google', jwksUri: upstream.endpoints.jwksUri })
    const idToken = await upstream.sign(
      claims({
        iss: 'https://accounts.google.com',
        nonce: 'n',
        at_hash: 'h',
        auth_time: 1,
        email: 'a@b.example',
        hd: 'b.example',
        sub: 'kept',
      }),
    )
    expect(await link(idpId, { idToken })).toMatchObject({
      metadata: { sub: 'kept', email: 'a@b.example', hd: 'b.example' },
    })
  })
})
