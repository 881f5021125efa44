import { createMemberPicker } from '../core/json/member-picker.ts'
import { storedColumns } from '../database/columns.ts'
import type { Db } from '../database/handle.ts'
import { checkFoundRow } from '../database/key-lookup.ts'
import { prefixNames, statement, type ValuesOf } from '../database/statement.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'
import { Prisma, type Session, type User } from '../generated/prisma/client.ts'
import type { SessionProof } from './proofs.ts'

/** A session without the hashes of its tokens. */
export type SessionRow = Omit<Session, 'tokenHash' | 'previousTokenHash'>

const SESSION_COLUMNS = Object.keys(Prisma.SessionScalarFieldEnum).filter(
  (name) => name !== 'tokenHash' && name !== 'previousTokenHash',
)
const USER_COLUMNS = Object.keys(Prisma.UserScalarFieldEnum)

const toPrefixedColumns = (alias: string, prefix: string, names: readonly string[]): string =>
  names.map((name) => `${alias}."${name}" AS "${prefix}${name}"`).join(', ')

/** All columns of a session, for a row that also has others; `toSessionRow` picks them. */
export const toSessionColumnList = (alias: string): string => toPrefixedColumns(alias, 's_', SESSION_COLUMNS)
export const toUserColumnList = (alias: string): string => toPrefixedColumns(alias, 'u_', USER_COLUMNS)
/** The columns as a statement returns them. */
export const SESSION_RETURNS = prefixNames(
  's_',
  storedColumns('Session', SESSION_COLUMNS as (keyof SessionRow)[]),
)
export const USER_RETURNS = prefixNames('u_', storedColumns('User'))

type Row = Record<string, unknown>
export const toSessionRow = createMemberPicker(SESSION_COLUMNS, { prefix: 's_' }) as (row: Row) => SessionRow
export const toUserRow = createMemberPicker(USER_COLUMNS, { prefix: 'u_' }) as (row: Row) => User

/** The values that a session is inserted with. */
export type NewSession = {
  id: string
  userId: string
  clientId: string | null
  kind: string
  parentId: string | null
  grantId: string | null
  tokenHash: Buffer
  refreshable: boolean
  proofs: SessionProof[]
  byManagement: boolean
  /** The organization of an OIDC session, and the sign-in that it is from; null for the proofs given now. */
  organizationId: string | null
  authenticatedAt: Date | null
  amr: string[]
  ip: string | null
  location: string | null
  userAgent: string | null
  deviceId: string | null
  /** Null for a browser session, whose end follows from the settings of the tenant. */
  expiresAt: Date | null
  now: Date
}

/** Parameters of SESSION_LOCKS and `buildNewSessionCtes`. */
export const NEW_SESSION_PARAMETERS = {
  id: 'text',
  userId: 'text',
  clientId: 'text?',
  kind: 'text',
  parentId: 'text?',
  grantId: 'text?',
  tokenHash: 'bytea',
  refreshable: 'boolean',
  proofs: 'jsonb',
  byManagement: 'boolean',
  organizationId: 'text?',
  authenticatedAt: 'timestamptz?',
  amr: 'text[]',
  ip: 'text?',
  location: 'text?',
  userAgent: 'text?',
  deviceId: 'text?',
  expiresAt: 'timestamptz?',
  now: 'timestamptz',
  events: 'jsonb',
} as const

/**
 * CTEs that lock what a new session depends on. FOR SHARE makes the statement and a lock of the user wait for
 * each other: the first one decides, and a lock that comes second sees the session. The same holds for the end
 * of the parent session and the revocation of the grant.
 */
export const SESSION_LOCKS = `
  locked_user AS (
    SELECT "id" FROM "User" WHERE "tenantId" = :tenant AND "id" = :userId AND NOT "locked" FOR SHARE
  ), parent AS (
    SELECT "id", "proofs" FROM "Session"
    WHERE "tenantId" = :tenant AND "id" = :parentId
      AND ${checkFoundRow('"userId" = :userId AND "endedAt" IS NULL AND "expiresAt" > :now')} FOR SHARE
  ), locked_grant AS (
    SELECT "id" FROM "Grant" WHERE "tenantId" = :tenant AND "id" = :grantId AND "revokedAt" IS NULL FOR SHARE
  )`

