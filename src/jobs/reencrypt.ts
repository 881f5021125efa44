import { toTokenKeyPurpose } from '../access/tenant-cache.ts'
import { isSealedByCurrentKey, seal, unseal } from '../core/crypto.ts'
import { toTotpPurpose } from '../credentials/second-factors/totp.ts'
import { Handle } from '../database/handle.ts'
import { system } from '../database/system.ts'
import { toServerSecretPurpose } from '../delivery/own-servers.ts'
import { toStoredResponsePurpose } from '../http/idempotency.ts'
import { toIdTokenPurpose } from '../idps/provider/provider-end-session.ts'
import { toIdpSecretPurpose } from '../idps/secrets/idp-secrets.ts'
import { toTokenPurpose } from '../idps/tokens/kept-tokens.ts'
import { SEAL_PURPOSE } from '../keys/keys.ts'
import { toOldPasswordPurpose } from '../old-passwords/old-passwords.ts'
import { toAuthorizationPurpose } from '../signals/streams.ts'
import { toWebhookPurpose } from '../webhooks/webhook-secrets.ts'
import {
  replaceSealedValue,
  SEALED_ROWS_LIMIT,
  SEALED_TABLES,
  type SealedRow,
  type SealedTable,
  selectSealedRows,
} from './reencrypt.sql.ts'

/** The purpose with which the secrets of each table are sealed. */
const PURPOSE_BY_TABLE: Record<SealedTable, (row: SealedRow) => string> = {
  Tenant: (row) => toTokenKeyPurpose(row.tenantId),
  MailServerPassword: (row) => toServerSecretPurpose(row.tenantId, 'mailServerPassword'),
  SmsGatewayToken: (row) => toServerSecretPurpose(row.tenantId, 'smsGatewayToken'),
  SigningKey: () => SEAL_PURPOSE,
  IdpClientSecret: (row) => toIdpSecretPurpose(row.tenantId, String(row.id), 'clientSecret'),
  IdpSigningKey: (row) => toIdpSecretPurpose(row.tenantId, String(row.id), 'idTokenSigningKey'),
  ProviderIdToken: (row) => toIdTokenPurpose(row.tenantId),
  ProviderAccessToken: (row) => toTokenPurpose(row.tenantId, String(row.id), 'accessToken'),
  ProviderRefreshToken: (row) => toTokenPurpose(row.tenantId, String(row.id), 'refreshToken'),
  TotpSecret: (row) => toTotpPurpose(row.tenantId, String(row.id)),
  OldPassword: (row) => toOldPasswordPurpose(row.tenantId, String(row.id)),
  WebhookSecret: (row) => toWebhookPurpose(row.tenantId, String(row.id), 'secret'),
  PreviousWebhookSecret: (row) => toWebhookPurpose(row.tenantId, String(row.id), 'secret'),
  WebhookHeaders: (row) => toWebhookPurpose(row.tenantId, String(row.id), 'headers'),
  SignalAuthorization: (row) => toAuthorizationPurpose(row.tenantId, String(row.id)),
  IdempotencyKey: (row) => toStoredResponsePurpose(row.tenantId, row.id as Buffer),
}

async function reencryptTable(table: SealedTable): Promise<number> {
  let count = 0
  let last: Pick<SealedRow, 'tenantId' | 'id'> = { tenantId: '', id: '' }
  for (;;) {
    const rows = await selectSealedRows(system, table, last)
    for (const row of rows) {
      if (isSealedByCurrentKey(row.sealed)) continue
      const purpose = PURPOSE_BY_TABLE[table](row)
      if (
        await replaceSealedValue(
          new Handle({ tenant: row.tenantId }),
          table,
          row,
          seal(purpose, unseal(purpose, row.sealed)),
        )
      )
        count += 1
    }
    const end = rows.at(-1)
    if (!end || rows.length < SEALED_ROWS_LIMIT) return count
    last = { tenantId: end.tenantId, id: end.id }
  }
}

/**
 * Encrypts every stored secret with the first key of ENCRYPTION_KEY, so that the others can be removed from
 * the list. Returns the number of changed rows by table. May run while servers with both keys run, and may be
 * repeated after an error.
 */
export async function reencryptAll(): Promise<Record<SealedTable, number>> {
  const counts = {} as Record<SealedTable, number>
  for (const table of SEALED_TABLES) counts[table] = await reencryptTable(table)
  return counts
}
