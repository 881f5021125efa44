import { decodeProtectedHeader, type JWK } from 'jose'
import { expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { issuerOf } from '../../src/core/issuer.ts'
import { Handle } from '../../src/database/handle.ts'
import { invalidateKeys, signJwt } from '../../src/keys/keys.ts'
import { sql } from './database.ts'
import { test as base } from './tenant-per-test.ts'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

export const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms)
export const kidOf = (token: string): string | undefined => decodeProtectedHeader(token).kid

/** `test` with the signing keys of a tenant for each test. */
export const test = base
  .extend('platform', ({ tenant }) => createPlatformCtx(tenant))
  /** The ids of the published keys. */
  .extend('listPublished', ({ app, tenant }) => async (): Promise<string[]> => {
    const response = await app.fetch(`/${tenant}/.well-known/jwks.json`)
    const { keys } = (await response.json()) as { keys: JWK[] }
    for (const key of keys)
      expect(key).toMatchObject({ kid: expect.any(String), use: 'sig', alg: expect.stringMatching(/./) })
    return keys.map(({ kid }) => String(kid))
  })
  .extend(
    'signToken',
    ({ tenant }) =>
      (typ: 'JWT' | 'at+jwt' = 'JWT') =>
        signJwt(tenant, typ, {
          iss: issuerOf(tenant),
          sub: 'user_1',
          aud: 'a-client',
          exp: Math.floor(Date.now() / 1000) + 600,
        }),
  )
  /** The id of the key that signs now. */
  .extend(
    'readSigningKid',
    ({ signToken }) =>
      async () =>
        kidOf(await signToken()),
  )
  /** Moves the times of all keys so far into the past. */
  .extend('ageKeys', ({ tenant }) => async (ms: number) => {
    await sql(
      `UPDATE "SigningKey" SET "activeAt" = "activeAt" - $2 * interval '1 millisecond',
         "expiresAt" = "expiresAt" - $2 * interval '1 millisecond' WHERE "tenantId" = $1`,
      [tenant, ms],
    )
    invalidateKeys(new Handle({ tenant }))
  })
