import { createHmac } from 'node:crypto'
import { decodeJwt, exportSPKI } from 'jose'
import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { freePort } from '../support/process.ts'

// The issuer must be where the provider listens: the environment is read with the first import of src.
const port = await freePort()
process.env.BASE_URL = `http://localhost:${port}`
process.env.PORT = String(port)
const { newTenant } = await import('../support/actors.ts')
const { startApp } = await import('../support/app.ts')
const { logOf } = await import('../support/events.ts')
const { makeAssertion, makeKey, nowSeconds, unsigned } = await import('../support/proofs.ts')
const { countWarmStatements } = await import('../support/statements.ts')
const { Browser, basic, makeClient, makeUser, REDIRECT_URI, signInAt, tokenRequest } = await import(
  './provider.ts'
)

type Key = Awaited<ReturnType<typeof makeKey>>
type Client = Awaited<ReturnType<typeof makeClient>>

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const INVALID_CLIENT = { error: 'invalid_client', error_description: 'Client authentication failed.' }
const machineFields = { appType: 'machine', callbacks: [], scopes: ['users:read'] }

let app: Awaited<ReturnType<typeof startApp>>
let tenant: string
let issuer: string
let machine: Client
let ec: Key
let rsa: Key
let stranger: Key

beforeAll(async () => {
  app = await startApp()
  tenant = await newTenant()
  issuer = `http://localhost:${port}/${tenant}`
  ec = await makeKey()
  rsa = await makeKey('RS256')
  stranger = await makeKey()
  const jwks = {
    keys: [
      { ...ec.jwk, kid: 'ec' },
      { ...rsa.jwk, kid: 'rsa', alg: 'RS256' },
    ],
  }
  machine = await makeClient(tenant, { ...machineFields, jwks })
})
afterAll(() => app.close())

const send = (form: Record<string, string>, headers = {}) =>
  tokenRequest(app, tenant, null, { grant_type: 'client_credentials', ...form }, headers)
const present = (assertion: string, form: Record<string, string> = {}) =>
  send({ client_assertion_type: JWT_BEARER, client_assertion: assertion, ...form })
/** A good assertion of the machine, but for the changes. */
const assert = (claims: object = {}, header: object = {}, key = ec) =>
  makeAssertion(key, { clientId: machine.id, audience: issuer }, { claims, header: { kid: 'ec', ...header } })

/** What the tenant's log says of a refused answer. */
async function whyOf({ headers }: { headers: Headers }) {
  const requestId = headers.get('x-request-id')
  return (await logOf(tenant)).find((event) => event.requestId === requestId)?.detail
}

describe.each(['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA'])(
  'openid-client with a key of %s (OIDC Core, section 9)',
  (alg) => {
    const configure = async (fields: object) => {
      const key = await makeKey(alg)
      const client = await makeClient(tenant, { ...fields, jwks: { keys: [{ ...key.jwk, kid: 'k1' }] } })
      const authentication = oidc.PrivateKeyJwt({ key: key.privateKey, kid: 'k1' })
      return oidc.discovery(new URL(issuer), client.id, undefined, authentication, {
        execute: [oidc.allowInsecureRequests],
      })
    }

    test('signs a person in, refreshes and revokes', async () => {
      const email = `${alg.toLowerCase()}@example.com`
      const user = await makeUser(tenant, email)
      const config = await configure({})
      const pkceCodeVerifier = oidc.randomPKCECodeVerifier()
      const { pathname, search } = oidc.buildAuthorizationUrl(config, {
        redirect_uri: REDIRECT_URI,
        scope: 'openid offline_access',
        code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      })
      const { location } = await signInAt(new Browser(app), pathname + search, email)
      const tokens = await oidc.authorizationCodeGrant(config, new URL(location ?? ''), { pkceCodeVerifier })
      expect(tokens.claims()?.sub).toBe(user.id)
      const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '')
      await oidc.tokenRevocation(config, refreshed.refresh_token ?? '')
      await expect(oidc.refreshTokenGrant(config, refreshed.refresh_token ?? '')).rejects.toMatchObject({
        error: 'invalid_grant',
      })
    })

    test('gets a token for a machine', async () => {
      const tokens = await oidc.clientCredentialsGrant(await configure(machineFields))
      expect(tokens.scope).toBe('users:read')
    })
  },
)

