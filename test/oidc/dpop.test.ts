import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { sql } from '../../src/db.ts'
import { currentNonce, standingOfNonce } from '../../src/oidc/client-auth/dpop-nonces.ts'
import { newTenant } from '../support/actors.ts'
import { logOf } from '../support/events.ts'
import { type ClientKey, makeAssertion, makeKey, makeProof, nowSeconds, unsigned } from '../support/proofs.ts'
import { countWarmStatements } from '../support/statements.ts'
import { decide, pollWith, startDevice } from './device-flow.ts'
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
  type TokenAnswer,
  tokenRequest,
} from './provider.ts'

type Client = Awaited<ReturnType<typeof makeClient>>

let provider: Provider
let tenant: string
let issuer: string
let machine: Client
let web: Client
let spa: Client
let key: ClientKey
let otherKey: ClientKey
let browser: Browser

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  issuer = `http://localhost:3000/${tenant}`
  machine = await makeClient(tenant, { appType: 'machine', callbacks: [], scopes: ['users:read'] })
  web = await makeClient(tenant)
  spa = await makeClient(tenant, { appType: 'single-page' })
  key = await makeKey()
  otherKey = await makeKey()
  await makeUser(tenant, 'ada@example.com')
  browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, web), 'ada@example.com')
})
afterAll(() => provider.close())

const MINUTE_MS = 60_000
/** What JSON can hold and JavaScript can make neither a text nor a number of. */
const ODD = { toString: 1, valueOf: 1 }
/** What JSON.parse reads and JSON.stringify cannot write, within the 16 KB of all headers. */
const NESTED = '['.repeat(5200) + ']'.repeat(5200)
const header = (text: string): string => `${Buffer.from(text).toString('base64url')}.e30.AA`
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS)

/** A good proof for the token endpoint, but for the changes. */
const prove = (claims: object = {}, header: object = {}, by = key) =>
  makeProof(by, { method: 'POST', url: `${issuer}/oidc/token`, nonce: currentNonce() }, { claims, header })
const ask = (proof: string, form: Record<string, string> = {}, client = machine): Promise<TokenAnswer> =>
  tokenRequest(provider, tenant, client, { grant_type: 'client_credentials', ...form }, { dpop: proof })

/** A proof for a resource with a token. */
const proveAt = (url: string, token: string, claims: object = {}, by = key, method = 'GET') =>
  makeProof(by, { method, url, nonce: currentNonce(), token }, { claims })
const userinfoUrl = () => `${issuer}/oidc/userinfo`
const callUserinfo = (headers: Record<string, string>, init: RequestInit = {}) =>
  fetch(`${provider.origin}/${tenant}/oidc/userinfo`, { headers, ...init })

async function newCode(client: Client, more: Record<string, string> = {}): Promise<string> {
  const path = authorizePath(tenant, client, { prompt: 'none', scope: 'openid offline_access', ...more })
  return answerIn((await browser.fetch(path)).headers.get('location')).code as string
}
/** Redeems a code with a proof, or without one. */
async function redeem(client: Client, code: string, proof: string | null): Promise<TokenAnswer> {
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: 'https://rp.example.com/cb',
    code_verifier: 'a-code-verifier-of-at-least-forty-three-characters',
  }
  return tokenRequest(provider, tenant, client, form, proof === null ? {} : { dpop: proof })
}
const boundTokens = async (client: Client) =>
  (await redeem(client, await newCode(client), await prove())).body

async function whyOf({ headers }: { headers: Headers }) {
  const requestId = headers.get('x-request-id')
  return (await logOf(tenant)).find((event) => event.requestId === requestId)?.detail
}

