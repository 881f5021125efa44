import { shareRoles } from '../access/held-roles.sql.ts'
import type { Db } from '../database/handle.ts'
import { declareRowLock } from '../database/row-locks.sql.ts'
import { type RowOf, statement, typed } from '../database/statement.ts'

const LOCK_ENROLLEE = declareRowLock('User', [
  'roles',
  'locked',
  'locale',
  'hasCredential',
  'credentialRemovedAt',
  'emailVerified',
  'emailKey',
  'phoneNumberVerified',
  'phoneNumberKey',
])

/**
 * The user that a token is for, locked: locks, deletions and other tokens of the user wait until the
 * transaction ends. The addresses are the verified ones, in the form that is compared and sent to.
 */
export async function lockEnrollee(db: Db, userId: string) {
  const user = await db.one(LOCK_ENROLLEE, { id: userId })
  if (!user) return null
  const { emailVerified, emailKey, phoneNumberVerified, phoneNumberKey, ...others } = user
  return {
    ...others,
    roles: await shareRoles(db, others.roles),
    email: emailVerified ? emailKey : null,
    phoneNumber: phoneNumberVerified ? phoneNumberKey : null,
  }
}
export type Enrollee = NonNullable<Awaited<ReturnType<typeof lockEnrollee>>>

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

export const selectLiveEnrollment = (db: Db, tokenHash: Buffer, now: Date): Promise<EnrolleeNames | null> =>
  db.one(SELECT_LIVE_TOKEN, { tokenHash, now })

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
  db: Db,
  tokenHash: Buffer,
  challenge: string,
  now: Date,
): Promise<ChallengedEnrollee | null> => db.one(SET_CHALLENGE, { tokenHash, challenge, now })

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
  db: Db,
  tokenHash: Buffer,
  challenge: string,
  now: Date,
): Promise<string | null> {
  const row = await db.one(CONSUME_CHALLENGE, { tokenHash, challenge, now })
  return row?.userId ?? null
}

const USE_TOKEN = statement({
  takes: { tokenHash: 'bytea', now: 'timestamptz' },
  returns: { byManagement: 'boolean' },
})`
  UPDATE "EnrollmentToken" t SET "usedAt" = :now, "challenge" = NULL FROM "User" u
  WHERE t."tenantId" = :tenant AND t."tokenHash" = :tokenHash AND u."tenantId" = :tenant AND u."id" = t."userId" AND ${IS_LIVE}
  RETURNING t."byManagement"`

/** Uses a token of a locked user; null when it was used before or has expired. */
export const useEnrollmentToken = (
  db: Db,
  tokenHash: Buffer,
  now: Date,
): Promise<RowOf<typeof USE_TOKEN> | null> => db.one(USE_TOKEN, { tokenHash, now })
