import { requireOwnAccount } from '../access/require-scope.ts'
import type { Ctx } from '../context/context.ts'
import { leaveOrganization } from '../organizations/memberships.ts'
import { type OwnOrganization, selectOwnOrganizations } from './account.sql.ts'
import { requireStepUp } from './step-up.ts'

export type { OwnOrganization }

/** The organizations of the calling user by name. */
export const listViewerOrganizations = (ctx: Ctx): Promise<OwnOrganization[]> =>
  selectOwnOrganizations(ctx.db, requireOwnAccount(ctx).userId)

/**
 * Ends the membership of the calling user in an organization, with what it gave. Throws StepUpRequired, NotFound, and Conflict for
 * the last administrator while there are other members.
 */
export async function leaveViewerOrganization(
  ctx: Ctx,
  organizationId: string,
): Promise<{ deletedMembershipId: string }> {
  const { userId } = await requireStepUp(ctx)
  const { deletedMembershipId } = await leaveOrganization(ctx, organizationId, userId)
  return { deletedMembershipId }
}
