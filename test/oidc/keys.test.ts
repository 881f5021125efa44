import { createHash, createPrivateKey, sign } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JWK, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { updateClient } from '../../src/clients/client-changes.ts'
import { open } from '../../src/crypto.ts'
import { platformCtx } from '../../src/ctx.ts'
import { inTransaction, sql } from '../../src/db.ts'
import { createSigningKey, ensureSigningKeys } from '../../src/oidc/keys/key-rotation.ts'
import { type SigningKeyRow, selectSigningKeys } from '../../src/oidc/keys/keys.sql.ts'
import { issuerOf, publicKeys, SEAL_PURPOSE, signJwt, verifyJwt } from '../../src/oidc/keys/keys.ts'
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from '../../src/signing-algorithms.ts'
import { newTenant } from '../support/actors.ts'
import { logOf } from '../support/events.ts'
import { countStatements } from '../support/statements.ts'
import {
  answerIn,
  authorizePath,
  Browser,
  exchange,
  makeClient,
  makeUser,
  type Provider,
  signInAt,
  startProvider,
} from './provider.ts'

let provider: Provider
let tenant: string
let browser: Browser
const EMAIL = 'ada@example.com'

beforeAll(async () => {
  provider = await startProvider()
  tenant = await newTenant()
  await makeUser(tenant, EMAIL)
  browser = new Browser(provider)
  await signInAt(browser, authorizePath(tenant, await makeClient(tenant)), EMAIL)
})
afterAll(() => provider.close())

type Client = Awaited<ReturnType<typeof makeClient>>

/** What a client gets for a person who is signed in. */
async function tokensFor(client: Client) {
  const response = await browser.fetch(authorizePath(tenant, client, { prompt: 'none' }))
  const { body } = await exchange(
    provider,
    tenant,
    client,
    answerIn(response.headers.get('location')).code ?? '',
  )
  return { accessToken: body.access_token ?? '', idToken: body.id_token ?? '' }
}

const keySet = async (slug = tenant): Promise<{ keys: JWK[] }> =>
  (await (await fetch(`${provider.origin}/${slug}/.well-known/jwks.json`)).json()) as { keys: JWK[] }
const algsOf = async (slug: string) => (await keySet(slug)).keys.map(({ alg }) => alg).sort()

/** Kinds of keys (RFC 7518, section 6; RFC 8037, section 2), and the hash of each algorithm. */
const KINDS: Record<SigningAlgorithm, { jwk: object; hash: string }> = {
  ES256: { jwk: { kty: 'EC', crv: 'P-256' }, hash: 'sha256' },
  RS256: { jwk: { kty: 'RSA', e: 'AQAB', n: expect.stringMatching(/^[\w-]{342}$/) }, hash: 'sha256' },
  ES384: { jwk: { kty: 'EC', crv: 'P-384' }, hash: 'sha384' },
  EdDSA: { jwk: { kty: 'OKP', crv: 'Ed25519' }, hash: 'sha512' },
}

describe.each(SIGNING_ALGORITHMS)('id_token_signed_response_alg %s (OIDC Registration, section 2)', (alg) => {
  test('signs ID tokens with a published key of it; access tokens stay ES256', async () => {
    const client = await makeClient(tenant, { idTokenSigningAlg: alg })
    const { accessToken, idToken } = await tokensFor(client)
    const keys = await keySet()
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
    expect(decodeProtectedHeader(accessToken)).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
  })

  test('its ID tokens are hints (OIDC Core, section 3.1.2.1)', async () => {
    const client = await makeClient(tenant, { idTokenSigningAlg: alg })
    const { idToken } = await tokensFor(client)
    const hinted = await browser.fetch(
      authorizePath(tenant, client, { prompt: 'none', id_token_hint: idToken }),
    )
    expect(answerIn(hinted.headers.get('location'))).toHaveProperty('code')
  })
})

