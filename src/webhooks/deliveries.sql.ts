import type { Db } from '../database/handle.ts'
import { statement } from '../database/statement.ts'
import { declareClaim } from '../delivery/outbox/outbox.sql.ts'
import { MAX_WAITING } from '../events/follow-log.sql.ts'
import { buildInsertEventsSql, VISIBLE_CONDITION } from '../events/log.sql.ts'
import type { Position } from '../model/event-position.ts'
import { LIFETIME } from './webhooks.sql.ts'

/** A message `e` of the webhook of `d` that waits longer. */
const EARLIER = `SELECT FROM "WebhookDelivery" e
      WHERE e."tenantId" = d."tenantId" AND e."webhookId" = d."webhookId" AND e."finishedAt" IS NULL AND e."number" < d."number"`

/**
 * The messages to send: the oldest of each subject, so that those about one subject arrive in order. Of a webhook that
 * fails, only the oldest message is tried.
 */
export const WEBHOOK_CLAIM = declareClaim({
  name: 'WebhookDelivery',
  recipient: 'webhookId',
  condition: `d."finishedAt" IS NULL AND NOT EXISTS (${EARLIER} AND e."subject" = d."subject") AND EXISTS (
      SELECT FROM "Webhook" w WHERE w."tenantId" = d."tenantId" AND w."id" = d."webhookId" AND w."enabled"
        AND (w."failingSince" IS NULL OR NOT EXISTS (${EARLIER}))
    )`,
  payload: {
    columns: `d."messageId", d."body", r."url", r."secret", r."headers",
    CASE WHEN r."previousSecretExpiresAt" > now() THEN r."previousSecret" END AS "previousSecret"`,
    returns: {
      messageId: 'text',
      body: 'text',
      url: 'text',
      secret: 'text',
      headers: 'text?',
      previousSecret: 'text?',
    },
  },
  source: { table: '"Webhook"', condition: 'r."tenantId" = d."tenantId" AND r."id" = d."webhookId"' },
})

/** A message that a process has claimed, with its receiver. */
export type WebhookMessage = Awaited<ReturnType<typeof WEBHOOK_CLAIM.claim>>['messages'][number]

/** What the receiver answered: a status and the beginning of the body, or why there is none. */
export type WebhookAnswer = {
  status: number | null
  fault: string | null
  latencyMs: number
  response: string | null
}

const ANSWER = { status: 'int?', fault: 'text?', latencyMs: 'int', response: 'text?' } as const
const SET_ANSWER = `"httpStatus" = :status, "fault" = :fault, "latencyMs" = :latencyMs, "response" = :response`

const insertWebhookEvents = (from: string) =>
  buildInsertEventsSql(':events', {
    from,
    columns: { organizationId: `${from}."organizationId"`, subjectIds: `ARRAY[${from}."id"]` },
  })

const ACCEPT_MESSAGES = statement({
  takes: { answers: 'jsonb', events: 'jsonb' },
  returns: { recovered: 'int' },
  hasInserted: (rows) => rows.length > 0,
})`
  WITH accepted AS (
    UPDATE "WebhookDelivery" d SET "finishedAt" = now(), "accepted" = true, "httpStatus" = a."status", "fault" = NULL, "latencyMs" = a."latencyMs", "response" = a."response"
    FROM jsonb_to_recordset(:answers) AS a("id" text, "status" int, "latencyMs" int, "response" text)
    WHERE d."tenantId" = :tenant AND d."id" = a."id" AND d."finishedAt" IS NULL RETURNING d."webhookId"
  ), recovered AS (
    UPDATE "Webhook" w SET "failingSince" = NULL
    WHERE w."tenantId" = :tenant AND w."id" IN (SELECT "webhookId" FROM accepted) AND w."failingSince" IS NOT NULL RETURNING w."id", w."organizationId"
  ), woken AS (
    UPDATE "WebhookDelivery" d SET "nextAt" = now() FROM recovered r
    WHERE d."tenantId" = :tenant AND d."webhookId" = r."id" AND d."finishedAt" IS NULL AND d."nextAt" > now() + interval '20 seconds'
  ), event_log AS (${insertWebhookEvents('recovered')})
  SELECT 1 AS "recovered" FROM recovered`

/**
 * Ends messages of one webhook that the receiver has accepted. A webhook that failed recovers, with an event: its other
 * messages are due.
 */
export const acceptMessages = (
  db: Db,
  values: {
    answers: (Pick<WebhookAnswer, 'status' | 'latencyMs' | 'response'> & { id: string })[]
    events: object[]
  },
): Promise<void> => db.run(ACCEPT_MESSAGES, values)

const GIVE_UP_MESSAGE = statement({
  takes: { id: 'text', ...ANSWER, events: 'jsonb' },
  returns: { id: 'text', url: 'text', organizationId: 'text?' },
  hasInserted: (rows) => rows.length > 0,
})`
  WITH failed AS (
    UPDATE "WebhookDelivery" SET "finishedAt" = now(), ${SET_ANSWER}
    WHERE "tenantId" = :tenant AND "id" = :id AND "finishedAt" IS NULL RETURNING "webhookId"
  ), disabled AS (
    UPDATE "Webhook" w SET "enabled" = false, "updatedAt" = now() FROM failed f
    WHERE w."tenantId" = :tenant AND w."id" = f."webhookId" AND w."enabled" AND w."failingSince" < now() - ${LIFETIME} + interval '2 hours'
    RETURNING w."id", w."url", w."organizationId"
  ), event_log AS (${insertWebhookEvents('disabled')})
  SELECT "id", "url", "organizationId" FROM disabled`

