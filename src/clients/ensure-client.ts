import { isDeepStrictEqual } from 'node:util'
import type { ClientRow } from '../access/client.sql.ts'
import { invalidateClient } from '../access/client-cache.ts'
import { createPlatformCtx } from '../context/context.ts'
import { sha256 } from '../core/crypto.ts'
import type { Tx } from '../database/handle.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import { moveForward } from '../schema/expected-updated-at.ts'
import { lockClientRow } from './client-changes.sql.ts'

/** Columns that an ensured client has; the others keep their defaults. */
type EnsuredClient = Pick<
  ClientRow,
  | 'id'
  | 'name'
  | 'description'
  | 'appType'
  | 'type'
  | 'callbacks'
  | 'allowedLogoutUrls'
  | 'scopes'
  | 'allTenants'
  | 'requireConsent'
  | 'dpopBoundAccessTokens'
> &
  Partial<Pick<ClientRow, 'initiateLoginUrl'>>

/** Makes `secretHash` the only secret of a locked client; false when it already was. */
async function replaceSecrets(
  { prisma, tenant }: Tx,
  clientId: string,
  secretHash: Buffer<ArrayBuffer>,
): Promise<boolean> {
  const ofClient = { tenantId: tenant, clientId }
  const removed = await prisma.clientSecret.deleteMany({
    where: { ...ofClient, OR: [{ secretHash: { not: secretHash } }, { expiresAt: { not: null } }] },
  })
  const added = await prisma.clientSecret.createMany({
    data: [{ ...ofClient, secretHash }],
    skipDuplicates: true,
  })
  return removed.count + added.count > 0
}

/**
 * Creates the client, or resets what differs from the row and from the secret, which becomes the only one. The lock orders
 * processes that start at the same time, so that none of them undoes half of another's work.
 */
async function writeEnsured(
  tx: Tx,
  row: EnsuredClient,
  secretHash: Buffer<ArrayBuffer> | null,
): Promise<'created' | 'changed' | 'same'> {
  const { tenant: tenantId, prisma } = tx
  const { id, ...columns } = row
  const { count } = await prisma.client.createMany({ data: [{ tenantId, ...row }], skipDuplicates: true })
  const client = await lockClientRow(tx, id)
  if (!client) throw new Error('the client was not written')
  const isSame = Object.entries(columns).every(([name, value]) =>
    isDeepStrictEqual(client[name as keyof EnsuredClient], value),
  )
  if (!isSame)
    await prisma.client.update({
      where: { tenantId_id: { tenantId, id } },
      data: { ...columns, updatedAt: moveForward(client.updatedAt) },
    })
  const isReplaced = secretHash !== null && (await replaceSecrets(tx, id, secretHash))
  if (count > 0) return 'created'
  return isSame && !isReplaced ? 'same' : 'changed'
}

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
    dpopBoundAccessTokens: false,
    ...client,
  }
  await ctx.db.transaction(async (tx) => {
    const outcome = await writeEnsured(tx, row, secret === null ? null : sha256(secret))
    if (outcome === 'same') return
    invalidateClient(tx, row.id)
    await recordEvents(tx, ctx, [
      outcome === 'created'
        ? createEvent('client.created', { clientId: row.id })
        : createEvent('client.updated', { clientId: row.id, changedFields: [] }),
    ])
  })
}
