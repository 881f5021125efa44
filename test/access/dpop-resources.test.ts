import { describe, expect } from 'vitest'
import { createNonce, getNonceStatus } from '../../src/access/dpop/dpop-nonces.ts'
import { addResourceMetadata } from '../../src/access/protected-resources.ts'
import { apiAudienceOf } from '../../src/core/issuer.ts'
import { issueAccessToken } from '../../src/oidc/token/access-tokens.ts'
import { DPOP_ALGS } from '../support/dpop.ts'
import { test as base, ORIGIN } from '../support/dpop-resources.ts'
import { type ClientKey, makeProof } from '../support/proofs.ts'
import { makeClient } from '../support/protocol.ts'
import { openEventStream } from '../support/streams.ts'

/** What the proofs of a table are made with. */
type Use = {
  prove: (claims?: object, by?: ClientKey, token?: string) => Promise<string>
  bearer: string
  urlOf: (path: string) => string
  otherKey: ClientKey
}
const createOldNonce = (minutesAgo: number) => createNonce(new Date(Date.now() - minutesAgo * 60_000))
/** A request of a management surface. */
type Surface = { path: string; method: string; init: RequestInit; headers: Record<string, string> }
const SURFACES: Record<string, Surface> = {
  REST: { path: '/api/v1/users?pageSize=1', method: 'GET', init: {}, headers: {} },
  GraphQL: {
    path: '/graphql',
    method: 'POST',
    init: { body: '{"query":"{ users { page } }"}' },
    headers: { 'content-type': 'application/json' },
  },
  'GraphQL by GET': {
    path: '/graphql?query={users{page}}',
    method: 'GET',
    init: {},
    headers: { accept: 'application/json' },
  },
}

/** With calls of the management surfaces that carry a proof. */
const test = base.extend(
  'call',
  { scope: 'file' },
  ({ app, tenant }) =>
    async (surface: Surface, scheme: string, token: string, proof: string | null, more: object = {}) => {
      const response = await app.fetch(`/${tenant}${surface.path}`, {
        method: surface.method,
        headers: {
          ...surface.headers,
          authorization: `${scheme} ${token}`,
          ...(proof !== null && { dpop: proof }),
          ...more,
        },
        ...surface.init,
      })
      return {
        status: response.status,
        headers: response.headers,
        challenge: response.headers.get('www-authenticate') ?? '',
        nonce: response.headers.get('dpop-nonce'),
        body: await response.text(),
      }
    },
)

