import type { Db } from '../database/handle.ts'
import { statement, typed } from '../database/statement.ts'

export type SealedRow = { tenantId: string; id: string | Buffer; sealed: string }

/** Rows that are read at once. */
export const SEALED_ROWS_LIMIT = 200

/**
 * Reads and replaces the sealed values of a column. `key` is the primary key besides the tenant. A page is ordered by
 * columns under their own names, and its limit is in the text, so that a proxy which merges the rows of several servers
 * merges the right ones.
 */
const sealedColumn = (table: string, column: string, key: string, type: 'text' | 'bytea' = 'text') => {
  const id = typed<SealedRow['id']>(type)
  const order = [...new Set(['tenantId', key])].map((name) => `"${name}"`).join(', ')
  return {
    key,
    select: statement({
      takes: { afterTenant: 'text', afterId: id },
      returns: { tenantId: 'text', [key]: id, sealed: 'text' },
    })`
  SELECT ${order}, "${column}" AS "sealed" FROM "${table}"
  WHERE :tenant = 'system' AND ("tenantId", "${key}") > (:afterTenant, :afterId) AND "${column}" IS NOT NULL
  ORDER BY ${order} LIMIT ${SEALED_ROWS_LIMIT}`,
    replace: statement({
      takes: { id, old: 'text', sealed: 'text' },
      returns: { replaced: 'int' },
    })`
  UPDATE "${table}" SET "${column}" = :sealed WHERE "tenantId" = :tenant AND "${key}" = :id AND "${column}" = :old
  RETURNING 1 AS "replaced"`,
  }
}

/** Columns with sealed values. */
const SEALED_COLUMNS = {
  Tenant: sealedColumn('Tenant', 'tokenKey', 'tenantId'),
  MailServerPassword: sealedColumn('Tenant', 'mailServerPassword', 'tenantId'),
  SmsGatewayToken: sealedColumn('Tenant', 'smsGatewayToken', 'tenantId'),
  SigningKey: sealedColumn('SigningKey', 'privateKey', 'id'),
  IdempotencyKey: sealedColumn('IdempotencyKey', 'answer', 'keyHash', 'bytea'),
  IdpClientSecret: sealedColumn('IdentityProvider', 'clientSecret', 'id'),
  IdpSigningKey: sealedColumn('IdentityProvider', 'idTokenSigningKey', 'id'),
  ProviderIdToken: sealedColumn('ProviderSession', 'idToken', 'sessionId'),
  ProviderAccessToken: sealedColumn('IdpUserToken', 'accessToken', 'linkId'),
  ProviderRefreshToken: sealedColumn('IdpUserToken', 'refreshToken', 'linkId'),
  TotpSecret: sealedColumn('Credential', 'secret', 'id'),
  OldPassword: sealedColumn('OldPassword', 'hash', 'userId'),
  WebhookSecret: sealedColumn('Webhook', 'secret', 'id'),
  PreviousWebhookSecret: sealedColumn('Webhook', 'previousSecret', 'id'),
  WebhookHeaders: sealedColumn('Webhook', 'headers', 'id'),
  SignalAuthorization: sealedColumn('SignalStream', 'authorization', 'id'),
} as const
export type SealedTable = keyof typeof SEALED_COLUMNS
export const SEALED_TABLES = Object.keys(SEALED_COLUMNS) as SealedTable[]

/** The next rows of all tenants after a row, in the order of their keys. Requires the tenant `system`. */
export async function selectSealedRows(
  db: Db,
  name: SealedTable,
  after: Pick<SealedRow, 'tenantId' | 'id'>,
): Promise<SealedRow[]> {
  const { select, key } = SEALED_COLUMNS[name]
  const rows = await db.many(select, { afterTenant: after.tenantId, afterId: after.id })
  return rows.map((row) => ({ tenantId: row.tenantId, id: row[key] as SealedRow['id'], sealed: row.sealed }))
}

/** Writes the new text; false when the row was changed concurrently. */
export async function replaceSealedValue(
  db: Db,
  name: SealedTable,
  row: SealedRow,
  sealed: string,
): Promise<boolean> {
  return (await db.one(SEALED_COLUMNS[name].replace, { id: row.id, old: row.sealed, sealed })) !== null
}
