import { invalidateClient } from '../access/client-cache.ts'
import { createPlatformCtx } from '../context/context.ts'
import { sha256 } from '../core/crypto.ts'
import { inTransactionFor } from '../database/db.ts'
import { Handle } from '../database/handle.ts'
import { recordEvents, wakeReaders } from '../events/log.ts'
import { clientCreated, clientUpdated } from '../events/management-events.ts'
import { type EnsuredClient, replaceClientSecrets, upsertClient } from './clients.sql.ts'

/**
 * Ensures at the start of a process that a client with this id and secret exists; its other secrets are
 * deleted. Processes may call it concurrently. The input is configuration and is not validated like that of a
 * caller.
 */
export async function ensureClient(
  tenant: string,
  {
    secret,
    ...client
  }: Pick<EnsuredClient, 'id' | 'name' | 'appType'> & Partial<EnsuredClient> & { secret: string | null },
): Promise<void> {
  const ctx = createPlatformCtx(tenant)
  const row: EnsuredClient = {
    description: null,
    type: 'login',
    callbacks: [],
    allowedLogoutUrls: [],
    scopes: [],
    allTenants: false,
    requireConsent: false,
    ...client,
  }
  const isChanged = await inTransactionFor(ctx, async (sql) => {
    const outcome = await upsertClient(sql, tenant, row)
    const isReplaced = secret !== null && (await replaceClientSecrets(sql, tenant, row.id, sha256(secret)))
    if (outcome === 'same' && !isReplaced) return false
    await recordEvents(sql, ctx, [outcome === 'created' ? clientCreated(row.id) : clientUpdated(row.id, [])])
    return true
  })
  if (!isChanged) return
  invalidateClient(new Handle({ tenant }), row.id)
  wakeReaders(tenant)
}