describe('the token endpoint (RFC 9449, section 5)', () => {
  test('binds the access token to the key of the proof, for every grant', async () => {
    const machines = await ask(await prove())
    expect(machines).toMatchObject({ status: 200, body: { token_type: 'DPoP' } })
    expect(decodeJwt(machines.body.access_token as string).cnf).toEqual({ jkt: key.thumbprint })
    for (const client of [web, spa]) {
      const first = await boundTokens(client)
      expect(first.token_type).toBe('DPoP')
      expect(decodeJwt(first.access_token as string).cnf).toEqual({ jkt: key.thumbprint })
      const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token as string }
      const second = await ask(await prove(), form, client)
      expect(second.body.token_type).toBe('DPoP')
      expect(decodeJwt(second.body.access_token as string).cnf).toEqual({ jkt: key.thumbprint })
    }
  })

  test('without a proof gives Bearer tokens', async () => {
    const { body } = await tokenRequest(provider, tenant, machine, { grant_type: 'client_credentials' })
    expect(body.token_type).toBe('Bearer')
    expect(decodeJwt(body.access_token as string).cnf).toBeUndefined()
  })

  test.each(['ES256', 'ES384', 'ES512', 'RS256', 'PS256', 'EdDSA', 'Ed25519'])(
    'takes proofs by %s',
    async (alg) => {
      expect(await ask(await prove({}, {}, await makeKey(alg)))).toMatchObject({ status: 200 })
    },
  )

  test.each([
    ['a query and a fragment', (url: string) => `${url}?a=b#c`],
    ['the host in capitals', (url: string) => url.replace('localhost', 'LOCALHOST')],
    ['a path with dots', (url: string) => url.replace('/oidc/', '/x/../oidc/./')],
  ])('takes an htu with %s (RFC 9449, section 4.3)', async (_name, change) => {
    expect(await ask(await prove({ htu: change(`${issuer}/oidc/token`) }))).toMatchObject({ status: 200 })
  })

  const secretJwk = async () => ({ ...key.jwk, d: Buffer.alloc(32, 1).toString('base64url') })
  test.each<[string, () => Promise<string> | string, object]>([
    [
      'nothing in it',
      () => '',
      { description: 'The header DPoP is missing.', reason: expect.stringContaining('missing') },
    ],
    [
      'two proofs',
      async () => `${await prove()}, ${await prove()}`,
      {
        description: 'The header DPoP must hold exactly one proof.',
        reason: 'the header DPoP must hold exactly one proof',
      },
    ],
    ...['a.b.c', 'abc', 'a.b', '(a.b.c)'].map((text): [string, () => string, object] => [
      `${text} for a JWT`,
      () => text,
      { description: 'The header DPoP holds no JWT.', reason: 'the header DPoP holds no JWT' },
    ]),
    ['typ JWT', () => prove({}, { typ: 'JWT' }), { typ: 'JWT' }],
    ['no typ', () => prove({}, { typ: undefined }), { typ: 'none' }],
    [
      'alg none (security 34)',
      async () => unsigned({ alg: 'none', typ: 'dpop+jwt', jwk: key.jwk }, decodeJwt(await prove()), 'AA'),
      { alg: 'none' },
    ],
    [
      'alg HS256 with the public key for a secret (security 34)',
      async () => unsigned({ alg: 'HS256', typ: 'dpop+jwt', jwk: key.jwk }, decodeJwt(await prove()), 'AAAA'),
      { alg: 'HS256' },
    ],
    [
      'another algorithm than the key’s (security 34)',
      () => prove({}, { jwk: undefined }),
      { reason: 'the proof has no jwk' },
    ],
    [
      'the key of another one (security 34)',
      () => prove({}, { jwk: otherKey.jwk }),
      { reason: expect.any(String) },
    ],
    [
      'a private key',
      async () => prove({}, { jwk: await secretJwk() }),
      { reason: 'the jwk of the proof has private members' },
    ],
    [
      'a symmetric key',
      () => prove({}, { jwk: { kty: 'oct', k: 'AAAA' } }),
      { reason: 'the jwk of the proof has private members' },
    ],
    [
      'a key off its curve',
      () => prove({}, { jwk: { ...key.jwk, x: key.jwk.y } }),
      { reason: expect.any(String) },
    ],
    [
      'an RSA key that is slow to check (security 61)',
      () => prove({}, { jwk: { kty: 'RSA', n: 'x'.repeat(1400), e: 'AQAB' } }),
      { reason: 'the RSA key of the proof is too long' },
    ],
    [
      'an RSA exponent that is slow to check (security 61)',
      () => prove({}, { jwk: { kty: 'RSA', n: 'x'.repeat(400), e: 'x'.repeat(400) } }),
      { reason: 'the RSA key of the proof is too long' },
    ],
    ['a signature that was cut (security 26)', async () => (await prove()).slice(0, -1), { alg: 'ES256' }],
    ['another method', () => prove({ htm: 'GET' }), { claim: 'htm', given: 'GET', expected: 'POST' }],
    ['a method in small letters', () => prove({ htm: 'post' }), { claim: 'htm' }],
    ['no method', () => prove({ htm: undefined }), { claim: 'htm' }],
    [
      'another endpoint, whose query is nobody else’s business,',
      () => prove({ htu: `${issuer}/oidc/userinfo?access_token=a-secret` }),
      {
        claim: 'htu',
        given: expect.stringMatching(/userinfo$/),
        expected: expect.stringContaining('token'),
      },
    ],
    ['another host', () => prove({ htu: 'http://evil.example/oidc/token' }), { claim: 'htu' }],
    ['another port', () => prove({ htu: `http://localhost:3001/${tenant}/oidc/token` }), { claim: 'htu' }],
    [
      'another scheme',
      () => prove({ htu: `${issuer}/oidc/token`.replace('http', 'https') }),
      { claim: 'htu' },
    ],
    [
      'a name before the host',
      () => prove({ htu: `http://a@localhost:3000/${tenant}/oidc/token` }),
      { claim: 'htu' },
    ],
    ['a path alone', () => prove({ htu: `/${tenant}/oidc/token` }), { claim: 'htu' }],
    ['a list of URLs', () => prove({ htu: [`${issuer}/oidc/token`] }), { claim: 'htu' }],
    ['no URL', () => prove({ htu: undefined }), { claim: 'htu' }],
    [
      'a time long ago',
      () => prove({ iat: nowSeconds() - 100 }),
      { claim: 'iat', seconds_old: expect.closeTo(100, -1) },
    ],
    [
      'a time to come',
      () => prove({ iat: nowSeconds() + 100 }),
      { claim: 'iat', seconds_old: expect.closeTo(-100, -1) },
    ],
    ['no time', () => prove({ iat: undefined }), { claim: 'iat', seconds_old: null }],
    ['a time that is no number', () => prove({ iat: ODD }), { reason: expect.stringContaining('iat') }],
    ['a method that is no text', () => prove({ htm: ODD }), { claim: 'htm' }],
    ['a type that is no text', () => prove({}, { typ: ODD }), { typ: JSON.stringify(ODD) }],
    [
      'members of a key that are no text',
      () => prove({}, { jwk: { kty: 'RSA', n: ODD, e: ODD } }),
      { reason: expect.any(String) },
    ],
    [
      'a type that is nested too deeply to be told (security 61)',
      () => header(`{"alg":"ES256","typ":${NESTED},"jwk":${JSON.stringify(key.jwk)}}`),
      { typ: 'nested too deeply to be told' },
    ],
    [
      'members of a key that are nested too deeply (security 61)',
      () =>
        header(`{"alg":"ES256","typ":"dpop+jwt","jwk":{"kty":"EC","crv":"P-256","x":${NESTED},"y":"AA"}}`),
      { reason: expect.any(String) },
    ],
    [
      'a modulus that is nested too deeply (security 61)',
      () => header(`{"alg":"RS256","typ":"dpop+jwt","jwk":{"kty":"RSA","n":${NESTED},"e":"AQAB"}}`),
      { reason: expect.stringContaining('RSA') },
    ],
    ['no jti', () => prove({ jti: undefined }), { claim: 'jti' }],
    ['a jti that is no text', () => prove({ jti: 1 }), { claim: 'jti' }],
  ])('refuses a proof with %s (section 4.3), and the log says why', async (_name, make, why) => {
    const answer = await ask(await make())
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: 'invalid_dpop_proof',
        // Of the proof, which the caller made; what was expected is for the log alone.
        error_description: expect.not.stringContaining('localhost'),
      },
    })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const told = await whyOf(answer)
    expect(told).toMatchObject({ error: 'invalid_dpop_proof', ...why })
    expect(answer.body.error_description).toBe(told?.description)
    if (told?.claim) expect(answer.body.error_description).toContain(`claim ${told.claim} of`)
  })

  test('takes it for the client that authenticates, and checks that one all the same', async () => {
    const wrong = { ...machine, secret: 'wrong' }
    expect(await ask(await prove(), {}, wrong)).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    })
  })
})

