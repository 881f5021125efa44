import type { Sql } from '../db.ts'
import { insertEventsSql } from '../events.sql.ts'
import type { DeviceRow } from './credentials.fields.ts'

/** Seconds between two links to a user. */
const SEND_COOLDOWN_SECONDS = 30
/** Links to a user in an hour. */
const SENDS_AN_HOUR = 10

/** Who a token is for, held: locks, deletions and other tokens of the user wait until the transaction ends. */
export type Enrollee = {
  roles: string[]
  locked: boolean
  /** Addresses that were proven, as they are compared and sent to. */
  email: string | null
  phoneNumber: string | null
}

const HOLD_ENROLLEE = `
  SELECT "roles", "locked", CASE WHEN "emailVerified" THEN "emailKey" END AS "email",
    CASE WHEN "phoneNumberVerified" THEN "phoneNumberKey" END AS "phoneNumber"
  FROM "User" WHERE "tenantId" = $1 AND "id" = $2 FOR NO KEY UPDATE`

export async function holdEnrollee(sql: Sql, tenant: string, userId: string): Promise<Enrollee | null> {
  const [row] = await sql<Enrollee>(HOLD_ENROLLEE, [tenant, userId])
  return row ?? null
}

// Links that were sent stay until they expire, as the budget is counted by them. Others leave at once, so that a caller
// who makes many leaves one.
const INSERT_TOKEN = `
  WITH recent AS (
    SELECT count(*) AS "count", max("createdAt") AS "last", min("createdAt") AS "first" FROM "EnrollmentToken"
    WHERE "tenantId" = $1 AND "userId" = $2 AND "sentTo" IS NOT NULL AND "createdAt" > $4::timestamptz - interval '1 hour'
  ), budget AS (
    SELECT GREATEST(
      CASE WHEN "last" > $4::timestamptz - interval '${SEND_COOLDOWN_SECONDS} seconds' THEN "last" + interval '${SEND_COOLDOWN_SECONDS} seconds' END,
      CASE WHEN "count" >= ${SENDS_AN_HOUR} THEN "first" + interval '1 hour' END
    ) AS "waitUntil" FROM recent WHERE $7::text IS NOT NULL
  ), free AS (
    SELECT WHERE NOT EXISTS (SELECT FROM budget WHERE "waitUntil" IS NOT NULL)
  ), voided AS (
    UPDATE "EnrollmentToken" SET "usedAt" = $4::timestamptz, "challenge" = NULL
    WHERE "tenantId" = $1 AND "userId" = $2 AND "sentTo" IS NOT NULL AND "usedAt" IS NULL AND EXISTS (SELECT FROM free)
  ), removed AS (
    DELETE FROM "EnrollmentToken" WHERE "tenantId" = $1 AND "userId" = $2 AND "sentTo" IS NULL AND EXISTS (SELECT FROM free)
  ), made AS (
    INSERT INTO "EnrollmentToken" ("tenantId", "tokenHash", "userId", "type", "byManagement", "sentTo", "expiresAt", "createdAt")
    SELECT $1, $3::bytea, $2, $6, $8::boolean, $7::text, $5::timestamptz, $4::timestamptz FROM free
    RETURNING 1
  ), told AS (${insertEventsSql('$9', { from: 'made' })})
  SELECT EXISTS (SELECT FROM made) AS "isMade", (SELECT "waitUntil" FROM budget)`

export type NewToken = {
  tokenHash: Buffer
  userId: string
  type: string
  sentTo: string | null
  byManagement: boolean
  now: Date
  expiresAt: Date
}

/**
 * Stores a token and voids those before it, unless a link is to be sent and the user's budget for that is spent. Hold
 * the user first, in a statement of its own, so that this one sees every token there is.
 */
export async function insertToken(
  sql: Sql,
  tenant: string,
  token: NewToken,
  event: object,
): Promise<{ isMade: boolean; waitUntil: Date | null }> {
  const [row] = await sql<{ isMade: boolean; waitUntil: Date | null }>(INSERT_TOKEN, [
    tenant,
    token.userId,
    token.tokenHash,
    token.now,
    token.expiresAt,
    token.type,
    token.sentTo,
    token.byManagement,
    JSON.stringify([event]),
  ])
  if (!row) throw new Error('an enrolment token could not be stored')
  return row
}

const WITHDRAW_TOKEN = `
  WITH gone AS (
    DELETE FROM "EnrollmentToken" WHERE "tenantId" = $1 AND "tokenHash" = $2 RETURNING 1
  ), told AS (${insertEventsSql('$3', { from: 'gone' })})
  SELECT FROM gone`

/** Takes back a token whose link could not be delivered, as if it had never been. */
export async function withdrawToken(sql: Sql, tenant: string, tokenHash: Buffer, event: object) {
  await sql(WITHDRAW_TOKEN, [tenant, tokenHash, JSON.stringify([event])])
}

/** A token `t` of a user `u` that may be used: a sent one while the address that it went to is still the user's. */
const isLive = (
  now: string,
): string => `t."usedAt" IS NULL AND t."expiresAt" > ${now}::timestamptz AND NOT u."locked"
  AND (t."sentTo" IS NULL OR (u."emailVerified" AND u."emailKey" = t."sentTo")
    OR (u."phoneNumberVerified" AND u."phoneNumberKey" = t."sentTo"))`

const NAMES = `u."id" AS "userId", u."name", u."email", u."phoneNumber", u."preferredUsername"`