describe.each(Object.entries(SURFACES))('%s (RFC 9449, section 7)', (_name, surface) => {
  const path = surface.path.split('?')[0] as string
  test('accepts a bound token with a proof once, and a bearer token', async ({
    bound,
    bearer,
    proveFor,
    call,
  }) => {
    const proof = await proveFor(surface.method, path)
    expect((await call(surface, 'DPoP', bound, proof)).status).toBe(200)
    const again = await call(surface, 'DPoP', bound, proof)
    expect(again).toMatchObject({
      status: 401,
      challenge: expect.stringMatching(
        `^DPoP error="invalid_dpop_proof", error_description="[^"]+", ${DPOP_ALGS}, resource_metadata="[^"]+"$`,
      ),
    })
    expect((await call(surface, 'Bearer', bearer, null)).status).toBe(200)
  })

  test('accepts a proof once of 50 concurrent uses', async ({ bound, proveFor, call }) => {
    const proof = await proveFor(surface.method, path)
    const answers = await Promise.all(Array.from({ length: 50 }, () => call(surface, 'DPoP', bound, proof)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(49)
  })

  test('rejects a bound token with the Bearer scheme and an unbound token with the DPoP scheme', async ({
    bound,
    bearer,
    proveFor,
    call,
  }) => {
    for (const proof of [null, await proveFor(surface.method, path)]) {
      const answer = await call(surface, 'Bearer', bound, proof)
      expect(answer).toMatchObject({
        status: 401,
        challenge: expect.stringContaining('DPoP error="invalid_token"'),
      })
      expect(answer.body).toContain('bound to a key')
    }
    const swapped = await call(
      surface,
      'DPoP',
      bearer,
      await proveFor(surface.method, path, {}, undefined, bearer),
    )
    expect(swapped).toMatchObject({ status: 401 })
    expect(swapped.body).toContain('not bound to a key')
  })

  test.for<[name: string, make: (use: Use) => Promise<string> | string | null, error: string, words: string]>(
    [
      ['no proof', () => null, 'invalid_dpop_proof', 'The DPoP header is missing.'],
      ['a proof that is not a JWT', () => 'abc', 'invalid_dpop_proof', 'The DPoP header is not a JWT.'],
      ['no ath', ({ prove }) => prove({ ath: undefined }), 'invalid_dpop_proof', 'The claim ath of'],
      [
        'the ath of another token',
        ({ prove, bearer }) => prove({}, undefined, bearer),
        'invalid_dpop_proof',
        'The claim ath of',
      ],
      ['another method', ({ prove }) => prove({ htm: 'DELETE' }), 'invalid_dpop_proof', 'The claim htm of'],
      [
        'another path',
        ({ prove, urlOf }) => prove({ htu: urlOf('/api/v1/clients') }),
        'invalid_dpop_proof',
        'The claim htu of',
      ],
      [
        'another tenant',
        ({ prove }) => prove({ htu: 'http://localhost:3000/other/graphql' }),
        'invalid_dpop_proof',
        'The claim htu of',
      ],
      [
        'a proof by another key',
        ({ prove, otherKey }) => prove({}, otherKey),
        'invalid_token',
        'is signed with another key',
      ],
      ['no nonce', ({ prove }) => prove({ nonce: undefined }), 'use_dpop_nonce', 'must have the nonce'],
      [
        'an expired nonce',
        ({ prove }) => prove({ nonce: createOldNonce(7) }),
        'use_dpop_nonce',
        'must have the nonce',
      ],
    ],
  )(
    'rejects a bound token with %s and describes the error',
    async ([_name, make, error, words], { keys, bound, bearer, urlOf, proveFor, call }) => {
      const prove: Use['prove'] = (...changes) => proveFor(surface.method, path, ...changes)
      const proof = await make({ prove, bearer, urlOf, otherKey: keys.otherKey })
      const answer = await call(surface, 'DPoP', bound, proof)
      expect(answer).toMatchObject({
        status: 401,
        challenge: expect.stringContaining(`DPoP error="${error}"`),
      })
      expect(answer.challenge).toContain(words)
      expect(answer.body).toContain('UNAUTHENTICATED')
      expect(answer.body).toContain(words)
      expect(answer.nonce === null).toBe(error !== 'use_dpop_nonce')
    },
  )

  test('returns a new nonce before the last one expires', async ({ bound, proveFor, call }) => {
    const answer = await call(
      surface,
      'DPoP',
      bound,
      await proveFor(surface.method, path, { nonce: createOldNonce(3) }),
    )
    expect(answer.status).toBe(200)
    expect(getNonceStatus(answer.nonce ?? '')).toBe('current')
  })

  test('exposes the nonce to the origins of the client', async ({ bound, proveFor, call }) => {
    const answer = await call(
      surface,
      'DPoP',
      bound,
      await proveFor(surface.method, path, { nonce: undefined }),
      { origin: ORIGIN },
    )
    expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    expect(answer.headers.get('access-control-expose-headers')).toContain('dpop-nonce')
  })

  test('rejects an invalid token before it verifies the proof', async ({ bound, proveFor, call }) => {
    const answer = await call(
      surface,
      'DPoP',
      `${bound.slice(0, -4)}AAAA`,
      await proveFor(surface.method, path),
    )
    expect(answer).toMatchObject({
      status: 401,
      challenge: expect.stringMatching(/^DPoP error="invalid_token"/),
    })
  })
})

describe('a bound access token', () => {
  test('without the scope is rejected by a DPoP challenge (RFC 9449, section 7.1)', async ({
    app,
    tenant,
    keys,
    issueToken,
    urlOf,
  }) => {
    const reader = await issueToken(keys.key.thumbprint, ['clients:read'])
    const url = urlOf('/api/v1/users')
    const dpop = await makeProof(keys.key, { method: 'GET', url, nonce: createNonce(), token: reader })
    const response = await app.fetch(`/${tenant}/api/v1/users`, {
      headers: { authorization: `DPoP ${reader}`, dpop },
    })
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      403,
      addResourceMetadata(
        `DPoP error="insufficient_scope", scope="users:read", ${DPOP_ALGS}`,
        tenant,
        'api/v1',
      ),
    ])
  })

  test('of an operator is accepted in another tenant with a proof for that tenant', async ({
    app,
    tenant,
    keys,
    urlOf,
  }) => {
    const operator = await makeClient('system', {
      appType: 'machine',
      callbacks: [],
      scopes: ['users:read'],
      allTenants: true,
    })
    const token = await issueAccessToken('system', {
      subject: operator.id,
      clientId: operator.id,
      scopes: ['users:read'],
      audience: [apiAudienceOf('system')],
      lifetimeSeconds: 600,
      dpopJkt: keys.key.thumbprint,
    })
    const url = urlOf('/api/v1/users')
    const dpop = await makeProof(keys.key, { method: 'GET', url, nonce: createNonce(), token })
    const response = await app.fetch(`/${tenant}/api/v1/users`, {
      headers: { authorization: `DPoP ${token}`, dpop },
    })
    expect(response.status).toBe(200)
  })

  test('opens an event stream with one proof', async ({ app, tenant, bound, proveFor }) => {
    const url = `${app.origin}/${tenant}/graphql`
    const dpop = await proveFor('POST', '/graphql')
    const headers = { authorization: `DPoP ${bound}`, dpop }
    const stream = await openEventStream(
      url,
      bound,
      'subscription { userChanged { __typename } }',
      {},
      headers,
    )
    expect(stream.status).toBe(200)
    stream.close()
    const again = await openEventStream(
      url,
      bound,
      'subscription { userChanged { __typename } }',
      {},
      headers,
    )
    expect(again.status).toBe(401)
    again.close()
  })
})
