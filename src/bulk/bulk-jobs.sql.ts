import type { Db } from '../database/handle.ts'
import { declareTenantLock } from '../database/row-locks.sql.ts'
import { statement } from '../database/statement.ts'
import { MAX_USERS } from './bulk-jobs.fields.ts'

const LOCK_TENANT = declareTenantLock(['tenantId'])
/** Locks the tenant, so that concurrent calls see each other's jobs. */
export const lockTenantForJobs = (tx: Db): Promise<void> => tx.run(LOCK_TENANT)

const INSERT_USERS = statement({ takes: { jobId: 'text', userIds: 'text[]' }, returns: { userId: 'text' } })`
  INSERT INTO "BulkJobUser" ("tenantId", "jobId", "userId")
  SELECT :tenant, :jobId, unnest(:userIds) ON CONFLICT DO NOTHING RETURNING "userId"`

/** Adds users to a job; those that it has are left out. */
export const insertJobUsers = async (tx: Db, jobId: string, userIds: string[]): Promise<number> =>
  (await tx.many(INSERT_USERS, { jobId, userIds })).length

const INSERT_USERS_OF_CLIENT = statement({
  takes: { jobId: 'text', clientId: 'text' },
  returns: { users: 'int' },
})`
  WITH users AS (
    INSERT INTO "BulkJobUser" ("tenantId", "jobId", "userId")
    SELECT :tenant, :jobId, "userId" FROM (
      SELECT "userId" FROM "Session" WHERE "tenantId" = :tenant AND "clientId" = :clientId AND "endedAt" IS NULL AND "expiresAt" > now()
      UNION SELECT "userId" FROM "Grant" WHERE "tenantId" = :tenant AND "clientId" = :clientId AND "revokedAt" IS NULL AND "expiresAt" > now()
      LIMIT ${MAX_USERS}
    ) u RETURNING "userId"
  ) SELECT count(*)::int AS "users" FROM users`

/** Adds the users that have a session or a grant of a client. Returns their number. */
export const insertUsersOfClient = async (tx: Db, jobId: string, clientId: string): Promise<number> =>
  (await tx.one(INSERT_USERS_OF_CLIENT, { jobId, clientId }))?.users ?? 0

const DELETE_OLD_JOBS = statement({ takes: { keep: 'int' } })`
  DELETE FROM "BulkJob" WHERE "tenantId" = :tenant AND "id" IN (
    SELECT "id" FROM "BulkJob" WHERE "tenantId" = :tenant AND "finishedAt" IS NOT NULL ORDER BY "id" DESC OFFSET :keep
  )`

/** Deletes finished jobs except the newest. */
export const deleteOldJobs = (tx: Db, keep: number): Promise<void> => tx.run(DELETE_OLD_JOBS, { keep })

const SELECT_UNFINISHED = statement({
  takes: { limit: 'int', exceptIds: 'text[]' },
  returns: { tenantId: 'text', id: 'text' },
})`
  SELECT "tenantId", "id" FROM (
    SELECT "tenantId", "id", "createdAt", row_number() OVER (PARTITION BY "tenantId" ORDER BY "id") AS "rank"
    FROM "BulkJob" WHERE :tenant = 'system' AND "finishedAt" IS NULL AND "id" <> ALL(:exceptIds)
  ) j ORDER BY "rank", "createdAt" LIMIT :limit`

/** Unfinished jobs of all tenants, the oldest of each tenant first. */
export const selectUnfinishedJobs = (
  system: Db,
  limit: number,
  exceptIds: string[],
): Promise<{ tenantId: string; id: string }[]> => system.many(SELECT_UNFINISHED, { limit, exceptIds })

const LOCK_SELECTION = statement({
  takes: { id: 'text' },
  returns: { filter: 'jsonb', position: 'text?' },
})`
  SELECT "filter", "position" FROM "BulkJob" WHERE "tenantId" = :tenant AND "id" = :id AND "status" = 'selecting'
  FOR NO KEY UPDATE SKIP LOCKED`

/** Locks a job whose users are being selected; null when another process does this, or it is done. */
export const lockSelection = (tx: Db, id: string) => tx.one(LOCK_SELECTION, { id })

const SAVE_SELECTION = statement({ takes: { id: 'text', position: 'text?' } })`
  UPDATE "BulkJob" SET "position" = :position,
    "status" = CASE WHEN :position IS NULL THEN 'running' ELSE 'selecting' END,
    "total" = CASE WHEN :position IS NULL THEN (
      SELECT count(*) FROM "BulkJobUser" u WHERE u."tenantId" = :tenant AND u."jobId" = :id
    ) ELSE "total" END
  WHERE "tenantId" = :tenant AND "id" = :id`

/** Saves where the selection continues; null when it is done. */
export const saveSelection = (tx: Db, id: string, position: string | null): Promise<void> =>
  tx.run(SAVE_SELECTION, { id, position })

