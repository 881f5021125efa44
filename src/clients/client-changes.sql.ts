import { CLIENT_TYPES, CLIENT_WITH_SECRETS, type ClientRow, type SecretRow } from '../access/client.sql.ts'
import { DELETE_CLIENT_GRANTS } from '../access/grant-revocation.sql.ts'
import { blockRedemptions, type EndedSession } from '../access/revocation.sql.ts'
import { storedColumns } from '../database/columns.ts'
import type { Sql } from '../database/db.ts'
import { toDb } from '../database/handle.ts'
import { statement } from '../database/statement.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'

/** Columns that an update may write. */
export const CHANGEABLE_CLIENT_COLUMNS = [
  'name',
  'description',
  'appType',
  'themeColor',
  'logoUrl',
  'clientUri',
  'policyUrl',
  'termsUrl',
  'translations',
  'callbacks',
  'allowedOrigins',
  'hasDefaultOrigins',
  'webOrigins',
  'allowedLogoutUrls',
  'initiateLoginUrl',
  'tokenExpiryTime',
  'requireConsent',
  'scopes',
  'jwks',
  'jwksUri',
  'backchannelLogoutUrl',
  'idTokenSigningAlg',
  'userInfoSigningAlg',
  'idTokenClaims',
  'profile',
  'requirePushedRequests',
  'requirePkce',
  'tokenEndpointAuthMethod',
  'requireIssuerAudience',
  'requireFapiAlgorithms',
  'dpopBoundAccessTokens',
  'rotateRefreshTokens',
  'requireSecondFactor',
  'defaultMaxAge',
  'resources',
] as const satisfies (keyof ClientRow)[]
export type ChangeableClient = Pick<ClientRow, (typeof CHANGEABLE_CLIENT_COLUMNS)[number]>

// Sign-ins are not blocked, because they lock the key of the row only.
const LOCK_CLIENT = statement(CLIENT_TYPES)`${CLIENT_WITH_SECRETS} FOR NO KEY UPDATE OF c`

/** Locks a client until the transaction ends and returns it with its secrets; null when it does not exist. */
export async function lockClientRow(
  sql: Sql,
  tenant: string,
  clientId: string,
): Promise<{ client: ClientRow; secrets: SecretRow[] } | null> {
  const row = await LOCK_CLIENT.first(sql, { tenant, clientId })
  if (!row) return null
  const { secrets, ...client } = row
  return { client, secrets }
}

/** Later than the old value, even when a transaction that began later committed first. */
const NEXT_UPDATED_AT = `GREATEST(now(), t."updatedAt" + interval '1 millisecond')`
const { secrets: _, ...CLIENT_RETURNS } = CLIENT_TYPES.returns

const UPDATE_CLIENT = statement({
  takes: { clientId: 'text', columns: 'jsonb', deletesSecrets: 'boolean', events: 'jsonb' },
  returns: CLIENT_RETURNS,
})`
  WITH deleted_secrets AS (
    DELETE FROM "ClientSecret" WHERE "tenantId" = :tenant AND "clientId" = :clientId AND :deletesSecrets
  ), event_log AS (${buildInsertEventsSql(':events')})
  UPDATE "Client" t SET ${CHANGEABLE_CLIENT_COLUMNS.map((column) => `"${column}" = n."${column}"`).join(', ')}, "updatedAt" = ${NEXT_UPDATED_AT}
  FROM jsonb_populate_record(NULL::"Client", :columns) n
  WHERE t."tenantId" = :tenant AND t."id" = :clientId RETURNING t.*`

/**
 * Writes all changeable columns of a locked client with the event, and deletes its secrets with
 * `deletesSecrets`: one statement.
 */
export async function updateClientRow(
  sql: Sql,
  tenant: string,
  clientId: string,
  columns: ChangeableClient,
  { deletesSecrets, event }: { deletesSecrets: boolean; event: object },
): Promise<ClientRow> {
  const row = await UPDATE_CLIENT.first(sql, { tenant, clientId, columns, deletesSecrets, events: [event] })
  if (!row) throw new Error('the client was not written')
  return row
}

