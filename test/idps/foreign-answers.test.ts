import { describe, expect } from 'vitest'
import { answerJson, claimsFor, prove, test } from '../support/provider-proofs.ts'
import { test as stubTest } from '../support/provider-stub.ts'
import type { Upstream } from '../support/upstream.ts'

const DISCOVERY = '/.well-known/openid-configuration'

describe('metadata of a provider', () => {
  const metadataOf = async (upstream: Upstream) =>
    (await (await fetch(`${upstream.issuer}${DISCOVERY}`)).json()) as object

  test.for<[name: string, more: object]>([
    [
      'null in optional members',
      { userinfo_endpoint: null, end_session_endpoint: null, scopes_supported: null },
    ],
    ['empty optional members', { introspection_endpoint: '', userinfo_endpoint: '' }],
    ['an endpoint that is not a URL', { end_session_endpoint: '/logout', userinfo_endpoint: 7 }],
    ['methods that are not a list', { token_endpoint_auth_methods_supported: 'client_secret_basic' }],
    [
      'methods that are not all text',
      { token_endpoint_auth_methods_supported: [null, 'client_secret_post'] },
    ],
    ['a flag that is text', { authorization_response_iss_parameter_supported: 'yes' }],
  ])('is used with %s', async ([, more], { fresh }) => {
    answerJson(fresh, DISCOVERY, 200, { ...(await metadataOf(fresh)), ...more })
    expect(await prove(fresh, await fresh.codeFor('ada'))).toMatchObject({ subject: 'ada' })
  })

  test('is used with another status of success and another content type', async ({ fresh }) => {
    const metadata = await metadataOf(fresh)
    fresh.before.set(DISCOVERY, (_request, response) => {
      response.writeHead(203, { 'content-type': 'text/plain' }).end(JSON.stringify(metadata))
      return true
    })
    expect(await prove(fresh, { idToken: await fresh.sign(claimsFor(fresh)) })).toMatchObject({
      subject: 'ada',
    })
  })

  test('without a usable jwks_uri proves no ID token', async ({ fresh }) => {
    answerJson(fresh, DISCOVERY, 200, { ...(await metadataOf(fresh)), jwks_uri: '/jwks' })
    await expect(prove(fresh, { idToken: await fresh.sign(claimsFor(fresh)) })).rejects.toMatchObject({
      explanation: { cause: 'endpoint missing', diagnostics: 'jwksUri' },
    })
  })
})

describe('the claims of an identity', () => {
  test.for<[name: string, value: unknown]>([
    ['a lone surrogate', 'a\ud800'],
    ['U+0000', 'a\u0000b'],
    ['a nested value that cannot be stored', { deep: [{ name: '\ud83d' }] }],
    ['more than 64 KB', 'x'.repeat(70_000)],
    ['thousands of groups', Array.from({ length: 9000 }, (_, index) => `group-${index}`)],
  ])('are stored without the one that has %s', async ([, value], { upstream }) => {
    const claims = claimsFor(upstream, { odd: value, name: 'Ada', groups: ['a'] })
    expect((await prove(upstream, { idToken: await upstream.sign(claims) })).claims).toEqual({
      sub: 'ada',
      name: 'Ada',
      groups: ['a'],
    })
  })

  test('are stored up to 64 KB, those that are copied to a user first', async ({ upstream }) => {
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`a${index}`, 'x'.repeat(90)]))
    const idToken = await upstream.sign(
      claimsFor(upstream, { ...many, email: 'a@b.example', email_verified: false, profile: 'p'.repeat(900) }),
    )
    expect(idToken.length).toBeGreaterThan(100_000)
    const { claims } = await prove(upstream, { idToken })
    expect(claims).toMatchObject({ sub: 'ada', email: 'a@b.example', email_verified: false })
    expect(claims.profile).toHaveLength(900)
    expect(Object.keys(claims).length).toBeGreaterThan(500)
    expect(JSON.stringify(claims).length).toBeLessThanOrEqual(65_536)
  })

  test('come from an ID token of 500 KB that a code was redeemed for', async ({ upstream }) => {
    const id_token = await upstream.sign(claimsFor(upstream, { name: 'Ada', photo: 'x'.repeat(370_000) }))
    expect(id_token.length).toBeGreaterThan(490_000)
    answerJson(upstream, '/token', 200, { access_token: 'x'.repeat(30_000), id_token, error: null })
    expect(await prove(upstream, { code: 'x' })).toMatchObject({ claims: { sub: 'ada', name: 'Ada' } })
  })

  test('do not change the prototype of what is stored', async ({ upstream }) => {
    const claims = JSON.stringify(claimsFor(upstream)).replace('{', '{"__proto__":{"admin":true},')
    const proven = await prove(upstream, { idToken: await upstream.signText(claims) })
    expect(Object.getPrototypeOf(proven.claims)).toBe(Object.prototype)
    expect('admin' in proven.claims).toBe(false)
  })
})

describe('the subject', () => {
  const numbers = ['9007199254740993', '12345678901234567890', '-12345678901234567890', '4711']

  test.for(numbers)('%s of an ID token is kept as it is written', async (number, { upstream }) => {
    const claims = JSON.stringify(claimsFor(upstream)).replace('"ada"', `${number},"other":[1.5,"${number}"]`)
    const proven = await prove(upstream, { idToken: await upstream.signText(claims) })
    expect(proven.subject).toBe(number)
    expect(proven.claims.other).toEqual([1.5, number])
  })

  stubTest.for(numbers)(
    '%s of a userinfo response is kept as it is written',
    async (number, { stub, configure, prove: link }) => {
      const idpId = await configure({ type: 'oauth2', userInfoEndpoint: `${stub.origin}/user` })
      stub.texts['/user'] = `{"login":"a\\"${number}\\"","id":${number}}`
      expect(await link(idpId, { accessToken: 'x' })).toMatchObject({
        externalId: number,
        metadata: { login: `a"${number}"` },
      })
    },
  )

  stubTest('is the first usable claim, and required', async ({ stub, configure, prove: link }) => {
    const idpId = await configure({ type: 'oauth2', userInfoEndpoint: `${stub.origin}/user` })
    for (const [index, sub] of [null, '', [], {}, 'x'.repeat(256)].entries()) {
      stub.answers['/user'] = { sub, id: `other-${index}` }
      expect(await link(idpId, { accessToken: 'x' })).toMatchObject({ externalId: `other-${index}` })
    }
    for (const id of ['a\u0000b', 'a\ud800', 'x'.repeat(256), '', null, {}, [], true, 1e300, 7.5]) {
      stub.answers['/user'] = { id }
      expect([id, await link(idpId, { accessToken: 'x' })]).toMatchObject([id, { code: 'UNAVAILABLE' }])
    }
  })
})
