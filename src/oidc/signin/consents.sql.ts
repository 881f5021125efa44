import type { Sql } from '../../db.ts'

const UPSERT_CONSENT = `
  INSERT INTO "Consent" ("tenantId", "userId", "clientId", "scopes", "claims", "updatedAt", "createdAt")
  VALUES ($1, $2, $3, $4::text[], $5::text[], $6::timestamptz, $6::timestamptz)
  ON CONFLICT ("tenantId", "userId", "clientId") DO UPDATE SET "updatedAt" = EXCLUDED."updatedAt",
    "scopes" = ARRAY(SELECT DISTINCT unnest("Consent"."scopes" || EXCLUDED."scopes") ORDER BY 1),
    "claims" = ARRAY(SELECT DISTINCT unnest("Consent"."claims" || EXCLUDED."claims") ORDER BY 1)`

/** Adds to what a person has agreed to for a client: scopes, and claims that were asked for beside them. */
export async function upsertConsent(
  sql: Sql,
  tenant: string,
  consent: { userId: string; clientId: string; scopes: string[]; claims: string[]; now: Date },
): Promise<void> {
  await sql(UPSERT_CONSENT, [
    tenant,
    consent.userId,
    consent.clientId,
    consent.scopes,
    consent.claims,
    consent.now,
  ])
}