describe('nonces (RFC 9449, section 8)', () => {
  test.each<[string, () => unknown]>([
    ['no nonce', () => undefined],
    ['a nonce that is not ours', () => 'x'],
    ['a nonce that is no text', () => ODD],
    [
      'a nonce with another mac',
      () => `${currentNonce().slice(0, -1)}${currentNonce().endsWith('A') ? 'Q' : 'A'}`,
    ],
    ['a nonce of another minute', () => currentNonce().replace(/^[^.]+/, 'zzzzzz')],
    ['a nonce that has expired', () => currentNonce(minutesAgo(7))],
    ['a nonce of the future', () => currentNonce(minutesAgo(-3))],
  ])('a proof with %s is answered by one that is good', async (_name, nonce) => {
    const answer = await ask(await prove({ nonce: nonce() }))
    expect(answer).toMatchObject({ status: 400, body: { error: 'use_dpop_nonce' } })
    // Nothing was wrong: the log does not tell of it.
    expect(await whyOf(answer)).toBeUndefined()
    const given = answer.headers.get('dpop-nonce') as string
    expect(await ask(await prove({ nonce: given }))).toMatchObject({ status: 200 })
  })

  test('a fresh one is not replaced, an older one is before it runs out', async () => {
    // Whatever minute it is by the time it arrives: another process was ahead.
    const fresh = await ask(await prove({ nonce: currentNonce(minutesAgo(-1)) }))
    expect([fresh.status, fresh.headers.get('dpop-nonce')]).toEqual([200, null])
    for (const minutes of [2, 4]) {
      const older = await ask(await prove({ nonce: currentNonce(minutesAgo(minutes)) }))
      expect(older.status).toBe(200)
      expect(standingOfNonce(older.headers.get('dpop-nonce') ?? '')).toBe('current')
    }
  })

  test('one is good for five minutes at least, and for six at most', () => {
    const standings = (made: string, seconds: number[]) => {
      const nonce = currentNonce(new Date(made))
      return seconds.map((after) => standingOfNonce(nonce, new Date(Date.parse(made) + after * 1000)))
    }
    const first = standings('2026-01-01T00:00:00.000Z', [0, 59, 61, 359, 361])
    expect(first).toEqual(['current', 'current', 'ageing', 'ageing', 'stale'])
    expect(standings('2026-01-01T00:00:59.999Z', [0, 1, 300, 301])).toEqual([
      'current',
      'ageing',
      'ageing',
      'stale',
    ])
    // By the clock of a process that is behind.
    expect(standings('2026-01-01T00:00:00.000Z', [-60, -61])).toEqual(['current', 'foreign'])
  })

  test('who asks by a client assertion has it still when coming back with a nonce', async () => {
    const client = await makeClient(tenant, {
      appType: 'machine',
      callbacks: [],
      scopes: ['users:read'],
      jwks: { keys: [key.jwk] },
    })
    const form = {
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await makeAssertion(key, { clientId: client.id, audience: issuer }),
    }
    const send = async (proof: string) => tokenRequest(provider, tenant, null, form, { dpop: proof })
    expect((await send(await prove({ nonce: undefined }))).body.error).toBe('use_dpop_nonce')
    expect(await send(await prove())).toMatchObject({ status: 200, body: { token_type: 'DPoP' } })
  })
})

