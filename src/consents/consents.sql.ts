import type { Db } from '../database/handle.ts'
import { statement, type ValuesOf } from '../database/statement.ts'

// A union of arrays, which Prisma Client cannot write.
const UPSERT_CONSENT = statement({
  takes: {
    userId: 'text',
    clientId: 'text',
    scopes: 'text[]',
    claims: 'text[]',
    resources: 'text[]',
    now: 'timestamptz',
  },
})`
  INSERT INTO "Consent" ("tenantId", "userId", "clientId", "scopes", "claims", "resources", "updatedAt", "createdAt")
  VALUES (:tenant, :userId, :clientId, :scopes, :claims, :resources, :now, :now)
  ON CONFLICT ("tenantId", "userId", "clientId") DO UPDATE SET "updatedAt" = EXCLUDED."updatedAt",
    "scopes" = ARRAY(SELECT DISTINCT unnest("Consent"."scopes" || EXCLUDED."scopes") ORDER BY 1),
    "claims" = ARRAY(SELECT DISTINCT unnest("Consent"."claims" || EXCLUDED."claims") ORDER BY 1),
    "resources" = ARRAY(SELECT DISTINCT unnest("Consent"."resources" || EXCLUDED."resources") ORDER BY 1)`

/** Adds scopes, claims that were requested individually, and resources to a user's consent for a client. */
export const upsertConsent = (db: Db, consent: ValuesOf<typeof UPSERT_CONSENT>): Promise<void> =>
  db.run(UPSERT_CONSENT, consent)
