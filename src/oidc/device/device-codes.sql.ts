import type { Sql, SqlValues } from '../../db.ts'
import { insertEventsSql } from '../../events.sql.ts'
import { type GrantTerms, NEW_GRANT, type NewGrant, newGrantValues } from '../token/new-grant.sql.ts'

export type NewDeviceCode = {
  codeHash: Buffer
  userCodeHash: Buffer
  grantId: string
  clientId: string
  scopes: string[]
  resources: string[]
  intervalSeconds: number
  expiresAt: Date
  now: Date
}

const INSERT_DEVICE_CODE = `
  INSERT INTO "DeviceCode" ("tenantId", "codeHash", "userCodeHash", "grantId", "clientId", "scopes", "resources",
    "intervalSeconds", "expiresAt", "createdAt")
  VALUES ($1, $2::bytea, $3::bytea, $4, $5, $6::text[], $7::text[], $8::int, $9::timestamptz, $10::timestamptz)
  ON CONFLICT ("tenantId", "userCodeHash") DO NOTHING RETURNING "grantId"`

/** False when the user code is another device's. */
export async function insertDeviceCode(sql: Sql, tenant: string, code: NewDeviceCode): Promise<boolean> {
  const rows = await sql(INSERT_DEVICE_CODE, [
    tenant,
    code.codeHash,
    code.userCodeHash,
    code.grantId,
    code.clientId,
    code.scopes,
    code.resources,
    code.intervalSeconds,
    code.expiresAt,
    code.now,
  ])
  return rows.length > 0
}

/** What a device waits for. */
export type WaitingDevice = { codeHash: Buffer; clientId: string; scopes: string[]; resources: string[] }

const SELECT_WAITING = `
  SELECT "codeHash", "clientId", "scopes", "resources" FROM "DeviceCode"
  WHERE "tenantId" = $1 AND "userCodeHash" = ANY($2::bytea[]) AND "status" = 'pending' AND "expiresAt" > $3::timestamptz`

/** The device that shows a user code, while nobody has decided about it; null otherwise. */
export async function selectWaitingDevice(
  sql: Sql,
  tenant: string,
  userCodeHashes: Buffer[],
  now: Date,
): Promise<WaitingDevice | null> {
  const [row] = await sql<WaitingDevice>(SELECT_WAITING, [tenant, userCodeHashes, now])
  return row ?? null
}

/** A device that somebody decides about, in the interaction that this ends. */
export type DecidedDevice = { codeHash: Buffer; clientId: string; interactionHash: Buffer; now: Date }

// Whoever is first decides: the interaction and the row are each there for one.
const DECISION = `WITH finished AS (
    DELETE FROM "Interaction" WHERE "tenantId" = $1 AND "handleHash" = $4::bytea RETURNING "handleHash"
  )`
const UNDECIDED = `d."tenantId" = $1 AND d."codeHash" = $2::bytea AND d."clientId" = $3 AND d."status" = 'pending'
      AND d."expiresAt" > $5::timestamptz AND EXISTS (SELECT FROM finished)`

// FOR SHARE makes a lock of the user, or the end of the session, and this wait for each other (design, section 6).
const APPROVE = `${DECISION}, person AS MATERIALIZED (
    SELECT u."id" AS "userId", s."id" AS "sessionId", s."authenticatedAt", s."amr"
    FROM "User" u JOIN "Session" s ON s."tenantId" = $1 AND s."userId" = u."id"
    WHERE u."tenantId" = $1 AND u."id" = $7 AND NOT u."locked"
      AND s."id" = $8 AND s."endedAt" IS NULL AND s."expiresAt" > $5::timestamptz AND EXISTS (SELECT FROM finished)
    FOR SHARE OF u, s
  ), decided AS (
    UPDATE "DeviceCode" d SET "status" = 'approved', "userId" = p."userId", "sessionId" = p."sessionId",
      "authenticatedAt" = p."authenticatedAt", "amr" = p."amr", "scopes" = $9::text[]
    FROM person p WHERE ${UNDECIDED}
    RETURNING d."clientId"
  ), told AS (${insertEventsSql('$6', { from: 'decided' })})
  SELECT FROM decided`

/**
 * Lets a device have `scopes` of a session's person, in one statement with the event. False when the user or the session
 * is not to be used any more, the code has expired, or somebody has decided before.
 */
export async function approveDevice(
  sql: Sql,
  tenant: string,
  device: DecidedDevice,
  by: { userId: string; sessionId: string; scopes: string[] },
  event: object,
): Promise<boolean> {
  const rows = await sql(APPROVE, [
    ...decisionValues(tenant, device, event),
    by.userId,
    by.sessionId,
    by.scopes,
  ])
  return rows.length > 0
}

