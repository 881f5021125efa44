import type { Sql } from '../../db.ts'

/** Parameters in the order that they were pushed in; some may be repeated. */
export type PushedParameters = [name: string, value: string][]

const INSERT_PUSHED_REQUEST = `
  INSERT INTO "PushedRequest" ("tenantId", "requestHash", "clientId", "parameters", "expiresAt", "createdAt")
  VALUES ($1, $2::bytea, $3, $4::jsonb, $5::timestamptz, $6::timestamptz)`

/** Keeps a request that a client pushed, until `expiresAt` (RFC 9126, section 2.2). */
export async function insertPushedRequest(
  sql: Sql,
  tenant: string,
  pushed: {
    requestHash: Buffer
    clientId: string
    parameters: PushedParameters
    expiresAt: Date
    now: Date
  },
): Promise<void> {
  const { requestHash, clientId, parameters, expiresAt, now } = pushed
  await sql(INSERT_PUSHED_REQUEST, [
    tenant,
    requestHash,
    clientId,
    JSON.stringify(parameters),
    expiresAt,
    now,
  ])
}

const DELETE_PUSHED_REQUEST = `
  DELETE FROM "PushedRequest"
  WHERE "tenantId" = $1 AND "requestHash" = $2::bytea AND "clientId" = $3 AND "expiresAt" > $4::timestamptz
  RETURNING "parameters"`

/** Removes a request that this client pushed, and answers it to the one caller who comes first; null to all others. */
export async function deletePushedRequest(
  sql: Sql,
  tenant: string,
  requestHash: Buffer,
  clientId: string,
  now: Date,
): Promise<PushedParameters | null> {
  const [row] = await sql<{ parameters: PushedParameters }>(DELETE_PUSHED_REQUEST, [
    tenant,
    requestHash,
    clientId,
    now,
  ])
  return row?.parameters ?? null
}

/** A pushed request that is still there, whoever pushed it, to tell why it could not be used. */
export async function selectPushedRequest(
  sql: Sql,
  tenant: string,
  requestHash: Buffer,
): Promise<{ clientId: string; expiresAt: Date } | null> {
  const [row] = await sql<{ clientId: string; expiresAt: Date }>(
    `SELECT "clientId", "expiresAt" FROM "PushedRequest" WHERE "tenantId" = $1 AND "requestHash" = $2::bytea`,
    [tenant, requestHash],
  )
  return row ?? null
}