describe('a proof is for one use (RFC 9449, section 11.1)', () => {
  test('a second one is refused, and so is another one with its jti', async () => {
    const proof = await prove({ jti: 'one' })
    expect(await ask(proof)).toMatchObject({ status: 200 })
    for (const again of [proof, await prove({ jti: 'one' })]) {
      const answer = await ask(again)
      expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_dpop_proof' } })
      expect(await whyOf(answer)).toMatchObject({ reason: 'the proof was used before', given: 'one' })
    }
    expect(await ask(await prove({ jti: 'one' }, {}, otherKey))).toMatchObject({ status: 200 })
  })

  test('of 50 at once one is taken', async () => {
    const proof = await prove()
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(proof)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.error === 'invalid_dpop_proof')).toHaveLength(49)
  })

  test('it is remembered for as long as it could be used, and not for much longer', async () => {
    const elsewhere = await newTenant()
    const client = await makeClient(elsewhere, { appType: 'machine', callbacks: [], scopes: ['users:read'] })
    const proof = await prove({ htu: `http://localhost:3000/${elsewhere}/oidc/token` })
    const form = { grant_type: 'client_credentials' }
    expect(await tokenRequest(provider, elsewhere, client, form, { dpop: proof })).toMatchObject({
      status: 200,
    })
    const rows = await sql<{ left: number }>(
      `SELECT extract(epoch FROM "expiresAt" - now())::int AS "left" FROM "UsedProof" WHERE "tenantId" = $1`,
      [elsewhere],
    )
    expect(rows).toEqual([{ left: expect.closeTo(120, -1) }])
  })
})

