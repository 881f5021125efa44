import type { Db } from '../../database/handle.ts'
import { type RowOf, statement } from '../../database/statement.ts'
import { buildInsertEventsSql } from '../../events/log.sql.ts'

const SELECT_DELETIONS = statement({
  takes: { userIds: 'text[]' },
  returns: { id: 'text', requestedAt: 'timestamptz', dueAt: 'timestamptz' },
})`
  SELECT "userId" AS "id", "requestedAt", "dueAt" FROM "AccountDeletion"
  WHERE "tenantId" = :tenant AND "userId" = ANY(:userIds)`

/** When a user asked to be deleted, and when this is due. */
export type AccountDeletion = Omit<RowOf<typeof SELECT_DELETIONS>, 'id'>

/** The requests of those of these users who asked to be deleted, with the ids of the users. */
export const selectDeletions = (db: Db, userIds: string[]) => db.many(SELECT_DELETIONS, { userIds })

// A second request changes nothing: the row is updated so that the statement returns it.
const INSERT_DELETION = statement({
  takes: { userId: 'text', now: 'timestamptz', dueAt: 'timestamptz', events: 'jsonb' },
  returns: { requestedAt: 'timestamptz', dueAt: 'timestamptz', isNew: 'boolean' },
})`
  WITH request AS (
    INSERT INTO "AccountDeletion" AS d ("tenantId", "userId", "requestedAt", "dueAt")
    SELECT :tenant, "id", :now, :dueAt FROM "User" WHERE "tenantId" = :tenant AND "id" = :userId FOR KEY SHARE
    ON CONFLICT ("tenantId", "userId") DO UPDATE SET "dueAt" = d."dueAt"
    RETURNING "requestedAt", "dueAt", xmax = 0 AS "isNew"
  ), event_log AS (${buildInsertEventsSql(':events', { from: '(SELECT FROM request WHERE "isNew") AS new_request' })})
  SELECT "requestedAt", "dueAt", "isNew" FROM request`

/** Stores the request of a user, with its event, unless there is one already. Null without such a user. One statement. */
export const insertDeletion = (db: Db, request: { userId: string; now: Date; dueAt: Date }, event: object) =>
  db.one(INSERT_DELETION, { ...request, events: [event] })

const DELETE_DELETION = statement({
  takes: { userId: 'text', events: 'jsonb' },
  returns: { userId: 'text' },
})`
  WITH canceled AS (
    DELETE FROM "AccountDeletion" WHERE "tenantId" = :tenant AND "userId" = :userId RETURNING "userId"
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'canceled' })})
  SELECT "userId" FROM canceled`

/** Deletes the request of a user, with its event; false when there is none. One statement. */
export const deleteDeletion = async (db: Db, userId: string, event: object): Promise<boolean> =>
  (await db.one(DELETE_DELETION, { userId, events: [event] })) !== null

const SELECT_DUE_DELETIONS = statement({
  takes: { now: 'timestamptz', limit: 'int' },
  returns: { tenantId: 'text', userId: 'text' },
})`
  SELECT d."tenantId", d."userId" FROM "AccountDeletion" d
  JOIN "User" u ON u."tenantId" = d."tenantId" AND u."id" = d."userId" AND NOT u."locked"
  WHERE :tenant = 'system' AND d."dueAt" <= :now ORDER BY d."dueAt" LIMIT :limit`

/** Users of all tenants whose deletion is due. */
export const selectDueDeletions = (db: Db, values: { now: Date; limit: number }) =>
  db.many(SELECT_DUE_DELETIONS, { ...values })

const TAKE_DUE_DELETION = statement({
  takes: { userId: 'text', now: 'timestamptz' },
  returns: { userId: 'text' },
})`
  DELETE FROM "AccountDeletion" WHERE "tenantId" = :tenant AND "userId" = :userId AND "dueAt" <= :now RETURNING "userId"`

/** Takes a request that is due; false when it was canceled. */
export const takeDueDeletion = async (db: Db, values: { userId: string; now: Date }): Promise<boolean> =>
  (await db.one(TAKE_DUE_DELETION, { ...values })) !== null
