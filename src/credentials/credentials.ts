import { prefixOf } from '../crypto.ts'
import { type Ctx, scopesOfRoles } from '../ctx.ts'
import { dbFor, inTransaction } from '../db.ts'
import { NotFound } from '../errors.ts'
import { toEventRow, wakeReaders } from '../events.ts'
import type { Credential } from '../generated/prisma/client.ts'
import { type Page, type PageArgs, parsePaging, toPage } from '../page.ts'
import { requireNoEscalation } from '../scopes.ts'
import { deleteCredential, holdOwner } from './credentials.sql.ts'

/** What only signing in needs: no answer shows it. */
const INTERNAL = { externalId: true, signCount: true, transports: true, byManagement: true } as const
/** A credential as services hand it on. */
export type CredentialRow = Omit<Credential, keyof typeof INTERNAL>

/** What cursors of a user's credentials are bound to. */
const credentialListOf = (tenant: string, userId: string): string => `${tenant}:credentials:${userId}`

/** The credentials of a user, by id, which is the order of enrolment. Throws NotFound, InvalidInput about the paging. */
export async function listUserCredentials(
  ctx: Ctx,
  userId: string,
  args: PageArgs,
): Promise<Page<CredentialRow>> {
  const list = credentialListOf(ctx.tenant, userId)
  const paging = parsePaging(args, list)
  const backward = paging.mode === 'cursor' && paging.backward
  const seek = paging.mode === 'cursor' ? paging.seek : null
  const user = await dbFor(ctx.tenant).user.findUnique({
    where: { tenantId_id: { tenantId: ctx.tenant, id: userId } },
    select: {
      credentials: {
        where: seek ? { id: backward ? { lt: seek.id } : { gt: seek.id } } : {},
        orderBy: { id: backward ? 'desc' : 'asc' },
        skip: paging.mode === 'offset' ? paging.page * paging.pageSize : 0,
        take: paging.pageSize + 1,
        omit: INTERNAL,
      },
    },
  })
  if (!user) throw new NotFound('user')
  return toPage(paging, user.credentials, {
    name: list,
    keyOf: ({ id }) => ({ value: null, id }),
    countAll: () => countUserCredentials(ctx, userId),
  })
}

/** How many credentials a user has. */
export const countUserCredentials = (ctx: Ctx, userId: string): Promise<number> =>
  dbFor(ctx.tenant).credential.count({ where: { tenantId: ctx.tenant, userId } })

/** A credential. Throws NotFound. */
export async function getCredential(ctx: Ctx, credentialId: string): Promise<CredentialRow> {
  const credential = await dbFor(ctx.tenant).credential.findUnique({
    where: { tenantId_id: { tenantId: ctx.tenant, id: credentialId } },
    omit: INTERNAL,
  })
  if (!credential) throw new NotFound('credential')
  return credential
}

/**
 * Revokes a credential (spec: Revoke credential): it is deleted, for ever. Sessions stay: which of them it started is
 * not known, and whoever revokes a stolen one ends them by revokeUserSessions. Throws NotFound, and Forbidden for a
 * credential of a user whose roles permit what the caller may not.
 */
export async function revokeCredential(
  ctx: Ctx,
  credentialId: string,
): Promise<{ revokedCredentialId: string }> {
  if (prefixOf(credentialId) !== 'cred') throw new NotFound('credential')
  await inTransaction(async (sql) => {
    const owner = await holdOwner(sql, ctx.tenant, credentialId)
    if (!owner) throw new NotFound('credential')
    requireNoEscalation(ctx, scopesOfRoles(owner.roles))
    const { userId } = owner
    const event = toEventRow(ctx, { type: 'credential.revoked', userId, subjectIds: [credentialId] })
    if (!(await deleteCredential(sql, ctx.tenant, credentialId, event))) throw new NotFound('credential')
  })
  wakeReaders(ctx.tenant)
  return { revokedCredentialId: credentialId }
}