describe('an assertion is taken', () => {
  test.each([
    ['for the issuer', () => assert()],
    ['for the token endpoint', () => assert({ aud: `${issuer}/oidc/token` })],
    ['for both of them', () => assert({ aud: [issuer, `${issuer}/oidc/token`] })],
    ['by a clock 20 s ahead', () => assert({ iat: nowSeconds() + 20, nbf: nowSeconds() + 20 })],
    ['by a clock 20 s behind', () => assert({ exp: nowSeconds() - 20 })],
    ['without iat', () => assert({ iat: undefined })],
    ['by the other key', () => assert({}, { kid: 'rsa' }, rsa)],
    ['without a kid, by whichever key fits', () => assert({}, { kid: undefined })],
    ['with a type that says what it is', () => assert({}, { typ: 'client-authentication+jwt' })],
    ['with the type of any JWT', () => assert({}, { typ: 'JWT' })],
  ])('%s (RFC 7523, section 3)', async (_name, make) => {
    expect(await present(await make())).toMatchObject({ status: 200 })
    expect(await present(await make(), { client_id: machine.id })).toMatchObject({ status: 200 })
  })

  test('without a kid by each of several keys of one kind, while they are rotated', async () => {
    const keys = [await makeKey(), await makeKey()]
    const client = await makeClient(tenant, { ...machineFields, jwks: { keys: keys.map(({ jwk }) => jwk) } })
    const by = (key: Key) => makeAssertion(key, { clientId: client.id, audience: issuer })
    for (const key of keys) expect(await present(await by(key))).toMatchObject({ status: 200 })
    const refused = await present(await by(stranger))
    expect(refused).toMatchObject({ status: 401, body: INVALID_CLIENT })
    expect(await whyOf(refused)).toMatchObject({ reason: 'the signature is not by this key' })
  })

  test('beside the secret of the same client, each for itself', async () => {
    expect(await tokenRequest(app, tenant, machine, { grant_type: 'client_credentials' })).toMatchObject({
      status: 200,
    })
  })

  test('for the endpoint called, where that is another one', async () => {
    const toRevoke = await assert({ aud: `${issuer}/oidc/revoke` })
    expect(await present(toRevoke)).toMatchObject({ status: 401 })
    const revoke = (assertion: string) =>
      app.fetch(`/${tenant}/oidc/revoke`, {
        method: 'POST',
        body: new URLSearchParams({
          token: 'x',
          client_assertion_type: JWT_BEARER,
          client_assertion: assertion,
        }),
      })
    expect((await revoke(toRevoke)).status).toBe(200)
    expect((await revoke(toRevoke)).status).toBe(401)
  })
})

/** What JSON can hold and JavaScript can make neither a text nor a number of. */
const ODD = { toString: 1, valueOf: 1 }
/** What JSON.parse reads and JSON.stringify cannot write. */
const NESTED = '['.repeat(20_000) + ']'.repeat(20_000)

const hs256 = (claims: object, secret: string) => {
  const input = unsigned({ alg: 'HS256', kid: 'ec' }, claims).slice(0, -1)
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}
const claimsOf = async () => decodeJwt(await assert())

