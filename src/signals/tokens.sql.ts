import type { Db } from '../database/handle.ts'
import { type RowOf, statement } from '../database/statement.ts'
import { declareClaim } from '../delivery/outbox/outbox.sql.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'
import { SIGNALS } from './signal-types.ts'
import { LIFETIME } from './streams.sql.ts'

/** An event `e` of the stream of `d` that waits longer. */
const EARLIER = `SELECT FROM "SignalToken" e
      WHERE e."tenantId" = d."tenantId" AND e."streamId" = d."streamId" AND e."number" < d."number"`

/**
 * The events to push: the oldest of each subject, so that those about one subject arrive in order. Of a stream that fails,
 * only the oldest one is tried; of one that is paused or disabled, those that say so.
 */
export const PUSH_CLAIM = declareClaim({
  name: 'SignalToken',
  recipient: 'streamId',
  condition: `NOT EXISTS (${EARLIER} AND e."subject" = d."subject") AND EXISTS (
      SELECT FROM "SignalStream" s WHERE s."tenantId" = d."tenantId" AND s."id" = d."streamId" AND s."delivery" = 'push'
        AND (s."status" = 'enabled' OR d."type" = '${SIGNALS.streamUpdated}')
        AND (s."failingSince" IS NULL OR NOT EXISTS (${EARLIER}))
    )`,
  payload: {
    columns: `d."type", d."body", d."createdAt", r."clientId", r."url", r."authorization"`,
    returns: {
      type: 'text',
      body: 'text',
      createdAt: 'timestamptz',
      clientId: 'text',
      url: 'text?',
      authorization: 'text?',
    },
  },
  source: { table: '"SignalStream"', condition: 'r."tenantId" = d."tenantId" AND r."id" = d."streamId"' },
})

/** An event that a process has claimed, with its receiver. */
export type PushedToken = Awaited<ReturnType<typeof PUSH_CLAIM.claim>>['messages'][number]

const insertStreamEvents = (from: string) =>
  buildInsertEventsSql(':events', {
    from,
    columns: { subjectIds: `ARRAY[${from}."id", ${from}."clientId"]` },
  })

const FINISH_TOKENS = statement({
  takes: { ids: 'text[]', error: 'text?', isAccepted: 'boolean', events: 'jsonb' },
  returns: { recovered: 'int' },
  hasInserted: (rows) => rows.length > 0,
})`
  WITH finished AS (
    DELETE FROM "SignalToken" WHERE "tenantId" = :tenant AND "id" = ANY(:ids) RETURNING "streamId"
  ), current AS (
    SELECT s."id", s."clientId", s."failingSince" FROM "SignalStream" s
    WHERE s."tenantId" = :tenant AND s."id" IN (SELECT "streamId" FROM finished) FOR UPDATE OF s
  ), answered AS (
    UPDATE "SignalStream" s SET "failingSince" = NULL, "lastError" = :error, "acceptedAt" = CASE WHEN :isAccepted THEN now() ELSE s."acceptedAt" END
    FROM current c WHERE s."tenantId" = :tenant AND s."id" = c."id"
  ), recovered AS (
    SELECT "id", "clientId" FROM current WHERE "failingSince" IS NOT NULL
  ), woken AS (
    UPDATE "SignalToken" d SET "nextAt" = now() FROM recovered r
    WHERE d."tenantId" = :tenant AND d."streamId" = r."id" AND d."nextAt" > now() + interval '20 seconds'
  ), event_log AS (${insertStreamEvents('recovered')})
  SELECT 1 AS "recovered" FROM recovered`

/**
 * Ends events of one stream that the receiver has accepted or rejected; `error` is the last rejection. A stream that failed
 * recovers, with an event of the log: what waits is due.
 */
export const finishTokens = (
  db: Db,
  values: { ids: string[]; error: string | null; isAccepted: boolean; events: object[] },
): Promise<void> => db.run(FINISH_TOKENS, values)

const GIVE_UP_TOKEN = statement({
  takes: { id: 'text', error: 'text', events: 'jsonb' },
  returns: { id: 'text' },
  hasInserted: (rows) => rows.length > 0,
})`
  WITH failed AS (
    DELETE FROM "SignalToken" WHERE "tenantId" = :tenant AND "id" = :id RETURNING "streamId"
  ), disabled AS (
    UPDATE "SignalStream" s SET "status" = 'disabled', "statusReason" = :error, "lastError" = :error, "updatedAt" = now() FROM failed f
    WHERE s."tenantId" = :tenant AND s."id" = f."streamId" AND s."status" <> 'disabled' AND s."failingSince" < now() - ${LIFETIME} + interval '2 hours'
    RETURNING s."id", s."clientId"
  ), dropped AS (
    DELETE FROM "SignalToken" t USING disabled d WHERE t."tenantId" = :tenant AND t."streamId" = d."id" AND t."id" <> :id
  ), event_log AS (${insertStreamEvents('disabled')})
  SELECT "id" FROM disabled`

