import 'node:events'
import { describe, expect } from 'vitest'
import { linkIssue, TAKEN_IDENTITY, test } from '../support/idp-links.ts'
import { SURFACES } from '../support/idps.ts'
import type { Json } from '../support/json.ts'

describe.for(SURFACES)('link by an access token over %s', (surface) => {
  test('reads the identity from the userinfo endpoint', async ({ writers, upstream, newIdp, newUserId }) => {
    const { link } = writers[surface]
    const [userId, idpId] = [await newUserId(), await newIdp()]
    const { accessToken } = await upstream.tokensFor(`bob-${idpId}`)
    expect(await link(userId, idpId, { accessToken })).toMatchObject({
      status: 200,
      externalId: `bob-${idpId}`,
      metadata: { email: `bob-${idpId}@upstream.example`, email_verified: false },
    })
    // An ID token with the same subject is the same identity.
    const { idToken } = await upstream.tokensFor(`bob-${idpId}`)
    expect(await link(userId, idpId, { idToken })).toMatchObject({ status: 200 })
    expect(await link(await newUserId(), idpId, { idToken })).toEqual(TAKEN_IDENTITY)
  })

  test('rejects a token that the provider rejects, and a token of another client', async ({
    writers,
    upstream,
    newIdp,
    newUserId,
    findStored,
  }) => {
    const { link } = writers[surface]
    const [userId, idpId] = [await newUserId(), await newIdp()]
    const { accessToken } = await upstream.tokensFor('eve', { clientId: 'another' })
    expect(await link(userId, idpId, { accessToken: 'made up' })).toEqual(
      linkIssue('accessToken', 'is not accepted by the provider'),
    )
    expect(await link(userId, idpId, { accessToken })).toEqual(
      linkIssue('accessToken', 'was issued to another client'),
    )
    expect(await findStored(userId)).toEqual([])
  })
})

describe.for(SURFACES)('link by an access token in JWT format over %s', (surface) => {
  // A client without a secret cannot introspect the token.
  test('rejects a token that names another client', async ({
    writers,
    upstream,
    newIdp,
    newUserId,
    findStored,
  }) => {
    const { link } = writers[surface]
    const [userId, idpId] = [await newUserId(), await newIdp({ clientSecret: null })]
    upstream.before.set('/me', (_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"sub": "eve"}')
      return true
    })
    for (const named of ['client_id', 'azp']) {
      const accessToken = await upstream.sign({ sub: 'eve', [named]: 'another' }, { typ: 'at+jwt' })
      expect(await link(userId, idpId, { accessToken })).toEqual(
        linkIssue('accessToken', 'was issued to another client'),
      )
    }
    upstream.before.delete('/me')
    expect(await findStored(userId)).toEqual([])
  })
})

describe.for(SURFACES)('link by an authorization code over %s', (surface) => {
  test('redeems the code and verifies the ID token of the response', async ({
    writers,
    upstream,
    newIdp,
    newUserId,
  }) => {
    const { link } = writers[surface]
    const [userId, idpId] = [await newUserId(), await newIdp()]
    const proof = await upstream.codeFor(`carl-${idpId}`)
    expect(await link(userId, idpId, proof)).toMatchObject({ status: 200, externalId: `carl-${idpId}` })
    expect(upstream.asked.filter((path) => path === '/token')).toHaveLength(1)
  })

  test('rejects a redeemed code, a code of another client, and a wrong code verifier or redirect URI', async ({
    writers,
    upstream,
    newIdp,
    newUserId,
    findStored,
  }) => {
    const { link } = writers[surface]
    const [userId, idpId] = [await newUserId(), await newIdp()]
    const REJECTED = linkIssue('code', 'is not accepted by the provider: invalid_grant')
    const used = await upstream.codeFor(`once-${idpId}`)
    const other = await newUserId()
    expect(await link(userId, idpId, used)).toMatchObject({ status: 200 })
    expect(await link(userId, idpId, used)).toEqual(REJECTED)
    for (const wrong of [
      await upstream.codeFor('eve', { clientId: 'another' }),
      { ...(await upstream.codeFor('eve')), codeVerifier: 'x'.repeat(43) },
      { ...(await upstream.codeFor('eve')), redirectUri: 'https://evil.example/callback' },
      { code: 'made up', redirectUri: upstream.redirectUri },
    ])
      expect(await link(other, idpId, wrong)).toEqual(REJECTED)
    expect(await findStored(other)).toEqual([])
  })

  test('reports invalid_client of the provider, and no other text of its answer', async ({
    writers,
    upstream,
    newIdp,
    newUserId,
  }) => {
    const { link } = writers[surface]
    const [userId, idpId] = [await newUserId(), await newIdp({ clientSecret: 'wrong' })]
    const proof = await upstream.codeFor('eve')
    const answer = await link(userId, idpId, proof)
    expect(answer).toEqual(linkIssue('code', 'is not accepted by the provider: invalid_client'))
  })
})

describe.for(SURFACES)('the proof of a link over %s', (surface) => {
  test('is exactly one of idToken, accessToken and code', async ({
    writers,
    upstream,
    newIdp,
    newUserId,
  }) => {
    const { link } = writers[surface]
    const [userId, idpId] = [await newUserId(), await newIdp()]
    const field = async (body: object) =>
      (await link(userId, idpId, body)).fields.map((issue: Json) => [issue.field, issue.description])
    expect(await field({})).toEqual([['idToken', 'is required, or else accessToken or code']])
    expect(await field({ idToken: null })).toEqual([['idToken', 'is required, or else accessToken or code']])
    expect(await field({ idToken: '' })).toEqual([['idToken', 'must not be empty']])
    expect(await field({ idToken: 'a', accessToken: 'b', code: 'c' })).toEqual([
      ['accessToken', 'cannot be combined with idToken'],
      ['code', 'cannot be combined with idToken'],
    ])
    expect(await field({ idToken: 'a', redirectUri: 'https://a.example', codeVerifier: 'x' })).toEqual([
      ['redirectUri', 'requires code'],
      ['codeVerifier', 'requires code'],
    ])
    expect(await field({ code: 'a', redirectUri: 'javascript:alert(1)' })).toEqual([
      ['redirectUri', 'must be an http or https URL'],
    ])
    expect(upstream.asked).toEqual([])
  })
})