describe('an assertion is refused, always in the same way, and the log says why', () => {
  test.each<[string, () => Promise<string> | string, object]>([
    [
      'by another key (security 34)',
      () => assert({}, {}, stranger),
      { reason: 'the signature is not by this key', kid: 'ec', alg: 'ES256' },
    ],
    [
      'by a key that it brings along (security 34)',
      () => assert({}, { jwk: stranger.jwk }, stranger),
      { reason: 'the signature is not by this key' },
    ],
    [
      'by an unknown kid (security 34)',
      () => assert({}, { kid: 'nobody' }),
      { reason: "none of the client's keys fits", kid: 'nobody', alg: 'ES256' },
    ],
    [
      'by a kid of a key of another kind (security 34)',
      () => assert({}, { kid: 'rsa' }),
      { reason: "none of the client's keys fits", kid: 'rsa', alg: 'ES256' },
    ],
    [
      'by an algorithm that is not its key’s own (security 34)',
      async () => assert({}, { kid: 'rsa' }, { ...(await makeKey('PS256')), alg: 'PS256' }),
      { reason: "none of the client's keys fits", alg: 'PS256' },
    ],
    [
      'with alg none (security 34)',
      async () => unsigned({ alg: 'none', kid: 'ec' }, await claimsOf()),
      { reason: 'the algorithm is not supported', alg: 'none' },
    ],
    [
      'by HMAC with the client’s secret (security 34)',
      async () => hs256(await claimsOf(), machine.secret),
      { reason: 'the algorithm is not supported', alg: 'HS256' },
    ],
    [
      'by HMAC with the public key (security 34)',
      async () => hs256(await claimsOf(), await exportSPKI(ec.publicKey)),
      { reason: 'the algorithm is not supported', alg: 'HS256' },
    ],
    [
      'cut by its last character (security 26)',
      async () => (await assert()).slice(0, -1),
      { method: 'private_key_jwt' },
    ],
    [
      'with a longer signature (security 26)',
      async () => `${await assert()}A`,
      { method: 'private_key_jwt' },
    ],
    ['of another issuer', () => assert({ iss: 'client_other' }), { claim: 'iss', given: 'client_other' }],
    ['without an issuer', () => assert({ iss: undefined }), { claim: 'iss' }],
    ['without a subject', () => assert({ sub: undefined }), { claim: 'sub' }],
    ['about another client', () => assert({ sub: 'client_other' }), { claim: 'sub', given: 'client_other' }],
    [
      'for somebody else (security 35)',
      () => assert({ aud: 'https://elsewhere.example' }),
      {
        reason: 'it is for somebody else',
        given: 'https://elsewhere.example',
        expected: expect.stringContaining('/oidc/token'),
      },
    ],
    [
      'for somebody else as well (security 35)',
      () => assert({ aud: [issuer, 'https://elsewhere.example'] }),
      { reason: 'it is for somebody else' },
    ],
    ['for the userinfo endpoint', () => assert({ aud: `${issuer}/oidc/userinfo` }), { claim: 'aud' }],
    ['for an issuer with a slash at its end', () => assert({ aud: `${issuer}/` }), { claim: 'aud' }],
    ['for nobody', () => assert({ aud: undefined }), { claim: 'aud' }],
    ['for ever', () => assert({ exp: undefined }), { claim: 'exp' }],
    [
      'for longer than an hour',
      () => assert({ exp: nowSeconds() + 3700 }),
      { reason: 'it is good for too long', expected: 3600 },
    ],
    [
      'too late',
      () => assert({ exp: nowSeconds() - 100 }),
      { reason: 'it has expired', seconds_late: expect.closeTo(100, -1) },
    ],
    ['too early', () => assert({ nbf: nowSeconds() + 100 }), { claim: 'nbf' }],
    [
      'from the future',
      () => assert({ iat: nowSeconds() + 100 }),
      { reason: 'it was issued in the future', seconds_ahead: expect.closeTo(100, -1) },
    ],
    ['without a jti (security 35)', () => assert({ jti: undefined }), { claim: 'jti' }],
    ['with an empty jti (security 35)', () => assert({ jti: '' }), { claim: 'jti' }],
    ['with a jti that is no text (security 35)', () => assert({ jti: 1 }), { claim: 'jti' }],
    [
      'that is signed for something else',
      () => assert({}, { typ: 'dpop+jwt' }),
      { reason: 'it is of another type', typ: 'dpop+jwt' },
    ],
    ['of a type that is no text', () => assert({}, { typ: ODD }), { reason: 'it is of another type' }],
    ['with a kid that is no text', () => assert({}, { kid: ODD }), { kid: JSON.stringify(ODD) }],
    [
      'with a kid that is nested too deeply to be told (security 61)',
      () => `${Buffer.from(`{"alg":"ES256","kid":${NESTED}}`).toString('base64url')}.e30.AA`,
      { kid: 'nested too deeply to be told' },
    ],
    ['about what is no text', () => assert({ iss: ODD, sub: ODD }), { claim: 'iss' }],
    ['for what is no text', () => assert({ aud: [ODD] }), { claim: 'aud' }],
    ['that is none', () => 'nonsense', { reason: 'it is no JWT' }],
    ['of three empty parts', () => '..', { reason: 'it is no JWT' }],
  ])('%s', async (_name, make, why) => {
    const assertion = await make()
    const answer = await present(assertion, { client_id: machine.id })
    expect(answer).toMatchObject({ status: 401, body: INVALID_CLIENT })
    expect(answer.headers.get('www-authenticate')).toBeNull()
    const told = await whyOf(answer)
    expect(told).toMatchObject(why)
    expect(JSON.stringify(told)).not.toContain(assertion.split('.')[2] || 'eyJ')
  })

  test('that names its client by what is no text', async () => {
    const answer = await present(await assert({ sub: ODD }))
    expect(answer).toMatchObject({ status: 401, body: INVALID_CLIENT })
  })

  test('of another type of assertion, or of none (RFC 7521, section 4.2)', async () => {
    for (const type of ['urn:ietf:params:oauth:client-assertion-type:saml2-bearer', ''])
      expect(await present(await assert(), { client_assertion_type: type })).toMatchObject({
        status: 401,
        body: INVALID_CLIENT,
      })
  })

  test('of a client that has no keys, or can have none', async () => {
    for (const fields of [machineFields, { appType: 'single-page' }]) {
      const { id } = await makeClient(tenant, fields)
      const answer = await present(await makeAssertion(ec, { clientId: id, audience: issuer }))
      expect(answer).toMatchObject({ status: 401, body: INVALID_CLIENT })
    }
  })

  test('of another client’s key, and of a client that there is not', async () => {
    const { id } = await makeClient(tenant, { ...machineFields, jwks: { keys: [stranger.jwk] } })
    for (const clientId of [id, 'client_nobody'])
      expect(await present(await makeAssertion(ec, { clientId, audience: issuer }))).toMatchObject({
        status: 401,
        body: INVALID_CLIENT,
      })
  })

  test('by the same key in another tenant (security 48)', async () => {
    const elsewhere = await newTenant()
    const form = {
      grant_type: 'client_credentials',
      client_assertion_type: JWT_BEARER,
      client_assertion: await assert({ aud: `http://localhost:${port}/${elsewhere}` }),
    }
    expect(await tokenRequest(app, elsewhere, null, form)).toMatchObject({
      status: 401,
      body: INVALID_CLIENT,
    })
  })

  test('beside another way to authenticate (RFC 6749, section 2.3)', async () => {
    const both = { client_id: machine.id, client_secret: machine.secret }
    const form = { client_assertion_type: JWT_BEARER, client_assertion: await assert() }
    for (const answer of [
      await send({ ...both, ...form }),
      await send(form, { authorization: basic(machine) }),
    ])
      expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })

  test('once the client has other keys', async () => {
    const key = await makeKey()
    const client = await makeClient(tenant, { ...machineFields, jwks: { keys: [key.jwk] } })
    const by = () => makeAssertion(key, { clientId: client.id, audience: issuer })
    expect(await present(await by())).toMatchObject({ status: 200 })
    const { updateClient } = await import('../../src/clients/client-changes.ts')
    const { platformCtx } = await import('../../src/ctx.ts')
    await updateClient(platformCtx(tenant), client.id, { jwks: { keys: [stranger.jwk] } })
    expect(await present(await by())).toMatchObject({ status: 401 })
  })
})

