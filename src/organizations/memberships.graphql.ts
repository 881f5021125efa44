import { isAdministered } from '../context/administered-organization.ts'
import type { Ctx } from '../context/context.ts'
import type { Membership, Organization } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { type ConnectionOf, NESTED_PAGE_ARGS, nestedConnectionField } from '../graphql/connection.ts'
import { orAdministrator, withScope, withScopeOrOwner } from '../graphql/field-access.ts'
import { Node, registerNode } from '../graphql/node.graphql.ts'
import { addNodeSelection, buildNestedQuery, toNestedPage } from '../graphql/node-selection.ts'
import { UserRef } from '../graphql/object-refs.ts'
import { buildObjectFields } from '../graphql/shape-fields.ts'
import { defineResource } from '../operations/resource.ts'
import { createBodyMapper } from '../schema/response-shapes.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { MemberProfileShape, MembershipShape } from './memberships.fields.ts'
import { countMembers, countMemberships, type MembershipOfUser } from './memberships.ts'
import { type FoundOrganization, ORGANIZATION, OrganizationRef } from './organizations.graphql.ts'

const { name: _name, email: _email, ...columns } = MembershipShape.shape

/** Whether the caller may see who the member is. */
const maySeeMember = (ctx: Ctx, { userId, organizationId }: Membership): boolean =>
  ctx.scopes.has('users:read') ||
  isAdministered(ctx, organizationId) ||
  (ctx.actor.kind === 'user' && ctx.actor.userId === userId)

export const MembershipRef = builder.prismaObject('Membership', {
  ...orAdministrator(
    withScopeOrOwner(
      'organizations:read',
      findDescription('Membership') ?? '',
      ({ userId }: Membership) => userId,
    ),
    ({ organizationId }: Membership) => organizationId,
  ),
  interfaces: [Node],
  fields: (t) => ({
    ...buildObjectFields(t as never, columns, 'Membership'),
    ...Object.fromEntries(
      (['name', 'email'] as const).map((field) => [
        field,
        t.field({
          type: field === 'email' ? 'EmailAddress' : 'String',
          nullable: true,
          description: MemberProfileShape.shape[field].meta()?.description ?? '',
          select: { userId: true, organizationId: true },
          resolve: async (membership, _args, { ctx, loaders }) =>
            maySeeMember(ctx, membership as Membership)
              ? ((await loaders.user.load(membership.userId))?.[field] ?? null)
              : null,
        }),
      ]),
    ),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization; null once deleted.',
      select: { organizationId: true, userId: true },
      resolve: async ({ organizationId, userId }, _args, { loaders }) => {
        const organization = await loaders.organization.load(organizationId)
        return organization && { ...organization, memberId: userId }
      },
    }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The member; null once deleted.',
      select: { userId: true },
      resolve: ({ userId }, _args, { loaders }) => loaders.user.load(userId),
    }),
  }),
})

registerNode('membership', {
  ref: MembershipRef,
  scope: 'organizations:read',
  load: (id, { loaders }) => loaders.membership.load(id),
})

const toMembershipBody = createBodyMapper(MembershipShape)

export const MEMBERSHIP = defineResource<Membership>({
  member: 'membership',
  ref: MembershipRef as never,
  scope: 'organizations:read',
  shape: MembershipShape,
  toBody: (ctx, membership) => {
    const { user } = membership as MembershipOfUser
    const { name = null, email = null } = user && maySeeMember(ctx, membership) ? user : {}
    return toMembershipBody({ ...membership, name, email })
  },
})
const MembershipConnection = MEMBERSHIP.getConnection() as ConnectionOf<Membership>

builder.prismaObjectField('Organization', 'members', (t) =>
  t.field({
    ...orAdministrator(
      withScope('organizations:read', 'The members, oldest membership first.'),
      ({ id }: { id: string }) => id,
    ),
    ...nestedConnectionField(MembershipConnection),
    args: NESTED_PAGE_ARGS,
    select: (args, context, nested) => ({
      memberships: addNodeSelection(
        nested,
        'Membership',
        buildNestedQuery(args, context, 'Organization.members', {}),
      ),
    }),
    resolve: (organization, args, context) =>
      toNestedPage(args, context, 'Organization.members', organization.memberships, () =>
        countMembers(context.ctx, organization.id),
      ),
  }),
)

builder.prismaObjectField('User', 'memberships', (t) =>
  t.field({
    ...withScopeOrOwner(
      'organizations:read',
      'The memberships of the user in organizations, oldest first.',
      ({ id }) => id,
    ),
    ...nestedConnectionField(MembershipConnection),
    args: NESTED_PAGE_ARGS,
    select: (args, context, nested) => ({
      memberships: addNodeSelection(
        nested,
        'Membership',
        buildNestedQuery(args, context, 'User.memberships', {}),
      ),
    }),
    resolve: (user, args, context) =>
      toNestedPage(args, context, 'User.memberships', user.memberships, () =>
        countMemberships(context.ctx, user.id),
      ),
  }),
)

builder.prismaObjectField('User', 'organizations', (t) =>
  t.field({
    ...withScopeOrOwner(
      'organizations:read',
      'The organizations of the user, in the order of the memberships.',
      ({ id }) => id,
    ),
    ...nestedConnectionField(ORGANIZATION.getConnection() as ConnectionOf<Organization>),
    args: NESTED_PAGE_ARGS,
    select: (args, context) => ({
      id: true,
      memberships: {
        ...buildNestedQuery(args, context, 'User.organizations', {}),
        select: { id: true, organizationId: true },
      },
    }),
    resolve: async ({ id: memberId, memberships }, args, context) => {
      const found = await Promise.all(
        memberships.map(async ({ id: membershipId, organizationId }): Promise<FoundOrganization | null> => {
          const organization = await context.loaders.organization.load(organizationId)
          return organization && { ...organization, memberId, membershipId }
        }),
      )
      return toNestedPage(
        args,
        context,
        'User.organizations',
        found.filter((row) => row !== null),
        () => countMemberships(context.ctx, memberId),
        ({ membershipId = '' }) => membershipId,
      )
    },
  }),
)