// The secrets are those of the statement's snapshot, which was taken after the client was locked. The three
// parts write different rows: the expiring secrets, the current one, the new one.
const ROTATE_SECRET = statement({
  takes: { clientId: 'text', secretHash: 'bytea', previousExpiresAt: 'timestamptz?', events: 'jsonb' },
  returns: { ...CLIENT_RETURNS, overlaps: 'boolean' },
})`
  WITH deleted_secrets AS (
    DELETE FROM "ClientSecret"
    WHERE "tenantId" = :tenant AND "clientId" = :clientId AND ("expiresAt" IS NOT NULL OR :previousExpiresAt IS NULL)
  ), expiring_secret AS (
    UPDATE "ClientSecret" SET "expiresAt" = :previousExpiresAt
    WHERE "tenantId" = :tenant AND "clientId" = :clientId AND "expiresAt" IS NULL AND :previousExpiresAt IS NOT NULL RETURNING 1
  ), new_secret AS (
    INSERT INTO "ClientSecret" ("tenantId", "clientId", "secretHash") VALUES (:tenant, :clientId, :secretHash)
  ), event_log AS (${buildInsertEventsSql(':events')})
  UPDATE "Client" t SET "updatedAt" = ${NEXT_UPDATED_AT}
  WHERE t."tenantId" = :tenant AND t."id" = :clientId RETURNING t.*, EXISTS (SELECT FROM expiring_secret) AS "overlaps"`

/**
 * Gives a locked client a new secret, with the event: the current secret expires at `previousExpiresAt`
 * (null: it is deleted), older ones are deleted. `overlaps` is true when the current secret stays valid. One
 * statement.
 */
export async function rotateSecretRow(
  sql: Sql,
  tenant: string,
  clientId: string,
  {
    secretHash,
    previousExpiresAt,
    event,
  }: { secretHash: Buffer; previousExpiresAt: Date | null; event: object },
): Promise<{ client: ClientRow; overlaps: boolean }> {
  const values = { secretHash, previousExpiresAt, events: [event] }
  const row = await ROTATE_SECRET.first(sql, { tenant, clientId, ...values })
  if (!row) throw new Error('the secret was not written')
  const { overlaps, ...client } = row
  return { client, overlaps }
}

// The session of a grant is started with the grant locked and waits for the client, as its foreign key does (FOR KEY
// SHARE). The deletion takes these rows in the same order, so that they cannot deadlock. Its first statement has ended
// the redemptions of codes: it sees and takes every grant.
const DELETE_GRANTS_AND_LOCK = statement({
  takes: { clientId: 'text' },
  returns: storedColumns('Client', ['allTenants', 'scopes']),
})`
  WITH deleted_grants AS (${DELETE_CLIENT_GRANTS}
  )
  SELECT "allTenants", "scopes" FROM "Client"
  WHERE "tenantId" = :tenant AND "id" = :clientId AND (SELECT count(*) FROM deleted_grants) >= 0 FOR UPDATE`

/**
 * Deletes a client's device codes and grants, then locks the client, so that inserts of rows that refer to it wait
 * until the transaction ends: two statements. Null when the client does not exist.
 */
export async function lockClientForDelete(
  sql: Sql,
  tenant: string,
  clientId: string,
): Promise<Pick<ClientRow, 'allTenants' | 'scopes'> | null> {
  await blockRedemptions(toDb(sql, tenant), clientId)
  return DELETE_GRANTS_AND_LOCK.first(sql, { tenant, clientId })
}

// Foreign keys delete secrets, sessions and consents inserted since. A code issued since is worthless without its client.
const DELETE_CLIENT = statement({
  takes: { clientId: 'text' },
  returns: { id: 'text', userId: 'text', clientId: 'text?' },
})`
  WITH active_sessions AS (
    SELECT "id", "userId", "clientId" FROM "Session"
    WHERE "tenantId" = :tenant AND "clientId" = :clientId AND "endedAt" IS NULL AND "expiresAt" > now()
  ), deleted_interactions AS (
    DELETE FROM "Interaction" WHERE "tenantId" = :tenant AND "clientId" = :clientId
  ), deleted_client AS (
    DELETE FROM "Client" WHERE "tenantId" = :tenant AND "id" = :clientId
  )
  SELECT "id", "userId", "clientId" FROM active_sessions`

/** Deletes a locked client with everything that belongs to it; returns the sessions that this ended. */
export const deleteClientRow = (sql: Sql, tenant: string, clientId: string): Promise<EndedSession[]> =>
  DELETE_CLIENT.all(sql, { tenant, clientId })
