import type { Db } from '../../database/handle.ts'
import { type Shape, statement } from '../../database/statement.ts'
import {
  ACTIVE_CONDITION,
  ENDING_ARGUMENTS,
  ENDING_PARAMETERS,
  type EndedSession,
  type Ending,
} from './revocation.sql.ts'
import { buildEndSessionsSql } from './revocation-parts.sql.ts'

const declareEndSessions = <const Takes extends Shape>(
  takes: Takes,
  where: string,
  { areOpen }: { areOpen?: boolean } = {},
) =>
  statement({
    takes: { ...takes, ...ENDING_PARAMETERS },
    returns: { id: 'text', userId: 'text', clientId: 'text?' },
  })`${buildEndSessionsSql(where, { ...ENDING_ARGUMENTS, areOpen })}`

const END_SESSION = declareEndSessions({ sessionId: 'text' }, `s."id" = :sessionId AND ${ACTIVE_CONDITION}`)
const END_SESSIONS_OF_USER = declareEndSessions(
  { userId: 'text' },
  `s."userId" = :userId AND ${ACTIVE_CONDITION}`,
)
// What was issued in the session that is kept ends with that session.
const END_OTHER_SESSIONS = declareEndSessions(
  { userId: 'text', keptSessionId: 'text?' },
  `s."userId" = :userId AND ${ACTIVE_CONDITION} AND s."id" IS DISTINCT FROM :keptSessionId AND s."parentId" IS DISTINCT FROM :keptSessionId`,
)
const declareEndProviderSessions = (condition: string) =>
  declareEndSessions(
    { idpId: 'text', issuer: 'text', sid: 'text?', subject: 'text?' },
    `s."id" IN (
      SELECT p."sessionId" FROM "ProviderSession" p
      WHERE p."tenantId" = :tenant AND p."idpId" = :idpId AND p."issuer" = :issuer AND ${condition}
    ) AND ${ACTIVE_CONDITION}`,
  )
const END_SESSION_AT_PROVIDER = declareEndProviderSessions(
  'p."sid" = :sid AND (:subject IS NULL OR p."subject" = :subject)',
)
const END_SESSIONS_OF_SUBJECT = declareEndProviderSessions('p."subject" = :subject AND :sid IS NULL')
// Rows that another transaction has locked are left for the next run. ARRAY makes PostgreSQL read the batch
// once: as the inner side of a join, the subquery would run again for each session.
const END_EXPIRED_SESSIONS = declareEndSessions(
  { limit: 'int' },
  `s."id" = ANY (ARRAY(
      SELECT "id" FROM "Session" WHERE "tenantId" = :tenant AND "expiresAt" <= :now AND "endedAt" IS NULL
      ORDER BY "expiresAt" LIMIT :limit FOR UPDATE SKIP LOCKED
    ))`,
  { areOpen: true },
)

/**
 * Which sessions: an active one, the active ones of a user, all of these except one, those that came from a
 * session at an identity provider (by `sid`, or else all of the subject), or `limit` that have expired.
 */
export type SessionScope =
  | { kind: 'session'; sessionId: string }
  | { kind: 'sessions'; userId: string }
  | { kind: 'other sessions'; userId: string; keptSessionId: string | null }
  | {
      kind: 'provider sessions'
      idpId: string
      issuer: string
      sid: string | null
      subject: string | null
    }
  | { kind: 'expired sessions'; limit: number }

/**
 * Ends sessions and nothing else: `endDependents` revokes what was issued in them. Before ending the sessions
 * of a user, lock the user's row, so that no session is being started.
 */
export function endSessions(db: Db, scope: SessionScope, ending: Ending): Promise<EndedSession[]> {
  switch (scope.kind) {
    case 'session':
      return db.many(END_SESSION, { ...ending, ...scope })
    case 'sessions':
      return db.many(END_SESSIONS_OF_USER, { ...ending, ...scope })
    case 'other sessions':
      return db.many(END_OTHER_SESSIONS, { ...ending, ...scope })
    case 'provider sessions':
      return db.many(scope.sid === null ? END_SESSIONS_OF_SUBJECT : END_SESSION_AT_PROVIDER, {
        ...ending,
        ...scope,
      })
    case 'expired sessions':
      return db.many(END_EXPIRED_SESSIONS, { ...ending, ...scope })
  }
}
