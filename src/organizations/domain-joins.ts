import { findTenant } from '../access/tenant-cache.ts'
import type { Ctx } from '../context/context.ts'
import type { Tx } from '../database/handle.ts'
import { addMember } from './memberships.ts'
import { findOrganizationToJoin } from './organization-domains.sql.ts'

/**
 * Whether users of the tenant join organizations by domains. No statement. Call it outside transactions, which keep a
 * connection.
 */
export const hasJoinDomains = async ({ tenant }: Ctx): Promise<boolean> =>
  (await findTenant(tenant))?.hasJoinDomains ?? false

/** Whether a SCIM client has ended the membership of a user: a sign-in does not restore it. */
export const isEndedByScim = async (
  tx: Tx,
  { organizationId, userId }: { organizationId: string; userId: string },
): Promise<boolean> => {
  const user = { memberships: { none: { organizationId } } }
  const where = { tenantId: tx.tenant, ownerId: organizationId, userId, user }
  return (await tx.prisma.scimUser.count({ where })) > 0
}

/**
 * Makes a user who has just proven an e-mail address a member of the organization that has proven its domain and enrolls
 * automatically, with the event: one statement for a member. `emailKey` is the key of the address.
 */
export async function joinByDomain(
  tx: Tx,
  ctx: Ctx,
  { userId, emailKey }: { userId: string; emailKey: string },
): Promise<void> {
  const domain = emailKey.slice(emailKey.lastIndexOf('@') + 1)
  const organizationId = await findOrganizationToJoin(tx, { domain, userId })
  if (organizationId !== null) await addMember(tx, ctx, { organizationId, userId, joinedVia: 'domain' })
}