/** Ends an event that expires. A stream that has failed all this time is disabled, with an event of the log. */
export const giveUpToken = (db: Db, values: { id: string; error: string; events: object[] }): Promise<void> =>
  db.run(GIVE_UP_TOKEN, values)

const POSTPONE_TOKEN = statement({
  takes: {
    id: 'text',
    attempts: 'int',
    pauseSeconds: 'float8',
    isFault: 'boolean',
    error: 'text',
    events: 'jsonb',
  },
  returns: { failing: 'int' },
  hasInserted: (rows) => rows.length > 0,
})`
  WITH postponed AS (
    UPDATE "SignalToken" SET "nextAt" = now() + make_interval(secs => :pauseSeconds)
    WHERE "tenantId" = :tenant AND "id" = :id AND "attempts" = :attempts RETURNING "streamId"
  ), current AS (
    SELECT s."id", s."clientId", s."failingSince" FROM "SignalStream" s JOIN postponed p ON s."tenantId" = :tenant AND s."id" = p."streamId"
    WHERE :isFault FOR UPDATE OF s
  ), answered AS (
    UPDATE "SignalStream" s SET "failingSince" = COALESCE(s."failingSince", now()), "lastError" = :error
    FROM current c WHERE s."tenantId" = :tenant AND s."id" = c."id"
  ), failing AS (
    SELECT "id", "clientId" FROM current WHERE "failingSince" IS NULL
  ), event_log AS (${insertStreamEvents('failing')})
  SELECT 1 AS "failing" FROM failing`

/**
 * Postpones an event, unless another process has claimed it since. With `isFault`, the stream is failing from then on, with an
 * event of the log.
 */
export const postponeToken = (
  db: Db,
  values: {
    id: string
    attempts: number
    pauseSeconds: number
    isFault: boolean
    error: string
    events: object[]
  },
): Promise<void> => db.run(POSTPONE_TOKEN, values)

const SELECT_WAITING = statement({
  takes: { streamId: 'text', limit: 'int' },
  returns: { id: 'text', type: 'text', body: 'text', createdAt: 'timestamptz', clientId: 'text' },
})`
  SELECT t."id", t."type", t."body", t."createdAt", s."clientId" FROM "SignalToken" t
  JOIN "SignalStream" s ON s."tenantId" = :tenant AND s."id" = t."streamId"
  WHERE t."tenantId" = :tenant AND t."streamId" = :streamId AND s."delivery" = 'poll'
    AND (s."status" = 'enabled' OR t."type" = '${SIGNALS.streamUpdated}')
  ORDER BY t."number" LIMIT :limit`

/** An event that waits. */
export type WaitingToken = RowOf<typeof SELECT_WAITING>

/** The oldest events that wait for the receiver of a stream that is polled. */
export const selectWaitingTokens = (db: Db, streamId: string, limit: number): Promise<WaitingToken[]> =>
  db.many(SELECT_WAITING, { streamId, limit })

const ACKNOWLEDGE = statement({
  takes: { streamId: 'text', ids: 'text[]', error: 'text?' },
  returns: { finished: 'int' },
})`
  WITH finished AS (
    DELETE FROM "SignalToken" t USING "SignalStream" s
    WHERE t."tenantId" = :tenant AND t."streamId" = :streamId AND t."id" = ANY(:ids)
      AND s."tenantId" = :tenant AND s."id" = t."streamId" AND s."delivery" = 'poll' RETURNING 1
  ), answered AS (
    UPDATE "SignalStream" SET "lastError" = :error, "acceptedAt" = now()
    WHERE "tenantId" = :tenant AND "id" = :streamId AND EXISTS (SELECT FROM finished)
  )
  SELECT count(*)::int AS "finished" FROM finished`

/** Ends events that the receiver of a polled stream has got; `error` is the last one that it reports. */
export const acknowledgeTokens = (
  db: Db,
  values: { streamId: string; ids: string[]; error: string | null },
): Promise<void> => db.run(ACKNOWLEDGE, values)
