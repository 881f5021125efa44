import { setTimeout as sleep } from 'node:timers/promises'
import { decodeProtectedHeader, type JWK } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cleanUp } from '../../src/cleanup.ts'
import { platformCtx } from '../../src/ctx.ts'
import { sql } from '../../src/db.ts'
import { getSigningKeys, rotateSigningKeys } from '../../src/oidc/keys/key-rotation.ts'
import { rotateDueKeys } from '../../src/oidc/keys/key-schedule.ts'
import { forgetKeys, issuerOf, signJwt, verifyJwt } from '../../src/oidc/keys/keys.ts'
import { readIdTokenHint } from '../../src/oidc/token/id-tokens.ts'
import { SIGNING_ALGORITHMS } from '../../src/signing-algorithms.ts'
import { newTenant } from '../support/actors.ts'
import { logOf } from '../support/events.ts'
import { makeClient, type Provider, startProvider } from './provider.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let provider: Provider
let tenant: string
let now: Date
const later = (ms: number) => new Date(now.getTime() + ms)
const ctx = () => platformCtx(tenant)

beforeAll(async () => {
  provider = await startProvider()
})
afterAll(() => provider.close())
beforeEach(async () => {
  tenant = await newTenant()
  now = new Date()
})

const published = async (): Promise<string[]> => {
  const response = await fetch(`${provider.origin}/${tenant}/.well-known/jwks.json`)
  const { keys } = (await response.json()) as { keys: JWK[] }
  for (const key of keys)
    expect(key).toMatchObject({ kid: expect.any(String), use: 'sig', alg: expect.stringMatching(/./) })
  return keys.map(({ kid }) => String(kid))
}
const sign = (typ: 'JWT' | 'at+jwt' = 'JWT') =>
  signJwt(tenant, typ, {
    iss: issuerOf(tenant),
    sub: 'somebody',
    aud: 'a-client',
    exp: Math.floor(Date.now() / 1000) + 600,
  })
const kidOf = (token: string) => decodeProtectedHeader(token).kid
const signingKid = async () => kidOf(await sign())

/** The times of keys by kid, as if so much time had gone by since they were made. */
async function age(ms: number): Promise<void> {
  await sql(
    `UPDATE "SigningKey" SET "activeAt" = "activeAt" - $2 * interval '1 millisecond',
       "expiresAt" = "expiresAt" - $2 * interval '1 millisecond' WHERE "tenantId" = $1`,
    [tenant, ms],
  )
  forgetKeys(tenant)
}