const TAKE_USER = statement({ takes: { jobId: 'text' }, returns: { userId: 'text' } })`
  SELECT "userId" FROM "BulkJobUser" WHERE "tenantId" = :tenant AND "jobId" = :jobId AND "code" IS NULL
  ORDER BY "userId" LIMIT 1 FOR UPDATE SKIP LOCKED`

/** Locks the next user of a job that no other process has locked; null without one. */
export const takeUser = (tx: Db, jobId: string): Promise<{ userId: string } | null> =>
  tx.one(TAKE_USER, { jobId })

const DELETE_USER = statement({ takes: { jobId: 'text', userId: 'text' } })`
  DELETE FROM "BulkJobUser" WHERE "tenantId" = :tenant AND "jobId" = :jobId AND "userId" = :userId`

/** Removes a user who has been changed. */
export const deleteJobUser = (tx: Db, jobId: string, userId: string): Promise<void> =>
  tx.run(DELETE_USER, { jobId, userId })

const SAVE_FAILURE = statement({ takes: { jobId: 'text', userId: 'text', code: 'text', message: 'text' } })`
  UPDATE "BulkJobUser" SET "code" = :code, "message" = :message
  WHERE "tenantId" = :tenant AND "jobId" = :jobId AND "userId" = :userId`

export const saveFailure = (
  db: Db,
  failure: { jobId: string; userId: string; code: string; message: string },
): Promise<void> => db.run(SAVE_FAILURE, failure)

/** The numbers of an unfinished job `j`. */
const COUNTS = `"failed" = c."failed", "done" = j."total" - c."failed" - c."waiting"`
const COUNTED = `(
    SELECT count(*) FILTER (WHERE "code" IS NULL) AS "waiting", count("code") AS "failed"
    FROM "BulkJobUser" WHERE "tenantId" = :tenant AND "jobId" = :id
  ) c`

const SAVE_PROGRESS = statement({ takes: { id: 'text' }, returns: { done: 'int', failed: 'int' } })`
  UPDATE "BulkJob" j SET ${COUNTS} FROM ${COUNTED}
  WHERE j."tenantId" = :tenant AND j."id" = :id AND j."status" = 'running'
  RETURNING j."done", j."failed"`

/** Saves and returns how many users have been changed; null once the job has ended. */
export const saveProgress = (tx: Db, id: string) => tx.one(SAVE_PROGRESS, { id })

const COMPLETE_JOB = statement({ takes: { id: 'text' }, returns: { done: 'int', failed: 'int' } })`
  UPDATE "BulkJob" j SET "status" = 'completed', "finishedAt" = now(), "caller" = j."caller" - 'ip', ${COUNTS} FROM ${COUNTED}
  WHERE j."tenantId" = :tenant AND j."id" = :id AND j."status" = 'running' AND c."waiting" = 0
  RETURNING j."done", j."failed"`

/** Completes a job that has no user left; null when it has one, or has ended. */
export const completeJob = (tx: Db, id: string) => tx.one(COMPLETE_JOB, { id })

const END_JOB = statement({
  takes: { id: 'text', status: 'text', problem: 'text?' },
  returns: { wasSelecting: 'boolean' },
})`
  WITH old AS (
    SELECT "status" FROM "BulkJob" WHERE "tenantId" = :tenant AND "id" = :id AND "finishedAt" IS NULL FOR NO KEY UPDATE
  )
  UPDATE "BulkJob" j SET "status" = :status, "problem" = :problem, "finishedAt" = now(), "caller" = j."caller" - 'ip'
  FROM old WHERE j."tenantId" = :tenant AND j."id" = :id RETURNING old."status" = 'selecting' AS "wasSelecting"`

// It waits for the users that are being changed, which are gone then.
const DELETE_WAITING = statement({ takes: { id: 'text' }, returns: { waiting: 'int' } })`
  WITH deleted AS (
    DELETE FROM "BulkJobUser" WHERE "tenantId" = :tenant AND "jobId" = :id AND "code" IS NULL RETURNING 1
  ) SELECT count(*)::int AS "waiting" FROM deleted`

const SAVE_END = statement({
  takes: { id: 'text', waiting: 'int', wasSelecting: 'boolean' },
  returns: { done: 'int', failed: 'int' },
})`
  UPDATE "BulkJob" j SET "failed" = c."failed", "done" = CASE WHEN :wasSelecting THEN 0 ELSE j."total" - c."failed" - :waiting END
  FROM ${COUNTED} WHERE j."tenantId" = :tenant AND j."id" = :id RETURNING j."done", j."failed"`

/**
 * Ends a job before its time: no user is changed after the commit. Returns the numbers of users; null when it had ended.
 */
export async function endJob(
  tx: Db,
  job: { id: string; status: string; problem: string | null },
): Promise<{ done: number; failed: number } | null> {
  const ended = await tx.one(END_JOB, job)
  if (!ended) return null
  const waiting = (await tx.one(DELETE_WAITING, { id: job.id }))?.waiting ?? 0
  return tx.one(SAVE_END, { id: job.id, waiting, ...ended })
}
