import { createHash } from 'node:crypto'
import { createLocalJWKSet, type JWK, jwtVerify } from 'jose'
import { describe, expect } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { createPlatformCtx } from '../../src/context/context.ts'
import { issuerOf } from '../../src/core/issuer.ts'
import { signJwt, type TokenType } from '../../src/keys/keys.ts'
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from '../../src/keys/signing-algorithms.ts'
import { newTenant } from '../support/actors.ts'
import { makeClient } from '../support/protocol.ts'
import { test as base } from '../support/visitor.ts'

/** `test` with the published key sets of tenants. */
const test = base
  .extend('readKeySet', { scope: 'file' }, ({ app }) => async (slug: string): Promise<{ keys: JWK[] }> => {
    const response = await app.fetch(`/${slug}/.well-known/jwks.json`)
    return (await response.json()) as { keys: JWK[] }
  })
  .extend(
    'listAlgs',
    { scope: 'file' },
    ({ readKeySet }) =>
      async (slug: string) =>
        (await readKeySet(slug)).keys.map(({ alg }) => alg).sort(),
  )

const TOKEN_TYPES: readonly TokenType[] = ['JWT', 'at+jwt', 'logout+jwt']

/** Kinds of keys (RFC 7518, section 6; RFC 8037, section 2), and the hash of each algorithm. */
const KINDS: Record<SigningAlgorithm, { jwk: object; hash: string }> = {
  ES256: { jwk: { kty: 'EC', crv: 'P-256' }, hash: 'sha256' },
  RS256: { jwk: { kty: 'RSA', e: 'AQAB', n: expect.stringMatching(/^[\w-]{342}$/) }, hash: 'sha256' },
  ES384: { jwk: { kty: 'EC', crv: 'P-384' }, hash: 'sha384' },
  EdDSA: { jwk: { kty: 'OKP', crv: 'Ed25519' }, hash: 'sha512' },
}

describe.each(SIGNING_ALGORITHMS)(
  'a client with id_token_signed_response_alg %s (OIDC Registration, section 2)',
  (alg) => {
    test('gets ID tokens signed with a published key, and access tokens signed with ES256', async ({
      tenant,
      newClient,
      visitor,
      readKeySet,
    }) => {
      const client = await newClient({ idTokenSigningAlg: alg })
      const { access_token: accessToken, id_token: idToken } = await visitor.newTokens({}, client)
      const keys = await readKeySet(tenant)
      const { protectedHeader, payload } = await jwtVerify(idToken, createLocalJWKSet(keys), {
        issuer: issuerOf(tenant),
        audience: client.id,
        algorithms: [alg],
      })
      expect(protectedHeader).toEqual({ alg, typ: 'JWT', kid: expect.any(String) })
      const own = keys.keys.find(({ kid }) => kid === protectedHeader.kid)
      expect(own).toMatchObject({ ...KINDS[alg].jwk, alg, use: 'sig' })
      expect(
        Object.keys(own ?? {}).filter((member) => ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'].includes(member)),
      ).toEqual([])
      // OIDC Core, section 3.1.3.6: the left half of the hash that the algorithm has.
      const hash = createHash(KINDS[alg].hash).update(accessToken).digest()
      expect(payload.at_hash).toBe(hash.subarray(0, hash.length / 2).toString('base64url'))
      const access = await jwtVerify(accessToken, createLocalJWKSet(keys), { issuer: issuerOf(tenant) })
      expect(access.protectedHeader).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
    })

    test('may send its ID tokens as id_token_hint (OIDC Core, section 3.1.2.1)', async ({
      newClient,
      visitor,
    }) => {
      const client = await newClient({ idTokenSigningAlg: alg })
      const { id_token: idToken } = await visitor.newTokens({}, client)
      expect(await visitor.authorize({ id_token_hint: idToken }, client)).toHaveProperty('code')
    })
  },
)

describe.each(SIGNING_ALGORITHMS)('a token that is signed with %s', (alg) => {
  test.for(TOKEN_TYPES)(
    'is verified by jose with the published keys, and not after a change: %s',
    async (typ, { tenant, newClient, readKeySet }) => {
      await newClient({ idTokenSigningAlg: alg })
      const claims = { iss: issuerOf(tenant), sub: 'Zoë', exp: 4_000_000_000 }
      const token = await signJwt(tenant, typ, claims, alg)
      const keys = createLocalJWKSet(await readKeySet(tenant))
      const expected = { algorithms: [alg], typ, issuer: claims.iss }
      const { payload, protectedHeader } = await jwtVerify(token, keys, expected)
      expect([payload, protectedHeader]).toEqual([claims, { alg, typ, kid: expect.any(String) }])
      const [header, , signature] = token.split('.')
      const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'Zoe' })).toString('base64url')
      await expect(jwtVerify(`${header}.${changed}.${signature}`, keys, expected)).rejects.toMatchObject({
        code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
      })
    },
  )
})

