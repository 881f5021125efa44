import type { Db } from '../database/handle.ts'
import { type RowOf, statement } from '../database/statement.ts'

const DELETE_CONSENT = statement({
  takes: { userId: 'text', clientId: 'text' },
  returns: { scopes: 'text[]', claims: 'text[]', resources: 'text[]' },
})`
  DELETE FROM "Consent" WHERE "tenantId" = :tenant AND "userId" = :userId AND "clientId" = :clientId
  RETURNING "scopes", "claims", "resources"`

/** Deletes a user's consent for a client and returns what it covered; null when there was none. */
export const deleteConsent = (
  db: Db,
  userId: string,
  clientId: string,
): Promise<RowOf<typeof DELETE_CONSENT> | null> => db.one(DELETE_CONSENT, { userId, clientId })

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
export const upsertConsent = (
  db: Db,
  consent: {
    userId: string
    clientId: string
    scopes: string[]
    claims: string[]
    resources: string[]
    now: Date
  },
): Promise<void> => db.run(UPSERT_CONSENT, consent)
