import { voidPreparedAccess } from '../access/revocation/revocation.sql.ts'
import { getAdministeredId } from '../context/administered-organization.ts'
import type { Ctx } from '../context/context.ts'
import { newId, readIdPrefix } from '../core/crypto.ts'
import { Conflict, NotFound } from '../core/errors.ts'
import { toAppError } from '../core/to-app-error.ts'
import type { Db, Tx } from '../database/handle.ts'
import { buildPageQuery, listInOrder } from '../database/page-query.ts'
import { createEvent } from '../events/create-event.ts'
import { recordEvents } from '../events/log.ts'
import type { Membership, Organization } from '../generated/prisma/client.ts'
import type { JoinWay } from '../model/join-ways.ts'
import { parseInput } from '../schema/input-shapes.ts'
import { type Page, type PageArgs, parsePaging, toPage } from '../schema/page.ts'
import { MembershipCreate, MembershipPatch } from './memberships.fields.ts'
import { lockAdministrators, lockMember, lockOrganization } from './organizations.sql.ts'
import { getOrganization, requireOrganizationId } from './organizations.ts'

type NewMembership = {
  organizationId: string
  userId: string
  joinedVia: JoinWay
  addedBy?: string | null
  isAdministrator?: boolean | undefined
}

/** A membership, and who the member is, where the caller may see it. */
export type MembershipOfUser = Membership & { user?: { name: string | null; email: string | null } }
const WITH_USER = { user: { select: { name: true, email: true } } } as const

/**
 * Makes users members inside the caller's transaction, with an event for each. The users and the organizations cannot be
 * deleted meanwhile. Returns the memberships that did not exist.
 */
export async function addMembers(
  tx: Db,
  ctx: Ctx,
  members: readonly NewMembership[],
): Promise<MembershipOfUser[]> {
  const added = await tx.prisma.membership.createManyAndReturn({
    data: members.map(({ isAdministrator = false, ...member }) => ({
      ...member,
      isAdministrator,
      tenantId: ctx.tenant,
      id: newId('membership'),
    })),
    skipDuplicates: true,
    include: WITH_USER,
  })
  await recordEvents(
    tx,
    ctx,
    added.map(({ userId, organizationId, id, joinedVia, isAdministrator }) =>
      createEvent(
        'membership.created',
        { userId, organizationId, membershipId: id },
        { joinedVia: joinedVia as JoinWay, ...(isAdministrator && { isAdministrator }) },
      ),
    ),
  )
  return added
}

