import type { Sql } from '../database/db.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'
import {
  buildStoreCredentialSql,
  HAS_PASSKEY_SPACE,
  NEW_CREDENTIAL,
  type NewCredential,
} from './new-credentials.sql.ts'

/** Seconds between two links to a user. */
const SEND_COOLDOWN_SECONDS = 30
/** Links to a user in an hour. */
const MAX_SENDS_PER_HOUR = 10

/**
 * The user that a token is for, locked: locks, deletions and other tokens of the user wait until the
 * transaction ends.
 */
export type Enrollee = RowOf<typeof LOCK_ENROLLEE>

const LOCK_ENROLLEE = statement({
  takes: { userId: 'text' },
  returns: {
    roles: 'text[]',
    locked: 'boolean',
    hasCredential: 'boolean',
    credentialRemovedAt: 'timestamptz?',
    /** Verified addresses, in the form that is compared and sent to. */
    email: 'text?',
    phoneNumber: 'text?',
    locale: 'text?',
  },
})`
  SELECT "roles", "locked", "locale", "hasCredential", "credentialRemovedAt", CASE WHEN "emailVerified" THEN "emailKey" END AS "email",
    CASE WHEN "phoneNumberVerified" THEN "phoneNumberKey" END AS "phoneNumber"
  FROM "User" WHERE "tenantId" = :tenant AND "id" = :userId FOR NO KEY UPDATE`

export const lockEnrollee = (sql: Sql, tenant: string, userId: string): Promise<Enrollee | null> =>
  LOCK_ENROLLEE.first(sql, { tenant, userId })

// Sent links stay until they expire, because they count toward the budget. Others are deleted at once, so
// that a caller who makes many keeps one.
const INSERT_ENROLLMENT_TOKEN = statement({
  takes: {
    userId: 'text',
    tokenHash: 'bytea',
    type: 'text',
    sentTo: 'text?',
    byManagement: 'boolean',
    usableAt: 'timestamptz?',
    cancelHash: 'bytea?',
    now: 'timestamptz',
    expiresAt: 'timestamptz',
    events: 'jsonb',
  },
  returns: { isMade: 'boolean', waitUntil: 'timestamptz?' },
})`
  WITH recent AS (
    SELECT count(*) AS "count", max("createdAt") AS "last", min("createdAt") AS "first" FROM "EnrollmentToken"
    WHERE "tenantId" = :tenant AND "userId" = :userId AND "sentTo" IS NOT NULL AND "createdAt" > :now - interval '1 hour'
  ), budget AS (
    SELECT GREATEST(
      CASE WHEN "last" > :now - interval '${SEND_COOLDOWN_SECONDS} seconds' THEN "last" + interval '${SEND_COOLDOWN_SECONDS} seconds' END,
      CASE WHEN "count" >= ${MAX_SENDS_PER_HOUR} THEN "first" + interval '1 hour' END
    ) AS "waitUntil" FROM recent WHERE :sentTo IS NOT NULL
  ), free AS (
    SELECT WHERE NOT EXISTS (SELECT FROM budget WHERE "waitUntil" IS NOT NULL)
  ), voided AS (
    UPDATE "EnrollmentToken" SET "usedAt" = :now, "challenge" = NULL
    WHERE "tenantId" = :tenant AND "userId" = :userId AND "sentTo" IS NOT NULL AND "usedAt" IS NULL AND EXISTS (SELECT FROM free)
  ), removed AS (
    DELETE FROM "EnrollmentToken" WHERE "tenantId" = :tenant AND "userId" = :userId AND "sentTo" IS NULL AND EXISTS (SELECT FROM free)
  ), made AS (
    INSERT INTO "EnrollmentToken" ("tenantId", "tokenHash", "userId", "type", "byManagement", "sentTo", "usableAt", "cancelHash",
      "expiresAt", "createdAt")
    SELECT :tenant, :tokenHash, :userId, :type, :byManagement, :sentTo, :usableAt, :cancelHash, :expiresAt, :now FROM free
    RETURNING "tokenHash"
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'made' })})
  SELECT EXISTS (SELECT FROM made) AS "isMade", (SELECT "waitUntil" FROM budget)`

export type NewEnrollmentToken = {
  tokenHash: Buffer
  userId: string
  type: string
  sentTo: string | null
  byManagement: boolean
  usableAt: Date | null
  cancelHash: Buffer | null
  now: Date
  expiresAt: Date
}

/**
 * Stores a token and invalidates earlier ones, unless a link is to be sent and the budget of the user is
 * spent. Lock the user first, in a separate statement, so that this one sees every token.
 */
export async function insertEnrollmentToken(
  sql: Sql,
  tenant: string,
  token: NewEnrollmentToken,
  event: object,
): Promise<{ isMade: boolean; waitUntil: Date | null }> {
  const row = await INSERT_ENROLLMENT_TOKEN.first(sql, { tenant, ...token, events: [event] })
  if (!row) throw new Error('an enrollment token could not be stored')
  return row
}

const WITHDRAW_ENROLLMENT_TOKEN = statement({ takes: { tokenHash: 'bytea', events: 'jsonb' } })`
  WITH withdrawn AS (
    DELETE FROM "EnrollmentToken" WHERE "tenantId" = :tenant AND "tokenHash" = :tokenHash RETURNING "tokenHash"
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'withdrawn' })})
  SELECT FROM withdrawn`

/** Deletes a token whose link could not be delivered. */
export async function withdrawEnrollmentToken(sql: Sql, tenant: string, tokenHash: Buffer, event: object) {
  await WITHDRAW_ENROLLMENT_TOKEN.run(sql, { tenant, tokenHash, events: [event] })
}

