import type { Db } from '../../database/handle.ts'
import { onInserted } from '../../database/insertions.ts'
import { boundStatement, type RowOf, type Shape, statement } from '../../database/statement.ts'

/**
 * The table of an outbox. It has the columns "tenantId", "id", "attempts", "nextAt" and "expiresAt", the id of the
 * recipient, and the payload. Its rows are inserted by the statements that cause the messages.
 */
export type OutboxTable<Payload extends Shape> = {
  name: string
  /** The column with the id of the recipient. */
  recipient: string
  /** SQL that is true for a message `d` that may be claimed, besides its time; all by default. */
  condition?: string
  /** The payload as SQL: the columns of a message `d` and of a row `r` that `source` finds. */
  payload: { columns: string; returns: Payload }
  /** The table of the recipients, as `r`, and the condition that joins it. */
  source: { table: string; condition: string }
  /** SQL that records the `events`, a parameter, for the message in the CTE `from`. */
  buildEventsSql: (events: string, from: string) => string
}

/** The columns that every message has. */
const MESSAGE_RETURNS = {
  tenantId: 'text',
  id: 'text',
  recipientId: 'text',
  /** Attempts, including this one. */
  attempts: 'int',
  /** The last attempt is before this time. */
  expiresAt: 'timestamptz',
} as const

/** The due messages that a claim looks at. */
const WINDOW = 128

/** A message that a process has claimed. */
export type ClaimedMessage = RowOf<{ returns: typeof MESSAGE_RETURNS }>

/** The messages that a process claims. */
export type OutboxClaim = {
  /** Maximum number of messages with those that the process sends already: in total, and per recipient. */
  total: number
  perRecipient: number
  /** The recipients and the tenants of the messages that the process sends already, one entry for each. */
  recipients: string[]
  tenants: string[]
  /** Recipients and tenants to leave out, because they have all that they may. */
  exceptRecipients: string[]
  exceptTenants: string[]
  /** How long no other process claims the messages. */
  leaseSeconds: number
}

/** Declares the statement that claims messages, and what wakes its process. */
export function declareClaim<const Payload extends Shape>({
  name,
  recipient,
  condition = 'true',
  payload,
  source,
}: Omit<OutboxTable<Payload>, 'buildEventsSql'>) {
  // Takes the oldest due messages, limited per recipient and to half of what other tenants leave, so that thousands for one
  // recipient leave room for others. SKIP LOCKED passes over rows that another process is claiming; the second condition on
  // nextAt excludes those that it has just claimed.
  const claimMessages = statement({
    takes: {
      total: 'int',
      perRecipient: 'int',
      recipients: 'text[]',
      tenants: 'text[]',
      exceptRecipients: 'text[]',
      exceptTenants: 'text[]',
      leaseSeconds: 'float8',
    },
    returns: { ...MESSAGE_RETURNS, ...payload.returns, isPartial: 'boolean' },
  })`
  WITH oldest AS (
    SELECT "tenantId", "id", "${recipient}", "nextAt" FROM "${name}" d
    WHERE :tenant = 'system' AND "nextAt" <= now() AND "${recipient}" <> ALL(:exceptRecipients) AND "tenantId" <> ALL(:exceptTenants) AND ${condition}
    ORDER BY "nextAt" LIMIT ${WINDOW}
  ), recipient_ranked AS (
    SELECT o.*, row_number() OVER (PARTITION BY o."tenantId", o."${recipient}" ORDER BY o."nextAt") AS "recipientRank" FROM oldest o
  ), ranked AS (
    SELECT p.*, row_number() OVER (PARTITION BY p."tenantId" ORDER BY p."nextAt") AS "rank",
      cardinality(array_positions(:tenants, p."tenantId")) AS "own"
    FROM recipient_ranked p WHERE p."recipientRank" + cardinality(array_positions(:recipients, p."${recipient}")) <= :perRecipient
  ), picked AS (
    SELECT d."tenantId", d."id" FROM "${name}" d
    JOIN ranked k ON k."tenantId" = d."tenantId" AND k."id" = d."id" AND 2 * (k."rank" + k."own") <= :total - (cardinality(:tenants) - k."own")
    WHERE d."nextAt" <= now() ORDER BY d."nextAt" LIMIT :total - cardinality(:tenants) FOR UPDATE OF d SKIP LOCKED
  ), claimed AS (
    UPDATE "${name}" d SET "nextAt" = now() + make_interval(secs => :leaseSeconds), "attempts" = d."attempts" + 1
    FROM picked p WHERE d."tenantId" = p."tenantId" AND d."id" = p."id" RETURNING d.*
  )
  SELECT d."tenantId", d."id", d."${recipient}" AS "recipientId", d."attempts", d."expiresAt",
    (SELECT count(*) FROM oldest) = ${WINDOW} AS "isPartial", ${payload.columns}
  FROM claimed d JOIN ${source.table} r ON ${source.condition}`

  return {
    /** Calls `wake` when this process has inserted messages; returns the function that stops it. */
    listen: (wake: () => void): (() => void) => onInserted(name, wake),
    /**
     * Claims due messages of all tenants; `isPartial` when more may be due than it has looked at. Other processes claim them again after the lease, in case this one dies. Planned each
     * time: a plan made for the empty table, which an outbox usually is, would compare every message with every other.
     */
    claim: async (db: Db, claim: OutboxClaim) => {
      const { returns, text, bind } = claimMessages
      const rows = await db.list(boundStatement(returns, text, bind(db.tenant, claim)))
      return {
        messages: rows.map(({ isPartial: _, ...message }) => message),
        isPartial: rows.some(({ isPartial }) => isPartial),
      }
    },
  }
}

/** Declares the statements of an outbox. */
export function declareOutbox<const Payload extends Shape>(table: OutboxTable<Payload>) {
  const { name } = table
  const finishMessage = statement({
    takes: { id: 'text', events: 'jsonb' },
    returns: { finished: 'int' },
  })`
  WITH finished AS (
    DELETE FROM "${name}" WHERE "tenantId" = :tenant AND "id" = :id RETURNING *
  ), event_log AS (${table.buildEventsSql(':events', 'finished')})
  SELECT 1 AS "finished" FROM finished`

  // A process that has claimed the message since has increased "attempts".
  const postponeMessage = statement({
    takes: { id: 'text', attempts: 'int', pauseSeconds: 'float8', events: 'jsonb' },
    returns: { postponed: 'int' },
  })`
  WITH postponed AS (
    UPDATE "${name}" SET "nextAt" = now() + make_interval(secs => :pauseSeconds)
    WHERE "tenantId" = :tenant AND "id" = :id AND "attempts" = :attempts RETURNING *
  ), event_log AS (${table.buildEventsSql(':events', 'postponed')})
  SELECT 1 AS "postponed" FROM postponed`

  return {
    ...declareClaim(table),
    /** Deletes a message and records the events, in one statement; no events when another process deleted it first. */
    finish: (db: Db, { id }: ClaimedMessage, events: object[]): Promise<void> =>
      db.run(finishMessage, { id, events }),
    /**
     * Postpones a message by `pauseSeconds` and records the events, in one statement; nothing when another process has
     * claimed it since.
     */
    postpone: (
      db: Db,
      { id, attempts }: ClaimedMessage,
      pauseSeconds: number,
      events: object[],
    ): Promise<void> => db.run(postponeMessage, { id, attempts, pauseSeconds, events }),
  }
}
