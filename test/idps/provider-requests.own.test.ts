import type { ServerResponse } from 'node:http'
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, vi } from 'vitest'
import { answerJson, claimsFor, type Proof, prove, rejection, test } from '../support/provider-proofs.ts'
import type { Upstream } from '../support/upstream.ts'

// 127.0.0.2 represents every private address; the provider itself is at 127.0.0.1.
vi.mock('../../src/core/network/fetcher.ts', async (importOriginal) => {
  const fetcher = await importOriginal<typeof import('../../src/core/network/fetcher.ts')>()
  const rules = { isAllowedAddress: (address: string) => address !== '127.0.0.2', requireHttps: false }
  return { ...fetcher, guardedFetch: fetcher.createFetcher(rules) }
})

describe('a request to a provider', () => {
  const REQUESTS = [
    ['discovery', '/.well-known/openid-configuration', 'idToken'],
    ['the keys', '/jwks', 'idToken'],
    ['userinfo', '/me', 'accessToken'],
    ['introspection', '/token/introspection', 'accessToken'],
    ['the token endpoint', '/token', 'code'],
  ] as const
  const proofFor = async (upstream: Upstream, kind: (typeof REQUESTS)[number][2]): Promise<Proof> =>
    kind === 'code' ? upstream.codeFor('ada') : { [kind]: (await upstream.tokensFor('ada'))[kind] }

  async function expectUnavailable(
    upstream: Upstream,
    path: string,
    proof: Proof,
    answer: (response: ServerResponse) => void,
  ) {
    const before = upstream.asked.filter((asked) => asked === path).length
    upstream.before.set(path, (_request, response) => {
      answer(response)
      return true
    })
    await expect(prove(upstream, proof)).rejects.toMatchObject({ code: 'UNAVAILABLE', fields: [] })
    expect(upstream.asked.filter((asked) => asked === path).length).toBe(before + 1)
  }

  test.for(REQUESTS)(
    'for %s is not redirected to a private address',
    async ([_name, path, kind], { fresh, privateServer }) => {
      await expectUnavailable(fresh, path, await proofFor(fresh, kind), (response) =>
        response.writeHead(302, { location: privateServer.url }).end(),
      )
      expect(privateServer.visits).toBe(0)
    },
  )

  test.for(REQUESTS)('for %s rejects an answer of more than 1 MB', async ([_name, path, kind], { fresh }) => {
    const body = JSON.stringify({
      issuer: fresh.issuer,
      sub: 'ada',
      active: true,
      x: 'x'.repeat(1_000_000),
    })
    await expectUnavailable(fresh, path, await proofFor(fresh, kind), (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    )
  })

  test('does not connect to an endpoint at a private address', async ({ fresh, privateServer }) => {
    const { url } = privateServer
    const { idToken, accessToken } = await fresh.tokensFor('ada')
    const unavailable = { code: 'UNAVAILABLE' }
    await expect(prove(fresh, { idToken }, { jwksUri: url })).rejects.toMatchObject(unavailable)
    await expect(prove(fresh, { accessToken }, { userInfoEndpoint: url })).rejects.toMatchObject(unavailable)
    await expect(prove(fresh, { code: 'x' }, { tokenEndpoint: url })).rejects.toMatchObject(unavailable)
    await expect(prove(fresh, { code: 'x' }, { issuer: url })).rejects.toMatchObject(unavailable)
    expect(privateServer.visits).toBe(0)
  })
})

describe('discovery', () => {
  const path = '/.well-known/openid-configuration'

  test.for<[name: string, metadata: (issuer: string) => object]>([
    ['of another issuer', () => ({ issuer: 'https://evil.example' })],
    ['of the issuer with a trailing slash', (issuer: string) => ({ issuer: `${issuer}/` })],
    ['without an issuer', () => ({})],
    ['with an issuer that is not a URL', () => ({ issuer: 'none' })],
  ])('rejects metadata %s', async ([_name, metadata], { fresh }) => {
    answerJson(fresh, path, 200, { jwks_uri: `${fresh.issuer}/jwks`, ...metadata(fresh.issuer) })
    await expect(prove(fresh, { idToken: await fresh.sign(claimsFor(fresh)) })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    })
  })

  test('is requested once for concurrent proofs, and its metadata is cached', async ({ fresh }) => {
    const idToken = await fresh.sign(claimsFor(fresh))
    await Promise.all([prove(fresh, { idToken }), prove(fresh, { idToken })])
    await prove(fresh, { idToken })
    expect(fresh.asked.filter((asked) => asked === path)).toHaveLength(1)
  })
})

