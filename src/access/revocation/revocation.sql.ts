import type { Db } from '../../database/handle.ts'
import { type RowOf, statement, typed } from '../../database/statement.ts'
import type { EndReason } from '../../events/reasons.ts'
import {
  buildDeleteDeviceCodesSql,
  buildEndSessionsSql,
  buildRevokeGrantsSql,
  buildVoidEnrollmentsSql,
  buildVoidOldPasswordSql,
  ENDED_RETURNS,
  ENDED_ROWS,
  USER_PARTS,
  VOID_CODES,
} from './revocation-parts.sql.ts'
import { buildQueueLogoutsSql } from './session-clients.sql.ts'

/**
 * The tables whose rows give a user or a client access, and how revocation ends it. A table that is added to
 * the schema belongs here and into every scope of revocation-parts.sql.ts and this file that it concerns
 * (test/contract/revocation.test.ts). See docs/decisions/0044.
 */
export const REVOCABLE_TABLES = {
  Session: 'ended',
  Grant: 'revoked',
  DeviceCode: 'deleted',
  EnrollmentToken: 'voided; deleted by the first verification of an address',
  Passcode: 'its code cleared; its counters stay',
  OldPassword: 'its hash removed; also by the first verification of an address and a change of roles',
  Credential: 'deleted by the first verification of an address',
  IdpUser: 'deleted by the first verification of an address',
  ApiKey: 'rejected while its user is locked; deleted by the first verification of an address',
} as const

export type EndedSession = { id: string; userId: string; clientId: string | null }
export type RevokedGrant = { id: string; userId: string; clientId: string; sessionId: string | null }

/** The sessions that a statement ended and the grants that it revoked. */
export type Revoked = { sessions: EndedSession[]; grants: RevokedGrant[] }

type EndedRow = RowOf<{ returns: typeof ENDED_RETURNS }>

/** The sessions and grants among the rows of a statement that ends with ENDED_ROWS. */
export const toRevoked = (
  rows: readonly (Omit<EndedRow, 'what'> & { what: EndedRow['what'] | 'credential' | 'link' | 'apiKey' })[],
): Revoked => ({
  sessions: rows
    .filter(({ what }) => what === 'session')
    .map(({ id, userId, clientId }) => ({ id, userId, clientId })),
  grants: rows.flatMap(({ what, id, userId, clientId, sessionId }) =>
    what === 'grant' && clientId !== null ? [{ id, userId, clientId, sessionId }] : [],
  ),
})

/** The time and the reason of the end of sessions. */
export type Ending = { now: Date; reason: EndReason }
const REASON = typed<EndReason>('text')
/** `Ending` as parameters of a statement. */
export const ENDING_PARAMETERS = { now: 'timestamptz', reason: REASON } as const

const REVOKE_USER = statement({ takes: { userId: 'text', reason: REASON }, returns: ENDED_RETURNS })`
  WITH ${USER_PARTS} ${ENDED_ROWS}`

/** Revokes all access of a user. The user's row must be locked by an earlier statement. */
export const revokeUser = async (db: Db, userId: string, reason: EndReason): Promise<Revoked> =>
  toRevoked(await db.many(REVOKE_USER, { userId, reason }))

/** The parameters of an end as arguments of `buildEndSessionsSql`. */
export const ENDING_ARGUMENTS = { now: ':now', reason: ':reason' }
/** The condition that a session `s` that has not ended is active. */
export const ACTIVE_CONDITION = 's."expiresAt" > :now'

// A statement after the one that ended the sessions: it sees what was issued while that one waited for their
// rows, such as the grant of a code that was being redeemed. An administrator or user who revokes a session may
// suspect an intruder: enrollment links that were made in the account are voided too.
const END_DEPENDENTS = statement({
  takes: { ...ENDING_PARAMETERS, sessionIds: 'text[]', userIds: 'text[]' },
  returns: ENDED_RETURNS,
})`
  WITH ended_sessions AS (${buildEndSessionsSql('s."parentId" = ANY(:sessionIds)', ENDING_ARGUMENTS)}
  ), all_sessions AS (
    SELECT "id" FROM ended_sessions UNION ALL SELECT unnest(:sessionIds)
  ), revoked_grants AS (${buildRevokeGrantsSql(`g."sessionId" IN (SELECT "id" FROM all_sessions) AND NOT g."offline"`, { now: ':now' })}
  ), deleted_device_codes AS (${buildDeleteDeviceCodesSql(`"userId" = ANY(:userIds) AND "sessionId" IN (SELECT "id" FROM all_sessions) AND "status" = 'approved'`)}
  ), voided_enrollments AS (${buildVoidEnrollmentsSql(`"userId" = ANY(:userIds) AND NOT "byManagement" AND :reason = 'revoked'`, ':now')}
  ), queued_logouts AS (${buildQueueLogoutsSql('all_sessions')}
  )
  ${ENDED_ROWS}`

