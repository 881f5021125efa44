import { calculateJwkThumbprint, type JWK } from 'jose'
import type { Ctx } from '../context/context.ts'
import { seal } from '../core/crypto.ts'
import { NotFound, RateLimited } from '../core/errors.ts'
import { addSeconds } from '../core/time.ts'
import type { Db } from '../database/handle.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { createKeyPair } from './key-algorithms.ts'
import { DEFAULT_ACTIVATE_IN_SECONDS, KeyRotation } from './key-rotation.fields.ts'
import {
  type AlgorithmKeys,
  lockTenantRow,
  type SigningKeyRow,
  selectAlgorithms,
  selectSigningKeys,
} from './keys.sql.ts'
import { invalidateKeys, SEAL_PURPOSE } from './keys.ts'
import { DEFAULT_SIGNING_ALGORITHM, SIGNING_ALGORITHMS, type SigningAlgorithm } from './signing-algorithms.ts'

/**
 * How long a key stays published after its successor becomes active: until the last token that it signed has
 * expired (the tokenExpiryTime of a client is at most a day), and an hour for clock skew. See docs/decisions/0033.
 */
export const RETIRED_PUBLICATION_SECONDS = 86_400 + 3600
/** How long a key signs before its successor does. */
export const SIGNING_PERIOD_SECONDS = 90 * 86_400
/** The maximum clock skew between processes: a key that becomes active this soon may have signed already. */
const CLOCK_SKEW_SECONDS = 60
/** Retiring keys of an algorithm. Relying parties may not accept larger key sets. */
const MAX_RETIRING_KEYS = 20

async function createKey(alg: SigningAlgorithm) {
  const { privateKey, publicKey } = await createKeyPair(alg)
  const jwk = publicKey.export({ format: 'jwk' }) as JWK
  const kid = await calculateJwkThumbprint(jwk)
  return {
    id: kid,
    alg,
    publicJwk: { ...jwk, kid, alg, use: 'sig' },
    privateKey: seal(SEAL_PURPOSE, privateKey.export({ format: 'der', type: 'pkcs8' })),
  }
}

/**
 * Creates a key of each algorithm, which signs from `activeAt` on, in a transaction that has locked the tenant's row. Their
 * creation times are later than those of all keys of the tenant: of two keys, the later one is the successor.
 */
async function insertSigningKeys(
  { prisma, tenant: tenantId }: Db,
  algs: readonly SigningAlgorithm[],
  activeAt: Date,
) {
  const keys = await Promise.all(algs.map(createKey))
  const { _max: latest } = await prisma.signingKey.aggregate({
    where: { tenantId },
    _max: { createdAt: true },
  })
  const createdAt = new Date(Math.max(Date.now(), (latest.createdAt?.getTime() ?? 0) + 1))
  await prisma.signingKey.createMany({
    data: keys.map((key) => ({ ...key, publicJwk: key.publicJwk as object, tenantId, activeAt, createdAt })),
  })
  return keys
}

/** Creates a tenant's first signing key and stores it sealed, in the transaction that creates the tenant. */
export async function createSigningKey(tx: Db): Promise<void> {
  await insertSigningKeys(tx, [DEFAULT_SIGNING_ALGORITHM], new Date())
}

/** Creates a key of each algorithm and records the events. The caller has locked the tenant's row. */
export async function addSigningKeys(
  tx: Db,
  ctx: Ctx,
  algs: readonly SigningAlgorithm[],
  activeAt: Date,
): Promise<void> {
  const keys = await insertSigningKeys(tx, algs, activeAt)
  invalidateKeys(tx)
  await recordEvents(
    tx,
    ctx,
    keys.map(({ id, alg }) =>
      createEvent('key.rotated', { keyId: id }, { kid: id, alg, activeAt: activeAt.toISOString() }),
    ),
  )
}

/**
 * Creates the keys that are missing for a client's signing algorithms, in the transaction that creates or
 * changes the client. Concurrent callers wait for the tenant's row, so that one key is created.
 */