describe('rotation on demand', () => {
  test('publishes new keys of every algorithm at once, which sign ten minutes later', async () => {
    for (const idTokenSigningAlg of SIGNING_ALGORITHMS) await makeClient(tenant, { idTokenSigningAlg })
    const before = await getSigningKeys(ctx())
    const keys = await rotateSigningKeys(ctx(), {}, now)
    expect(keys).toHaveLength(8)
    const made = keys.filter(({ kid }) => !before.some((key) => key.kid === kid))
    expect(made.map(({ alg }) => alg).sort()).toEqual([...SIGNING_ALGORITHMS].sort())
    for (const key of made) expect(key).toMatchObject({ activeAt: later(600_000), expiresAt: null })
    // The longest token is of a day; an hour more is for clocks.
    for (const { kid } of before)
      expect(keys.find((key) => key.kid === kid)?.expiresAt).toEqual(later(600_000 + DAY_MS + HOUR_MS))
    expect((await published()).sort()).toEqual(keys.map(({ kid }) => kid).sort())
    expect(before.map(({ kid }) => kid)).toContain(await signingKid())

    const told = (await logOf(tenant)).filter(({ type }) => type === 'key.rotated').slice(-4)
    for (const { detail, subjectIds } of told) {
      const { kid, alg } = made.find((key) => key.kid === detail?.kid) ?? {}
      expect([subjectIds, detail]).toEqual([[kid], { kid, alg, activeAt: later(600_000).toISOString() }])
    }
    expect(new Set(told.map(({ detail }) => detail?.kid)).size).toBe(4)
  })

  test('a key signs from the very moment that it was published for', async () => {
    const keys = await rotateSigningKeys(ctx(), { activateInSeconds: 2 })
    const [next, former] = keys
    const from = next?.activeAt.getTime() ?? 0
    const seen = new Set<string | undefined>()
    while (Date.now() < from + 500) {
      const started = Date.now()
      const kid = await signingKid()
      if (Date.now() < from) expect(kid).toBe(former?.kid)
      if (started >= from) expect(kid).toBe(next?.kid)
      seen.add(kid)
      await sleep(5)
    }
    expect(seen).toContain(next?.kid)
  })

  test('of two rotations that are under way, the later one wins, whatever their times', async () => {
    const [slow] = await rotateSigningKeys(ctx(), { activateInSeconds: 3600 })
    const [fast] = await rotateSigningKeys(ctx(), { activateInSeconds: 60 })
    await age(60_000)
    expect(await signingKid()).toBe(fast?.kid)
    await age(3600_000)
    expect(await signingKid()).toBe(fast?.kid)
    expect(await published()).not.toContain(slow?.kid)
  })

  test('a key that never will sign is neither listed nor published; one that may have is', async () => {
    const [overtaken] = await rotateSigningKeys(ctx(), { activateInSeconds: 600 })
    const [imminent] = await rotateSigningKeys(ctx(), { activateInSeconds: 30 })
    const keys = await rotateSigningKeys(ctx(), { activateInSeconds: 0 })
    expect(keys.map(({ kid }) => kid)).not.toContain(overtaken?.kid)
    expect(keys.map(({ kid }) => kid)).toContain(imminent?.kid)
    expect(keys).toHaveLength(3)
    expect(await signingKid()).toBe(keys[0]?.kid)
    expect((await published()).sort()).toEqual(keys.map(({ kid }) => kid).sort())
    // One that signs before its successor does is no such key.
    const [first] = await rotateSigningKeys(ctx(), { activateInSeconds: 600 })
    await rotateSigningKeys(ctx(), { activateInSeconds: 1200 })
    expect(await published()).toContain(first?.kid)
  })

  test('0 is at once; tokens of the key before stay good', async () => {
    const token = await sign('at+jwt')
    const [next] = await rotateSigningKeys(ctx(), { activateInSeconds: 0 })
    expect(await signingKid()).toBe(next?.kid)
    expect(await verifyJwt(tenant, token, 'at+jwt')).toMatchObject({ sub: 'somebody' })
  })

  test('retireAtOnce: of keys that leaked nothing is left, neither published nor good for tokens or hints', async () => {
    const token = await sign('at+jwt')
    const hint = await sign()
    await rotateSigningKeys(ctx(), { activateInSeconds: 0 })
    await age(30 * DAY_MS) // one that is no longer published, too
    expect(await readIdTokenHint(tenant, hint)).toMatchObject({ clientId: expect.any(String) })
    const between = await sign('at+jwt')
    const keys = await rotateSigningKeys(ctx(), { retireAtOnce: true })
    expect(keys).toMatchObject([{ alg: 'ES256', expiresAt: null }])
    expect(await published()).toEqual([keys[0]?.kid])
    expect(await signingKid()).toBe(keys[0]?.kid)
    for (const lost of [token, between])
      await expect(verifyJwt(tenant, lost, 'at+jwt')).rejects.toThrow('key')
    await expect(readIdTokenHint(tenant, hint)).rejects.toThrow('id_token_hint')
  })

  test('of many at the same time, each makes one successor of every algorithm', async () => {
    await makeClient(tenant, { idTokenSigningAlg: 'EdDSA' })
    await Promise.all(Array.from({ length: 6 }, () => rotateSigningKeys(ctx(), { activateInSeconds: 0 })))
    const keys = await getSigningKeys(ctx())
    expect(keys).toHaveLength(14)
    const last = keys.filter(({ expiresAt }) => expiresAt === null)
    expect(last.map(({ alg }) => alg).sort()).toEqual(['ES256', 'EdDSA'].sort())
    expect(last.map(({ kid }) => kid)).toContain(await signingKid())
  })

  test('is refused, with when to come back, while too many former keys are published', async () => {
    for (let n = 0; n < 20; n++) await rotateSigningKeys(ctx(), { activateInSeconds: 0 }, now)
    await expect(rotateSigningKeys(ctx(), {}, now)).rejects.toMatchObject({
      status: 429,
      retryAfterSeconds: 90_000,
    })
    expect(await rotateSigningKeys(ctx(), { retireAtOnce: true }, now)).toHaveLength(1)
  })

  test('names faulty fields, and changes nothing then', async () => {
    const before = await published()
    for (const [input, fields] of [
      [{ activateInSeconds: -1, retireAtOnce: 'yes' }, ['activateInSeconds', 'retireAtOnce']],
      [{ activateInSeconds: 2_592_001 }, ['activateInSeconds']],
      [{ activateInSeconds: 60, retireAtOnce: true }, ['activateInSeconds']],
      [{ activateAt: 1 }, ['activateAt']],
    ] as const)
      await expect(rotateSigningKeys(ctx(), input)).rejects.toMatchObject({
        status: 400,
        fields: fields.map((field) => expect.objectContaining({ field })),
      })
    expect(await published()).toEqual(before)
  })
})

