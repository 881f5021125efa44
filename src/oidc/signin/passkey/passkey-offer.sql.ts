import type { Db } from '../../../database/handle.ts'
import { statement, type ValuesOf } from '../../../database/statement.ts'

// The row of the user decides between tabs: one of them offers.
const OPEN_OFFER = statement({
  takes: {
    handleHash: 'bytea',
    userId: 'text',
    sessionId: 'text',
    replacedId: 'text?',
    since: 'timestamptz',
    now: 'timestamptz',
  },
  returns: { clientId: 'text' },
})`
  WITH offered AS (
    UPDATE "User" u SET "passkeyOfferedAt" = :now
    WHERE u."tenantId" = :tenant AND u."id" = :userId AND CASE WHEN :replacedId IS NULL
      THEN (u."passkeyOfferedAt" IS NULL OR u."passkeyOfferedAt" < :since) AND NOT EXISTS (
        SELECT FROM "Credential" c WHERE c."tenantId" = :tenant AND c."userId" = :userId AND c."type" = 'public-key'
      )
      ELSE EXISTS (
        SELECT FROM "Credential" c WHERE c."tenantId" = :tenant AND c."id" = :replacedId AND c."userId" = :userId
      ) END
    RETURNING u."id"
  )
  UPDATE "Interaction" SET "progress" = "progress" || jsonb_build_object('passkeyOfferedIn', :sessionId)
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash AND EXISTS (SELECT FROM offered)
  RETURNING "clientId"`

const CLOSE_OFFER = statement({
  takes: { handleHash: 'bytea', sessionId: 'text' },
  returns: { clientId: 'text' },
})`
  UPDATE "Interaction" SET "progress" = "progress" - 'passkeyOfferedIn' - 'changedPasskey'
  WHERE "tenantId" = :tenant AND "handleHash" = :handleHash AND "progress" ->> 'passkeyOfferedIn' = :sessionId
  RETURNING "clientId"`

type Offer = ValuesOf<typeof OPEN_OFFER>

/**
 * Opens an offer, unless the user has a passkey or was offered one since `since`; one that replaces a passkey whenever the
 * user still has that. One statement.
 */
export async function openPasskeyOffer(db: Db, offer: Offer): Promise<boolean> {
  return (await db.one(OPEN_OFFER, { ...offer })) !== null
}

/** Closes an offer; false when it is not open. */
export async function closePasskeyOffer(
  db: Db,
  offer: Pick<Offer, 'handleHash' | 'sessionId'>,
): Promise<boolean> {
  return (await db.one(CLOSE_OFFER, { ...offer })) !== null
}
