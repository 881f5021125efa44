import type { OrganizationDomain } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { type ConnectionOf, NESTED_PAGE_ARGS, nestedConnectionField } from '../graphql/connection.ts'
import { orAdministrator, withScope } from '../graphql/field-access.ts'
import { Node, registerNode } from '../graphql/node.graphql.ts'
import { addNodeSelection, buildNestedQuery, toNestedPage } from '../graphql/node-selection.ts'
import { buildObjectFields } from '../graphql/shape-fields.ts'
import { defineResource } from '../operations/resource.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { OrganizationDomainShape } from './organization-domains.fields.ts'
import { countOrganizationDomains, findOrganizationDomains } from './organization-domains.ts'
import { OrganizationRef } from './organizations.graphql.ts'

const OrganizationDomainRef = builder.prismaObject('OrganizationDomain', {
  ...orAdministrator(
    withScope('organizations:read', findDescription('OrganizationDomain') ?? ''),
    ({ organizationId }: OrganizationDomain) => organizationId,
  ),
  interfaces: [Node],
  fields: (t) => ({
    ...buildObjectFields(t as never, OrganizationDomainShape.shape, 'OrganizationDomain'),
    organization: t.field({
      type: OrganizationRef,
      nullable: true,
      description: 'The organization; null once deleted.',
      select: { organizationId: true },
      resolve: ({ organizationId }, _args, { loaders }) => loaders.organization.load(organizationId),
    }),
  }),
})

registerNode('orgdomain', {
  ref: OrganizationDomainRef,
  scope: 'organizations:read',
  load: (id, { loaders }) => loaders.over(findOrganizationDomains).load(id),
})

export const ORGANIZATION_DOMAIN = defineResource<OrganizationDomain>({
  member: 'organizationDomain',
  words: 'domain',
  ref: OrganizationDomainRef as never,
  scope: 'organizations:read',
  shape: OrganizationDomainShape,
})

builder.prismaObjectField('Organization', 'domains', (t) =>
  t.field({
    ...orAdministrator(
      withScope('organizations:read', 'The domains of the organization, oldest first.'),
      ({ id }: { id: string }) => id,
    ),
    ...nestedConnectionField(ORGANIZATION_DOMAIN.getConnection() as ConnectionOf<OrganizationDomain>),
    args: NESTED_PAGE_ARGS,
    select: (args, context, nested) => ({
      domains: addNodeSelection(
        nested,
        'OrganizationDomain',
        buildNestedQuery(args, context, 'Organization.domains', {}),
      ),
    }),
    resolve: (organization, args, context) =>
      toNestedPage(args, context, 'Organization.domains', organization.domains, () =>
        countOrganizationDomains(context.ctx, organization.id),
      ),
  }),
)