/** When a browser session expires that begins or is raised now, by the settings of the tenant. */
const BROWSER_EXPIRY = `(
        SELECT :now + make_interval(secs => LEAST("sessionIdleSeconds", "sessionLifetimeSeconds")) FROM "Tenant" WHERE "tenantId" = :tenant
      )`

/** CTEs that insert a session, `new_session`, and its event, after SESSION_LOCKS. */
export const buildNewSessionCtes = (condition = 'true'): string => `
  new_session AS (
    INSERT INTO "Session" ("tenantId", "id", "userId", "clientId", "kind", "parentId", "grantId", "tokenHash", "refreshable", "proofs",
      "byManagement", "organizationId", "amr", "lastSeenIp", "lastSeenLocation", "userAgent", "deviceId", "expiresAt", "authenticatedAt", "lastSeenAt", "updatedAt", "createdAt")
    SELECT :tenant, :id, "id", :clientId, :kind, :parentId, :grantId, :tokenHash, :refreshable, COALESCE((SELECT "proofs" FROM parent), :proofs),
      :byManagement, :organizationId, :amr, :ip, :location, :userAgent, :deviceId, COALESCE(:expiresAt, ${BROWSER_EXPIRY}), COALESCE(:authenticatedAt, :now), :now, :now, :now
    FROM locked_user
    WHERE (:parentId IS NULL OR EXISTS (SELECT FROM parent)) AND (:grantId IS NULL OR EXISTS (SELECT FROM locked_grant))
      AND ${condition}
    RETURNING *
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'new_session' })})`

const INSERT_SESSION = statement({ takes: NEW_SESSION_PARAMETERS, returns: SESSION_RETURNS })`
  WITH ${SESSION_LOCKS}, ${buildNewSessionCtes()}
  SELECT ${toSessionColumnList('s')} FROM new_session s`

/**
 * Inserts a session and its event, in one statement. Null when the user is locked or does not exist, the
 * parent session has ended, or the grant is revoked.
 */
export async function insertSession(db: Db, session: NewSession, event: object): Promise<SessionRow | null> {
  const row = await db.one(INSERT_SESSION, { ...session, events: [event] })
  return row ? toSessionRow(row) : null
}

const REAUTHENTICATE_SESSION = statement({
  takes: {
    id: 'text',
    userId: 'text',
    tokenHash: 'bytea',
    methods: 'text[]',
    proofs: 'jsonb',
    ip: 'text?',
    location: 'text?',
    userAgent: 'text?',
    now: 'timestamptz',
    events: 'jsonb',
  },
  returns: SESSION_RETURNS,
})`
  WITH raised AS (
    UPDATE "Session" SET "tokenHash" = :tokenHash, "authenticatedAt" = :now, "expiresAt" = ${BROWSER_EXPIRY},
      "proofs" = (
        SELECT COALESCE(jsonb_agg(kept), '[]') || :proofs FROM jsonb_array_elements("proofs") kept
        WHERE kept->>'method' <> ALL(:methods)
      ),
      "lastSeenAt" = :now, "lastSeenIp" = :ip, "lastSeenLocation" = :location, "userAgent" = :userAgent, "updatedAt" = :now
    WHERE "tenantId" = :tenant AND "id" = :id AND "kind" = 'browser'
      AND ${checkFoundRow('"userId" = :userId AND "endedAt" IS NULL AND "expiresAt" > :now')}
    RETURNING *
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'raised' })})
  SELECT ${toSessionColumnList('s')} FROM raised s`

/**
 * Replaces the token and the time of authentication of a browser session, and the proofs of the methods, with its
 * event: one statement. Null when no such session of the user is active.
 */
export async function updateReauthenticated(
  db: Db,
  values: Omit<ValuesOf<typeof REAUTHENTICATE_SESSION>, 'events'>,
  event: object,
): Promise<SessionRow | null> {
  const row = await db.one(REAUTHENTICATE_SESSION, { ...values, events: [event] })
  return row ? toSessionRow(row) : null
}
