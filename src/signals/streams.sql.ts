import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import { declareRowLock, declareTenantLock } from '../database/row-locks.sql.ts'
import { type RowOf, statement } from '../database/statement.ts'
import { buildRoomSql, buildShareSql, ROOM_RETURNS } from '../events/follow-log.sql.ts'
import { CLAIM_COLUMNS, type ClaimsUser } from '../users/claims.ts'

const LOCK_TENANT = declareTenantLock(['tenantId'])
/** Locks the tenant, so that concurrent creations count each other. */
export const lockTenantForStreams = (tx: Db): Promise<void> => tx.run(LOCK_TENANT)

const LOCK_STREAM = declareRowLock('SignalStream', [
  'id',
  'clientId',
  'delivery',
  'url',
  'authorization',
  'description',
  'eventsRequested',
  'allUsers',
  'status',
  'statusReason',
  'verifiedAt',
  'position',
  'updatedAt',
])
/** Locks a stream; null without it. */
export const lockStream = (tx: Db, id: string) => tx.one(LOCK_STREAM, { id })
export type LockedStream = RowOf<typeof LOCK_STREAM>

const WAKE_TOKENS = statement({ takes: { streamId: 'text' } })`
  UPDATE "SignalToken" SET "nextAt" = now()
  WHERE "tenantId" = :tenant AND "streamId" = :streamId AND "nextAt" > now() + interval '20 seconds'`

/** Makes the postponed events of a stream due. Those that are being sent keep their lease. */
export const wakeTokens = (tx: Db, streamId: string): Promise<void> => tx.run(WAKE_TOKENS, { streamId })

const SELECT_TENANTS = statement({ returns: { tenantId: 'text' } })`
  SELECT DISTINCT "tenantId" FROM "SignalStream" WHERE :tenant = 'system' AND "status" = 'enabled'`

/** The tenants that have a stream which is enabled. Requires the tenant `system`. */
export const selectStreamTenants = async (system: Db): Promise<string[]> =>
  (await system.many(SELECT_TENANTS)).map(({ tenantId }) => tenantId)

const SELECT_FOLLOWERS = statement({
  returns: {
    id: 'text',
    clientId: 'text',
    delivery: 'text',
    eventsRequested: 'text[]',
    allUsers: 'boolean',
    position: 'text',
    isFailing: 'boolean',
    ...ROOM_RETURNS,
  },
})`
  WITH ${buildShareSql('SignalStream')}
  SELECT f."id", f."clientId", f."delivery", f."eventsRequested", f."allUsers", f."position", f."failingSince" IS NOT NULL AS "isFailing",
    ${buildRoomSql('SELECT FROM "SignalToken" t WHERE t."tenantId" = f."tenantId" AND t."streamId" = f."id"')}
  FROM "SignalStream" f, share WHERE f."tenantId" = :tenant AND f."status" = 'enabled'`

/** A stream that follows the log, and how many more of its events may wait. */
export type Follower = RowOf<typeof SELECT_FOLLOWERS>
export const selectFollowers = (db: Db): Promise<Follower[]> => db.many(SELECT_FOLLOWERS)

const GRANTED = `FROM "Grant" g WHERE g."tenantId" = :tenant AND g."userId" = u."id" AND g."clientId" = :clientId`
const CONSENTED = `FROM "Consent" c WHERE c."tenantId" = :tenant AND c."userId" = u."id" AND c."clientId" = :clientId`
const LISTED = `SELECT FROM "SignalSubject" l WHERE l."tenantId" = :tenant AND l."streamId" = :streamId AND l."userId" = u."id"`

const SELECT_AUDIENCE = statement({
  takes: { streamId: 'text', clientId: 'text', allUsers: 'boolean', userIds: 'text[]' },
  returns: { id: 'text', scopes: 'text[]' },
})`
  SELECT u."id", ARRAY(
    SELECT DISTINCT granted."scope" FROM (
      SELECT unnest(c."scopes") AS "scope" ${CONSENTED}
      UNION ALL SELECT unnest(g."scopes") ${GRANTED} AND g."revokedAt" IS NULL AND g."expiresAt" > now()
    ) granted LIMIT 200
  ) AS "scopes"
  FROM unnest(:userIds) AS u("id")
  WHERE (:allUsers OR EXISTS (SELECT ${CONSENTED}) OR EXISTS (SELECT ${GRANTED}) OR EXISTS (${LISTED} AND l."included"))
    AND NOT EXISTS (${LISTED} AND NOT l."included")`

