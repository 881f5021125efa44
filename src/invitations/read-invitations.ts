import type { Ctx } from '../context/context.ts'
import { readIdPrefix } from '../core/crypto.ts'
import { NotFound } from '../core/errors.ts'
import type { Db } from '../database/handle.ts'
import { listInOrder } from '../database/page-query.ts'
import type { Invitation as InvitationModel } from '../generated/prisma/client.ts'
import { type ListArgs, type Page, parseListArgs } from '../schema/page.ts'
import { INVITATION_FILTER, type InvitationStatus } from './invitations.fields.ts'

/** The columns of an invitation that are read. */
export type InvitationRow = Omit<InvitationModel, keyof typeof HIDDEN_COLUMNS>
export type Invitation = Omit<InvitationRow, 'revoked' | 'inviterName'> & { status: InvitationStatus }

/** Columns that no caller receives. */
export const HIDDEN_COLUMNS = {
  tenantId: true,
  tokenHash: true,
  emailKey: true,
  sendCount: true,
  invitedBy: true,
  byAdministrator: true,
} as const

/** An invitation with its status. */
export function toInvitation(row: InvitationRow, now = new Date()): Invitation {
  const { revoked, inviterName: _, ...invitation } = row
  const isExpired = row.expiresAt <= now
  const status = row.acceptedAt ? 'accepted' : revoked ? 'revoked' : isExpired ? 'expired' : 'pending'
  return { ...invitation, status }
}

/** The invitations of the tenant with these ids, in any order. */
export const findInvitations = async ({ prisma, tenant }: Db, ids: string[]): Promise<Invitation[]> =>
  (
    await prisma.invitation.findMany({
      where: { tenantId: tenant, id: { in: ids } },
      omit: HIDDEN_COLUMNS,
    })
  ).map((row) => toInvitation(row))

/** Returns an invitation. Throws NotFound. */
export async function getInvitation(ctx: Ctx, id: string): Promise<Invitation> {
  if (readIdPrefix(id) !== 'invitation') throw new NotFound('invitation')
  const where = { tenantId_id: { tenantId: ctx.tenant, id } }
  const invitation = await ctx.db.prisma.invitation.findUnique({ where, omit: HIDDEN_COLUMNS })
  if (!invitation) throw new NotFound('invitation')
  return toInvitation(invitation)
}

/** What cursors of the list of invitations are bound to. */
export const toInvitationListName = (tenant: string, organizationId = ''): string =>
  `${tenant}:invitations:${organizationId}`

/** All invitations, oldest first: one statement, and another for totalSize. Throws InvalidInput. */
export function listInvitations(ctx: Ctx, args: ListArgs): Promise<Page<Invitation>> {
  const { filter } = parseListArgs(args, INVITATION_FILTER)
  const isListed = { tenantId: ctx.tenant, ...filter }
  const { invitation } = ctx.db.prisma
  const now = new Date()
  return listInOrder(ctx, args, {
    name: toInvitationListName(ctx.tenant, filter.organizationId),
    column: 'id',
    read: async (page) => {
      const where = { ...isListed, ...page.where }
      return (await invitation.findMany({ ...page, where, omit: HIDDEN_COLUMNS })).map((row) =>
        toInvitation(row, now),
      )
    },
    countAll: () => invitation.count({ where: isListed }),
  })
}
