import { calculateJwkThumbprint, type JWK } from 'jose'
import { seal } from '../../crypto.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction, type Sql, sql } from '../../db.ts'
import { NotFound, RateLimited } from '../../errors.ts'
import { type NewEvent, recordEvents, wakeReaders } from '../../events.ts'
import { parse } from '../../fields.ts'
import {
  DEFAULT_SIGNING_ALGORITHM,
  SIGNING_ALGORITHMS,
  type SigningAlgorithm,
} from '../../signing-algorithms.ts'
import { holdTenant } from '../../tenants/tenants.sql.ts'
import { after } from '../../time.ts'
import { makeKeyPair } from './key-algorithms.ts'
import { DEFAULT_ACTIVATE_IN_SECONDS, KeyRotation } from './key-rotation.fields.ts'
import {
  type AlgorithmKeys,
  deleteOvertakenKeys,
  deleteSigningKeys,
  insertSigningKeys,
  type NewKey,
  retireSigningKeys,
  type SigningKeyRow,
  selectAlgorithms,
  selectSigningKeys,
} from './keys.sql.ts'
import { forgetKeys, SEAL_PURPOSE } from './keys.ts'

/**
 * A key stays published so long after its successor took over: until the last token has expired that it signed (clients'
 * tokenExpiryTime is a day at most), and an hour for clocks that differ.
 */
export const PUBLISHED_BEHIND_SECONDS = 86_400 + 3600
/** By how much clocks of processes may differ: a key that is to sign this soon may have signed already. */
const CLOCK_SKEW_SECONDS = 60
/** Of an algorithm, besides the last one. Whoever rotates more often makes a key set that relying parties may not take. */
const MAX_RETIRING_KEYS = 20

async function makeKey(alg: SigningAlgorithm): Promise<NewKey> {
  const { privateKey, publicKey } = await makeKeyPair(alg)
  const jwk = publicKey.export({ format: 'jwk' }) as JWK
  const kid = await calculateJwkThumbprint(jwk)
  return {
    id: kid,
    alg,
    publicJwk: { ...jwk, kid, alg, use: 'sig' },
    privateKey: seal(SEAL_PURPOSE, privateKey.export({ format: 'der', type: 'pkcs8' })),
  }
}

/** Makes a tenant's first key and stores it, sealed; part of the transaction that creates the tenant. */
export async function createSigningKey(sql: Sql, tenant: string): Promise<void> {
  await insertSigningKeys(sql, tenant, [await makeKey(DEFAULT_SIGNING_ALGORITHM)], new Date())
}

/** Makes a key of each algorithm, and tells of it. Whoever calls this holds the tenant's row. */
export async function addKeys(
  sql: Sql,
  ctx: Ctx,
  algs: readonly SigningAlgorithm[],
  activeAt: Date,
): Promise<void> {
  const keys = await Promise.all(algs.map(makeKey))
  await insertSigningKeys(sql, ctx.tenant, keys, activeAt)
  await recordEvents(
    sql,
    ctx,
    keys.map(
      ({ id: kid, alg }): NewEvent => ({
        type: 'key.rotated',
        subjectIds: [kid],
        detail: { kid, alg, activeAt: activeAt.toISOString() },
      }),
    ),
  )
}

/** After the commit: every process knows the keys within a second, at once where the bus works. */
export function tellAll(tenant: string): void {
  forgetKeys(tenant)
  wakeReaders(tenant)
}

/**
 * Sees to it that the tenant has a key of each algorithm that a client asks for; part of the transaction that creates or
 * changes the client. Whoever asks at the same time waits, so that there is one key. True when one was made: call
 * `forgetKeys` after the commit.
 */
export async function ensureSigningKeys(
  sql: Sql,
  ctx: Ctx,
  client: { idTokenSigningAlg: string | null; userInfoSigningAlg: string | null },
): Promise<boolean> {
  const asked = [client.idTokenSigningAlg, client.userInfoSigningAlg]
  const wanted = SIGNING_ALGORITHMS.filter((alg) => alg !== DEFAULT_SIGNING_ALGORITHM && asked.includes(alg))
  const missing = async () => {
    const there = await selectAlgorithms(sql, ctx.tenant, new Date())
    return wanted.filter((alg) => !there.some((known) => known.alg === alg))
  }
  if (wanted.length === 0 || (await missing()).length === 0) return false
  await holdTenant(sql, ctx.tenant)
  const algs = await missing()
  if (algs.length > 0) await addKeys(sql, ctx, algs, new Date())
  return algs.length > 0
}

/** A key as callers see it. */
export type SigningKey = { kid: string } & Pick<SigningKeyRow, 'alg' | 'activeAt' | 'expiresAt'>

/** The keys of the tenant that are published, newest first: what signs, what will, and what has. One statement. */
export async function getSigningKeys(ctx: Ctx, now = new Date()): Promise<SigningKey[]> {
  const rows = await selectSigningKeys(sql, ctx.tenant)
  return rows
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
    .map(({ id, alg, activeAt, expiresAt }) => ({ kid: id, alg, activeAt, expiresAt }))
}

/** Throws RateLimited when more keys of an algorithm are published already than its key set may have. */
function assertRoom(algorithms: readonly AlgorithmKeys[], now: Date): void {
  for (const { retiring, nextExpiresAt } of algorithms)
    if (nextExpiresAt && retiring >= MAX_RETIRING_KEYS)
      throw new RateLimited(
        Math.ceil((nextExpiresAt.getTime() - now.getTime()) / 1000),
        'Too many former keys are published still; retireAtOnce takes them away.',
      )
}

/**
 * Replaces the keys of all algorithms that the tenant has. The new ones are published at once and sign after
 * `activateInSeconds` (0 to 30 days, 600 unless told); those before them stay published until their last token has
 * expired, and those that would have signed only after them are gone: they never will. With `retireAtOnce`, all that the tenant had are gone, and every token that they signed with them.
 * Returns the published keys. Throws InvalidInput, RateLimited and NotFound.
 */
export async function rotateSigningKeys(ctx: Ctx, input: unknown, now = new Date()): Promise<SigningKey[]> {
  const { activateInSeconds, retireAtOnce } = parse(KeyRotation, input ?? {})
  const activeAt = after(now, retireAtOnce ? 0 : (activateInSeconds ?? DEFAULT_ACTIVATE_IN_SECONDS))
  await inTransaction(async (sql) => {
    await holdTenant(sql, ctx.tenant)
    const algorithms = await selectAlgorithms(sql, ctx.tenant, now)
    if (algorithms.length === 0) throw new NotFound('tenant')
    const algs = algorithms.map(({ alg }) => alg)
    if (retireAtOnce) await deleteSigningKeys(sql, ctx.tenant)
    else {
      assertRoom(algorithms, now)
      await deleteOvertakenKeys(sql, ctx.tenant, activeAt, after(now, CLOCK_SKEW_SECONDS))
      await retireSigningKeys(sql, ctx.tenant, algs, after(activeAt, PUBLISHED_BEHIND_SECONDS))
    }
    await addKeys(sql, ctx, algs, activeAt)
  })
  tellAll(ctx.tenant)
  return getSigningKeys(ctx, now)
}
