import { requireNoEscalation } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { readIdPrefix } from '../core/crypto.ts'
import { NotFound } from '../core/errors.ts'
import { getRoleScopes } from '../core/scopes.ts'
import type { Tx } from '../database/handle.ts'
import { listInOrder } from '../database/page-query.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { Credential } from '../generated/prisma/client.ts'
import type { CredentialType } from '../model/credential-types.ts'
import type { Page, PageArgs } from '../schema/page.ts'
import { announceAccountChange } from '../users/deletion/account-notices.ts'
import { lockUserRow } from '../users/lock-user.sql.ts'

/** Columns that only the sign-in needs. They are never returned. */
const INTERNAL_COLUMNS = {
  externalId: true,
  signCount: true,
  transports: true,
  byManagement: true,
  secret: true,
  lastStep: true,
  codeHashes: true,
} as const
/** A credential as services return it. */
export type CredentialRow = Omit<Credential, keyof typeof INTERNAL_COLUMNS>

/**
 * Lists the credentials of a user by id, which is the order of enrollment. Throws NotFound, and InvalidInput
 * about the paging.
 */
export const listUserCredentials = (ctx: Ctx, userId: string, args: PageArgs): Promise<Page<CredentialRow>> =>
  listInOrder(ctx, args, {
    name: `${ctx.tenant}:credentials:${userId}`,
    column: 'id',
    read: async (page) => {
      const user = await ctx.db.prisma.user.findUnique({
        where: { tenantId_id: { tenantId: ctx.tenant, id: userId } },
        select: { credentials: { ...page, omit: INTERNAL_COLUMNS } },
      })
      if (!user) throw new NotFound('user')
      return user.credentials
    },
    countAll: () => countUserCredentials(ctx, userId),
  })

/** Counts the credentials of a user. */
export const countUserCredentials = (ctx: Ctx, userId: string): Promise<number> =>
  ctx.db.prisma.credential.count({ where: { tenantId: ctx.tenant, userId } })

/** A credential. Throws NotFound. */
export async function getCredential(ctx: Ctx, credentialId: string): Promise<CredentialRow> {
  const credential = await ctx.db.prisma.credential.findUnique({
    where: { tenantId_id: { tenantId: ctx.tenant, id: credentialId } },
    omit: INTERNAL_COLUMNS,
  })
  if (!credential) throw new NotFound('credential')
  return credential
}

/** Deletes a credential of a locked user, with the event; false when it was deleted before. */
export async function deleteCredential(
  tx: Tx,
  ctx: Ctx,
  { id, userId, type }: { id: string; userId: string; type: CredentialType },
): Promise<boolean> {
  const { count } = await tx.prisma.credential.deleteMany({ where: { tenantId: tx.tenant, id } })
  if (count > 0)
    await recordEvents(tx, ctx, [createEvent('credential.revoked', { userId, credentialId: id }, { type })])
  return count > 0
}

/**
 * Revokes a credential by deleting it. Sessions stay active, because it is not recorded which of them it
 * started; revokeUserSessions ends them. Throws NotFound, and Forbidden for a credential of a user whose
 * roles permit more than the caller's scopes.
 */
export async function revokeCredential(
  ctx: Ctx,
  credentialId: string,
): Promise<{ revokedCredentialId: string }> {
  if (readIdPrefix(credentialId) !== 'cred') throw new NotFound('credential')
  const revoked = await ctx.db.transaction(async (tx) => {
    const found = await tx.prisma.credential.findUnique({
      where: { tenantId_id: { tenantId: ctx.tenant, id: credentialId } },
      select: { id: true, userId: true, type: true },
    })
    // A trigger keeps the user's flag. Without the lock, two concurrent revocations would each see the other's
    // credential and leave the flag set.
    const owner = found && (await lockUserRow(tx, found.userId))
    if (!owner) throw new NotFound('credential')
    requireNoEscalation(ctx, getRoleScopes(owner.roles))
    const credential = { ...found, type: found.type as CredentialType }
    if (!(await deleteCredential(tx, ctx, credential))) throw new NotFound('credential')
    return credential
  })
  announceAccountChange(ctx, revoked.userId, `${revoked.type}-removed`)
  return { revokedCredentialId: credentialId }
}