describe('codes and refresh tokens that are bound to a key (RFC 9449, sections 5 and 10)', () => {
  test('a code that was asked for with dpop_jkt is for that key alone', async () => {
    const code = await newCode(web, { dpop_jkt: key.thumbprint })
    for (const proof of [await prove({}, {}, otherKey), null])
      expect(await redeem(web, code, proof)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await redeem(web, code, await prove())).toMatchObject({
      status: 200,
      body: { token_type: 'DPoP' },
    })
  })

  test.each(['x', 'A'.repeat(44), 'A'.repeat(42), `${'A'.repeat(42)}=`])(
    'authorize refuses the dpop_jkt %s',
    async (jkt) => {
      const response = await browser.fetch(authorizePath(tenant, web, { prompt: 'none', dpop_jkt: jkt }))
      expect(answerIn(response.headers.get('location')).error).toBe('invalid_request')
    },
  )

  test('a request that is pushed with a proof binds its code (section 10.1)', async () => {
    const push = async (more: Record<string, string> = {}, by = key) => {
      const url = `${issuer}/oidc/par`
      const asked = new URL(authorizePath(tenant, web, { prompt: 'none', ...more }), issuer).searchParams
      asked.set('client_secret', web.secret)
      const response = await fetch(`${provider.origin}/${tenant}/oidc/par`, {
        method: 'POST',
        headers: { dpop: await makeProof(by, { method: 'POST', url, nonce: currentNonce() }) },
        body: asked,
      })
      return (await response.json()) as Record<string, string>
    }
    expect((await push({ dpop_jkt: key.thumbprint }, otherKey)).error).toBe('invalid_request')
    const { request_uri = '' } = await push()
    const query = new URLSearchParams({ client_id: web.id, request_uri })
    const response = await browser.fetch(`/${tenant}/oidc/authorize?${query}`)
    const { code = '' } = answerIn(response.headers.get('location'))
    for (const proof of [await prove({}, {}, otherKey), null])
      expect(await redeem(web, code, proof)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await redeem(web, code, await prove())).toMatchObject({ status: 200 })
  })

  test('a device gets a token for its key, and a refresh token that is bound to it', async () => {
    const tv = await makeClient(tenant, { appType: 'native', callbacks: [] })
    const { body: device } = await startDevice(provider, tenant, tv)
    await decide(browser, tenant, device.user_code as string, 'allow')
    const poll = { dpop: await prove() }
    const { status, body } = await pollWith(provider, tenant, tv, device.device_code as string, {}, poll)
    expect([status, body.token_type]).toEqual([200, 'DPoP'])
    expect(decodeJwt(body.access_token as string).cnf).toEqual({ jkt: key.thumbprint })
    const refused = await refreshWith(provider, tenant, tv, body.refresh_token as string)
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('the refresh token of a public client is bound to the key', async () => {
    const { refresh_token: token = '' } = await boundTokens(spa)
    const form = { grant_type: 'refresh_token', refresh_token: token }
    const other = await ask(await prove({}, {}, otherKey), form, spa)
    expect(other).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    const none = await refreshWith(provider, tenant, spa, token)
    expect(none).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    // Neither has cost the person their grant.
    expect(await ask(await prove(), form, spa)).toMatchObject({ status: 200 })
  })

  test('that of a client that authenticates is bound by that, and may change its key', async () => {
    const { refresh_token: token = '' } = await boundTokens(web)
    const form = { grant_type: 'refresh_token', refresh_token: token }
    const { status, body } = await ask(await prove({}, {}, otherKey), form, web)
    expect(status).toBe(200)
    expect(decodeJwt(body.access_token as string).cnf).toEqual({ jkt: otherKey.thumbprint })
  })
})

describe('userinfo (RFC 9449, section 7)', () => {
  const ALGS = 'algs="ES256 ES384 ES512 RS256 PS256 EdDSA Ed25519"'
  let token: string
  let bearer: string
  beforeAll(async () => {
    token = (await boundTokens(web)).access_token as string
    bearer = (await exchange(provider, tenant, web, await newCode(web))).body.access_token as string
  })

  const present = async (proof: string | null, scheme = 'DPoP', value = token) =>
    callUserinfo({ authorization: `${scheme} ${value}`, ...(proof !== null && { dpop: proof }) })
  const refused = async (response: Response) => ({
    status: response.status,
    error: ((await response.json()) as { error: string }).error,
    challenge: response.headers.get('www-authenticate') ?? '',
  })

  test('takes a bound token by its scheme, with a proof', async () => {
    for (const scheme of ['DPoP', 'dpop', 'DPOP'])
      expect((await present(await proveAt(userinfoUrl(), token), scheme)).status).toBe(200)
    const posted = await callUserinfo(
      { authorization: `DPoP ${token}`, dpop: await proveAt(userinfoUrl(), token, {}, key, 'POST') },
      { method: 'POST' },
    )
    expect(posted.status).toBe(200)
  })

  test('a bound token is no bearer token: not in the header, not in the form (section 7.2)', async () => {
    const responses = [
      await present(null, 'Bearer'),
      await present(await proveAt(userinfoUrl(), token), 'Bearer'),
      await callUserinfo({}, { method: 'POST', body: new URLSearchParams({ access_token: token }) }),
    ]
    for (const response of responses)
      expect(await refused(response)).toEqual({
        status: 401,
        error: 'invalid_token',
        challenge: expect.stringMatching(`^DPoP error="invalid_token", error_description="[^"]+", ${ALGS}$`),
      })
  })

  test('a bearer token is none under the scheme DPoP', async () => {
    const response = await present(await proveAt(userinfoUrl(), bearer), 'DPoP', bearer)
    expect(await refused(response)).toMatchObject({ status: 401, error: 'invalid_token' })
  })

  test.each<[string, () => Promise<string> | null]>([
    ['no proof', () => null],
    ['no ath', () => proveAt(userinfoUrl(), token, { ath: undefined })],
    ['the ath of another token', () => proveAt(userinfoUrl(), bearer)],
    ['another method', () => proveAt(userinfoUrl(), token, { htm: 'POST' })],
    ['another URL', () => proveAt(`${issuer}/oidc/token`, token)],
    ['an older time', () => proveAt(userinfoUrl(), token, { iat: nowSeconds() - 100 })],
    [
      'another type',
      () =>
        makeProof(
          key,
          { method: 'GET', url: userinfoUrl(), nonce: currentNonce(), token },
          { header: { typ: 'JWT' } },
        ),
    ],
  ])('refuses a token with %s', async (_name, make) => {
    expect(await refused(await present(await make()))).toEqual({
      status: 401,
      error: 'invalid_dpop_proof',
      challenge: expect.stringMatching(
        `^DPoP error="invalid_dpop_proof", error_description="[^"]+", ${ALGS}$`,
      ),
    })
  })

  test('refuses the token of one key with the proof of another (section 4.3)', async () => {
    const response = await present(await proveAt(userinfoUrl(), token, {}, otherKey))
    expect(await refused(response)).toMatchObject({
      status: 401,
      error: 'invalid_token',
      challenge: expect.stringContaining('DPoP error="invalid_token"'),
    })
  })

  test('the log tells of a good token that is not presented as it is bound, and of none that is over', async () => {
    const byBearer = await present(null, 'Bearer')
    expect(await whyOf(byBearer)).toMatchObject({
      error: 'invalid_token',
      endpoint: 'userinfo',
      reason: expect.stringContaining('bound to a key'),
    })
    const elsewhere = await present(await proveAt(`${issuer}/oidc/token`, token))
    expect(await whyOf(elsewhere)).toMatchObject({
      error: 'invalid_dpop_proof',
      endpoint: 'userinfo',
      claim: 'htu',
      expected: userinfoUrl(),
    })
    const event = (await logOf(tenant)).find(
      ({ requestId }) => requestId === elsewhere.headers.get('x-request-id'),
    )
    expect(event).toMatchObject({ type: 'token.refused', subjectIds: [web.id] })
    const spoilt = await present(null, 'Bearer', `${token.slice(0, -4)}AAAA`)
    expect([spoilt.status, await whyOf(spoilt)]).toEqual([401, undefined])
  })

  test('refuses a proof that was used', async () => {
    const proof = await proveAt(userinfoUrl(), token)
    expect((await present(proof)).status).toBe(200)
    expect(await refused(await present(proof))).toMatchObject({ status: 401, error: 'invalid_dpop_proof' })
  })

  test('asks for a nonce by its challenge, and hands out the next one in time (sections 8.2 and 9)', async () => {
    const response = await present(await proveAt(userinfoUrl(), token, { nonce: undefined }))
    const nonce = response.headers.get('dpop-nonce') as string
    expect(await refused(response)).toMatchObject({
      status: 401,
      error: 'use_dpop_nonce',
      challenge: expect.stringContaining('DPoP error="use_dpop_nonce"'),
    })
    // Nothing was wrong, here either.
    expect(await whyOf(response)).toBeUndefined()
    expect((await present(await proveAt(userinfoUrl(), token, { nonce }))).status).toBe(200)
    const ageing = await present(await proveAt(userinfoUrl(), token, { nonce: currentNonce(minutesAgo(3)) }))
    expect(standingOfNonce(ageing.headers.get('dpop-nonce') ?? '')).toBe('current')
  })

  test('tells an application of another origin its nonce (Fetch, section 3.2)', async () => {
    const origin = 'https://spa.example.com'
    const client = await makeClient(tenant, { appType: 'single-page', allowedOrigins: [origin] })
    const { access_token: own = '' } = await boundTokens(client)
    const response = await callUserinfo({
      origin,
      authorization: `DPoP ${own}`,
      dpop: await proveAt(userinfoUrl(), own, { nonce: undefined }),
    })
    expect(response.headers.get('access-control-allow-origin')).toBe(origin)
    expect(response.headers.get('access-control-expose-headers')).toContain('dpop-nonce')
    expect(response.headers.get('dpop-nonce')).not.toBeNull()
  })
})

test.runIf(inject('database').kind === 'postgres')(
  'a proof costs one statement (design, section 9), and a proof that is wrong none',
  async () => {
    const { access_token: token = '' } = await boundTokens(web)
    const callWith = (proof: string) => callUserinfo({ authorization: `DPoP ${token}`, dpop: proof })
    const warm = async () => callWith(await proveAt(userinfoUrl(), token))
    const [proof, misplaced] = [await proveAt(userinfoUrl(), token), await proveAt(issuer, token)]
    expect(await countWarmStatements(warm, () => callWith(proof))).toBe(2)
    expect(await countWarmStatements(warm, () => callWith(misplaced))).toBe(0)
    const [first, second] = [await prove(), await prove()]
    expect(
      await countWarmStatements(
        () => ask(first),
        () => ask(second),
      ),
    ).toBe(1)
  },
)
