import { sha256 } from '../crypto.ts'
import { platformCtx } from '../ctx.ts'
import { inTransaction } from '../db.ts'
import { recordEvents, wakeReaders } from '../events.ts'
import { forgetClient } from './client-cache.ts'
import { type EnsuredClient, replaceSecrets, upsertClient } from './clients.sql.ts'

/**
 * Makes sure, at the start of a process, that a client with this id and this secret is there, as the platform; any
 * other secret of it stops working. Any number of processes may do so at once. Input is the deployment's own
 * configuration, so that it is not checked as callers' is.
 */
export async function ensureClient(
  tenant: string,
  {
    secret,
    ...client
  }: Pick<EnsuredClient, 'id' | 'name' | 'appType'> & Partial<EnsuredClient> & { secret: string | null },
): Promise<void> {
  const ctx = platformCtx(tenant)
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
  const isChanged = await inTransaction(async (sql) => {
    const outcome = await upsertClient(sql, tenant, row)
    const isReplaced = secret !== null && (await replaceSecrets(sql, tenant, row.id, sha256(secret)))
    if (outcome === 'same' && !isReplaced) return false
    const type = outcome === 'created' ? 'client.created' : 'client.updated'
    await recordEvents(sql, ctx, [{ type, subjectIds: [row.id] }])
    return true
  })
  if (!isChanged) return
  forgetClient(tenant, row.id)
  wakeReaders(tenant)
}