describe('security 35: an assertion is for one use (RFC 7523, section 3)', () => {
  test('a second one is refused, and so is another one with its jti', async () => {
    const assertion = await assert({ jti: 'one' })
    expect(await present(assertion)).toMatchObject({ status: 200 })
    const again = await present(assertion)
    expect(again).toMatchObject({ status: 401, body: INVALID_CLIENT })
    expect(await whyOf(again)).toMatchObject({ reason: 'its jti was seen before', given: 'one' })
    expect(await present(await assert({ jti: 'one', exp: nowSeconds() + 600 }))).toMatchObject({
      status: 401,
    })
  })

  test('of 50 at once one is taken', async () => {
    const assertion = await assert()
    const answers = await Promise.all(Array.from({ length: 50 }, () => present(assertion)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(49)
  })

  test('one whose signature is wrong uses up no jti', async () => {
    expect(await present(await assert({ jti: 'theirs' }, {}, stranger))).toMatchObject({ status: 401 })
    expect(await present(await assert({ jti: 'theirs' }))).toMatchObject({ status: 200 })
  })

  test('the jti of one client is another one’s to use', async () => {
    const key = await makeKey()
    const client = await makeClient(tenant, { ...machineFields, jwks: { keys: [key.jwk] } })
    expect(await present(await assert({ jti: 'shared' }))).toMatchObject({ status: 200 })
    const other = await makeAssertion(
      key,
      { clientId: client.id, audience: issuer },
      { claims: { jti: 'shared' } },
    )
    expect(await present(other)).toMatchObject({ status: 200 })
  })
})

test('security 21: a refresh token of a client with keys needs the client', async () => {
  const key = await makeKey()
  const client = await makeClient(tenant, { jwks: { keys: [key.jwk] } })
  const form = { grant_type: 'refresh_token', refresh_token: 'x' }
  expect(await send({ ...form, client_id: client.id })).toMatchObject({ status: 401, body: INVALID_CLIENT })
  const assertion = await makeAssertion(key, { clientId: client.id, audience: issuer })
  expect(await present(assertion, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
})

test('a network that fails too often has to wait', async () => {
  const many = await newTenant()
  const form = async () => ({
    grant_type: 'client_credentials',
    client_assertion_type: JWT_BEARER,
    client_assertion: await makeAssertion(stranger, { clientId: 'client_x', audience: issuer }),
  })
  const forms = await Promise.all(Array.from({ length: 101 }, form))
  const answers = await Promise.all(forms.map((each) => tokenRequest(app, many, null, each)))
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(1)
})

test.runIf(inject('database').kind === 'postgres')('costs one statement (design, section 9)', async () => {
  const [first, second] = [await assert(), await assert()]
  expect(
    await countWarmStatements(
      () => present(first),
      () => present(second),
    ),
  ).toBe(1)
})