/** Those of some users whose events a stream has, and the scopes that its client was granted by each. */
export const selectAudience = (
  db: Db,
  { id, clientId, allUsers }: Pick<Follower, 'id' | 'clientId' | 'allUsers'>,
  userIds: string[],
) => db.many(SELECT_AUDIENCE, { streamId: id, clientId, allUsers, userIds })

const SELECT_USERS = statement({
  takes: { userIds: 'text[]' },
  returns: storedColumns('User', CLAIM_COLUMNS),
})`
  SELECT ${CLAIM_COLUMNS.map((name) => `"${name}"`).join(', ')} FROM "User" WHERE "tenantId" = :tenant AND "id" = ANY(:userIds)`

export const selectClaimsUsers = (db: Db, userIds: string[]): Promise<ClaimsUser[]> =>
  db.many(SELECT_USERS, { userIds })

const SELECT_FORMER = statement({
  takes: { userIds: 'text[]' },
  returns: { userId: 'text', xid: 'text', kind: 'text', former: 'text', current: 'text?' },
})`
  SELECT "userId", "xid"::text AS "xid", "kind", "former", "current" FROM "FormerAddress"
  WHERE "tenantId" = :tenant AND "userId" = ANY(:userIds) ORDER BY "xid" LIMIT 1000`

/** The addresses that users had before changes of the last days, with the transactions of the changes. */
export const selectFormerAddresses = (db: Db, userIds: string[]) => db.many(SELECT_FORMER, { userIds })

/** A token to insert; `body` is JSON. */
export type NewToken = { id: string; type: string; subject: string; body: string }

/** When a token is given up. */
export const LIFETIME = `interval '3 days'`

const INSERT_TOKENS = `
    INSERT INTO "SignalToken" ("tenantId", "id", "streamId", "type", "subject", "body", "expiresAt")
    SELECT :tenant, t."id", moved."id", t."type", t."subject", t."body", now() + ${LIFETIME}
    FROM moved, jsonb_array_elements(:tokens) WITH ORDINALITY AS e(v, n),
      LATERAL jsonb_to_record(e.v) AS t("id" text, "type" text, "subject" text, "body" text)
    ORDER BY e.n`

const ADVANCE_STREAM = statement({
  takes: { id: 'text', from: 'text', to: 'text', error: 'text?', tokens: 'jsonb' },
  returns: { moved: 'int' },
  hasInserted: (rows) => rows.length > 0,
})`
  WITH moved AS (
    UPDATE "SignalStream" SET "position" = :to, "lastError" = COALESCE(:error, "lastError")
    WHERE "tenantId" = :tenant AND "id" = :id AND "position" = :from AND "status" = 'enabled' RETURNING "id"
  ), inserted AS (${INSERT_TOKENS}
  )
  SELECT 1 AS "moved" FROM moved`

/**
 * Moves a stream in the log, and inserts the tokens of the events in between, in their order. Nothing when it is not at
 * `from` any more: another process has moved it. With `error`, that is the last error of the stream.
 */
export const advanceStream = (
  db: Db,
  move: { id: string; from: string; to: string; error: string | null; tokens: NewToken[] },
): Promise<void> => db.run(ADVANCE_STREAM, move)

const PASS_EVENTS = statement({ takes: { ids: 'text[]', from: 'text', to: 'text' } })`
  UPDATE "SignalStream" SET "position" = :to
  WHERE "tenantId" = :tenant AND "id" = ANY(:ids) AND "position" = :from AND "status" = 'enabled'`

/** Moves streams that are at `from`, to which none of the events in between are sent. */
export const passEvents = (db: Db, move: { ids: string[]; from: string; to: string }): Promise<void> =>
  db.run(PASS_EVENTS, move)

const INSERT_OWN = statement({
  takes: { id: 'text', tokens: 'jsonb' },
  returns: { inserted: 'int' },
  hasInserted: (rows) => rows.length > 0,
})`
  WITH moved AS (
    SELECT "id" FROM "SignalStream" WHERE "tenantId" = :tenant AND "id" = :id
  ), inserted AS (${INSERT_TOKENS} RETURNING 1
  )
  SELECT 1 AS "inserted" FROM inserted`

/** Inserts an event about the stream itself. */
export const insertStreamToken = (tx: Db, id: string, token: NewToken): Promise<void> =>
  tx.run(INSERT_OWN, { id, tokens: [token] })
