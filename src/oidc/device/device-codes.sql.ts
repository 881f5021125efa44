import type { Db } from '../../database/handle.ts'
import { checkFoundRow } from '../../database/key-lookup.ts'
import { type RowOf, statement } from '../../database/statement.ts'
import { buildInsertEventsSql } from '../../events/log.sql.ts'

export type NewDeviceCode = {
  codeHash: Buffer
  userCodeHash: Buffer
  grantId: string
  clientId: string
  scopes: string[]
  resources: string[]
  defaultAudience: string | null
  organization: string | null
  intervalSeconds: number
  expiresAt: Date
  now: Date
}

const INSERT_DEVICE_CODE = statement({
  takes: {
    codeHash: 'bytea',
    userCodeHash: 'bytea',
    grantId: 'text',
    clientId: 'text',
    scopes: 'text[]',
    resources: 'text[]',
    defaultAudience: 'text?',
    organization: 'text?',
    intervalSeconds: 'int',
    expiresAt: 'timestamptz',
    now: 'timestamptz',
  },
  returns: { grantId: 'text' },
})`
  INSERT INTO "DeviceCode" ("tenantId", "codeHash", "userCodeHash", "grantId", "clientId", "scopes", "resources",
    "defaultAudience", "organization", "intervalSeconds", "expiresAt", "createdAt")
  VALUES (:tenant, :codeHash, :userCodeHash, :grantId, :clientId, :scopes, :resources, :defaultAudience, :organization, :intervalSeconds, :expiresAt, :now)
  ON CONFLICT ("tenantId", "userCodeHash") DO NOTHING RETURNING "grantId"`

/** Inserts a device code; false when the user code is taken. */
export async function insertDeviceCode(db: Db, code: NewDeviceCode): Promise<boolean> {
  return (await db.one(INSERT_DEVICE_CODE, { ...code })) !== null
}

/** A device whose user has not decided yet. */
export type PendingDevice = RowOf<typeof SELECT_PENDING>

const SELECT_PENDING = statement({
  takes: { userCodeHashes: 'bytea[]', now: 'timestamptz' },
  returns: {
    codeHash: 'bytea',
    clientId: 'text',
    scopes: 'text[]',
    resources: 'text[]',
    organization: 'text?',
  },
})`
  SELECT "codeHash", "clientId", "scopes", "resources", "organization" FROM "DeviceCode"
  WHERE "tenantId" = :tenant AND "userCodeHash" = ANY(:userCodeHashes) AND "status" = 'pending' AND "expiresAt" > :now`

/** The pending device code of a user code; null otherwise. */
export const selectPendingDevice = (
  db: Db,
  userCodeHashes: Buffer[],
  now: Date,
): Promise<PendingDevice | null> => db.one(SELECT_PENDING, { userCodeHashes, now })

/** The device code to approve or deny, and the interaction that this ends. */
export type DecidedDevice = { codeHash: Buffer; clientId: string; interactionHash: Buffer; now: Date }

// The first decision wins: it deletes the interaction and changes the status.
const DECISION_PARAMETERS = {
  codeHash: 'bytea',
  clientId: 'text',
  interactionHash: 'bytea',
  now: 'timestamptz',
  events: 'jsonb',
} as const
const FINISH_INTERACTION = `WITH finished AS (
    DELETE FROM "Interaction" WHERE "tenantId" = :tenant AND "handleHash" = :interactionHash RETURNING "handleHash"
  )`
const IS_UNDECIDED = `d."tenantId" = :tenant AND d."codeHash" = :codeHash AND ${checkFoundRow('d."clientId" = :clientId')} AND d."status" = 'pending'
      AND d."expiresAt" > :now AND EXISTS (SELECT FROM finished)`

// FOR SHARE makes this and a lock of the user, or the end of the session, wait for each other.
const APPROVE = statement({
  takes: {
    ...DECISION_PARAMETERS,
    userId: 'text',
    sessionId: 'text',
    scopes: 'text[]',
    organizationId: 'text?',
    authenticatedAt: 'timestamptz',
    amr: 'text[]',
  },
  returns: { clientId: 'text' },
})`${FINISH_INTERACTION}, locked_user AS MATERIALIZED (
    SELECT u."id" AS "userId", s."id" AS "sessionId"
    FROM "User" u JOIN "Session" s ON s."tenantId" = :tenant AND s."userId" = u."id"
    WHERE u."tenantId" = :tenant AND u."id" = :userId AND NOT u."locked"
      AND s."id" = :sessionId AND s."endedAt" IS NULL AND s."expiresAt" > :now AND EXISTS (SELECT FROM finished)
    FOR SHARE OF u, s
  ), decided AS (
    UPDATE "DeviceCode" d SET "status" = 'approved', "userId" = p."userId", "sessionId" = p."sessionId",
      "authenticatedAt" = :authenticatedAt, "amr" = :amr, "scopes" = :scopes, "organizationId" = :organizationId
    FROM locked_user p WHERE ${IS_UNDECIDED}
    RETURNING d."clientId"
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'decided' })})
  SELECT "clientId" FROM decided`

/**
 * Approves a device for `scopes` of a session's user and records the event, in one statement. False when the
 * user is locked, the session has ended, the code has expired, or the device was approved or denied before.
 */
export async function approveDevice(
  db: Db,
  device: DecidedDevice,
  approval: {
    userId: string
    sessionId: string
    scopes: string[]
    organizationId: string | null
    authenticatedAt: Date
    amr: string[]
  },
  event: object,
): Promise<boolean> {
  return (await db.one(APPROVE, { ...device, ...approval, events: [event] })) !== null
}

const DENY = statement({
  takes: DECISION_PARAMETERS,
  returns: { clientId: 'text' },
})`${FINISH_INTERACTION}, decided AS (
    UPDATE "DeviceCode" d SET "status" = 'denied' WHERE ${IS_UNDECIDED} RETURNING d."clientId"
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'decided' })})
  SELECT "clientId" FROM decided`

/** Denies a device and records the event, in one statement. False as for approveDevice. */
export async function denyDevice(db: Db, device: DecidedDevice, event: object): Promise<boolean> {
  return (await db.one(DENY, { ...device, events: [event] })) !== null
}
