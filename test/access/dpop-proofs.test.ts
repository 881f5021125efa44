import { decodeJwt } from 'jose'
import { describe, expect } from 'vitest'
import { newTenant } from '../support/actors.ts'
import { sql } from '../support/database.ts'
import { MACHINE, type Prover, test, UNCONVERTIBLE } from '../support/dpop.ts'
import { makeKey, nowSeconds, unsigned } from '../support/proofs.ts'
import { makeClient, tokenRequest } from '../support/protocol.ts'
import { countWarmStatements, recordWarmStatements } from '../support/statements.ts'

/** JSON that JSON.parse reads and JSON.stringify cannot write, within the 16 KB of all headers. */
const NESTED = '['.repeat(5200) + ']'.repeat(5200)
const header = (text: string): string => `${Buffer.from(text).toString('base64url')}.e30.AA`

describe('the token endpoint (RFC 9449, section 5)', () => {
  test('binds the access token to the key of the proof, for every grant', async ({
    client,
    spa,
    prover,
    ask,
    issueBoundTokens,
  }) => {
    const machines = await ask(await prover.prove())
    expect(machines).toMatchObject({ status: 200, body: { token_type: 'DPoP' } })
    expect(decodeJwt(machines.body.access_token as string).cnf).toEqual({ jkt: prover.key.thumbprint })
    for (const by of [client, spa]) {
      const first = await issueBoundTokens(by)
      expect(first.token_type).toBe('DPoP')
      expect(decodeJwt(first.access_token as string).cnf).toEqual({ jkt: prover.key.thumbprint })
      const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token as string }
      const second = await ask(await prover.prove(), form, by)
      expect(second.body.token_type).toBe('DPoP')
      expect(decodeJwt(second.body.access_token as string).cnf).toEqual({ jkt: prover.key.thumbprint })
    }
  })

  test('issues Bearer tokens without a proof', async ({ oidc, machine }) => {
    const { body } = await oidc.token({ grant_type: 'client_credentials' }, machine)
    expect(body.token_type).toBe('Bearer')
    expect(decodeJwt(body.access_token as string).cnf).toBeUndefined()
  })

  test.for(['ES256', 'ES384', 'ES512', 'RS256', 'PS256', 'EdDSA', 'Ed25519'])(
    'accepts proofs signed by %s',
    async (alg, { prover, ask }) => {
      expect(await ask(await prover.prove({}, {}, await makeKey(alg)))).toMatchObject({ status: 200 })
    },
  )

  test.for<[string, (url: string) => string]>([
    ['a query and a fragment', (url: string) => `${url}?a=b#c`],
    ['the host in capitals', (url: string) => url.replace('localhost', 'LOCALHOST')],
    ['a path with dots', (url: string) => url.replace('/oidc/', '/x/../oidc/./')],
  ])('accepts an htu with %s (RFC 9449, section 4.3)', async ([_name, change], { prover, ask }) => {
    expect(await ask(await prover.prove({ htu: change(`${prover.issuer}/oidc/token`) }))).toMatchObject({
      status: 200,
    })
  })

  test.for<[name: string, make: (prover: Prover) => Promise<string> | string, detail: object]>([
    [
      'an empty header',
      () => '',
      { description: 'The DPoP header is missing.', reason: expect.stringContaining('missing') },
    ],
    [
      'two proofs',
      async (prover) => `${await prover.prove()}, ${await prover.prove()}`,
      {
        description: 'The DPoP header must have exactly one proof.',
        reason: 'the DPoP header does not contain exactly one proof',
      },
    ],
    ...['a.b.c', 'abc', 'a.b', '(a.b.c)'].map((text): [string, () => string, object] => [
      `${text} for a JWT`,
      () => text,
      { description: 'The DPoP header is not a JWT.', reason: 'the DPoP header is not a JWT' },
    ]),
    ['typ JWT', (prover) => prover.prove({}, { typ: 'JWT' }), { typ: 'JWT' }],
    ['no typ', (prover) => prover.prove({}, { typ: undefined }), { typ: 'none' }],
    [
      'alg none',
      async (prover) =>
        unsigned(
          { alg: 'none', typ: 'dpop+jwt', jwk: prover.key.jwk },
          decodeJwt(await prover.prove()),
          'AA',
        ),
      { alg: 'none' },
    ],
    [
      'alg HS256 with the public key for a secret',
      async (prover) =>
        unsigned(
          { alg: 'HS256', typ: 'dpop+jwt', jwk: prover.key.jwk },
          decodeJwt(await prover.prove()),
          'AAAA',
        ),
      { alg: 'HS256' },
    ],
    ['no jwk', (prover) => prover.prove({}, { jwk: undefined }), { reason: 'the proof has no jwk' }],
    [
      'the jwk of another key',
      (prover) => prover.prove({}, { jwk: prover.otherKey.jwk }),
      { reason: expect.any(String) },
    ],
    [
      'a private key',
      async (prover) =>
        prover.prove({}, { jwk: { ...prover.key.jwk, d: Buffer.alloc(32, 1).toString('base64url') } }),
      { reason: 'the jwk of the proof has private members' },
    ],
    [
      'a symmetric key',
      (prover) => prover.prove({}, { jwk: { kty: 'oct', k: 'AAAA' } }),
      { reason: 'the jwk of the proof has private members' },
    ],
    [
      'a key off its curve',
      (prover) => prover.prove({}, { jwk: { ...prover.key.jwk, x: prover.key.jwk.y } }),
      { reason: expect.any(String) },
    ],
    [
      'an RSA key that is slow to check',
      (prover) => prover.prove({}, { jwk: { kty: 'RSA', n: 'x'.repeat(1400), e: 'AQAB' } }),
      { reason: 'the RSA key of the proof is too long' },
    ],
    [
      'an RSA exponent that is slow to check',
      (prover) => prover.prove({}, { jwk: { kty: 'RSA', n: 'x'.repeat(400), e: 'x'.repeat(400) } }),
      { reason: 'the RSA key of the proof is too long' },
    ],
    ['a truncated signature', async (prover) => (await prover.prove()).slice(0, -1), { alg: 'ES256' }],
    [
      'another method',
      (prover) => prover.prove({ htm: 'GET' }),
      { claim: 'htm', given: 'GET', expected: 'POST' },
    ],
    ['a method in lower case', (prover) => prover.prove({ htm: 'post' }), { claim: 'htm' }],
    ['no method', (prover) => prover.prove({ htm: undefined }), { claim: 'htm' }],
    [
      'another endpoint, whose query is not recorded,',
      (prover) => prover.prove({ htu: `${prover.issuer}/oidc/userinfo?access_token=a-secret` }),
      {
        claim: 'htu',
        given: expect.stringMatching(/userinfo$/),
        expected: expect.stringContaining('token'),
      },
    ],
    ['another host', (prover) => prover.prove({ htu: 'http://evil.example/oidc/token' }), { claim: 'htu' }],
    [
      'another port',
      (prover) => prover.prove({ htu: `http://localhost:3001/${prover.tenant}/oidc/token` }),
      { claim: 'htu' },
    ],
    [
      'another scheme',
      (prover) => prover.prove({ htu: `${prover.issuer}/oidc/token`.replace('http', 'https') }),
      { claim: 'htu' },
    ],
    [
      'user information in htu',
      (prover) => prover.prove({ htu: `http://a@localhost:3000/${prover.tenant}/oidc/token` }),
      { claim: 'htu' },
    ],
    [
      'a path without a host',
      (prover) => prover.prove({ htu: `/${prover.tenant}/oidc/token` }),
      { claim: 'htu' },
    ],
    ['a list of URLs', (prover) => prover.prove({ htu: [`${prover.issuer}/oidc/token`] }), { claim: 'htu' }],
    ['no URL', (prover) => prover.prove({ htu: undefined }), { claim: 'htu' }],
    [
      'an iat in the past',
      (prover) => prover.prove({ iat: nowSeconds() - 100 }),
      { claim: 'iat', seconds_old: expect.closeTo(100, -1) },
    ],
    [
      'an iat in the future',
      (prover) => prover.prove({ iat: nowSeconds() + 100 }),
      { claim: 'iat', seconds_old: expect.closeTo(-100, -1) },
    ],
    ['no iat', (prover) => prover.prove({ iat: undefined }), { claim: 'iat', seconds_old: null }],
    [
      'an iat that is not a number',
      (prover) => prover.prove({ iat: UNCONVERTIBLE }),
      { reason: expect.stringContaining('iat') },
    ],
    ['an htm that is not a string', (prover) => prover.prove({ htm: UNCONVERTIBLE }), { claim: 'htm' }],
    [
      'a typ that is not a string',
      (prover) => prover.prove({}, { typ: UNCONVERTIBLE }),
      { typ: JSON.stringify(UNCONVERTIBLE) },
    ],
    [
      'members of a key that are not strings',
      (prover) => prover.prove({}, { jwk: { kty: 'RSA', n: UNCONVERTIBLE, e: UNCONVERTIBLE } }),
      { reason: expect.any(String) },
    ],
    [
      'a typ that is nested too deeply',
      (prover) => header(`{"alg":"ES256","typ":${NESTED},"jwk":${JSON.stringify(prover.key.jwk)}}`),
      { typ: 'nested too deeply to be shown' },
    ],
    [
      'members of a key that are nested too deeply',
      () =>
        header(`{"alg":"ES256","typ":"dpop+jwt","jwk":{"kty":"EC","crv":"P-256","x":${NESTED},"y":"AA"}}`),
      { reason: expect.any(String) },
    ],
    [
      'a modulus that is nested too deeply',
      () => header(`{"alg":"RS256","typ":"dpop+jwt","jwk":{"kty":"RSA","n":${NESTED},"e":"AQAB"}}`),
      { reason: expect.stringContaining('RSA') },
    ],
    ['no jti', (prover) => prover.prove({ jti: undefined }), { claim: 'jti' }],
    ['a jti that is not a string', (prover) => prover.prove({ jti: 1 }), { claim: 'jti' }],
  ])(
    'rejects a proof with %s (section 4.3) and records the reason',
    async ([_name, make, detail], { prover, ask, findDiagnostics }) => {
      const answer = await ask(await make(prover))
      expect(answer).toMatchObject({
        status: 400,
        body: {
          error: 'invalid_dpop_proof',
          // The expected value is recorded only.
          error_description: expect.not.stringContaining('localhost'),
        },
      })
      expect(answer.headers.get('cache-control')).toBe('no-store')
      const recorded = await findDiagnostics(answer)
      expect(recorded).toMatchObject({ error: 'invalid_dpop_proof', ...detail })
      expect(answer.body.error_description).toBe(recorded?.description)
      if (recorded?.claim) expect(answer.body.error_description).toContain(`claim ${recorded.claim} of`)
    },
  )

  test('rejects a wrong client secret also with a valid proof', async ({ prover, machine, ask }) => {
    const wrong = { ...machine, secret: 'wrong' }
    expect(await ask(await prover.prove(), {}, wrong)).toMatchObject({
      status: 401,
      body: { error: 'invalid_client' },
    })
  })
})

