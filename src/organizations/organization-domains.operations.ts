import { Conflict, NotFound, RateLimited } from '../core/errors.ts'
import { defineNestedList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import type { RestRoute } from '../rest/route.ts'
import { createIdShape } from '../schema/response-shapes.ts'
import {
  OrganizationDomainCreate,
  OrganizationDomainPatch,
  OrganizationDomainVerification,
} from './organization-domains.fields.ts'
import { ORGANIZATION_DOMAIN } from './organization-domains.graphql.ts'
import {
  createOrganizationDomain,
  deleteOrganizationDomain,
  getOrganizationDomain,
  listOrganizationDomains,
  updateOrganizationDomain,
  verifyOrganizationDomain,
} from './organization-domains.ts'
import { ORGANIZATION } from './organizations.graphql.ts'

const PATH = '/organization-domains/:organizationDomainId'

export const organizationDomainOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'createOrganizationDomain',
    inOrganization: ['domain', 'enrollment'],
    summary:
      'Adds a domain to an organization. It is proven by a TXT record, whose name and value are in the response.',
    scope: 'organizations:write',
    isCreation: true,
    targets: ['organizationId'],
    input: OrganizationDomainCreate,
    errors: [Conflict, NotFound],
    output: { organizationDomain: ORGANIZATION_DOMAIN },
    rest: {
      method: 'POST',
      path: '/organizations/:organizationId/domains',
      status: 201,
      location: ({ id }) => `/organization-domains/${id}`,
    },
    run: async (ctx, { organizationId }, input) => ({
      organizationDomain: await createOrganizationDomain(ctx, organizationId, input),
    }),
  }),
  ...defineNestedList({
    name: 'listOrganizationDomains',
    inOrganization: true,
    summary: 'The domains of an organization, oldest first.',
    resource: ORGANIZATION_DOMAIN,
    target: 'organizationId',
    path: '/organizations/:organizationId/domains',
    run: listOrganizationDomains,
  }),
  ...defineLookup({
    name: 'getOrganizationDomain',
    inOrganization: true,
    field: 'organizationDomain',
    summary: 'A domain of an organization.',
    resource: ORGANIZATION_DOMAIN,
    target: 'organizationDomainId',
    path: PATH,
    run: getOrganizationDomain,
  }),
  ...defineMutation({
    name: 'updateOrganizationDomain',
    inOrganization: ['enrollment'],
    summary: 'Changes the enrollment of a domain of an organization.',
    scope: 'organizations:write',
    targets: ['organizationDomainId'],
    input: OrganizationDomainPatch,
    errors: [NotFound],
    output: { organizationDomain: ORGANIZATION_DOMAIN },
    rest: { method: 'PATCH', path: PATH },
    run: async (ctx, { organizationDomainId }, input) => ({
      organizationDomain: await updateOrganizationDomain(ctx, organizationDomainId, input),
    }),
  }),
  ...defineMutation({
    name: 'verifyOrganizationDomain',
    inOrganization: [],
    summary:
      'Looks up the TXT record of a domain. `state` of the domain is verified when it is there; otherwise `problem` says what is.',
    scope: 'organizations:write',
    targets: ['organizationDomainId'],
    input: OrganizationDomainVerification,
    isInputOptional: true,
    errors: [Conflict, NotFound, RateLimited],
    output: { organizationDomain: ORGANIZATION_DOMAIN },
    rest: { method: 'POST', path: `${PATH}/verify` },
    run: async (ctx, { organizationDomainId }, input) => ({
      organizationDomain: await verifyOrganizationDomain(ctx, organizationDomainId, input),
    }),
  }),
  ...defineMutation({
    name: 'deleteOrganizationDomain',
    inOrganization: [],
    summary: 'Deletes a domain of an organization. Those who have joined by it stay members.',
    scope: 'organizations:write',
    targets: ['organizationDomainId'],
    errors: [NotFound],
    output: {
      deletedOrganizationDomainId: createIdShape('orgdomain').meta({
        description: 'Id of the deleted domain.',
      }),
    },
    loaded: { organization: { resource: ORGANIZATION as never, by: 'organizationId' } },
    rest: { method: 'DELETE', path: PATH, message: 'The domain was deleted.' },
    run: (ctx, { organizationDomainId }) => deleteOrganizationDomain(ctx, organizationDomainId),
  }),
]