/**
 * A token `t` of a user `u` can be used; a sent one, while the address that it was sent to is still the
 * user's.
 */
const IS_LIVE = `t."usedAt" IS NULL AND t."expiresAt" > :now AND NOT u."locked"
  AND (t."usableAt" IS NULL OR t."usableAt" <= :now)
  AND (t."sentTo" IS NULL OR (u."emailVerified" AND u."emailKey" = t."sentTo")
    OR (u."phoneNumberVerified" AND u."phoneNumberKey" = t."sentTo"))`

const NAME_COLUMNS = `u."id" AS "userId", u."name", u."email", u."phoneNumber", u."preferredUsername"`

const NAMES_RETURNED = {
  userId: 'text',
  name: 'text?',
  email: 'text?',
  phoneNumber: 'text?',
  preferredUsername: 'text?',
} as const

/** Names of the user, shown to them. */
export type EnrolleeNames = RowOf<typeof SELECT_LIVE_TOKEN>

const SELECT_LIVE_TOKEN = statement({
  takes: { tokenHash: 'bytea', now: 'timestamptz' },
  returns: NAMES_RETURNED,
})`
  SELECT ${NAME_COLUMNS} FROM "EnrollmentToken" t JOIN "User" u ON u."tenantId" = :tenant AND u."id" = t."userId"
  WHERE t."tenantId" = :tenant AND t."tokenHash" = :tokenHash AND ${IS_LIVE}`

export const selectLiveEnrollment = (
  sql: Sql,
  tenant: string,
  tokenHash: Buffer,
  now: Date,
): Promise<EnrolleeNames | null> => SELECT_LIVE_TOKEN.first(sql, { tenant, tokenHash, now })

const SET_CHALLENGE = statement({
  takes: { tokenHash: 'bytea', now: 'timestamptz', challenge: 'text' },
  returns: { ...NAMES_RETURNED, credentials: typed<{ id: string; transports: string[] }[]>('jsonb') },
})`
  WITH live AS (
    UPDATE "EnrollmentToken" t SET "challenge" = :challenge FROM "User" u
    WHERE t."tenantId" = :tenant AND t."tokenHash" = :tokenHash AND u."tenantId" = :tenant AND u."id" = t."userId" AND ${IS_LIVE}
    RETURNING ${NAME_COLUMNS}
  )
  SELECT live.*, COALESCE((
    SELECT jsonb_agg(jsonb_build_object('id', c."externalId", 'transports', c."transports"))
    FROM "Credential" c WHERE c."tenantId" = :tenant AND c."userId" = live."userId" AND c."type" = 'public-key'
  ), '[]') AS "credentials" FROM live`

export type ChallengedEnrollee = RowOf<typeof SET_CHALLENGE>

/** Stores the challenge that is issued; returns the user's names and existing credentials. */
export const setEnrollmentChallenge = (
  sql: Sql,
  tenant: string,
  tokenHash: Buffer,
  challenge: string,
  now: Date,
): Promise<ChallengedEnrollee | null> => SET_CHALLENGE.first(sql, { tenant, tokenHash, challenge, now })

const CONSUME_CHALLENGE = statement({
  takes: { tokenHash: 'bytea', now: 'timestamptz', challenge: 'text' },
  returns: { userId: 'text' },
})`
  UPDATE "EnrollmentToken" t SET "challenge" = NULL FROM "User" u
  WHERE t."tenantId" = :tenant AND t."tokenHash" = :tokenHash AND t."challenge" = :challenge AND u."tenantId" = :tenant AND u."id" = t."userId" AND ${IS_LIVE}
  RETURNING t."userId"`

/**
 * Clears a challenge, whether its response proves valid or not; the id of the user, or null when it is not
 * the current one.
 */
export async function consumeEnrollmentChallenge(
  sql: Sql,
  tenant: string,
  tokenHash: Buffer,
  challenge: string,
  now: Date,
): Promise<string | null> {
  const row = await CONSUME_CHALLENGE.first(sql, { tenant, tokenHash, challenge, now })
  return row?.userId ?? null
}

// The user's row is locked first, exclusively, as a lock of the user does: the trigger that keeps the user's
// flag never has to upgrade a shared lock.
const INSERT_CREDENTIAL = statement({
  takes: { tokenHash: 'bytea', ...NEW_CREDENTIAL },
  returns: { id: 'text' },
})`
  WITH locked_user AS MATERIALIZED (
    SELECT u.* FROM "User" u WHERE u."tenantId" = :tenant AND u."id" = :userId AND NOT u."locked"
      AND ${HAS_PASSKEY_SPACE} FOR NO KEY UPDATE
  ), used AS (
    UPDATE "EnrollmentToken" t SET "usedAt" = :now, "challenge" = NULL FROM locked_user u
    WHERE t."tenantId" = :tenant AND t."tokenHash" = :tokenHash AND t."userId" = u."id" AND ${IS_LIVE}
    RETURNING t."userId", t."type", t."byManagement"
  ), ${buildStoreCredentialSql('used')}`

/**
 * Marks a token as used and stores the enrolled credential, in one statement; false when the token was used
 * before or has expired, or its user is locked or has `MAX_PASSKEYS`. An already registered credential violates the unique key.
 */
export async function insertCredential(
  sql: Sql,
  tenant: string,
  { tokenHash, userId, now }: { tokenHash: Buffer; userId: string; now: Date },
  credential: NewCredential,
  event: object,
): Promise<boolean> {
  const values = { tenant, tokenHash, userId, now, ...credential }
  return (await INSERT_CREDENTIAL.first(sql, { ...values, events: [event] })) !== null
}
