import { Conflict, NotFound } from '../core/errors.ts'
import { POLICY_RULES } from '../model/organization-policy.ts'
import { defineList, defineNestedList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { createIdShape } from '../schema/response-shapes.ts'
import { USER } from '../users/users.operations.ts'
import { MembershipCreate, MembershipPatch } from './memberships.fields.ts'
import { MEMBERSHIP } from './memberships.graphql.ts'
import {
  createMembership,
  deleteMembership,
  getMembership,
  listMembers,
  listUserMemberships,
  listUserOrganizations,
  updateMembership,
} from './memberships.ts'
import {
  ORGANIZATION_FILTER,
  ORGANIZATION_ORDER,
  OrganizationCreate,
  OrganizationPatch,
  OrganizationShape,
  SlugLookup,
} from './organizations.fields.ts'
import { ORGANIZATION } from './organizations.graphql.ts'
import {
  createOrganization,
  deleteOrganization,
  getOrganization,
  getOrganizationBySlug,
  listOrganizations,
  updateOrganization,
} from './organizations.ts'

const PATH = '/organizations/:organizationId'

export const organizationOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createOrganization',
    summary: 'Creates an organization. Its slug must be unique in the tenant.',
    scope: 'organizations:write',
    isCreation: true,
    input: OrganizationCreate,
    errors: [Conflict],
    output: { organization: ORGANIZATION },
    rest: {
      method: 'POST',
      path: '/organizations',
      status: 201,
      location: ({ id }) => `/organizations/${id}`,
    },
    run: async (ctx, _ids, input) => ({ organization: await createOrganization(ctx, input) }),
  }),
  ...defineList({
    name: 'listOrganizations',
    summary: 'The organizations of the tenant, by default oldest first.',
    resource: ORGANIZATION,
    filter: ORGANIZATION_FILTER,
    order: ORGANIZATION_ORDER,
    path: '/organizations',
    run: listOrganizations,
  }),
  // GraphQL has the query organizationBySlug.
  defineRestRoute({
    method: 'GET',
    path: '/organizations/by-slug',
    operationId: 'getOrganizationBySlug',
    summary: 'Gets the organization with a slug.',
    scope: 'organizations:read',
    query: SlugLookup,
    response: OrganizationShape,
    handle: async (ctx, { query }) => ORGANIZATION.toBody(ctx, await getOrganizationBySlug(ctx, query.slug)),
  }),
  ...defineLookup({
    name: 'getOrganization',
    inOrganization: true,
    field: 'organization',
    summary: 'An organization.',
    resource: ORGANIZATION,
    target: 'organizationId',
    path: PATH,
    run: getOrganization,
  }),
  ...defineMutation({
    name: 'updateOrganization',
    inOrganization: ['name', 'logoUrl', 'themeColor', ...POLICY_RULES, 'expectedUpdatedAt'],
    summary: "Updates an organization. Omitted fields are unchanged; null and, for text, '' unset a field.",
    scope: 'organizations:write',
    targets: ['organizationId'],
    input: OrganizationPatch,
    errors: [Conflict, NotFound],
    output: { organization: ORGANIZATION },
    rest: { method: 'PATCH', path: PATH },
    run: async (ctx, { organizationId }, input) => ({
      organization: await updateOrganization(ctx, organizationId, input),
    }),
  }),
  ...defineMutation({
    name: 'deleteOrganization',
    summary:
      'Deletes an organization permanently. Its memberships end; its members stay users of the tenant.',
    scope: 'organizations:write',
    targets: ['organizationId'],
    errors: [NotFound],
    output: {
      deletedOrganizationId: createIdShape('organization').meta({
        description: 'Id of the deleted organization.',
      }),
    },
    rest: { method: 'DELETE', path: PATH, message: 'The organization was deleted.' },
    run: (ctx, { organizationId }) => deleteOrganization(ctx, organizationId),
  }),
  ...defineMutation({
    name: 'createMembership',
    summary: 'Makes a user a member of an organization.',
    scope: 'organizations:write',
    isCreation: true,
    targets: ['organizationId'],
    input: MembershipCreate,
    errors: [Conflict, NotFound],
    output: { membership: MEMBERSHIP },
    rest: {
      method: 'POST',
      path: `${PATH}/members`,
      status: 201,
      location: ({ id }) => `/memberships/${id}`,
    },
    run: async (ctx, { organizationId }, input) => ({
      membership: await createMembership(ctx, organizationId, input),
    }),
  }),
  ...defineNestedList({
    name: 'listOrganizationMembers',
    inOrganization: true,
    summary: 'The members of an organization, oldest membership first.',
    resource: MEMBERSHIP,
    target: 'organizationId',
    path: `${PATH}/members`,
    run: listMembers,
  }),
  ...defineNestedList({
    name: 'listUserMemberships',
    summary: 'The memberships of a user in organizations, oldest first.',
    resource: MEMBERSHIP,
    target: 'userId',
    path: '/users/:userId/memberships',
    run: listUserMemberships,
  }),
  ...defineNestedList({
    name: 'listUserOrganizations',
    summary: 'The organizations of a user, in the order of the memberships.',
    resource: ORGANIZATION,
    target: 'userId',
    path: '/users/:userId/organizations',
    run: listUserOrganizations,
  }),
  ...defineLookup({
    name: 'getMembership',
    inOrganization: true,
    field: 'membership',
    summary: 'A membership of a user in an organization.',
    resource: MEMBERSHIP,
    target: 'membershipId',
    path: '/memberships/:membershipId',
    run: getMembership,
  }),
  ...defineMutation({
    name: 'updateMembership',
    inOrganization: ['isAdministrator'],
    summary: 'Changes a membership: who is an administrator of the organization.',
    scope: 'organizations:write',
    targets: ['membershipId'],
    input: MembershipPatch,
    errors: [Conflict, NotFound],
    output: { membership: MEMBERSHIP },
    rest: { method: 'PATCH', path: '/memberships/:membershipId' },
    run: async (ctx, { membershipId }, input) => ({
      membership: await updateMembership(ctx, membershipId, input),
    }),
  }),
  ...defineMutation({
    name: 'deleteMembership',
    inOrganization: [],
    summary: 'Ends a membership. The user stays a user of the tenant.',
    scope: 'organizations:write',
    targets: ['membershipId'],
    errors: [Conflict, NotFound],
    output: {
      deletedMembershipId: createIdShape('membership').meta({ description: 'Id of the ended membership.' }),
    },
    loaded: {
      organization: { resource: ORGANIZATION as never, by: 'organizationId' },
      user: { resource: USER as never, by: 'userId' },
    },
    rest: { method: 'DELETE', path: '/memberships/:membershipId', message: 'The membership has ended.' },
    run: (ctx, { membershipId }) => deleteMembership(ctx, membershipId),
  }),
]