describe('a DPoP proof (RFC 9449, section 11.1)', () => {
  test('is rejected when it or another proof with its jti was used before', async ({
    prover,
    ask,
    findDiagnostics,
  }) => {
    const proof = await prover.prove({ jti: 'one' })
    expect(await ask(proof)).toMatchObject({ status: 200 })
    for (const again of [proof, await prover.prove({ jti: 'one' })]) {
      const answer = await ask(again)
      expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_dpop_proof' } })
      expect(await findDiagnostics(answer)).toMatchObject({
        reason: 'the proof was used before',
        given: 'one',
      })
    }
    expect(await ask(await prover.prove({ jti: 'one' }, {}, prover.otherKey))).toMatchObject({ status: 200 })
  })

  test('is accepted once of 50 concurrent uses', async ({ prover, ask }) => {
    const proof = await prover.prove()
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(proof)))
    const outcomes = answers.map(({ status, body }) => `${status} ${body.error ?? 'accepted'}`).sort()
    expect(outcomes).toEqual(['200 accepted', ...Array(49).fill('400 invalid_dpop_proof')])
  })

  test('is stored for about as long as it is valid', async ({ app, prover }) => {
    const elsewhere = await newTenant()
    const client = await makeClient(elsewhere, MACHINE)
    const proof = await prover.prove({ htu: `http://localhost:3000/${elsewhere}/oidc/token` })
    const form = { grant_type: 'client_credentials' }
    expect(await tokenRequest(app, elsewhere, client, form, { dpop: proof })).toMatchObject({
      status: 200,
    })
    const rows = await sql<{ left: number }>(
      `SELECT extract(epoch FROM "expiresAt" - now())::int AS "left" FROM "UsedProof" WHERE "tenantId" = $1`,
      [elsewhere],
    )
    expect(rows).toEqual([{ left: expect.closeTo(120, -1) }])
  })
})

test('a valid proof takes one statement and an invalid one only that of its event', async ({
  client,
  prover,
  ask,
  callUserinfo,
  issueBoundTokens,
}) => {
  const { access_token: token = '' } = await issueBoundTokens(client)
  const proveFor = (url: string) => prover.proveAt(url, token)
  const callWith = (proof: string) => callUserinfo({ authorization: `DPoP ${token}`, dpop: proof })
  const callValid = async () => callWith(await proveFor(prover.userinfoUrl))
  const proof = await proveFor(prover.userinfoUrl)
  expect(await countWarmStatements(callValid, () => callWith(proof))).toBe(2)
  // An invalid proof is rejected before it is stored; the rejection is recorded.
  const callMisplaced = async () => callWith(await proveFor(prover.issuer))
  const sent = await recordWarmStatements(callMisplaced, callMisplaced)
  // Joined, so that a failure names the statement.
  expect(sent.filter((text) => !text.startsWith('INSERT INTO "Event"')).join('\n')).toBe('')
  const [first, second] = [await prover.prove(), await prover.prove()]
  expect(
    await countWarmStatements(
      () => ask(first),
      () => ask(second),
    ),
  ).toBe(1)
})
