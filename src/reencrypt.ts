import { isSealedByFirstKey, open, seal } from './crypto.ts'
import { SYSTEM_TENANT } from './ctx.ts'
import { sql } from './db.ts'
import { answerPurpose } from './idempotency.ts'
import { idpSecretPurpose } from './idps/idp-secrets.ts'
import { SEAL_PURPOSE } from './oidc/keys/keys.ts'
import {
  replaceSealed,
  SEALED_TABLES,
  type SealedRow,
  type SealedTable,
  selectSealed,
} from './reencrypt.sql.ts'
import { tokenKeyPurpose } from './tenants/tenant-cache.ts'

const BATCH = 200

/** What the secrets of each table were sealed for. */
const PURPOSE_OF: Record<SealedTable, (row: SealedRow) => string> = {
  Tenant: (row) => tokenKeyPurpose(row.tenantId),
  SigningKey: () => SEAL_PURPOSE,
  IdpClientSecret: (row) => idpSecretPurpose(row.tenantId, String(row.id), 'clientSecret'),
  IdpSigningKey: (row) => idpSecretPurpose(row.tenantId, String(row.id), 'idTokenSigningKey'),
  IdempotencyKey: (row) => answerPurpose(row.tenantId, row.id as Buffer),
}

async function reencryptTable(table: SealedTable): Promise<number> {
  let count = 0
  let last: Pick<SealedRow, 'tenantId' | 'id'> = { tenantId: '', id: '' }
  for (;;) {
    const rows = await selectSealed(sql, SYSTEM_TENANT, table, last, BATCH)
    for (const row of rows) {
      if (isSealedByFirstKey(row.sealed)) continue
      const purpose = PURPOSE_OF[table](row)
      if (await replaceSealed(sql, table, row, seal(purpose, open(purpose, row.sealed)))) count += 1
    }
    const end = rows.at(-1)
    if (!end || rows.length < BATCH) return count
    last = { tenantId: end.tenantId, id: end.id }
  }
}

/**
 * Encrypts every stored secret with the first ENCRYPTION_KEY, so that the others can be taken out of the list.
 * Returns how many were changed, by table. May run beside servers that have both keys, and again after a failure.
 */
export async function reencrypt(): Promise<Record<SealedTable, number>> {
  const counts = {} as Record<SealedTable, number>
  for (const table of SEALED_TABLES) counts[table] = await reencryptTable(table)
  return counts
}
