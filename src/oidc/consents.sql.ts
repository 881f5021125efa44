import type { Sql } from '../db.ts'

const UPSERT_CONSENT = `
  INSERT INTO "Consent" ("tenantId", "userId", "clientId", "scopes", "updatedAt", "createdAt")
  VALUES ($1, $2, $3, $4::text[], $5::timestamptz, $5::timestamptz)
  ON CONFLICT ("tenantId", "userId", "clientId") DO UPDATE SET "updatedAt" = EXCLUDED."updatedAt",
    "scopes" = ARRAY(SELECT DISTINCT unnest("Consent"."scopes" || EXCLUDED."scopes") ORDER BY 1)`

/** Adds to what a person has agreed to for a client. */
export async function upsertConsent(
  sql: Sql,
  tenant: string,
  consent: { userId: string; clientId: string; scopes: string[]; now: Date },
): Promise<void> {
  await sql(UPSERT_CONSENT, [tenant, consent.userId, consent.clientId, consent.scopes, consent.now])
}
