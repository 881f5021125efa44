import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { answerJson, test as base, claimsFor, prove, rejection } from '../support/provider-proofs.ts'
import type { Upstream } from '../support/upstream.ts'

type Key = { privateKey: CryptoKey; jwk: JWK }
const createKey = async (kid: string | undefined, alg = 'ES256'): Promise<Key> => {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), alg, use: 'sig', ...(kid && { kid }) } }
}
const signWith = ({ privateKey, jwk }: Key, upstream: Upstream, kid: string | undefined = jwk.kid) =>
  new SignJWT(claimsFor(upstream))
    .setProtectedHeader({ alg: String(jwk.alg), ...(kid && { kid }) })
    .sign(privateKey)
const publish = (upstream: Upstream, ...keys: unknown[]) => answerJson(upstream, '/jwks', 200, { keys })
const countFetches = ({ asked }: Upstream) => asked.filter((path) => path === '/jwks').length

const NOT_SIGNED = rejection('idToken', 'is not signed by the provider')
const ADA = { subject: 'ada' }

const test = base
  .extend('keys', { scope: 'file' }, async ({ upstreamKeys: _ }) => ({
    old: await createKey('same'),
    next: await createKey('same'),
    other: await createKey('other'),
    unnamed: await createKey(undefined),
    rsa: await createKey(undefined, 'RS256'),
  }))
  /** The time passes. */
  .extend('advance', ({ task: _ }) => (seconds: number) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 })
    onTestFinished(() => void vi.useRealTimers())
  })

describe('the keys of a provider', () => {
  test.for(['same', 'other'] as const)(
    'are fetched again for a signature by a rotated key with the %s kid',
    async (kid, { fresh, keys }) => {
      publish(fresh, keys.old.jwk)
      expect(await prove(fresh, { idToken: await signWith(keys.old, fresh) })).toMatchObject(ADA)
      const rotated = kid === 'same' ? keys.next : keys.other
      publish(fresh, rotated.jwk)
      expect(await prove(fresh, { idToken: await signWith(rotated, fresh) })).toMatchObject(ADA)
      expect(countFetches(fresh)).toBe(2)
    },
  )

  test('are fetched again every 30 s at most', async ({ fresh, keys, advance }) => {
    publish(fresh, keys.old.jwk)
    await prove(fresh, { idToken: await signWith(keys.old, fresh) })
    const forged = await signWith(keys.other, fresh, 'same')
    for (let attempt = 0; attempt < 5; attempt++)
      await expect(prove(fresh, { idToken: forged })).rejects.toMatchObject(NOT_SIGNED)
    expect(countFetches(fresh)).toBe(2)
    expect(await prove(fresh, { idToken: await signWith(keys.old, fresh) })).toMatchObject(ADA)
    advance(31)
    publish(fresh, keys.next.jwk)
    expect(await prove(fresh, { idToken: await signWith(keys.next, fresh) })).toMatchObject(ADA)
    expect(countFetches(fresh)).toBe(3)
  })

  test('are fetched once for concurrent tokens of a rotated key', async ({ fresh, keys }) => {
    publish(fresh, keys.old.jwk)
    await prove(fresh, { idToken: await signWith(keys.old, fresh) })
    publish(fresh, keys.next.jwk)
    const idToken = await signWith(keys.next, fresh)
    const proven = await Promise.all(Array.from({ length: 10 }, () => prove(fresh, { idToken })))
    expect(proven).toEqual(proven.map(() => expect.objectContaining(ADA)))
    expect(countFetches(fresh)).toBe(2)
  })

  test('stay when they cannot be fetched again', async ({ fresh, keys }) => {
    publish(fresh, keys.old.jwk)
    await prove(fresh, { idToken: await signWith(keys.old, fresh) })
    answerJson(fresh, '/jwks', 500, {})
    await expect(prove(fresh, { idToken: await signWith(keys.other, fresh, 'same') })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    })
    expect(await prove(fresh, { idToken: await signWith(keys.old, fresh) })).toMatchObject(ADA)
  })

  test('are fetched once for a forged token that is the first', async ({ fresh, keys }) => {
    publish(fresh, keys.old.jwk)
    await expect(prove(fresh, { idToken: await signWith(keys.other, fresh, 'same') })).rejects.toMatchObject(
      NOT_SIGNED,
    )
    expect(countFetches(fresh)).toBe(1)
  })

  test('are all tried for a token without kid, also those of other kids', async ({ fresh, keys }) => {
    publish(fresh, keys.old.jwk, keys.rsa.jwk, keys.other.jwk, keys.unnamed.jwk)
    for (const key of [keys.old, keys.other, keys.unnamed, keys.rsa])
      expect(
        await prove(fresh, { idToken: await signWith({ ...key, jwk: { alg: key.jwk.alg } }, fresh) }),
      ).toMatchObject(ADA)
    await expect(
      prove(fresh, { idToken: await signWith({ ...keys.next, jwk: { alg: 'ES256' } }, fresh) }),
    ).rejects.toMatchObject(NOT_SIGNED)
  })

  test('without kid are tried for a token with one', async ({ fresh, keys }) => {
    publish(fresh, keys.old.jwk, keys.unnamed.jwk)
    expect(await prove(fresh, { idToken: await signWith(keys.unnamed, fresh, 'thumbprint') })).toMatchObject(
      ADA,
    )
    expect(countFetches(fresh)).toBe(1)
  })

  test('are used beside entries that are none', async ({ fresh, keys }) => {
    const { jwk } = keys.old
    const odd = [
      null,
      'x',
      7,
      [],
      {},
      { kty: 'EC' },
      { kty: 'RSA', n: 'AQAB', e: 'AQAB' },
      { ...jwk, x: 'A' },
    ]
    publish(
      fresh,
      ...odd,
      { kty: 'oct', k: 'c2VjcmV0', kid: 'same' },
      { ...jwk, alg: null, use: '', key_ops: null },
    )
    expect(await prove(fresh, { idToken: await signWith(keys.old, fresh) })).toMatchObject(ADA)
  })

  test('prove nothing when none can be used', async ({ fresh, keys }) => {
    publish(fresh, null, { kty: 'oct', k: 'c2VjcmV0' })
    await expect(prove(fresh, { idToken: await signWith(keys.old, fresh) })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      explanation: { cause: 'keys unusable' },
    })
  })
})
