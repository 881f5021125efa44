import type { Sql } from '../../database/db.ts'
import { statement, typed } from '../../database/statement.ts'

/** Parameters in the order of the request; some may be repeated. */
export type PushedParameters = [name: string, value: string][]

const INSERT_PUSHED_REQUEST = statement({
  takes: {
    requestHash: 'bytea',
    clientId: 'text',
    parameters: typed<PushedParameters>('jsonb'),
    expiresAt: 'timestamptz',
    now: 'timestamptz',
  },
})`
  INSERT INTO "PushedRequest" ("tenantId", "requestHash", "clientId", "parameters", "expiresAt", "createdAt")
  VALUES (:tenant, :requestHash, :clientId, :parameters, :expiresAt, :now)`

/** Stores a pushed request until `expiresAt` (RFC 9126, section 2.2). */
export const insertPushedRequest = (
  sql: Sql,
  tenant: string,
  pushed: {
    requestHash: Buffer
    clientId: string
    parameters: PushedParameters
    expiresAt: Date
    now: Date
  },
): Promise<void> => INSERT_PUSHED_REQUEST.run(sql, { tenant, ...pushed })

const DELETE_PUSHED_REQUEST = statement({
  takes: { requestHash: 'bytea', clientId: 'text', now: 'timestamptz' },
  returns: { parameters: typed<PushedParameters>('jsonb') },
})`
  DELETE FROM "PushedRequest"
  WHERE "tenantId" = :tenant AND "requestHash" = :requestHash AND "clientId" = :clientId AND "expiresAt" > :now
  RETURNING "parameters"`

/**
 * Deletes a pushed request of the client. Returns its parameters to the first caller and null to all others.
 */
export async function deletePushedRequest(
  sql: Sql,
  tenant: string,
  requestHash: Buffer,
  clientId: string,
  now: Date,
): Promise<PushedParameters | null> {
  const row = await DELETE_PUSHED_REQUEST.first(sql, { tenant, requestHash, clientId, now })
  return row?.parameters ?? null
}

const SELECT_PUSHED_REQUEST = statement({
  takes: { requestHash: 'bytea' },
  returns: { clientId: 'text', expiresAt: 'timestamptz' },
})`
  SELECT "clientId", "expiresAt" FROM "PushedRequest" WHERE "tenantId" = :tenant AND "requestHash" = :requestHash`

/** A pushed request of any client, to explain its rejection. */
export const selectPushedRequest = (
  sql: Sql,
  tenant: string,
  requestHash: Buffer,
): Promise<{ clientId: string; expiresAt: Date } | null> =>
  SELECT_PUSHED_REQUEST.first(sql, { tenant, requestHash })
