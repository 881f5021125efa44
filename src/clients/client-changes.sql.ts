import type { Sql } from '../db.ts'
import { insertEventsSql } from '../events.sql.ts'
import type { ClientRow, SecretJson } from './clients.sql.ts'
import { SELECT_CLIENT } from './clients.sql.ts'

/** Columns that a change may write. */
export const CHANGEABLE = [
  'name',
  'description',
  'appType',
  'themeColor',
  'logoUrl',
  'callbacks',
  'allowedOrigins',
  'webOrigins',
  'allowedLogoutUrls',
  'initiateLoginUrl',
  'tokenExpiryTime',
  'requireConsent',
  'scopes',
  'jwks',
  'backchannelLogoutUrl',
  'idTokenSigningAlg',
  'userInfoSigningAlg',
  'requirePushedRequests',
  'resources',
] as const satisfies (keyof ClientRow)[]
export type ChangeableClient = Pick<ClientRow, (typeof CHANGEABLE)[number]>

// Sign-ins may go on meanwhile: they take the key of the row alone.
const HOLD_CLIENT = `${SELECT_CLIENT} FOR NO KEY UPDATE OF c`

/** The client and its secrets; makes other changes of it wait until the transaction ends. Null when there is none. */
export async function holdClient(
  sql: Sql,
  tenant: string,
  clientId: string,
): Promise<{ client: ClientRow; secrets: SecretJson[] } | null> {
  const [row] = await sql<ClientRow & { secrets: SecretJson[] }>(HOLD_CLIENT, [tenant, clientId])
  if (!row) return null
  const { secrets, ...client } = row
  return { client, secrets }
}

/** Always forward, whichever of two transactions began first. */
const LATER = `GREATEST(now(), t."updatedAt" + interval '1 millisecond')`

const UPDATE_CLIENT = `
  WITH dropped AS (
    DELETE FROM "ClientSecret" WHERE "tenantId" = $1 AND "clientId" = $2 AND $4::boolean
  ), told AS (${insertEventsSql('$5')})
  UPDATE "Client" t SET ${CHANGEABLE.map((column) => `"${column}" = n."${column}"`).join(', ')}, "updatedAt" = ${LATER}
  FROM jsonb_populate_record(NULL::"Client", $3::jsonb) n
  WHERE t."tenantId" = $1 AND t."id" = $2 RETURNING t.*`

/** Writes all changeable columns of a held client with the event, and removes its secrets if told so: one statement. */
export async function updateClientRow(
  sql: Sql,
  tenant: string,
  clientId: string,
  columns: ChangeableClient,
  { dropSecrets, event }: { dropSecrets: boolean; event: object },
): Promise<ClientRow> {
  const values = [JSON.stringify(columns), dropSecrets, JSON.stringify([event])]
  const [row] = await sql<ClientRow>(UPDATE_CLIENT, [tenant, clientId, ...values])
  if (!row) throw new Error('the client was not written')
  return row
}

// The secrets are of the snapshot of this statement, which began after the client was held. The three parts are
// about different rows: the expiring ones, the current one, the new one.
const ROTATE_SECRET = `
  WITH dead AS (
    DELETE FROM "ClientSecret"
    WHERE "tenantId" = $1 AND "clientId" = $2 AND ("expiresAt" IS NOT NULL OR $4::timestamptz IS NULL)
  ), ageing AS (
    UPDATE "ClientSecret" SET "expiresAt" = $4::timestamptz
    WHERE "tenantId" = $1 AND "clientId" = $2 AND "expiresAt" IS NULL AND $4::timestamptz IS NOT NULL RETURNING 1
  ), made AS (
    INSERT INTO "ClientSecret" ("tenantId", "clientId", "secretHash") VALUES ($1, $2, $3::bytea)
  ), told AS (${insertEventsSql('$5')})
  UPDATE "Client" t SET "updatedAt" = ${LATER}
  WHERE t."tenantId" = $1 AND t."id" = $2 RETURNING t.*, EXISTS (SELECT FROM ageing) AS "overlaps"`

/**
 * Gives a held client a new secret, with the event: the current one lives until `previousExpiresAt` (null: ends now), an
 * older one ends. `overlaps` says whether there is one that lives on. One statement.
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
  const values = [secretHash, previousExpiresAt, JSON.stringify([event])]
  const [row] = await sql<ClientRow & { overlaps: boolean }>(ROTATE_SECRET, [tenant, clientId, ...values])
  if (!row) throw new Error('the secret was not written')
  const { overlaps, ...client } = row
  return { client, overlaps }
}

// Whoever redeems a code holds it, makes the grant, starts a session while holding that, and waits for the client with
// each. The same order here, one statement after the other, is what keeps the two from waiting for each other.
const DELETE_CODES = `
  WITH devices AS (
    DELETE FROM "DeviceCode" WHERE "tenantId" = $1 AND "clientId" = $2
  )
  DELETE FROM "AuthorizationCode" WHERE "tenantId" = $1 AND "clientId" = $2`
const DELETE_GRANTS_AND_HOLD = `
  WITH grants AS (
    DELETE FROM "Grant" WHERE "tenantId" = $1 AND "clientId" = $2 RETURNING 1
  )
  SELECT "allTenants", "scopes" FROM "Client"
  WHERE "tenantId" = $1 AND "id" = $2 AND (SELECT count(*) FROM grants) >= 0 FOR UPDATE`

/**
 * Removes codes and grants, then makes whatever refers to the client wait until the transaction ends: two statements.
 * Null when there is none.
 */
export async function holdForDeletion(
  sql: Sql,
  tenant: string,
  clientId: string,
): Promise<Pick<ClientRow, 'allTenants' | 'scopes'> | null> {
  await sql(DELETE_CODES, [tenant, clientId])
  const [row] = await sql<Pick<ClientRow, 'allTenants' | 'scopes'>>(DELETE_GRANTS_AND_HOLD, [
    tenant,
    clientId,
  ])
  return row ?? null
}

// Foreign keys take secrets, sessions, consents and late grants along. A late code is worth nothing without its client.
const DELETE_CLIENT = `
  WITH ended AS (
    SELECT "id", "userId" FROM "Session"
    WHERE "tenantId" = $1 AND "clientId" = $2 AND "endedAt" IS NULL AND "expiresAt" > now()
  ), interactions AS (
    DELETE FROM "Interaction" WHERE "tenantId" = $1 AND "clientId" = $2
  ), gone AS (
    DELETE FROM "Client" WHERE "tenantId" = $1 AND "id" = $2
  )
  SELECT "id", "userId" FROM ended`

/** Deletes a held client with everything of it; answers the sessions that this ended. */
export const deleteClientRow = (sql: Sql, tenant: string, clientId: string) =>
  sql<{ id: string; userId: string }>(DELETE_CLIENT, [tenant, clientId])