/** What a person is called by, for their own eyes. */
export type EnrolleeNames = {
  userId: string
  name: string | null
  email: string | null
  phoneNumber: string | null
  preferredUsername: string | null
}

const SELECT_LIVE = `
  SELECT ${NAMES} FROM "EnrollmentToken" t JOIN "User" u ON u."tenantId" = $1 AND u."id" = t."userId"
  WHERE t."tenantId" = $1 AND t."tokenHash" = $2 AND ${isLive('$3')}`

export async function selectLive(
  sql: Sql,
  tenant: string,
  tokenHash: Buffer,
  now: Date,
): Promise<EnrolleeNames | null> {
  const [row] = await sql<EnrolleeNames>(SELECT_LIVE, [tenant, tokenHash, now])
  return row ?? null
}

const SET_CHALLENGE = `
  WITH live AS (
    UPDATE "EnrollmentToken" t SET "challenge" = $4 FROM "User" u
    WHERE t."tenantId" = $1 AND t."tokenHash" = $2 AND u."tenantId" = $1 AND u."id" = t."userId" AND ${isLive('$3')}
    RETURNING ${NAMES}
  )
  SELECT live.*, COALESCE((
    SELECT jsonb_agg(jsonb_build_object('id', c."externalId", 'transports', c."transports"))
    FROM "Credential" c WHERE c."tenantId" = $1 AND c."userId" = live."userId"
  ), '[]') AS "credentials" FROM live`

export type Challenged = EnrolleeNames & { credentials: { id: string; transports: string[] }[] }

/** Notes the challenge that is handed out; answers whose it is and what they have already. */
export async function setChallenge(
  sql: Sql,
  tenant: string,
  tokenHash: Buffer,
  challenge: string,
  now: Date,
): Promise<Challenged | null> {
  const [row] = await sql<Challenged>(SET_CHALLENGE, [tenant, tokenHash, now, challenge])
  return row ?? null
}

const TAKE_CHALLENGE = `
  UPDATE "EnrollmentToken" t SET "challenge" = NULL FROM "User" u
  WHERE t."tenantId" = $1 AND t."tokenHash" = $2 AND t."challenge" = $4 AND u."tenantId" = $1 AND u."id" = t."userId" AND ${isLive('$3')}
  RETURNING t."userId"`

/** Uses a challenge up, whatever becomes of the answer to it; the id of the user, or null when it is not the current one. */
export async function takeChallenge(
  sql: Sql,
  tenant: string,
  tokenHash: Buffer,
  challenge: string,
  now: Date,
): Promise<string | null> {
  const [row] = await sql<{ userId: string }>(TAKE_CHALLENGE, [tenant, tokenHash, now, challenge])
  return row?.userId ?? null
}

/** Columns of a device, in the order of the values. */
const DEVICE_COLUMNS = [
  'deviceHash',
  'deviceSwVersion',
  'deviceMobile',
  'devicePlatform',
  'deviceArchitecture',
  'deviceBitness',
  'deviceModel',
  'devicePlatformVersion',
  'deviceUaBrand',
  'deviceUaVersion',
  'deviceLastSeenIp',
  'deviceLastSeenAt',
] as const satisfies (keyof DeviceRow)[]
const deviceColumns = (of = ''): string => DEVICE_COLUMNS.map((name) => `${of}"${name}"`).join(', ')

// The user's row first, exclusively: a lock waits for this or this for the lock, and the trigger that keeps the user's
// flag never upgrades a lock that others share.
const ENROL = `
  WITH person AS MATERIALIZED (
    SELECT u.* FROM "User" u WHERE u."tenantId" = $1 AND u."id" = $4 AND NOT u."locked" FOR NO KEY UPDATE
  ), used AS (
    UPDATE "EnrollmentToken" t SET "usedAt" = $3::timestamptz, "challenge" = NULL FROM person u
    WHERE t."tenantId" = $1 AND t."tokenHash" = $2 AND t."userId" = u."id" AND ${isLive('$3')}
    RETURNING t."userId", t."type", t."byManagement"
  ), made AS (
    INSERT INTO "Credential" ("tenantId", "id", "userId", "type", "byManagement", "externalId", "publicKey", "signCount", "transports",
      "createdAt", ${deviceColumns()})
    SELECT $1, $5, used."userId", used."type", used."byManagement", $6, $7, $8::bigint, $9::text[], $3::timestamptz, ${deviceColumns('d.')}
    FROM used, jsonb_populate_record(NULL::"Credential", $10::jsonb) d
    RETURNING "id", "userId"
  ), told AS (${insertEventsSql('$11', { from: 'made', columns: { userId: 'made."userId"', subjectIds: 'ARRAY[made."id"]' } })})
  SELECT "id" FROM made`

export type NewCredential = {
  id: string
  externalId: string
  publicKey: string
  signCount: number
  transports: string[]
  device: DeviceRow
}

/**
 * Uses a token up and stores what was enrolled with it, one statement; false when somebody was faster, or the token or
 * its user is no longer good. A credential that the tenant knows already violates its unique key.
 */
export async function insertCredential(
  sql: Sql,
  tenant: string,
  { tokenHash, userId, now }: { tokenHash: Buffer; userId: string; now: Date },
  credential: NewCredential,
  event: object,
): Promise<boolean> {
  const rows = await sql(ENROL, [
    tenant,
    tokenHash,
    now,
    userId,
    credential.id,
    credential.externalId,
    credential.publicKey,
    credential.signCount,
    credential.transports,
    JSON.stringify(credential.device),
    JSON.stringify([event]),
  ])
  return rows.length > 0
}
