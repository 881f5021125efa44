import { typed } from '../../database/statement.ts'
import { buildQueueLogoutsSql } from './session-clients.sql.ts'

/**
 * The parts that revocation.sql.ts builds its statements from: each is the text of one or more CTEs.
 *
 * Statements lock rows in the order that the statement which redeems a code or starts a session locks them:
 * the user (by an earlier statement), sessions, grants, codes. Two transactions that take the same rows in
 * the same order cannot deadlock.
 */

/**
 * Ends the sessions `s` of `where` that have not ended. `from` names a CTE that `where` refers to. With
 * `areOpen`, `where` selects open sessions only and locks them; a second check would let the planner choose
 * the index of open sessions over the primary key.
 */
export const buildEndSessionsSql = (where: string, { now, reason, from, areOpen }: EndSessions): string => `
    UPDATE "Session" s SET "endedAt" = ${now}, "updatedAt" = ${now}, "endReason" = ${reason}
    ${from ? `FROM ${from} ` : ''}WHERE s."tenantId" = :tenant AND ${where}${areOpen ? '' : ' AND s."endedAt" IS NULL'}
    RETURNING s."id", s."userId", s."clientId"`
type EndSessions = { now: string; reason: string; from?: string; areOpen?: boolean }

/** Revokes the grants `g` of `where` that are not revoked. `from` names a table that `where` refers to. */
export const buildRevokeGrantsSql = (
  where: string,
  { now, from }: { now: string; from?: string },
): string => `
    UPDATE "Grant" g SET "revokedAt" = ${now}
    ${from ? `FROM ${from} ` : ''}WHERE g."tenantId" = :tenant AND ${where} AND g."revokedAt" IS NULL
    RETURNING g."id", g."userId", g."clientId", g."sessionId"`

/**
 * Voids the authorization codes of a user that were not redeemed yet: those of the former generation. A part of an update
 * of the user. The end of a session, the lock and the deletion of a user void codes without it.
 */
export const NEXT_CODE_GENERATION = '"codeGeneration" = "codeGeneration" + 1'

/** Voids the authorization codes of user `:userId` that were not redeemed yet. */
export const VOID_CODES = `
    UPDATE "User" SET ${NEXT_CODE_GENERATION} WHERE "tenantId" = :tenant AND "id" = :userId`

/** Deletes device codes. */
export const buildDeleteDeviceCodesSql = (where: string): string => `
    DELETE FROM "DeviceCode" WHERE "tenantId" = :tenant AND ${where}`

/** Voids unused enrollment tokens and their challenges. */
export const buildVoidEnrollmentsSql = (where: string, now: string): string => `
    UPDATE "EnrollmentToken" SET "usedAt" = ${now}, "challenge" = NULL
    WHERE "tenantId" = :tenant AND ${where} AND "usedAt" IS NULL`

/**
 * Voids the old passwords of users, by default of `:userId`. The row stays as that of a used one, so that an import that is repeated does
 * not bring the hash back.
 */
export const buildVoidOldPasswordSql = (now: string, where = '"userId" = :userId'): string => `
    UPDATE "OldPassword" SET "hash" = NULL, "usedAt" = ${now}
    WHERE "tenantId" = :tenant AND ${where} AND "hash" IS NOT NULL`

/**
 * Voids the live passcodes of user `:userId`: their hash becomes one that no code has, so that guesses are
 * answered as those at the code of an unknown address. Counters stay: a lock must not permit new guesses.
 */
const CLEAR_PASSCODES = `
    UPDATE "Passcode" SET "codeHash" = sha256("codeHash") WHERE "tenantId" = :tenant AND "userId" = :userId AND "codeHash" IS NOT NULL`

/**
 * Selects the sessions that a statement ended and the grants that it revoked; the rows have `ENDED_RETURNS`.
 */
export const ENDED_ROWS = `SELECT 'session' AS "what", "id", "userId", "clientId", "id" AS "sessionId" FROM ended_sessions
  UNION ALL SELECT 'grant', "id", "userId", "clientId", "sessionId" FROM revoked_grants`

/** The columns of ENDED_ROWS. */
export const ENDED_RETURNS = {
  what: typed<'session' | 'grant'>('text'),
  id: 'text',
  userId: 'text',
  /** Null for a browser session. */
  clientId: 'text?',
  sessionId: 'text?',
} as const