describe('the ID token of a redeemed code', () => {
  const redeem = (upstream: Upstream, answer: object) => {
    answerJson(upstream, '/token', 200, { access_token: 'at', token_type: 'Bearer', ...answer })
    return prove(upstream, { code: 'x' })
  }

  test.for<[name: string, more: JWTPayload, description: string]>([
    ['of another issuer', { iss: 'https://evil.example' }, 'was issued by another issuer'],
    ['for another client', { aud: 'another' }, 'was issued to another client'],
    ['for another client, too', { aud: ['vestibule', 'another'] }, 'was issued to another client'],
    ['that has expired', { exp: 1 }, 'has expired'],
    ['without a subject', { sub: undefined }, 'has a wrong or no claim sub'],
  ])('is rejected when it is one %s', async ([_name, more, description], { upstream }) => {
    await expect(
      redeem(upstream, { id_token: await upstream.sign(claimsFor(upstream, more)) }),
    ).rejects.toMatchObject(rejection('code', description))
  })

  test('is rejected when it is unsigned or signed by HMAC under the client secret', async ({ upstream }) => {
    const secret = new TextEncoder().encode(upstream.client.clientSecret)
    for (const idToken of [
      new UnsecuredJWT(claimsFor(upstream)).encode(),
      await new SignJWT(claimsFor(upstream)).setProtectedHeader({ alg: 'HS256' }).sign(secret),
      `${(await upstream.sign(claimsFor(upstream))).split('.', 2).join('.')}.AAAA`,
    ])
      await expect(redeem(upstream, { id_token: idToken })).rejects.toMatchObject(
        rejection('code', 'is not signed by the provider'),
      )
  })

  test('names the user, whatever subject the userinfo endpoint names', async ({ upstream }) => {
    upstream.asked.length = 0
    answerJson(upstream, '/me', 200, { sub: 'eve' })
    const proven = await redeem(upstream, { id_token: await upstream.sign(claimsFor(upstream)) })
    expect(proven).toMatchObject({ issuer: upstream.issuer, subject: 'ada' })
    expect(upstream.asked).not.toContain('/me')
  })

  test('is accepted with a nonce, which the relying party has compared', async ({ upstream }) => {
    const proof = await upstream.codeFor('ada', { nonce: 'n' })
    expect(await prove(upstream, proof)).toMatchObject({ subject: 'ada' })
  })

  test.for<[name: string, answer: object]>([
    ['alone', { access_token: undefined, token_type: undefined }],
    ['with a list of scopes', { scope: ['openid'] }],
    ['with a lifetime that is not a number', { expires_in: 'soon' }],
    ['with another token type', { token_type: 'user' }],
  ])('is accepted %s', async ([_name, answer], { upstream }) => {
    expect(
      await redeem(upstream, { ...answer, id_token: await upstream.sign(claimsFor(upstream)) }),
    ).toMatchObject({
      subject: 'ada',
    })
  })
})

describe('introspection', () => {
  const introspect = async (upstream: Upstream, status: number, body: object) => {
    const { accessToken } = await upstream.tokensFor('ada')
    answerJson(upstream, '/token/introspection', status, body)
    return prove(upstream, { accessToken })
  }

  test('rejects a token that is inactive or was issued to another client', async ({ upstream }) => {
    await expect(introspect(upstream, 200, { active: false })).rejects.toMatchObject(
      rejection('accessToken', 'is not accepted by the provider'),
    )
    await expect(introspect(upstream, 200, { active: true, client_id: 'another' })).rejects.toMatchObject(
      rejection('accessToken', 'was issued to another client'),
    )
  })

  test('is skipped when the provider rejects the client', async ({ upstream }) => {
    for (const status of [400, 401, 403, 404])
      expect(await introspect(upstream, status, { error: 'invalid_client' })).toMatchObject({
        subject: 'ada',
      })
  })
})

describe('an access token', () => {
  test('is rejected when it cannot be sent in a header', async ({ upstream }) => {
    for (const accessToken of ['a\nb', '\u2603', 'a b'])
      await expect(prove(upstream, { accessToken })).rejects.toMatchObject(
        rejection('accessToken', 'is not accepted by the provider'),
      )
  })
})