export async function ensureSigningKeys(
  tx: Db,
  ctx: Ctx,
  client: { idTokenSigningAlg: string | null; userInfoSigningAlg: string | null },
): Promise<void> {
  const requested = [client.idTokenSigningAlg, client.userInfoSigningAlg]
  const wanted = SIGNING_ALGORITHMS.filter(
    (alg) => alg !== DEFAULT_SIGNING_ALGORITHM && requested.includes(alg),
  )
  const findMissing = async () => {
    const existing = await selectAlgorithms(tx, new Date())
    return wanted.filter((alg) => !existing.some((keys) => keys.alg === alg))
  }
  if (wanted.length === 0 || (await findMissing()).length === 0) return
  await lockTenantRow(tx)
  const algs = await findMissing()
  if (algs.length > 0) await addSigningKeys(tx, ctx, algs, new Date())
}

/** A signing key without its private key. */
export type SigningKey = { kid: string } & Pick<SigningKeyRow, 'alg' | 'activeAt' | 'expiresAt'>

/**
 * Returns the published keys of the tenant, newest first: active, upcoming and retiring ones. One statement.
 */
export async function getSigningKeys({ db }: { db: Db }, now = new Date()): Promise<SigningKey[]> {
  const rows = await selectSigningKeys(db)
  return rows
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
    .map(({ id, alg, activeAt, expiresAt }) => ({ kid: id, alg, activeAt, expiresAt }))
}

/** The published keys of the tenant with these ids, in any order. */
export const findSigningKeys = async (db: Db, kids: string[]): Promise<(SigningKey & { id: string })[]> =>
  (await getSigningKeys({ db }))
    .filter(({ kid }) => kids.includes(kid))
    .map((key) => ({ ...key, id: key.kid }))

/** Throws RateLimited when an algorithm has the maximum number of retiring keys. */
function assertRetiringCapacity(algorithms: readonly AlgorithmKeys[], now: Date): void {
  for (const { retiring, nextExpiresAt } of algorithms)
    if (nextExpiresAt && retiring >= MAX_RETIRING_KEYS)
      throw new RateLimited(
        Math.ceil((nextExpiresAt.getTime() - now.getTime()) / 1000),
        'Too many retiring keys are published; retireAtOnce removes them.',
      )
}

/**
 * Ends the publication of the keys of the algorithms once the last token that they sign before `activeAt` has expired,
 * unless it ends earlier.
 */
export async function retireSigningKeys(
  { prisma, tenant }: Db,
  algs: SigningAlgorithm[],
  activeAt: Date,
): Promise<void> {
  const expiresAt = addSeconds(activeAt, RETIRED_PUBLICATION_SECONDS)
  await prisma.signingKey.updateMany({
    where: {
      tenantId: tenant,
      alg: { in: algs },
      OR: [{ expiresAt: null }, { expiresAt: { gt: expiresAt } }],
    },
    data: { expiresAt },
  })
}

/**
 * Replaces the keys of all algorithms that the tenant has. The new keys are published at once and sign after
 * `activateInSeconds` (0 to 30 days, 600 s by default). The previous keys stay published until their last
 * token has expired; keys that would have become active later than the new ones are deleted. With
 * `retireAtOnce`, all existing keys are deleted, which invalidates every token that they signed. Returns the
 * published keys. Throws InvalidInput, RateLimited, and NotFound when the tenant does not exist.
 */
export async function rotateSigningKeys(ctx: Ctx, input: unknown, now = new Date()): Promise<SigningKey[]> {
  const { activateInSeconds, retireAtOnce } = parseInput(KeyRotation, input === undefined ? {} : input)
  const activeAt = addSeconds(now, retireAtOnce ? 0 : (activateInSeconds ?? DEFAULT_ACTIVATE_IN_SECONDS))
  await ctx.db.transaction(async (tx) => {
    await lockTenantRow(tx)
    const algorithms = await selectAlgorithms(tx, now)
    if (algorithms.length === 0) throw new NotFound('tenant')
    const algs = algorithms.map(({ alg }) => alg)
    // Keys that become active later than this have not signed.
    const latestClock = addSeconds(now, CLOCK_SKEW_SECONDS)
    const superseded = { activeAt: { gt: new Date(Math.max(activeAt.getTime(), latestClock.getTime())) } }
    if (!retireAtOnce) assertRetiringCapacity(algorithms, now)
    await tx.prisma.signingKey.deleteMany({
      where: { tenantId: ctx.tenant, ...(!retireAtOnce && superseded) },
    })
    if (!retireAtOnce) await retireSigningKeys(tx, algs, activeAt)
    await addSigningKeys(tx, ctx, algs, activeAt)
  })
  return getSigningKeys(ctx, now)
}
