import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { getSigningKeys, rotateSigningKeys } from '../../src/keys/key-rotation.ts'
import { verifyJwt } from '../../src/keys/keys.ts'
import { SIGNING_ALGORITHMS } from '../../src/keys/signing-algorithms.ts'
import { verifyIdTokenHint } from '../../src/oidc/token/id-tokens.ts'
import { DAY_MS, HOUR_MS, later, test } from '../support/key-rotation.ts'
import { makeClient } from '../support/protocol.ts'

describe('rotateSigningKeys', () => {
  test('publishes a new key of every algorithm at once, which signs ten minutes later', async ({
    tenant,
    events,
    platform,
    listPublished,
    readSigningKid,
  }) => {
    const now = new Date()
    for (const idTokenSigningAlg of SIGNING_ALGORITHMS) await makeClient(tenant, { idTokenSigningAlg })
    const before = await getSigningKeys(platform)
    const keys = await rotateSigningKeys(platform, {}, now)
    expect(keys).toHaveLength(8)
    const made = keys.filter(({ kid }) => !before.some((key) => key.kid === kid))
    expect(made.map(({ alg }) => alg).sort()).toEqual([...SIGNING_ALGORITHMS].sort())
    for (const key of made) expect(key).toMatchObject({ activeAt: later(now, 600_000), expiresAt: null })
    // The longest token is of a day; an hour more is for clocks.
    for (const { kid } of before)
      expect(keys.find((key) => key.kid === kid)?.expiresAt).toEqual(later(now, 600_000 + DAY_MS + HOUR_MS))
    expect((await listPublished()).sort()).toEqual(keys.map(({ kid }) => kid).sort())
    expect(before.map(({ kid }) => kid)).toContain(await readSigningKid())

    const recorded = (await events({ type: 'key.rotated' })).slice(-4)
    for (const { detail, subjectIds } of recorded) {
      const { kid, alg } = made.find((key) => key.kid === detail?.kid) ?? {}
      expect([subjectIds, detail]).toEqual([[kid], { kid, alg, activeAt: later(now, 600_000).toISOString() }])
    }
    expect(new Set(recorded.map(({ detail }) => detail?.kid)).size).toBe(4)
  })

  test('activates a key at the announced time', async ({ platform, readSigningKid }) => {
    const keys = await rotateSigningKeys(platform, { activateInSeconds: 1 })
    const [next, former] = keys
    const from = next?.activeAt.getTime() ?? 0
    const seen = new Set<string | undefined>()
    while (Date.now() < from + 200) {
      const started = Date.now()
      const kid = await readSigningKid()
      if (Date.now() < from) expect(kid).toBe(former?.kid)
      if (started >= from) expect(kid).toBe(next?.kid)
      seen.add(kid)
      await sleep(5)
    }
    expect(seen).toContain(next?.kid)
  })

  test('replaces a rotation that is pending, whatever its activation time', async ({
    platform,
    listPublished,
    readSigningKid,
    ageKeys,
  }) => {
    const [slow] = await rotateSigningKeys(platform, { activateInSeconds: 3600 })
    const [fast] = await rotateSigningKeys(platform, { activateInSeconds: 60 })
    await ageKeys(60_000)
    expect(await readSigningKid()).toBe(fast?.kid)
    await ageKeys(3600_000)
    expect(await readSigningKid()).toBe(fast?.kid)
    expect(await listPublished()).not.toContain(slow?.kid)
  })

  test('neither lists nor publishes a key that is replaced before it can sign', async ({
    platform,
    listPublished,
    readSigningKid,
  }) => {
    const [overtaken] = await rotateSigningKeys(platform, { activateInSeconds: 600 })
    const [imminent] = await rotateSigningKeys(platform, { activateInSeconds: 30 })
    const keys = await rotateSigningKeys(platform, { activateInSeconds: 0 })
    expect(keys.map(({ kid }) => kid)).not.toContain(overtaken?.kid)
    expect(keys.map(({ kid }) => kid)).toContain(imminent?.kid)
    expect(keys).toHaveLength(3)
    expect(await readSigningKid()).toBe(keys[0]?.kid)
    expect((await listPublished()).sort()).toEqual(keys.map(({ kid }) => kid).sort())
    // A key that signs before its successor does is published.
    const [first] = await rotateSigningKeys(platform, { activateInSeconds: 600 })
    await rotateSigningKeys(platform, { activateInSeconds: 1200 })
    expect(await listPublished()).toContain(first?.kid)
  })

  test('activates at once with activateInSeconds 0, and keeps tokens of the previous key valid', async ({
    tenant,
    platform,
    signToken,
    readSigningKid,
  }) => {
    const token = await signToken('at+jwt')
    const [next] = await rotateSigningKeys(platform, { activateInSeconds: 0 })
    expect(await readSigningKid()).toBe(next?.kid)
    expect(await verifyJwt(tenant, token, 'at+jwt')).toMatchObject({ sub: 'user_1' })
  })

  test('removes all former keys with retireAtOnce, so that their tokens and hints are rejected', async ({
    tenant,
    platform,
    listPublished,
    signToken,
    readSigningKid,
    ageKeys,
  }) => {
    const token = await signToken('at+jwt')
    const hint = await signToken()
    await rotateSigningKeys(platform, { activateInSeconds: 0 })
    // The first key is no longer published.
    await ageKeys(30 * DAY_MS)
    expect(await verifyIdTokenHint(tenant, hint)).toMatchObject({ clientId: expect.any(String) })
    const between = await signToken('at+jwt')
    const keys = await rotateSigningKeys(platform, { retireAtOnce: true })
    expect(keys).toMatchObject([{ alg: 'ES256', expiresAt: null }])
    expect(await listPublished()).toEqual([keys[0]?.kid])
    expect(await readSigningKid()).toBe(keys[0]?.kid)
    for (const lost of [token, between])
      await expect(verifyJwt(tenant, lost, 'at+jwt')).rejects.toThrow('key')
    await expect(verifyIdTokenHint(tenant, hint)).rejects.toThrow('id_token_hint')
  })

  test('creates one successor of every algorithm for each of several concurrent calls', async ({
    tenant,
    platform,
    readSigningKid,
  }) => {
    await makeClient(tenant, { idTokenSigningAlg: 'EdDSA' })
    await Promise.all(Array.from({ length: 6 }, () => rotateSigningKeys(platform, { activateInSeconds: 0 })))
    const keys = await getSigningKeys(platform)
    expect(keys).toHaveLength(14)
    const last = keys.filter(({ expiresAt }) => expiresAt === null)
    expect(last.map(({ alg }) => alg).sort()).toEqual(['ES256', 'EdDSA'].sort())
    expect(last.map(({ kid }) => kid)).toContain(await readSigningKid())
  })

  test('answers 429 with retryAfterSeconds while 20 former keys are published', async ({ platform }) => {
    const now = new Date()
    for (let n = 0; n < 20; n++) await rotateSigningKeys(platform, { activateInSeconds: 0 }, now)
    await expect(rotateSigningKeys(platform, {}, now)).rejects.toMatchObject({
      status: 429,
      retryAfterSeconds: 90_000,
    })
    expect(await rotateSigningKeys(platform, { retireAtOnce: true }, now)).toHaveLength(1)
  })

  test('reports every invalid field and changes nothing', async ({ platform, listPublished }) => {
    const before = await listPublished()
    for (const [input, fields] of [
      [{ activateInSeconds: -1, retireAtOnce: 'yes' }, ['activateInSeconds', 'retireAtOnce']],
      [{ activateInSeconds: 2_592_001 }, ['activateInSeconds']],
      [{ activateInSeconds: 60, retireAtOnce: true }, ['activateInSeconds']],
      [{ activateAt: 1 }, ['activateAt']],
    ] as const)
      await expect(rotateSigningKeys(platform, input)).rejects.toMatchObject({
        status: 400,
        fields: fields.map((field) => expect.objectContaining({ field })),
      })
    expect(await listPublished()).toEqual(before)
  })
})
