import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { Handle } from '../../src/database/handle.ts'
import { runCleanup } from '../../src/jobs/cleanup.ts'
import { rotateDueKeys } from '../../src/jobs/key-schedule.ts'
import { getSigningKeys, rotateSigningKeys } from '../../src/keys/key-rotation.ts'
import { invalidateKeys, verifyJwt } from '../../src/keys/keys.ts'
import { verifyIdTokenHint } from '../../src/oidc/token/id-tokens.ts'
import { sql } from '../support/database.ts'
import { DAY_MS, HOUR_MS, kidOf, later, test } from '../support/key-rotation.ts'
import { makeClient } from '../support/protocol.ts'

describe('rotateDueKeys', () => {
  test('publishes a successor a day before a key has signed for 90 days, for each algorithm', async ({
    tenant,
    platform,
    ageKeys,
  }) => {
    await makeClient(tenant, { idTokenSigningAlg: 'ES384' })
    await ageKeys(60 * DAY_MS)
    await makeClient(tenant, { idTokenSigningAlg: 'EdDSA' })
    const now = new Date()
    const before = await getSigningKeys(platform)
    expect(await rotateDueKeys(later(now, 29 * DAY_MS - HOUR_MS), 500)).toBe(0)
    const due = later(now, 29 * DAY_MS + HOUR_MS)
    expect(await rotateDueKeys(due, 500)).toBeGreaterThanOrEqual(2)
    expect(await rotateDueKeys(due, 500)).toBe(0)
    const keys = await getSigningKeys(platform)
    const made = keys.filter(({ kid }) => !before.some((key) => key.kid === kid))
    expect(made.map(({ alg }) => alg).sort()).toEqual(['ES256', 'ES384'])
    const activeAt = new Date(due.getTime() + DAY_MS)
    for (const key of made) expect(key).toMatchObject({ activeAt, expiresAt: null })
    expect(keys.find(({ alg }) => alg === 'EdDSA')?.expiresAt).toBeNull()
    // A former key is published for a day and an hour after the activation: the longest token lifetime and
    // clock skew.
    for (const { kid, alg } of before.filter(({ alg }) => alg !== 'EdDSA'))
      expect([alg, keys.find((key) => key.kid === kid)?.expiresAt]).toEqual([
        alg,
        new Date(activeAt.getTime() + DAY_MS + HOUR_MS),
      ])
  })

  test('creates one successor when several processes run it at once', async ({
    tenant,
    events,
    platform,
    ageKeys,
  }) => {
    await makeClient(tenant, { idTokenSigningAlg: 'RS256' })
    await ageKeys(90 * DAY_MS)
    const made = await Promise.all(Array.from({ length: 6 }, () => rotateDueKeys(new Date(), 500)))
    expect(made.reduce((sum, count) => sum + count, 0)).toBe(2)
    expect(await getSigningKeys(platform)).toHaveLength(4)
    const recorded = await events({ type: 'key.rotated' })
    expect(recorded.slice(-2).map(({ requestId, detail }) => [requestId, detail?.alg])).toEqual([
      ['platform', 'ES256'],
      ['platform', 'RS256'],
    ])
  })

  test('counts the 90 days from the last rotation on demand', async ({ platform, ageKeys }) => {
    const now = new Date()
    await ageKeys(80 * DAY_MS)
    await rotateSigningKeys(platform, {})
    expect(await rotateDueKeys(later(now, 20 * DAY_MS), 500)).toBe(0)
    expect(await getSigningKeys(platform)).toHaveLength(2)
  })
})

describe('a retired key', () => {
  test('verifies tokens until the last one has expired, and hints for 90 days more', async ({
    tenant,
    platform,
    listPublished,
    signToken,
    ageKeys,
  }) => {
    const hint = await signToken()
    const token = await signToken('at+jwt')
    const kid = kidOf(hint)
    const hinted = { userId: 'user_1', clientId: 'a-client', sessionId: null }
    await rotateSigningKeys(platform, { activateInSeconds: 0 })
    await ageKeys(DAY_MS)
    expect(await listPublished()).toContain(kid)
    expect(await verifyJwt(tenant, token, 'at+jwt')).toMatchObject({ sub: 'user_1' })
    await ageKeys(2 * HOUR_MS)
    expect(await listPublished()).not.toContain(kid)
    expect((await getSigningKeys(platform)).map((key) => key.kid)).not.toContain(kid)
    await expect(verifyJwt(tenant, token, 'at+jwt')).rejects.toThrow('key')
    await expect(verifyJwt(tenant, hint, 'JWT')).rejects.toThrow('key')
    expect(await verifyIdTokenHint(tenant, hint)).toEqual(hinted)
    const now = new Date()
    expect((await runCleanup(later(now, 89 * DAY_MS))).SigningKey).toBe(0)
    expect(await verifyIdTokenHint(tenant, hint)).toEqual(hinted)
    expect((await runCleanup(later(now, 90 * DAY_MS))).SigningKey).toBeGreaterThanOrEqual(1)
    invalidateKeys(new Handle({ tenant }))
    await expect(verifyIdTokenHint(tenant, hint)).rejects.toThrow('id_token_hint')
  })

  test('expires at its time, before the keys are read again', async ({
    tenant,
    platform,
    listPublished,
    signToken,
  }) => {
    const token = await signToken('at+jwt')
    await rotateSigningKeys(platform, { activateInSeconds: 0 })
    await sql(
      `UPDATE "SigningKey" SET "expiresAt" = now() + interval '300 milliseconds' WHERE "tenantId" = $1 AND "id" = $2`,
      [tenant, kidOf(token)],
    )
    invalidateKeys(new Handle({ tenant }))
    const end = (await getSigningKeys(platform)).find(({ kid }) => kid === kidOf(token))?.expiresAt
    await verifyJwt(tenant, token, 'at+jwt').catch(() => {})
    await sleep(Math.max(0, (end?.getTime() ?? 0) - Date.now()) + 5)
    await expect(verifyJwt(tenant, token, 'at+jwt')).rejects.toThrow('key')
    expect(await listPublished()).not.toContain(kidOf(token))
  })
})
