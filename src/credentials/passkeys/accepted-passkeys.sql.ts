import type { Db } from '../../database/handle.ts'
import { statement, typed } from '../../database/statement.ts'

const SELECT_ACCEPTED = statement({
  takes: { userId: 'text' },
  returns: { externalIds: typed<string[]>('text[]') },
})`
  SELECT coalesce(array_agg("externalId" ORDER BY "id"), '{}') AS "externalIds" FROM "Credential"
  WHERE "tenantId" = :tenant AND "userId" = :userId AND "type" = 'public-key' AND "externalId" IS NOT NULL`

/** The credential ids of WebAuthn of all passkeys of a user. One statement. */
export async function selectAcceptedPasskeys(db: Db, userId: string): Promise<string[]> {
  return (await db.one(SELECT_ACCEPTED, { userId }))?.externalIds ?? []
}