describe('a signing key of another algorithm', () => {
  test('is added when a client is created with it for ID tokens or userinfo, and records key.rotated', async ({
    events,
    readKeySet,
    listAlgs,
  }) => {
    const slug = await newTenant()
    expect(await listAlgs(slug)).toEqual(['ES256'])
    await makeClient(slug, { idTokenSigningAlg: 'ES256', userInfoSigningAlg: 'EdDSA' })
    expect(await listAlgs(slug)).toEqual(['ES256', 'EdDSA'])
    await makeClient(slug, { idTokenSigningAlg: 'ES384', userInfoSigningAlg: 'EdDSA' })
    expect(await listAlgs(slug)).toEqual(['ES256', 'ES384', 'EdDSA'])
    const recorded = await events({ tenant: slug, type: 'key.rotated' })
    const kids = Object.fromEntries((await readKeySet(slug)).keys.map(({ alg, kid }) => [alg, kid]))
    expect(recorded.map(({ subjectIds, detail }) => ({ subjectIds, ...detail }))).toEqual(
      ['EdDSA', 'ES384'].map((alg) => ({
        subjectIds: [kids[alg]],
        kid: kids[alg],
        alg,
        activeAt: expect.stringMatching(/Z$/),
      })),
    )
  })

  test('is added when a client is changed to it, and keeps the other keys', async ({
    readKeySet,
    listAlgs,
  }) => {
    const slug = await newTenant()
    const client = await makeClient(slug)
    const [before] = (await readKeySet(slug)).keys
    await updateClient(createPlatformCtx(slug), client.id, { idTokenSigningAlg: 'RS256' })
    expect(await listAlgs(slug)).toEqual(['ES256', 'RS256'])
    await updateClient(createPlatformCtx(slug), client.id, { idTokenSigningAlg: null })
    expect(await listAlgs(slug)).toEqual(['ES256', 'RS256'])
    expect((await readKeySet(slug)).keys).toContainEqual(before)
  })

  test('once, when several clients request it at the same time', async ({ listAlgs }) => {
    const slug = await newTenant()
    const changed = await makeClient(slug)
    await Promise.all([
      ...Array.from({ length: 6 }, () =>
        makeClient(slug, { idTokenSigningAlg: 'ES384', userInfoSigningAlg: 'RS256' }),
      ),
      updateClient(createPlatformCtx(slug), changed.id, {
        idTokenSigningAlg: 'RS256',
        userInfoSigningAlg: 'ES384',
      }),
    ])
    expect(await listAlgs(slug)).toEqual(['ES256', 'ES384', 'RS256'])
  })

  test('never for a client that is rejected', async ({ listAlgs }) => {
    const slug = await newTenant()
    const clientId = (await makeClient(slug)).id
    const input = { idTokenSigningAlg: 'RS256', name: '' }
    await expect(updateClient(createPlatformCtx(slug), clientId, input)).rejects.toMatchObject({
      status: 400,
    })
    await expect(makeClient(slug, input)).rejects.toMatchObject({ status: 400 })
    expect(await listAlgs(slug)).toEqual(['ES256'])
  })
})
