import { requireOwnAccount, requireOwnChange } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { NotFound } from '../core/errors.ts'
import type { Tx } from '../database/handle.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { Invitation, Prisma } from '../generated/prisma/client.ts'
import { addMember, type MembershipOfUser } from '../organizations/memberships.ts'
import { shareOrganization } from '../organizations/organizations.sql.ts'
import { type OwnInvitation, selectOwnInvitations, selectOwnSections } from './own-invitations.sql.ts'

export type { OwnInvitation }

/** The invitations to organizations that the calling user may accept, newest first: one statement. */
export const listViewerInvitations = (ctx: Ctx): Promise<OwnInvitation[]> =>
  selectOwnInvitations(ctx.db, requireOwnAccount(ctx))

/** Which account pages have something of the calling user: API keys; organizations or invitations to them. One statement. */
export const findViewerSections = (ctx: Ctx) => selectOwnSections(ctx.db, requireOwnAccount(ctx).userId)

/** Closes an invitation of the user in the transaction of the caller, once. Throws NotFound. */
async function closeInvitation(
  tx: Tx,
  { tenant }: Ctx,
  { userId, id }: { userId: string; id: string },
  data: Prisma.InvitationUncheckedUpdateManyInput,
): Promise<Invitation> {
  const now = new Date()
  const [own] = await selectOwnInvitations(tx, { userId, id, now })
  // Before the invitation, as a deletion of the organization locks them.
  if (!own || !(await shareOrganization(tx, own.organizationId))) throw new NotFound('invitation')
  const [closed] = await tx.prisma.invitation.updateManyAndReturn({
    where: { tenantId: tenant, id, acceptedAt: null, revoked: false, expiresAt: { gt: now } },
    data: { ...data, tokenHash: null },
  })
  if (!closed) throw new NotFound('invitation')
  return closed
}

/** Makes the calling user a member of an organization that invites the verified address of the user. Throws NotFound. */
export async function acceptViewerInvitation(ctx: Ctx, id: string): Promise<MembershipOfUser> {
  const { userId } = requireOwnChange(ctx)
  return ctx.db.transaction(async (tx) => {
    const closed = await closeInvitation(tx, ctx, { userId, id }, { userId, acceptedAt: new Date() })
    const { organizationId, invitedBy: addedBy } = closed
    const membership =
      organizationId &&
      (await addMember(tx, ctx, { organizationId, userId, joinedVia: 'invitation', addedBy }))
    if (!membership) throw new NotFound('invitation')
    await recordEvents(tx, ctx, [
      createEvent('invitation.accepted', { userId, invitationId: id, organizationId }),
    ])
    return membership
  })
}

/** Declines an invitation to an organization, which is revoked by this. Throws NotFound. */
export async function declineViewerInvitation(
  ctx: Ctx,
  id: string,
): Promise<{ declinedInvitationId: string }> {
  const { userId } = requireOwnChange(ctx)
  await ctx.db.transaction(async (tx) => {
    const { organizationId } = await closeInvitation(tx, ctx, { userId, id }, { revoked: true })
    await recordEvents(tx, ctx, [createEvent('invitation.revoked', { invitationId: id, organizationId })])
  })
  return { declinedInvitationId: id }
}
