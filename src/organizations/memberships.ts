import type { Ctx } from '../context/context.ts'
import { newId, readIdPrefix } from '../core/crypto.ts'
import { Conflict, NotFound } from '../core/errors.ts'
import { toAppError } from '../core/to-app-error.ts'
import type { Db } from '../database/handle.ts'
import { buildPageQuery, listInOrder } from '../database/page-query.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { Membership, Organization } from '../generated/prisma/client.ts'
import type { JoinWay } from '../model/join-ways.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { type Page, type PageArgs, parsePaging, toPage } from '../schema/page.ts'
import { MembershipCreate } from './memberships.fields.ts'
import { getOrganization, requireOrganizationId } from './organizations.ts'

type NewMembership = { organizationId: string; userId: string; joinedVia: JoinWay; addedBy?: string | null }

/**
 * Makes a user a member inside the caller's transaction, with the event. The user and the organization cannot be deleted
 * meanwhile. Returns null for a member.
 */
export async function addMember(
  tx: Db,
  ctx: Ctx,
  { organizationId, userId, joinedVia, addedBy = null }: NewMembership,
): Promise<Membership | null> {
  const [membership] = await tx.prisma.membership.createManyAndReturn({
    data: {
      tenantId: ctx.tenant,
      id: newId('membership'),
      organizationId,
      userId,
      joinedVia,
      addedBy,
    },
    skipDuplicates: true,
  })
  if (!membership) return null
  await recordEvents(tx, ctx, [
    createEvent('membership.created', { userId, organizationId, membershipId: membership.id }, { joinedVia }),
  ])
  return membership
}

/** The user, client or API key of the tenant that calls, as memberships and invitations have it. */
export function getCallerId({ actor }: Ctx): string | null {
  if (actor.kind === 'user') return actor.userId
  if (actor.kind === 'client') return actor.clientId
  return actor.kind === 'key' ? actor.apiKeyId : null
}

/**
 * Makes a user a member of an organization. Throws InvalidInput, Conflict for a member, and NotFound without such an
 * organization or user.
 */
export async function createMembership(
  ctx: Ctx,
  organizationId: string,
  input: unknown,
): Promise<Membership> {
  requireOrganizationId(organizationId)
  const { userId } = parseInput(MembershipCreate, input)
  const addedBy = getCallerId(ctx)
  const membership = await ctx.db
    .transaction((tx) => addMember(tx, ctx, { organizationId, userId, joinedVia: 'administrator', addedBy }))
    .catch(async (error: unknown) => {
      if (!(toAppError(error) instanceof NotFound)) throw error
      await getOrganization(ctx, organizationId)
      throw new NotFound('user', [{ field: 'userId', description: 'is not a user of this tenant' }])
    })
  if (!membership) throw new Conflict([{ field: 'userId', description: 'is a member already' }])
  return membership
}

function requireMembershipId(id: string): void {
  if (readIdPrefix(id) !== 'membership') throw new NotFound('membership')
}

/** Returns a membership. Throws NotFound. */
export async function getMembership(ctx: Ctx, id: string): Promise<Membership> {
  requireMembershipId(id)
  const where = { tenantId_id: { tenantId: ctx.tenant, id } }
  const membership = await ctx.db.prisma.membership.findUnique({ where })
  if (!membership) throw new NotFound('membership')
  return membership
}

/** Ends a membership. Throws NotFound. */
export async function deleteMembership(
  ctx: Ctx,
  id: string,
): Promise<{ deletedMembershipId: string; userId: string; organizationId: string }> {
  requireMembershipId(id)
  return ctx.db.transaction(async (tx) => {
    const { userId, organizationId } = await tx.prisma.membership.delete({
      where: { tenantId_id: { tenantId: ctx.tenant, id } },
    })
    await recordEvents(tx, ctx, [
      createEvent('membership.deleted', { userId, organizationId, membershipId: id }),
    ])
    return { deletedMembershipId: id, userId, organizationId }
  })
}

/** The number of members of an organization. */
export const countMembers = (ctx: Ctx, organizationId: string): Promise<number> =>
  ctx.db.prisma.membership.count({ where: { tenantId: ctx.tenant, organizationId } })

/** The number of organizations of a user. */
export const countMemberships = (ctx: Ctx, userId: string): Promise<number> =>
  ctx.db.prisma.membership.count({ where: { tenantId: ctx.tenant, userId } })

/**
 * Lists the members of an organization, oldest membership first: one statement, and one more for totalSize. Throws
 * NotFound without the organization, and InvalidInput about the paging.
 */
export const listMembers = (ctx: Ctx, organizationId: string, args: PageArgs): Promise<Page<Membership>> =>
  listInOrder(ctx, args, {
    name: `${ctx.tenant}:members:${organizationId}`,
    column: 'id',
    read: async (page) => {
      requireOrganizationId(organizationId)
      const organization = await ctx.db.prisma.organization.findUnique({
        where: { tenantId_id: { tenantId: ctx.tenant, id: organizationId } },
        select: { memberships: page },
      })
      if (!organization) throw new NotFound('organization')
      return organization.memberships
    },
    countAll: () => countMembers(ctx, organizationId),
  })

/**
 * Lists the memberships of a user, oldest first: one statement, and one more for totalSize. Throws NotFound without the
 * user, and InvalidInput about the paging.
 */
export const listUserMemberships = (ctx: Ctx, userId: string, args: PageArgs): Promise<Page<Membership>> =>
  listInOrder(ctx, args, {
    name: `${ctx.tenant}:memberships:${userId}`,
    column: 'id',
    read: async (page) => {
      if (readIdPrefix(userId) !== 'user') throw new NotFound('user')
      const user = await ctx.db.prisma.user.findUnique({
        where: { tenantId_id: { tenantId: ctx.tenant, id: userId } },
        select: { memberships: page },
      })
      if (!user) throw new NotFound('user')
      return user.memberships
    },
    countAll: () => countMemberships(ctx, userId),
  })

/**
 * Lists the organizations of a user in the order of the memberships. Throws NotFound without the user, and InvalidInput
 * about the paging.
 */
export async function listUserOrganizations(
  ctx: Ctx,
  userId: string,
  args: PageArgs,
): Promise<Page<Organization>> {
  if (readIdPrefix(userId) !== 'user') throw new NotFound('user')
  const name = `${ctx.tenant}:organizations:${userId}`
  const paging = parsePaging(ctx, args, name)
  const page = buildPageQuery(paging, 'id')
  const user = await ctx.db.prisma.user.findUnique({
    where: { tenantId_id: { tenantId: ctx.tenant, id: userId } },
    select: { memberships: { ...page, select: { id: true, organization: true } } },
  })
  if (!user) throw new NotFound('user')
  const keys = new Map(user.memberships.map(({ id, organization }) => [organization.id, id]))
  return toPage(
    paging,
    user.memberships.map(({ organization }) => organization),
    {
      name,
      toKey: ({ id }) => ({ value: null, id: keys.get(id) ?? '' }),
      countAll: () => countMemberships(ctx, userId),
    },
  )
}
