import type { Db } from '../database/handle.ts'
import { statement, typed } from '../database/statement.ts'
import { buildInsertEventsSql } from '../events/log.sql.ts'
import type { DeviceRow } from './credentials.fields.ts'

/** Columns of a device. */
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
const toDeviceColumnList = (of = ''): string => DEVICE_COLUMNS.map((name) => `${of}"${name}"`).join(', ')

/** Passkeys of a user. Each page that asks for one lists all of them. */
export const MAX_PASSKEYS = 100

/** Whether the user `u` may have another passkey. */
export const HAS_PASSKEY_SPACE = `(
      SELECT count(*) FROM "Credential" c WHERE c."tenantId" = :tenant AND c."userId" = u."id" AND c."type" = 'public-key'
    ) < ${MAX_PASSKEYS}`

/** Parameters of a statement that stores a credential. */
export const NEW_CREDENTIAL = {
  now: 'timestamptz',
  userId: 'text',
  id: 'text',
  externalId: 'text',
  publicKey: 'text',
  signCount: typed<number>('bigint'),
  transports: 'text[]',
  backupEligible: 'boolean',
  backedUp: 'boolean',
  aaguid: 'text',
  device: typed<DeviceRow>('jsonb'),
  events: 'jsonb',
} as const

/**
 * Expressions that store a credential for the row of `source` ("userId", "type", "byManagement") with its
 * event, and the SELECT of its id.
 */
export const buildStoreCredentialSql = (source: string): string => `made AS (
    INSERT INTO "Credential" ("tenantId", "id", "userId", "type", "byManagement", "externalId", "publicKey", "signCount", "transports",
      "backupEligible", "backedUp", "aaguid", "createdAt", ${toDeviceColumnList()})
    SELECT :tenant, :id, s."userId", s."type", s."byManagement", :externalId, :publicKey, :signCount, :transports, :backupEligible, :backedUp, :aaguid, :now, ${toDeviceColumnList('d.')}
    FROM ${source} s, jsonb_populate_record(NULL::"Credential", :device) d
    RETURNING "id", "userId"
  ), event_log AS (${buildInsertEventsSql(':events', { from: 'made' })})
  SELECT "id" FROM made`

export type NewCredential = {
  id: string
  externalId: string
  publicKey: string
  signCount: number
  transports: string[]
  backupEligible: boolean
  backedUp: boolean
  /** A UUID; zeros when the authenticator does not say. */
  aaguid: string
  device: DeviceRow
}

const INSERT_OWN_CREDENTIAL = statement({ takes: NEW_CREDENTIAL, returns: { id: 'text' } })`
  WITH owner AS MATERIALIZED (
    SELECT u."id" AS "userId", 'public-key' AS "type", false AS "byManagement"
    FROM "User" u WHERE u."tenantId" = :tenant AND u."id" = :userId AND NOT u."locked"
      AND ${HAS_PASSKEY_SPACE} FOR NO KEY UPDATE
  ), ${buildStoreCredentialSql('owner')}`

/**
 * Stores a credential that a signed-in user enrolled without a token; false when the user is locked or
 * deleted, or has `MAX_PASSKEYS`. An already registered credential violates the unique key.
 */
export async function insertOwnCredential(
  db: Db,
  { userId, now }: { userId: string; now: Date },
  credential: NewCredential,
  event: object,
): Promise<boolean> {
  const values = { userId, now, ...credential }
  return (await db.one(INSERT_OWN_CREDENTIAL, { ...values, events: [event] })) !== null
}