/**
 * Revokes what depends on ended sessions: their child sessions, grants that are not offline, device codes,
 * and, if the reason is 'revoked', enrollment tokens that the user made. Queues logout tokens.
 */
export const endDependents = async (
  db: Db,
  ended: EndedSession[],
  { now, reason }: Ending,
): Promise<Revoked> =>
  toRevoked(
    await db.many(END_DEPENDENTS, {
      now,
      reason,
      sessionIds: ended.map(({ id }) => id),
      userIds: [...new Set(ended.map(({ userId }) => userId))],
    }),
  )

// The user's browser sessions go on, but the client is signed out of them.
const REVOKE_USER_CLIENT = statement({
  takes: { ...ENDING_PARAMETERS, userId: 'text', clientId: 'text' },
  returns: ENDED_RETURNS,
})`
  WITH ended_sessions AS (${buildEndSessionsSql(`s."userId" = :userId AND s."clientId" = :clientId AND ${ACTIVE_CONDITION}`, ENDING_ARGUMENTS)}
  ), revoked_grants AS (${buildRevokeGrantsSql('g."userId" = :userId AND g."clientId" = :clientId AND g."expiresAt" > :now', { now: ':now' })}
  ), voided_codes AS (${VOID_CODES}
  ), deleted_device_codes AS (${buildDeleteDeviceCodesSql(`"userId" = :userId AND "clientId" = :clientId AND "status" = 'approved'`)}
  ), unended_sessions AS (
    SELECT "id" FROM "Session" WHERE "tenantId" = :tenant AND "userId" = :userId AND "endedAt" IS NULL
  ), queued_logouts AS (${buildQueueLogoutsSql('unended_sessions', ':clientId')}
  ), deleted_session_clients AS (
    DELETE FROM "SessionClient"
    WHERE "tenantId" = :tenant AND "sessionId" IN (SELECT "id" FROM unended_sessions) AND "clientId" = :clientId
  )
  ${ENDED_ROWS}`

/**
 * Revokes the access of a client to a user: its sessions, its grants including offline ones, and unused codes.
 * Unused codes of other clients of the user are voided too. Queues its logout tokens.
 */
export const revokeUserClient = async (
  db: Db,
  { userId, clientId }: { userId: string; clientId: string },
  { now, reason }: Ending,
): Promise<Revoked> => toRevoked(await db.many(REVOKE_USER_CLIENT, { now, reason, userId, clientId }))

const VOID_PREPARED_ACCESS = statement({ takes: { userId: 'text' } })`
  WITH voided_enrollments AS (${buildVoidEnrollmentsSql('"userId" = :userId', 'now()')}
  )
  ${buildVoidOldPasswordSql('now()')}`

/**
 * Voids the enrollment tokens and the old password of a user whose roles change: somebody with fewer rights may have
 * prepared them. The user's row must be locked.
 */
export const voidPreparedAccess = (db: Db, userId: string): Promise<void> =>
  db.run(VOID_PREPARED_ACCESS, { userId })

const IS_HOLDER = `"userId" IN (
    SELECT u."id" FROM "User" u WHERE u."tenantId" = :tenant AND u."roles" <> '{}' AND :role = ANY (u."roles")
  )`
const VOID_PREPARED_ACCESS_OF_HOLDERS = statement({ takes: { role: 'text' } })`
  WITH voided_enrollments AS (${buildVoidEnrollmentsSql(IS_HOLDER, 'now()')}
  )
  ${buildVoidOldPasswordSql('now()', IS_HOLDER)}`

/** Does the same for all users with a management role that permits more from now on. Its row must be locked. */
export const voidPreparedAccessOfHolders = (db: Db, role: string): Promise<void> =>
  db.run(VOID_PREPARED_ACCESS_OF_HOLDERS, { role })

const VOID_OLD_PASSWORD = statement({ takes: { userId: 'text' } })`${buildVoidOldPasswordSql('now()')}`

/** Voids the old password of a user. */
export const voidOldPassword = (db: Db, userId: string): Promise<void> =>
  db.run(VOID_OLD_PASSWORD, { userId })

// FOR NO KEY UPDATE waits for redemptions, which hold the client FOR SHARE while they insert a grant, and not for foreign
// keys.
const BLOCK_REDEMPTIONS = statement({ takes: { clientId: 'text' } })`
  WITH locked_client AS (
    SELECT FROM "Client" WHERE "tenantId" = :tenant AND "id" = :clientId FOR NO KEY UPDATE
  )
  ${buildDeleteDeviceCodesSql('"clientId" = :clientId AND (SELECT count(*) FROM locked_client) >= 0')}`

/**
 * Locks a client so that no code is redeemed, and deletes its device codes: the first step of its deletion, before its
 * grants.
 */
export const blockRedemptions = (db: Db, clientId: string): Promise<void> =>
  db.run(BLOCK_REDEMPTIONS, { clientId })