/** Makes one user a member. Returns null for a member. */
export const addMember = async (tx: Db, ctx: Ctx, member: NewMembership): Promise<MembershipOfUser | null> =>
  (await addMembers(tx, ctx, [member]))[0] ?? null

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
): Promise<MembershipOfUser> {
  requireOrganizationId(organizationId)
  const { userId, isAdministrator } = parseInput(MembershipCreate, input)
  const addedBy = getCallerId(ctx)
  const membership = await ctx.db
    .transaction(async (tx) => {
      if (isAdministrator) await prepareAdministrator(tx, userId)
      return addMember(tx, ctx, {
        organizationId,
        userId,
        joinedVia: 'administrator',
        addedBy,
        isAdministrator,
      })
    })
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
export async function getMembership(ctx: Ctx, id: string): Promise<MembershipOfUser> {
  requireMembershipId(id)
  const where = { tenantId_id: { tenantId: ctx.tenant, id } }
  const membership = await ctx.db.prisma.membership.findUnique({ where, include: WITH_USER })
  if (!membership) throw new NotFound('membership')
  return membership
}

/** Voids what somebody with fewer rights may have prepared for the sign-in of a user who becomes an administrator. */
export async function prepareAdministrator(tx: Db, userId: string): Promise<void> {
  await lockMember(tx, userId)
  await voidPreparedAccess(tx, userId)
}

/** Gives or takes the right of an administrator, in the transaction of the caller. Throws NotFound. */
export async function setAdministrator(
  tx: Db,
  ctx: Ctx,
  id: string,
  isAdministrator: boolean,
): Promise<MembershipOfUser> {
  const { tenant: tenantId } = ctx
  const [changed] = await tx.prisma.membership.updateManyAndReturn({
    where: { tenantId, id, isAdministrator: !isAdministrator },
    data: { isAdministrator, updatedAt: new Date() },
  })
  const where = { tenantId_id: { tenantId, id } }
  const membership = await tx.prisma.membership.findUnique({ where, include: WITH_USER })
  if (!membership) throw new NotFound('membership')
  const { userId, organizationId } = membership
  const about = { userId, organizationId, membershipId: id, changedFields: ['isAdministrator'] }
  if (changed) await recordEvents(tx, ctx, [createEvent('membership.updated', about, { isAdministrator })])
  return membership
}

/**
 * Requires that an administrator of an organization leaves it another one who can sign in, so that nobody locks a customer
 * out. Administrators of the tenant may. Throws Conflict.
 */
async function requireOtherAdministrator(tx: Tx, ctx: Ctx, id: string): Promise<void> {
  const organizationId = getAdministeredId(ctx)
  if (organizationId === null || ctx.scopes.has('organizations:write')) return
  await lockAdministrators(tx, organizationId)
  const other = await tx.prisma.membership.findFirst({
    where: {
      ...{ tenantId: ctx.tenant, organizationId, isAdministrator: true },
      ...{ id: { not: id }, user: { locked: false } },
    },
    select: { id: true },
  })
  if (!other) throw new Conflict([], 'The organization has no other administrator.')
}

/**
 * Changes a membership. A change that changes nothing leaves updatedAt and the log alone. Throws InvalidInput, NotFound,
 * and Conflict (the last administrator, for an administrator of the organization).
 */
export async function updateMembership(ctx: Ctx, id: string, input: unknown): Promise<MembershipOfUser> {
  const { isAdministrator } = parseInput(MembershipPatch, input)
  requireMembershipId(id)
  return isAdministrator === undefined
    ? getMembership(ctx, id)
    : ctx.db.transaction(async (tx) => {
        const where = { tenantId: ctx.tenant, id, isAdministrator: false }
        const appointed = isAdministrator ? await tx.prisma.membership.findFirst({ where }) : null
        if (appointed) await prepareAdministrator(tx, appointed.userId)
        if (!isAdministrator) await requireOtherAdministrator(tx, ctx, id)
        return setAdministrator(tx, ctx, id, isAdministrator)
      })
}

type EndedMembership = { deletedMembershipId: string; userId: string; organizationId: string }

/** Ends a membership, in the transaction of the caller. Throws NotFound. */
async function endMembership(tx: Db, ctx: Ctx, id: string): Promise<EndedMembership> {
  const { userId, organizationId } = await tx.prisma.membership.delete({
    where: { tenantId_id: { tenantId: ctx.tenant, id } },
  })
  await recordEvents(tx, ctx, [
    createEvent('membership.deleted', { userId, organizationId, membershipId: id }),
  ])
  return { deletedMembershipId: id, userId, organizationId }
}

/** Ends a membership. Throws NotFound, and Conflict (the last administrator, for an administrator of the organization). */
export async function deleteMembership(ctx: Ctx, id: string): Promise<EndedMembership> {
  requireMembershipId(id)
  return ctx.db.transaction(async (tx) => {
    await requireOtherAdministrator(tx, ctx, id)
    return endMembership(tx, ctx, id)
  })
}

/**
 * Ends the membership of a user who leaves. The organization is locked, so that two administrators do not leave at once. Throws
 * NotFound, and Conflict for the last administrator while there are other members.
 */
export async function leaveOrganization(
  ctx: Ctx,
  organizationId: string,
  userId: string,
): Promise<EndedMembership> {
  return ctx.db.transaction(async (tx) => {
    await lockOrganization(tx, organizationId)
    const where = { tenantId: ctx.tenant, organizationId }
    const own = await tx.prisma.membership.findFirst({ where: { ...where, userId } })
    if (!own) throw new NotFound('membership')
    const successor =
      own.isAdministrator &&
      (await tx.prisma.membership.findFirst({
        where: { ...where, userId: { not: userId } },
        orderBy: { isAdministrator: 'desc' },
      }))
    if (successor && !successor.isAdministrator) throw new Conflict([], LAST_ADMINISTRATOR)
    return endMembership(tx, ctx, own.id)
  })
}
const LAST_ADMINISTRATOR =
  'You are the last administrator of this organization, and it has other members. Make one of them an administrator first.'

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
export const listMembers = (
  ctx: Ctx,
  organizationId: string,
  args: PageArgs,
): Promise<Page<MembershipOfUser>> =>
  listInOrder(ctx, args, {
    name: `${ctx.tenant}:members:${organizationId}`,
    column: 'id',
    read: async (page): Promise<MembershipOfUser[]> => {
      requireOrganizationId(organizationId)
      const organization = await ctx.db.prisma.organization.findUnique({
        where: { tenantId_id: { tenantId: ctx.tenant, id: organizationId } },
        select: { memberships: { ...page, include: WITH_USER } },
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
export const listUserMemberships = (
  ctx: Ctx,
  userId: string,
  args: PageArgs,
): Promise<Page<MembershipOfUser>> =>
  listInOrder(ctx, args, {
    name: `${ctx.tenant}:memberships:${userId}`,
    column: 'id',
    read: async (page): Promise<MembershipOfUser[]> => {
      if (readIdPrefix(userId) !== 'user') throw new NotFound('user')
      const user = await ctx.db.prisma.user.findUnique({
        where: { tenantId_id: { tenantId: ctx.tenant, id: userId } },
        select: { memberships: { ...page, include: WITH_USER } },
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
