import { storedColumns } from '../../database/columns.ts'
import type { Db } from '../../database/handle.ts'
import { type RowOf, statement, type ValuesOf } from '../../database/statement.ts'

const TAKE_PROVIDER_SESSION = statement({
  takes: { sessionId: 'text' },
  returns: storedColumns('ProviderSession', ['idpId', 'idToken']),
})`
  DELETE FROM "ProviderSession" WHERE "tenantId" = :tenant AND "sessionId" = :sessionId RETURNING "idpId", "idToken"`

/** Removes and returns where a session came from; null without. One statement. */
export const takeProviderSession = (
  db: Db,
  sessionId: string,
): Promise<{ idpId: string; idToken: string | null } | null> => db.one(TAKE_PROVIDER_SESSION, { sessionId })

const declareSelectUsers = (condition: string) =>
  statement({
    takes: { idpId: 'text', issuer: 'text', sid: 'text?', subject: 'text?' },
    returns: storedColumns('Session', ['userId']),
  })`
  SELECT s."userId" FROM "ProviderSession" p
  JOIN "Session" s ON s."tenantId" = :tenant AND s."id" = p."sessionId" AND s."endedAt" IS NULL
  WHERE p."tenantId" = :tenant AND p."idpId" = :idpId AND p."issuer" = :issuer AND ${condition}
  UNION
  SELECT "userId" FROM "IdpUser"
  WHERE "tenantId" = :tenant AND "idpId" = :idpId AND "issuer" = :issuer AND "externalId" = :subject`

const USERS_BY_SID = declareSelectUsers('p."sid" = :sid AND (:subject IS NULL OR p."subject" = :subject)')
const USERS_BY_SUBJECT = declareSelectUsers('p."subject" = :subject AND :sid IS NULL')

/** The sessions at a provider: one by its `sid`, or all of a subject. */
export type ProviderSessionKey = ValuesOf<typeof USERS_BY_SID>

/**
 * The users with sessions that came from sessions at a provider, and the one who is linked to the subject: a
 * session of that one may be being started. Sorted by id.
 */
export async function selectProviderSessionUsers(db: Db, key: ProviderSessionKey): Promise<string[]> {
  const select = key.sid === null ? USERS_BY_SUBJECT : USERS_BY_SID
  const rows: RowOf<typeof USERS_BY_SID>[] = await db.many(select, { ...key })
  return rows.map(({ userId }) => userId).sort()
}
