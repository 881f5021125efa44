import { requireNoEscalation } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { readIdPrefix } from '../core/crypto.ts'
import { NotFound } from '../core/errors.ts'
import { getRoleScopes } from '../core/scopes.ts'
import { buildPageQuery } from '../database/page-query.ts'
import { credentialRevoked } from '../events/credential-events.ts'
import { createEventRow } from '../events/log.ts'
import type { Credential } from '../generated/prisma/client.ts'
import type { CredentialType } from '../model/credential-types.ts'
import { type Page, type PageArgs, parsePaging, toPage } from '../schema/page.ts'
import { announceAccountChange } from '../users/deletion/account-notices.ts'
import { deleteCredential, lockCredentialOwner } from './credentials.sql.ts'

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

/** The list name to which cursors of a user's credentials are bound. */
const toCredentialListName = (tenant: string, userId: string): string => `${tenant}:credentials:${userId}`

/**
 * Lists the credentials of a user by id, which is the order of enrollment. Throws NotFound, and InvalidInput
 * about the paging.
 */
export async function listUserCredentials(
  ctx: Ctx,
  userId: string,
  args: PageArgs,
): Promise<Page<CredentialRow>> {
  const list = toCredentialListName(ctx.tenant, userId)
  const paging = parsePaging(ctx, args, list)
  const user = await ctx.db.prisma.user.findUnique({
    where: { tenantId_id: { tenantId: ctx.tenant, id: userId } },
    select: {
      credentials: {
        ...buildPageQuery(paging, 'id'),
        omit: INTERNAL_COLUMNS,
      },
    },
  })
  if (!user) throw new NotFound('user')
  return toPage(paging, user.credentials, {
    name: list,
    toKey: ({ id }) => ({ value: null, id }),
    countAll: () => countUserCredentials(ctx, userId),
  })
}

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
  const owner = await ctx.db.transaction(async (tx) => {
    const owner = await lockCredentialOwner(tx, credentialId)
    if (!owner) throw new NotFound('credential')
    requireNoEscalation(ctx, getRoleScopes(owner.roles))
    const { userId, type } = owner
    const event = createEventRow(ctx, credentialRevoked({ id: credentialId, userId, type }))
    if (!(await deleteCredential(tx, credentialId, event))) throw new NotFound('credential')
    return owner
  })
  announceAccountChange(ctx, owner.userId, `${owner.type as CredentialType}-removed`)
  return { revokedCredentialId: credentialId }
}