describe('a tenant gets the key of another algorithm when the first client asks for it', () => {
  test('at its creation, for ID tokens or signed userinfo; the log tells of it', async () => {
    const slug = await newTenant()
    expect(await algsOf(slug)).toEqual(['ES256'])
    await makeClient(slug, { idTokenSigningAlg: 'ES256', userInfoSigningAlg: 'EdDSA' })
    expect(await algsOf(slug)).toEqual(['ES256', 'EdDSA'])
    await makeClient(slug, { idTokenSigningAlg: 'ES384', userInfoSigningAlg: 'EdDSA' })
    expect(await algsOf(slug)).toEqual(['ES256', 'ES384', 'EdDSA'])
    const told = (await logOf(slug)).filter(({ type }) => type === 'key.rotated')
    const kids = Object.fromEntries((await keySet(slug)).keys.map(({ alg, kid }) => [alg, kid]))
    expect(told.map(({ subjectIds, detail }) => ({ subjectIds, ...detail }))).toEqual(
      ['EdDSA', 'ES384'].map((alg) => ({
        subjectIds: [kids[alg]],
        kid: kids[alg],
        alg,
        activeAt: expect.stringMatching(/Z$/),
      })),
    )
  })

  test('at its change, which takes the key of no other client away', async () => {
    const slug = await newTenant()
    const client = await makeClient(slug)
    const [before] = (await keySet(slug)).keys
    await updateClient(platformCtx(slug), client.id, { idTokenSigningAlg: 'RS256' })
    expect(await algsOf(slug)).toEqual(['ES256', 'RS256'])
    await updateClient(platformCtx(slug), client.id, { idTokenSigningAlg: null })
    expect(await algsOf(slug)).toEqual(['ES256', 'RS256'])
    expect((await keySet(slug)).keys).toContainEqual(before)
  })

  test('once, however many clients ask at the same time', async () => {
    const slug = await newTenant()
    const changed = await makeClient(slug)
    await Promise.all([
      ...Array.from({ length: 6 }, () =>
        makeClient(slug, { idTokenSigningAlg: 'ES384', userInfoSigningAlg: 'RS256' }),
      ),
      updateClient(platformCtx(slug), changed.id, {
        idTokenSigningAlg: 'RS256',
        userInfoSigningAlg: 'ES384',
      }),
    ])
    expect(await algsOf(slug)).toEqual(['ES256', 'ES384', 'RS256'])
  })

  test('not for a client that is refused', async () => {
    const slug = await newTenant()
    const clientId = (await makeClient(slug)).id
    const input = { idTokenSigningAlg: 'RS256', name: '' }
    await expect(updateClient(platformCtx(slug), clientId, input)).rejects.toMatchObject({ status: 400 })
    await expect(makeClient(slug, input)).rejects.toMatchObject({ status: 400 })
    expect(await algsOf(slug)).toEqual(['ES256'])
  })
})

describe('a process that has not heard of a key yet', () => {
  const claims = (slug: string) => ({ iss: issuerOf(slug), exp: Math.floor(Date.now() / 1000) + 60 })
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signedBy = ({ id: kid, privateKey }: SigningKeyRow, payload: object) => {
    const input = `${encode({ alg: 'ES256', typ: 'at+jwt', kid })}.${encode(payload)}`
    const key = createPrivateKey({ key: open(SEAL_PURPOSE, privateKey), format: 'der', type: 'pkcs8' })
    return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
  }

  test('signs with it when a client asks for its algorithm', async () => {
    const slug = await newTenant()
    await publicKeys(slug)
    // As another process does it: nothing is told here.
    await inTransaction((tx) =>
      ensureSigningKeys(tx, platformCtx(slug), { idTokenSigningAlg: 'EdDSA', userInfoSigningAlg: null }),
    )
    const token = await signJwt(slug, 'JWT', claims(slug), 'EdDSA')
    expect(decodeProtectedHeader(token).alg).toBe('EdDSA')
    await expect(signJwt(slug, 'JWT', claims(slug), 'RS256')).rejects.toThrow('has no RS256 key')
  })

  test('verifies what was signed with it', async () => {
    const slug = await newTenant()
    await publicKeys(slug)
    await sleep(150)
    await createSigningKey(sql, slug)
    const [latest] = await selectSigningKeys(sql, slug)
    const payload = await verifyJwt(slug, signedBy(latest as SigningKeyRow, claims(slug)), 'at+jwt')
    expect(payload).toMatchObject(claims(slug))
  })

  test.runIf(inject('database').kind === 'postgres')(
    'does not ask the database for each key that somebody invents',
    async () => {
      const slug = await newTenant()
      const token = await signJwt(slug, 'at+jwt', claims(slug))
      const started = Date.now()
      const statements = await countStatements(async () => {
        for (let n = 0; n < 200; n++) {
          const header = encode({ ...decodeProtectedHeader(token), kid: `invented-${n}` })
          const forged = `${header}.${token.split('.').slice(1).join('.')}`
          await expect(verifyJwt(slug, forged, 'at+jwt')).rejects.toThrow('key')
        }
      })
      expect(statements).toBeLessThanOrEqual(2 + (Date.now() - started) / 100)
      expect(decodeJwt(token)).toMatchObject({ iss: issuerOf(slug) })
    },
  )
})
