import type { Ctx } from '../context/context.ts'
import type { Db, Tx } from '../database/handle.ts'
import type { Invitation } from '../generated/prisma/client.ts'
import { addMember, prepareAdministrator, setAdministrator } from '../organizations/memberships.ts'
import { giveMemberRoles } from '../permissions/role-assignments.ts'

/** Whether an invitation by an administrator of an organization still works: that user is still one, and not locked. */
export async function isInviterPermitted(
  { prisma, tenant: tenantId }: Db,
  { id, organizationId }: Pick<Invitation, 'id' | 'organizationId'>,
): Promise<boolean> {
  if (organizationId === null) return true
  const invitation = await prisma.invitation.findUnique({
    where: { tenantId_id: { tenantId, id }, byAdministrator: true },
    select: { invitedBy: true },
  })
  if (!invitation) return true
  const { invitedBy: userId } = invitation
  if (userId === null) return false
  const inviter = { tenantId, organizationId, userId, isAdministrator: true, user: { locked: false } }
  return (await prisma.membership.count({ where: inviter })) > 0
}

/**
 * Makes the user who accepted an invitation a member of its organization, with the roles and the right that it gives. Who is
 * a member already gets what is missing.
 */
export async function enterOrganization(
  tx: Tx,
  ctx: Ctx,
  { organizationId, invitedBy, appRoleIds, isAdministrator }: Invitation,
  userId: string,
): Promise<void> {
  if (organizationId === null) return
  if (isAdministrator) await prepareAdministrator(tx, userId)
  const joined = {
    organizationId,
    userId,
    joinedVia: 'invitation',
    addedBy: invitedBy,
    isAdministrator,
  } as const
  const membership =
    (await addMember(tx, ctx, joined)) ??
    (await tx.prisma.membership.findUniqueOrThrow({
      where: { tenantId_organizationId_userId: { tenantId: ctx.tenant, organizationId, userId } },
    }))
  if (isAdministrator && !membership.isAdministrator) await setAdministrator(tx, ctx, membership.id, true)
  if (appRoleIds.length > 0) await giveMemberRoles(tx, ctx, membership, appRoleIds)
}
