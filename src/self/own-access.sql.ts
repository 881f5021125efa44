import type { Sql } from '../db.ts'

const SELECT_OWN_ACCESS = `
  SELECT u."roles", COALESCE(s."authenticatedAt" >= $4::timestamptz, false) AS "isRecent"
  FROM "User" u LEFT JOIN "Session" s ON s."tenantId" = $1 AND s."id" = $3 AND s."userId" = u."id"
    AND s."endedAt" IS NULL AND s."expiresAt" > $5::timestamptz
  WHERE u."tenantId" = $1 AND u."id" = $2`

/** A person's roles, and whether the session is active and began after a time with a proof of who they are. */
export async function selectOwnAccess(
  sql: Sql,
  tenant: string,
  { userId, sessionId }: { userId: string; sessionId: string | null },
  { since, now }: { since: Date; now: Date },
): Promise<{ roles: string[]; isRecent: boolean } | null> {
  const values = [userId, sessionId, since, now] as const
  const [row] = await sql<{ roles: string[]; isRecent: boolean }>(SELECT_OWN_ACCESS, [tenant, ...values])
  return row ?? null
}
