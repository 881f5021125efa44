import { describe, expect } from 'vitest'
import { createNonce, getNonceStatus } from '../../src/access/dpop/dpop-nonces.ts'
import { test as base, DPOP_ALGS, type Prover, toMinutesAgo } from '../support/dpop.ts'
import { logOf } from '../support/events.ts'
import { makeProof, nowSeconds } from '../support/proofs.ts'

const test = base
  .extend(
    'token',
    { scope: 'file' },
    async ({ client, issueBoundTokens }) => (await issueBoundTokens(client)).access_token as string,
  )
  .extend(
    'bearer',
    { scope: 'file' },
    async ({ client, oidc, newCode }) =>
      (await oidc.exchange(await newCode(client))).body.access_token as string,
  )
  .extend(
    'present',
    { scope: 'file' },
    ({ token, callUserinfo }) =>
      async (proof: string | null, scheme = 'DPoP', value = token) =>
        callUserinfo({ authorization: `${scheme} ${value}`, ...(proof !== null && { dpop: proof }) }),
  )

describe('userinfo (RFC 9449, section 7)', () => {
  const readError = async (response: Response) => ({
    status: response.status,
    error: ((await response.json()) as { error: string }).error,
    challenge: response.headers.get('www-authenticate') ?? '',
  })

  test('accepts a bound token with the DPoP scheme and a proof', async ({
    token,
    prover,
    callUserinfo,
    present,
  }) => {
    for (const scheme of ['DPoP', 'dpop', 'DPOP'])
      expect((await present(await prover.proveAt(prover.userinfoUrl, token), scheme)).status).toBe(200)
    const posted = await callUserinfo(
      {
        authorization: `DPoP ${token}`,
        dpop: await prover.proveAt(prover.userinfoUrl, token, {}, prover.key, 'POST'),
      },
      { method: 'POST' },
    )
    expect(posted.status).toBe(200)
  })

  test('rejects a bound token with the Bearer scheme and in the form (section 7.2)', async ({
    token,
    prover,
    callUserinfo,
    present,
  }) => {
    const responses = [
      await present(null, 'Bearer'),
      await present(await prover.proveAt(prover.userinfoUrl, token), 'Bearer'),
      await callUserinfo({}, { method: 'POST', body: new URLSearchParams({ access_token: token }) }),
    ]
    for (const response of responses)
      expect(await readError(response)).toEqual({
        status: 401,
        error: 'invalid_token',
        challenge: expect.stringMatching(
          `^DPoP error="invalid_token", error_description="[^"]+", ${DPOP_ALGS}$`,
        ),
      })
  })

  test('rejects an unbound token with the DPoP scheme', async ({ prover, bearer, present }) => {
    const response = await present(await prover.proveAt(prover.userinfoUrl, bearer), 'DPoP', bearer)
    expect(await readError(response)).toMatchObject({ status: 401, error: 'invalid_token' })
  })

  test.for<[name: string, make: (prover: Prover, token: string, bearer: string) => Promise<string> | null]>([
    ['no proof', () => null],
    ['no ath', (prover, token) => prover.proveAt(prover.userinfoUrl, token, { ath: undefined })],
    ['the ath of another token', (prover, _token, bearer) => prover.proveAt(prover.userinfoUrl, bearer)],
    ['another method', (prover, token) => prover.proveAt(prover.userinfoUrl, token, { htm: 'POST' })],
    ['another URL', (prover, token) => prover.proveAt(`${prover.issuer}/oidc/token`, token)],
    ['an old iat', (prover, token) => prover.proveAt(prover.userinfoUrl, token, { iat: nowSeconds() - 100 })],
    [
      'another type',
      (prover, token) =>
        makeProof(
          prover.key,
          { method: 'GET', url: prover.userinfoUrl, nonce: createNonce(), token },
          { header: { typ: 'JWT' } },
        ),
    ],
  ])('rejects a bound token with %s', async ([_name, make], { token, prover, bearer, present }) => {
    expect(await readError(await present(await make(prover, token, bearer)))).toEqual({
      status: 401,
      error: 'invalid_dpop_proof',
      challenge: expect.stringMatching(
        `^DPoP error="invalid_dpop_proof", error_description="[^"]+", ${DPOP_ALGS}$`,
      ),
    })
  })

  test('rejects a token with a proof by another key (section 4.3)', async ({ token, prover, present }) => {
    const response = await present(await prover.proveAt(prover.userinfoUrl, token, {}, prover.otherKey))
    expect(await readError(response)).toMatchObject({
      status: 401,
      error: 'invalid_token',
      challenge: expect.stringContaining('DPoP error="invalid_token"'),
    })
  })

  test('records the misuse of a valid bound token and nothing about an invalid token', async ({
    tenant,
    token,
    client,
    prover,
    findDiagnostics,
    present,
  }) => {
    const byBearer = await present(null, 'Bearer')
    expect(await findDiagnostics(byBearer)).toMatchObject({
      error: 'invalid_token',
      endpoint: 'userinfo',
      reason: expect.stringContaining('a bound access token'),
    })
    const elsewhere = await present(await prover.proveAt(`${prover.issuer}/oidc/token`, token))
    expect(await findDiagnostics(elsewhere)).toMatchObject({
      error: 'invalid_dpop_proof',
      endpoint: 'userinfo',
      claim: 'htu',
      expected: prover.userinfoUrl,
    })
    const event = (await logOf(tenant)).find(
      ({ requestId }) => requestId === elsewhere.headers.get('x-request-id'),
    )
    expect(event).toMatchObject({ type: 'token.refused', subjectIds: [client.id] })
    const invalid = await present(null, 'Bearer', `${token.slice(0, -4)}AAAA`)
    expect([invalid.status, await findDiagnostics(invalid)]).toEqual([401, undefined])
  })

  test('rejects a proof that was used before', async ({ token, prover, present }) => {
    const proof = await prover.proveAt(prover.userinfoUrl, token)
    expect((await present(proof)).status).toBe(200)
    expect(await readError(await present(proof))).toMatchObject({ status: 401, error: 'invalid_dpop_proof' })
  })

  test('returns a nonce with the challenge and before the last one expires (sections 8.2 and 9)', async ({
    token,
    prover,
    findDiagnostics,
    present,
  }) => {
    const response = await present(await prover.proveAt(prover.userinfoUrl, token, { nonce: undefined }))
    const nonce = response.headers.get('dpop-nonce') as string
    expect(await readError(response)).toMatchObject({
      status: 401,
      error: 'use_dpop_nonce',
      challenge: expect.stringContaining('DPoP error="use_dpop_nonce"'),
    })
    expect(await findDiagnostics(response)).toBeUndefined()
    expect((await present(await prover.proveAt(prover.userinfoUrl, token, { nonce }))).status).toBe(200)
    const ageing = await present(
      await prover.proveAt(prover.userinfoUrl, token, { nonce: createNonce(toMinutesAgo(3)) }),
    )
    expect(getNonceStatus(ageing.headers.get('dpop-nonce') ?? '')).toBe('current')
  })

  test('exposes the nonce to the origins of the client (Fetch, section 3.2)', async ({
    newClient,
    prover,
    callUserinfo,
    issueBoundTokens,
  }) => {
    const origin = 'https://spa.example.com'
    const client = await newClient({ appType: 'single-page', allowedOrigins: [origin] })
    const { access_token: own = '' } = await issueBoundTokens(client)
    const response = await callUserinfo({
      origin,
      authorization: `DPoP ${own}`,
      dpop: await prover.proveAt(prover.userinfoUrl, own, { nonce: undefined }),
    })
    expect(response.headers.get('access-control-allow-origin')).toBe(origin)
    expect(response.headers.get('access-control-expose-headers')).toContain('dpop-nonce')
    expect(response.headers.get('dpop-nonce')).not.toBeNull()
  })
})