const DENY = `${DECISION}, decided AS (
    UPDATE "DeviceCode" d SET "status" = 'denied' WHERE ${UNDECIDED} RETURNING d."clientId"
  ), told AS (${insertEventsSql('$6', { from: 'decided' })})
  SELECT FROM decided`

/** Refuses a device, likewise. */
export async function denyDevice(
  sql: Sql,
  tenant: string,
  device: DecidedDevice,
  event: object,
): Promise<boolean> {
  return (await sql(DENY, decisionValues(tenant, device, event))).length > 0
}

const decisionValues = (tenant: string, device: DecidedDevice, event: object): SqlValues => [
  tenant,
  device.codeHash,
  device.clientId,
  device.interactionHash,
  device.now,
  JSON.stringify([event]),
]

/** What a poll met with: the code as it was, and its grant if this poll is the one that made it. */
export type Poll = {
  status: 'pending' | 'approved' | 'denied' | 'used'
  isExpired: boolean
  /** It came before the interval was over, which is longer from now on. */
  isEarly: boolean
  grant: NewGrant<never> | null
}

// Intervals are measured by the database's clock, which every process has in common; a poll that waited for another one
// is compared with what that one wrote. The rows of the user and the session are held before the code is touched, as in
// codes.sql.ts.
const POLL = `
  WITH asked AS MATERIALIZED (
    SELECT "status", "intervalSeconds", "expiresAt" <= $2::timestamptz AS "isExpired" FROM "DeviceCode"
    WHERE "tenantId" = $1 AND "codeHash" = $9::bytea AND "clientId" = $10
  ), polled AS (
    UPDATE "DeviceCode" d SET "lastPolledAt" = now(), "intervalSeconds" = d."intervalSeconds" + CASE
      WHEN d."lastPolledAt" + make_interval(secs => d."intervalSeconds" - $11::float8) > now() THEN $12::int ELSE 0 END
    WHERE d."tenantId" = $1 AND d."codeHash" = $9::bytea AND d."clientId" = $10 AND d."status" = 'pending'
      AND d."expiresAt" > $2::timestamptz
    RETURNING d."intervalSeconds"
  ), person AS MATERIALIZED (
    SELECT d."grantId", d."clientId", d."userId", d."sessionId", d."scopes", d."resources", NULL::jsonb AS "claims",
      NULL::text AS "nonce", d."authenticatedAt", d."amr", 'offline_access' = ANY (d."scopes") AS "offline", u."roles"
    FROM "DeviceCode" d
    JOIN "User" u ON u."tenantId" = $1 AND u."id" = d."userId"
    JOIN "Session" s ON s."tenantId" = $1 AND s."id" = d."sessionId"
    WHERE d."tenantId" = $1 AND d."codeHash" = $9::bytea AND d."clientId" = $10 AND d."status" = 'approved'
      AND d."expiresAt" > $2::timestamptz
      AND NOT u."locked" AND s."endedAt" IS NULL AND s."expiresAt" > $2::timestamptz
    FOR SHARE OF u, s
  ), used AS (
    UPDATE "DeviceCode" d SET "status" = 'used' FROM person
    WHERE d."tenantId" = $1 AND d."codeHash" = $9::bytea AND d."status" = 'approved'
    RETURNING d."grantId"
  ), ${NEW_GRANT}
  SELECT a."status", a."isExpired", COALESCE(polled."intervalSeconds" > a."intervalSeconds", false) AS "isEarly", made.*
  FROM asked a LEFT JOIN polled ON true
  LEFT JOIN (SELECT person.* FROM person JOIN granted ON granted."id" = person."grantId") made ON true`

/** How early a poll may come, and by how much the interval grows when it comes earlier; seconds. */
export type Patience = { leewaySeconds: number; slowDownSeconds: number }

/** Asks what became of a device code of this client, and redeems it once it was approved: one statement. Null when there is none. */
export async function pollDeviceCode(
  sql: Sql,
  tenant: string,
  { codeHash, clientId }: { codeHash: Buffer; clientId: string },
  { leewaySeconds, slowDownSeconds }: Patience,
  terms: GrantTerms,
  event: object,
): Promise<Poll | null> {
  type Row = Omit<Poll, 'grant'> & (NewGrant<never> | { grantId: null })
  const [row] = await sql<Row>(POLL, [
    tenant,
    ...newGrantValues(terms, event),
    codeHash,
    clientId,
    leewaySeconds,
    slowDownSeconds,
  ])
  if (!row) return null
  const { status, isExpired, isEarly, ...made } = row
  return { status, isExpired, isEarly, grant: made.grantId === null ? null : made }
}