describe('rotation by schedule', () => {
  test('each key signs for 90 days; its successor is published a day ahead, by algorithm', async () => {
    await makeClient(tenant, { idTokenSigningAlg: 'ES384' })
    await age(60 * DAY_MS)
    await makeClient(tenant, { idTokenSigningAlg: 'EdDSA' })
    now = new Date()
    const before = await getSigningKeys(ctx())
    expect(await rotateDueKeys(later(29 * DAY_MS - HOUR_MS), 500)).toBe(0)
    const due = later(29 * DAY_MS + HOUR_MS)
    expect(await rotateDueKeys(due, 500)).toBeGreaterThanOrEqual(2)
    expect(await rotateDueKeys(due, 500)).toBe(0)
    const keys = await getSigningKeys(ctx())
    const made = keys.filter(({ kid }) => !before.some((key) => key.kid === kid))
    expect(made.map(({ alg }) => alg).sort()).toEqual(['ES256', 'ES384'])
    const activeAt = new Date(due.getTime() + DAY_MS)
    for (const key of made) expect(key).toMatchObject({ activeAt, expiresAt: null })
    expect(keys.find(({ alg }) => alg === 'EdDSA')?.expiresAt).toBeNull()
    // As long ahead as behind of what people's tokens live.
    for (const { kid, alg } of before.filter(({ alg }) => alg !== 'EdDSA'))
      expect([alg, keys.find((key) => key.kid === kid)?.expiresAt]).toEqual([
        alg,
        new Date(activeAt.getTime() + DAY_MS + HOUR_MS),
      ])
  })

  test('any number of processes at once make one successor', async () => {
    await makeClient(tenant, { idTokenSigningAlg: 'RS256' })
    await age(90 * DAY_MS)
    const made = await Promise.all(Array.from({ length: 6 }, () => rotateDueKeys(new Date(), 500)))
    expect(made.reduce((sum, count) => sum + count, 0)).toBe(2)
    expect(await getSigningKeys(ctx())).toHaveLength(4)
    const told = (await logOf(tenant)).filter(({ type }) => type === 'key.rotated')
    expect(told.slice(-2).map(({ requestId, detail }) => [requestId, detail?.alg])).toEqual([
      ['platform', 'ES256'],
      ['platform', 'RS256'],
    ])
  })

  test('a rotation on demand begins the 90 days anew', async () => {
    await age(80 * DAY_MS)
    await rotateSigningKeys(ctx(), {})
    expect(await rotateDueKeys(later(20 * DAY_MS), 500)).toBe(0)
    expect(await getSigningKeys(ctx())).toHaveLength(2)
  })
})

describe('a key after its time', () => {
  test('is published, and good for tokens, until its last token has expired; then only for hints, for 90 days', async () => {
    const hint = await sign()
    const token = await sign('at+jwt')
    const kid = kidOf(hint)
    const hinted = { userId: 'somebody', clientId: 'a-client', sessionId: null }
    await rotateSigningKeys(ctx(), { activateInSeconds: 0 })
    await age(DAY_MS)
    expect(await published()).toContain(kid)
    expect(await verifyJwt(tenant, token, 'at+jwt')).toMatchObject({ sub: 'somebody' })
    await age(2 * HOUR_MS)
    expect(await published()).not.toContain(kid)
    expect((await getSigningKeys(ctx())).map((key) => key.kid)).not.toContain(kid)
    await expect(verifyJwt(tenant, token, 'at+jwt')).rejects.toThrow('key')
    await expect(verifyJwt(tenant, hint, 'JWT')).rejects.toThrow('key')
    expect(await readIdTokenHint(tenant, hint)).toEqual(hinted)
    now = new Date()
    expect((await cleanUp(later(89 * DAY_MS))).SigningKey).toBe(0)
    expect(await readIdTokenHint(tenant, hint)).toEqual(hinted)
    expect((await cleanUp(later(90 * DAY_MS))).SigningKey).toBeGreaterThanOrEqual(1)
    forgetKeys(tenant)
    await expect(readIdTokenHint(tenant, hint)).rejects.toThrow('id_token_hint')
  })

  test('expires at its very time, not when the keys are read next', async () => {
    const token = await sign('at+jwt')
    await rotateSigningKeys(ctx(), { activateInSeconds: 0 })
    await sql(
      `UPDATE "SigningKey" SET "expiresAt" = now() + interval '300 milliseconds' WHERE "tenantId" = $1 AND "id" = $2`,
      [tenant, kidOf(token)],
    )
    forgetKeys(tenant)
    const end = (await getSigningKeys(ctx())).find(({ kid }) => kid === kidOf(token))?.expiresAt
    await verifyJwt(tenant, token, 'at+jwt').catch(() => {})
    await sleep(Math.max(0, (end?.getTime() ?? 0) - Date.now()) + 5)
    await expect(verifyJwt(tenant, token, 'at+jwt')).rejects.toThrow('key')
    expect(await published()).not.toContain(kidOf(token))
  })
})
