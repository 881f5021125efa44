import type { Db } from '../database/handle.ts'
import { declareRowLock, declareTenantLock } from '../database/row-locks.sql.ts'
import { type RowOf, statement } from '../database/statement.ts'
import { buildRoomSql, buildShareSql, ROOM_RETURNS } from '../events/follow-log.sql.ts'

const LOCK_TENANT = declareTenantLock(['tenantId'])
/** Locks the tenant, so that concurrent creations count each other. */
export const lockTenantForWebhooks = (tx: Db): Promise<void> => tx.run(LOCK_TENANT)

const LOCK_WEBHOOK = declareRowLock('Webhook', [
  'organizationId',
  'url',
  'description',
  'types',
  'payload',
  'enabled',
  'headers',
  'secret',
  'failingSince',
  'position',
  'resumePosition',
  'updatedAt',
])
/** Locks a webhook; null without it. */
export const lockWebhook = (tx: Db, id: string) => tx.one(LOCK_WEBHOOK, { id })

const WAKE_MESSAGES = statement({ takes: { webhookId: 'text' } })`
  UPDATE "WebhookDelivery" SET "nextAt" = now()
  WHERE "tenantId" = :tenant AND "webhookId" = :webhookId AND "finishedAt" IS NULL AND "nextAt" > now() + interval '20 seconds'`

/** Makes the postponed messages of a webhook due. Messages that are being sent keep their lease. */
export const wakeMessages = (tx: Db, webhookId: string): Promise<void> => tx.run(WAKE_MESSAGES, { webhookId })

const SELECT_TENANTS = statement({ returns: { tenantId: 'text' } })`
  SELECT DISTINCT "tenantId" FROM "Webhook" WHERE :tenant = 'system' AND "enabled"`

/** The tenants that have a webhook which is enabled. Requires the tenant `system`. */
export const selectWebhookTenants = async (system: Db): Promise<string[]> =>
  (await system.many(SELECT_TENANTS)).map(({ tenantId }) => tenantId)

const SELECT_FOLLOWERS = statement({
  returns: {
    id: 'text',
    organizationId: 'text?',
    types: 'text[]',
    payload: 'text',
    position: 'text',
    replayUntil: 'text?',
    resumePosition: 'text?',
    isFailing: 'boolean',
    ...ROOM_RETURNS,
  },
})`
  WITH ${buildShareSql('Webhook')}
  SELECT f."id", f."organizationId", f."types", f."payload", f."position", f."replayUntil", f."resumePosition", f."failingSince" IS NOT NULL AS "isFailing",
    ${buildRoomSql('SELECT FROM "WebhookDelivery" d WHERE d."tenantId" = f."tenantId" AND d."webhookId" = f."id" AND d."finishedAt" IS NULL')}
  FROM "Webhook" f, share WHERE f."tenantId" = :tenant AND f."enabled"`

/** A webhook that follows the log, and how many of its messages there is room for. */
export type Follower = RowOf<typeof SELECT_FOLLOWERS>

export const selectFollowers = (db: Db): Promise<Follower[]> => db.many(SELECT_FOLLOWERS)

/** A message to insert. */
export type NewMessage = { id: string; messageId: string; type: string; subject: string; body: string }

/** When a message is given up. */
export const LIFETIME = `interval '3 days'`

const ADVANCE_WEBHOOK = statement({
  takes: { id: 'text', from: 'text', until: 'text?', to: 'text', isResumed: 'boolean', messages: 'jsonb' },
  returns: { moved: 'int' },
  hasInserted: (rows) => rows.length > 0,
})`
  WITH moved AS (
    UPDATE "Webhook" SET "position" = :to, "replayUntil" = CASE WHEN :isResumed THEN NULL ELSE "replayUntil" END,
      "resumePosition" = CASE WHEN :isResumed THEN NULL ELSE "resumePosition" END
    WHERE "tenantId" = :tenant AND "id" = :id AND "position" = :from AND "replayUntil" IS NOT DISTINCT FROM :until AND "enabled"
    RETURNING "id"
  ), inserted AS (
    INSERT INTO "WebhookDelivery" ("tenantId", "id", "webhookId", "messageId", "type", "subject", "body", "expiresAt")
    SELECT :tenant, m."id", moved."id", m."messageId", m."type", m."subject", m."body", now() + ${LIFETIME}
    FROM moved, jsonb_array_elements(:messages) WITH ORDINALITY AS e(v, n),
      LATERAL jsonb_to_record(e.v) AS m("id" text, "messageId" text, "type" text, "subject" text, "body" text)
    ORDER BY e.n
  )
  SELECT 1 AS "moved" FROM moved`

/**
 * Moves a webhook in the log, and inserts the messages of the events in between, in their order. False when it is not at
 * `from` any more: another process has moved it.
 */
export const advanceWebhook = async (
  db: Db,
  move: {
    id: string
    from: string
    /** The end of the range that is sent again; null without one. */
    until: string | null
    to: string
    /** Whether the range ends, and the webhook continues at `to`. */
    isResumed: boolean
    messages: NewMessage[]
  },
): Promise<boolean> => (await db.one(ADVANCE_WEBHOOK, move)) !== null

const PASS_EVENTS = statement({ takes: { ids: 'text[]', from: 'text', to: 'text' } })`
  UPDATE "Webhook" SET "position" = :to
  WHERE "tenantId" = :tenant AND "id" = ANY(:ids) AND "position" = :from AND "replayUntil" IS NULL AND "enabled"`

/** Moves webhooks that are at `from`, to which none of the events in between are sent. */
export const passEvents = (db: Db, move: { ids: string[]; from: string; to: string }): Promise<void> =>
  db.run(PASS_EVENTS, move)

/** People who get the mail about a webhook, at most. */
const MAX_MENDERS = 20
const MENDER = `u."emailKey" IS NOT NULL AND u."emailVerified" AND NOT u."locked"`

const SELECT_MENDERS = statement({
  takes: { organizationId: 'text?', roles: 'text[]' },
  returns: { email: 'text', locale: 'text?' },
})`
  WITH administrators AS (
    SELECT u."id", u."emailKey", u."locale" FROM "Membership" m JOIN "User" u ON u."tenantId" = m."tenantId" AND u."id" = m."userId"
    WHERE m."tenantId" = :tenant AND m."organizationId" = :organizationId AND m."isAdministrator" AND ${MENDER}
  ), users AS (
    SELECT u."id", u."emailKey", u."locale" FROM "User" u
    WHERE u."tenantId" = :tenant AND u."roles" <> '{}' AND u."roles" && :roles AND ${MENDER}
      AND NOT EXISTS (SELECT FROM administrators)
  )
  SELECT "emailKey" AS "email", "locale" FROM (SELECT * FROM administrators UNION ALL SELECT * FROM users) menders
  ORDER BY "id" LIMIT ${MAX_MENDERS}`

/**
 * The verified addresses of up to 20 administrators of an organization, or where it has none, and without an organization, of
 * users with one of the roles.
 */
export const selectMenders = (db: Db, values: { organizationId: string | null; roles: string[] }) =>
  db.many(SELECT_MENDERS, values)
