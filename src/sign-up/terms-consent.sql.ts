import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'

const STORE_TERMS_CONSENT = statement({
  takes: { userId: 'text', version: 'text', now: 'timestamptz', events: 'jsonb' },
  returns: { id: 'text' },
})`
  WITH agreed AS (
    UPDATE "User" SET "termsVersion" = :version, "termsAcceptedAt" = :now,
      "updatedAt" = GREATEST(:now, "updatedAt" + interval '1 millisecond')
    WHERE "tenantId" = :tenant AND "id" = :userId AND NOT "locked" AND "termsVersion" IS DISTINCT FROM :version
    RETURNING "id"
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'agreed' })})
  SELECT "id" FROM agreed`

/** Stores the consent of a user with its event; nothing when it is stored, or the user is locked or deleted. */
export const storeTermsConsent = (
  db: Db,
  consent: { userId: string; version: string; now: Date },
  event: object,
): Promise<void> => db.run(STORE_TERMS_CONSENT, { ...consent, events: [event] })