/**
 * Ends a message that expires. A webhook that has failed all this time is disabled, with an event, and returned; null
 * otherwise.
 */
export const giveUpMessage = (db: Db, values: { id: string; events: object[] } & WebhookAnswer) =>
  db.one(GIVE_UP_MESSAGE, values)

const POSTPONE_MESSAGE = statement({
  takes: {
    id: 'text',
    attempts: 'int',
    pauseSeconds: 'float8',
    isFault: 'boolean',
    ...ANSWER,
    events: 'jsonb',
  },
  returns: { failing: 'int' },
  hasInserted: (rows) => rows.length > 0,
})`
  WITH postponed AS (
    UPDATE "WebhookDelivery" SET "nextAt" = now() + make_interval(secs => :pauseSeconds), ${SET_ANSWER}
    WHERE "tenantId" = :tenant AND "id" = :id AND "attempts" = :attempts AND "finishedAt" IS NULL RETURNING "webhookId"
  ), failing AS (
    UPDATE "Webhook" w SET "failingSince" = now() FROM postponed p
    WHERE :isFault AND w."tenantId" = :tenant AND w."id" = p."webhookId" AND w."failingSince" IS NULL RETURNING w."id", w."organizationId"
  ), event_log AS (${insertWebhookEvents('failing')})
  SELECT 1 AS "failing" FROM failing`

/**
 * Postpones a message, unless another process has claimed it since. With `isFault`, the webhook is failing from then on,
 * with an event.
 */
export const postponeMessage = (
  db: Db,
  values: {
    id: string
    attempts: number
    pauseSeconds: number
    isFault: boolean
    events: object[]
  } & WebhookAnswer,
): Promise<void> => db.run(POSTPONE_MESSAGE, values)

const RENEW_FAILED = statement({
  takes: { webhookId: 'text', since: 'timestamptz?', before: 'timestamptz?' },
  returns: { redelivered: 'int', isComplete: 'boolean' },
})`
  WITH waiting AS (
    SELECT FROM "WebhookDelivery" WHERE "tenantId" = :tenant AND "webhookId" = :webhookId AND "finishedAt" IS NULL LIMIT ${MAX_WAITING.follower}
  ), failed AS (
    SELECT "id" FROM "WebhookDelivery"
    WHERE "tenantId" = :tenant AND "webhookId" = :webhookId AND "finishedAt" IS NOT NULL AND NOT "accepted"
      AND (:since IS NULL OR "createdAt" >= :since) AND (:before IS NULL OR "createdAt" < :before)
    ORDER BY "id" LIMIT ${MAX_WAITING.follower} + 1
  ), picked AS (
    SELECT "id" FROM failed ORDER BY "id" LIMIT ${MAX_WAITING.follower} - (SELECT count(*) FROM waiting)
  ), renewed AS (
    UPDATE "WebhookDelivery" d
    SET "finishedAt" = NULL, "accepted" = false, "attempts" = 0, "nextAt" = now(), "expiresAt" = now() + ${LIFETIME}
    FROM picked p WHERE d."tenantId" = :tenant AND d."id" = p."id" RETURNING d."id"
  )
  SELECT (SELECT count(*)::int FROM renewed) AS "redelivered", (SELECT count(*) FROM failed) = (SELECT count(*) FROM renewed) AS "isComplete"`

/** Makes messages that were given up due again, as many as may wait with the others. */
export const renewFailedMessages = async (
  db: Db,
  values: { webhookId: string; since: Date | null; before: Date | null },
) => (await db.one(RENEW_FAILED, values)) ?? { redelivered: 0, isComplete: true }

const SELECT_CHANGES = statement({
  takes: { era: 'int', xid: 'bigint', number: 'bigint', limit: 'int' },
  returns: {
    era: 'int',
    xid: 'text',
    number: 'text',
    id: 'text',
    webhookId: 'text',
    organizationId: 'text?',
  },
})`
  SELECT d."era", d."xid"::text AS "xid", d."number"::text AS "number", d."id", d."webhookId", w."organizationId"
  FROM "WebhookDelivery" d JOIN "Webhook" w ON w."tenantId" = d."tenantId" AND w."id" = d."webhookId"
  WHERE d."tenantId" = :tenant AND (d."era", d."xid", d."number") > (:era, :xid, :number) AND ${VISIBLE_CONDITION}
  ORDER BY d."era", d."xid", d."number" LIMIT :limit`

/** The messages of the tenant that changed after a position, each once, in the order of their last changes. */
export const selectDeliveryChanges = (db: Db, { era, xid, seq }: Position, limit: number) =>
  db.many(SELECT_CHANGES, { era, xid: String(xid), number: String(seq), limit })

const SELECT_LAST_CHANGE = statement({ returns: { era: 'int', xid: 'text', number: 'text' } })`
  SELECT "era", "xid"::text AS "xid", "number"::text AS "number" FROM "WebhookDelivery"
  WHERE "tenantId" = :tenant AND ${VISIBLE_CONDITION} ORDER BY "era" DESC, "xid" DESC, "number" DESC LIMIT 1`

/** The position of the newest change of a message; null without any. */
export const selectLastDeliveryChange = (db: Db) => db.one(SELECT_LAST_CHANGE)