/** Revokes all access of user `:userId` for `:reason`. Expired rows are left to the cleanup. */
export const USER_PARTS = `
  ended_sessions AS (${buildEndSessionsSql(`s."userId" = :userId AND s."expiresAt" > now()`, { now: 'now()', reason: ':reason' })}
  ), revoked_grants AS (${buildRevokeGrantsSql(`g."userId" = :userId AND g."expiresAt" > now()`, { now: 'now()' })}
  ), deleted_device_codes AS (${buildDeleteDeviceCodesSql('"userId" = :userId')}
  ), voided_enrollments AS (${buildVoidEnrollmentsSql('"userId" = :userId', 'now()')}
  ), voided_old_password AS (${buildVoidOldPasswordSql('now()')}
  ), cleared_passcodes AS (${CLEAR_PASSCODES}
  ), queued_logouts AS (${buildQueueLogoutsSql('ended_sessions')}
  )`

/**
 * Revokes what user `:userId` got before an address was first verified, at time `:now`: CTEs for the
 * statement that marks the address as verified. The account may have been created by someone who does not own
 * the address, so that only what an administrator created (`byManagement`) stays. `removed` has the revoked
 * and deleted rows. The user's row must be locked by an earlier statement.
 */
export const UNVERIFIED_PARTS = `
  ended_sessions AS (${buildEndSessionsSql(`s."userId" = :userId AND NOT s."byManagement" AND s."expiresAt" > :now`, { now: ':now', reason: `'revoked'` })}
  ), queued_logouts AS (${buildQueueLogoutsSql('ended_sessions')}
  ), revoked_grants AS (${buildRevokeGrantsSql(
    `g."userId" = :userId AND NOT EXISTS (
      SELECT FROM "Session" s WHERE s."tenantId" = :tenant AND s."id" = g."sessionId" AND s."byManagement"
    )`,
    { now: ':now' },
  )}
  ), deleted_device_codes AS (${buildDeleteDeviceCodesSql('"userId" = :userId')}
  ), deleted_consents AS (
    DELETE FROM "Consent" WHERE "tenantId" = :tenant AND "userId" = :userId
  ), deleted_enrollments AS (
    DELETE FROM "EnrollmentToken" WHERE "tenantId" = :tenant AND "userId" = :userId
  ), voided_old_password AS (${buildVoidOldPasswordSql(':now')}
  ), cleared_passcodes AS (${CLEAR_PASSCODES}
  ), deleted_credentials AS (
    DELETE FROM "Credential" WHERE "tenantId" = :tenant AND "userId" = :userId AND NOT "byManagement" RETURNING "id", "userId"
  ), deleted_links AS (
    DELETE FROM "IdpUser" WHERE "tenantId" = :tenant AND "userId" = :userId AND NOT "byManagement" RETURNING "id", "userId"
  ), deleted_api_keys AS (
    DELETE FROM "ApiKey" WHERE "tenantId" = :tenant AND "userId" = :userId AND NOT "byManagement" RETURNING "id", "userId"
  ), removed AS (
    ${ENDED_ROWS}
    UNION ALL SELECT 'credential', "id", "userId", NULL, NULL FROM deleted_credentials
    UNION ALL SELECT 'link', "id", "userId", NULL, NULL FROM deleted_links
    UNION ALL SELECT 'apiKey', "id", "userId", NULL, NULL FROM deleted_api_keys
  )`

/**
 * Deletes what foreign keys do not delete with user `:userId`: CTEs for the statement that deletes the user,
 * whose row is locked. `unended_sessions` has the sessions that end with the user; clients are notified of
 * expired ones too, which the cleanup has not ended yet. `kept_subjects` has the streams of shared signals that the events of
 * the deletion, which are read later, are for.
 */
export const DELETED_USER_PARTS = `
  unended_sessions AS (
    SELECT "id", "userId", "clientId", "expiresAt" FROM "Session" WHERE "tenantId" = :tenant AND "userId" = :userId AND "endedAt" IS NULL
  ), queued_logouts AS (${buildQueueLogoutsSql('unended_sessions')}
  ), deleted_device_codes AS (${buildDeleteDeviceCodesSql('"userId" = :userId')}
  ), kept_subjects AS (
    INSERT INTO "SignalSubject" ("tenantId", "streamId", "userId", "included", "expiresAt")
    SELECT :tenant, s."id", :userId, true, now() + interval '30 days' FROM "SignalStream" s
    WHERE s."tenantId" = :tenant AND (
      EXISTS (SELECT FROM "Consent" k WHERE k."tenantId" = :tenant AND k."userId" = :userId AND k."clientId" = s."clientId")
      OR EXISTS (SELECT FROM "Grant" g WHERE g."tenantId" = :tenant AND g."userId" = :userId AND g."clientId" = s."clientId")
    ) ON CONFLICT DO NOTHING
  )`
