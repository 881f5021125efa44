import type { Db } from '../../database/handle.ts'
import { type RowOf, statement, typed } from '../../database/statement.ts'

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
  db: Db,
  pushed: {
    requestHash: Buffer
    clientId: string
    parameters: PushedParameters
    expiresAt: Date
    now: Date
  },
): Promise<void> => db.run(INSERT_PUSHED_REQUEST, { ...pushed })

/** What a request_uri leads to: the parameters for its first use; afterwards the sign-in that it started, if any. */
export type UsedRequest = RowOf<typeof USE_PUSHED_REQUEST>

const USE_PUSHED_REQUEST = statement({
  takes: { requestHash: 'bytea', handleHash: 'bytea', clientId: 'text', now: 'timestamptz' },
  returns: {
    /** Null when the request was used before, has expired, or is not one of the client. */
    parameters: typed<PushedParameters | null>('jsonb?'),
    expiresAt: 'timestamptz?',
    /** Whether the sign-in that the request started waits for the user. */
    isPending: 'boolean',
  },
})`
  WITH used AS (
    DELETE FROM "PushedRequest"
    WHERE "tenantId" = :tenant AND "requestHash" = :requestHash AND "clientId" = :clientId AND "expiresAt" > :now
    RETURNING "parameters", "expiresAt"
  )
  SELECT u."parameters", u."expiresAt", EXISTS (
    SELECT FROM "Interaction" WHERE "tenantId" = :tenant AND "handleHash" = :handleHash AND "clientId" = :clientId AND "resumableUntil" > :now
  ) AS "isPending"
  FROM (SELECT) once LEFT JOIN used u ON true`

/**
 * Deletes a pushed request of the client, and finds the sign-in that it started: one statement. Returns the parameters
 * to the first caller only.
 */
export async function usePushedRequest(
  db: Db,
  request: { requestHash: Buffer; handleHash: Buffer; clientId: string; now: Date },
): Promise<UsedRequest> {
  const row = await db.one(USE_PUSHED_REQUEST, { ...request })
  return row as UsedRequest
}

const SELECT_PUSHED_REQUEST = statement({
  takes: { requestHash: 'bytea' },
  returns: { clientId: 'text', expiresAt: 'timestamptz' },
})`
  SELECT "clientId", "expiresAt" FROM "PushedRequest" WHERE "tenantId" = :tenant AND "requestHash" = :requestHash`

/** A pushed request of any client, to explain its rejection. */
export const selectPushedRequest = (
  db: Db,
  requestHash: Buffer,
): Promise<{ clientId: string; expiresAt: Date } | null> => db.one(SELECT_PUSHED_REQUEST, { requestHash })
