import { randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { voidOldPassword } from '../access/revocation/revocation.sql.ts'
import { type CachedTenant, findTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import { computeMac, seal, unseal } from '../core/crypto.ts'
import { log } from '../core/log.ts'
import type { Db, Tx } from '../database/handle.ts'
import { comparePassword } from './compare-password.ts'
import { selectCompared, selectStoredPasswords, upsertPasswords } from './old-passwords.sql.ts'
import { proveByUrl } from './proof-url.ts'
import type { StoredProof } from './stored-proof.ts'

/** Places of hashes among those of a tenant: 31 bits. */
const PLACES = 2 ** 31

/** The purpose of a sealed hash. Moved to another user or tenant, it cannot be decrypted. */
export const toOldPasswordPurpose = (tenant: string, userId: string): string =>
  `old-password:${tenant}:${userId}`

const openHash = (tenant: string, userId: string, sealed: string): StoredProof =>
  JSON.parse(unseal(toOldPasswordPurpose(tenant, userId), sealed).toString()) as StoredProof

/** Whether the tenant accepts the passwords of the system that it moves from. */
export const isMigrating = ({ migrationEndsAt }: Pick<CachedTenant, 'migrationEndsAt'>): boolean =>
  migrationEndsAt !== null && migrationEndsAt > new Date()

/** A user whose row is locked, or was inserted by the transaction, and the hash of an import. */
export type ImportedPassword = { userId: string; hash: StoredProof }

/**
 * Stores the passwords of users. Returns those that it changed: a password that was used is not stored again, and the
 * hash that is stored is none.
 */
export async function storeOldPasswords(
  tx: Tx,
  imported: readonly ImportedPassword[],
): Promise<ReadonlySet<string>> {
  if (imported.length === 0) return new Set()
  const stored = await selectStoredPasswords(
    tx,
    imported.map(({ userId }) => userId),
  )
  const byUser = new Map(stored.map((row) => [row.userId, row]))
  const changed = imported.filter(({ userId, hash }) => {
    const current = byUser.get(userId)
    if (!current?.hash) return current?.isUsed !== true
    return !isDeepStrictEqual(openHash(tx.tenant, userId, current.hash), hash)
  })
  if (changed.length > 0)
    await upsertPasswords(
      tx,
      changed.map(({ userId, hash }) => ({
        userId,
        hash: seal(toOldPasswordPurpose(tx.tenant, userId), JSON.stringify(hash)),
        place: randomInt(PLACES),
      })),
    )
  return new Set(changed.map(({ userId }) => userId))
}

/** The stored password of a user that a guess has matched, as it is claimed. */
export type MatchedPassword = { sealed: string; algorithm: StoredProof['kind'] }

/**
 * Compares a password with the hash of a user, or, where there is none, with that of another user of the tenant, and
 * ignores the result: the response takes as long for every address. Null unless it is the user's. A comparison that
 * fails is a wrong password: an error would show which addresses have that hash.
 */
export async function matchOldPassword(
  ctx: Ctx,
  { userId, address }: { userId: string | null; address: string },
  password: string,
): Promise<MatchedPassword | null> {
  const { tenant } = ctx
  const place = computeMac('old-password-place', `${tenant}\n${address}`).readUInt32BE() % PLACES
  const compared = await selectCompared(ctx.db, { userId, place })
  if (!compared?.hash || compared.hashOf === null) return null
  try {
    const hash = openHash(tenant, compared.hashOf, compared.hash)
    const isRight =
      hash.kind === 'url'
        ? await proveByUrl(ctx, compared.isOwn ? { userId: compared.hashOf, address, password } : null)
        : await comparePassword(tenant, password, hash)
    return isRight && compared.isOwn ? { sealed: compared.hash, algorithm: hash.kind } : null
  } catch (err) {
    log.error({ tenant, userId: compared.hashOf, err }, 'a password could not be compared')
    return null
  }
}

/**
 * Deletes the hash of a user who signs in with it, whose row is locked. False when it was used before: of two at once, one
 * wins.
 */
export async function takeOldPassword(
  { prisma, tenant }: Tx,
  userId: string,
  { sealed }: MatchedPassword,
  now: Date,
): Promise<boolean> {
  const { count } = await prisma.oldPassword.updateMany({
    where: { tenantId: tenant, userId, hash: sealed },
    data: { hash: null, usedAt: now },
  })
  return count === 1
}

/** Removes the hash of a user who has signed in, which is of no use from then on: one statement while the tenant migrates. */
export async function endOldPassword(db: Db, userId: string): Promise<void> {
  const tenant = await findTenant(db.tenant)
  if (tenant && isMigrating(tenant)) await voidOldPassword(db, userId)
}
