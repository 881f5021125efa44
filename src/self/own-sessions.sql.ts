import type { Sql } from '../db.ts'
import type { EndedSession } from '../sessions/sessions.sql.ts'

// What was handed out in the current session ends with it.
const END_OTHERS = `
  UPDATE "Session" SET "endedAt" = $4::timestamptz, "updatedAt" = $4::timestamptz, "endReason" = 'revoked'
  WHERE "tenantId" = $1 AND "userId" = $2 AND "endedAt" IS NULL AND "expiresAt" > $4::timestamptz
    AND "id" IS DISTINCT FROM $3 AND "parentId" IS DISTINCT FROM $3
  RETURNING "id", "userId", "clientId"`

/** Ends the active sessions of a user but the one that is kept. Lock the user first, so that none is being started. */
export const endOthersOf = (
  sql: Sql,
  tenant: string,
  { userId, keptSessionId, now }: { userId: string; keptSessionId: string | null; now: Date },
): Promise<EndedSession[]> => sql<EndedSession>(END_OTHERS, [tenant, userId, keptSessionId, now])
