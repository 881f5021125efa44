import type { Db } from '../../database/handle.ts'
import { statement, type ValuesOf } from '../../database/statement.ts'

// FOR SHARE waits for a change of the provider, and then finds no row.
const LOCK_KEEPER = statement({
  takes: { userId: 'text', idpId: 'text', issuer: 'text', externalId: 'text', provenAt: 'timestamptz' },
  returns: { id: 'text' },
})`
  SELECT l."id" FROM "IdentityProvider" i
  JOIN "IdpUser" l ON l."tenantId" = i."tenantId" AND l."idpId" = i."id" AND l."userId" = :userId
    AND l."issuer" = :issuer AND l."externalId" = :externalId
  WHERE i."tenantId" = :tenant AND i."id" = :idpId AND i."keepTokens" AND i."updatedAt" = :provenAt FOR SHARE OF i`

/**
 * Locks a provider that keeps tokens, and returns the id of the link of a locked user; null without one, or if the
 * provider has been changed since `provenAt`, its updatedAt.
 */
export const lockTokenKeeper = async (db: Db, use: ValuesOf<typeof LOCK_KEEPER>): Promise<string | null> =>
  (await db.one(LOCK_KEEPER, { ...use }))?.id ?? null
