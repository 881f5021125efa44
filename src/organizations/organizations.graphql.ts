import { isAdministered } from '../context/administered-organization.ts'
import type { Organization } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { orAdministrator, withScope, withScopeOrOwner } from '../graphql/field-access.ts'
import { Node, nullIfNotFound, registerNode } from '../graphql/node.graphql.ts'
import { buildObjectFields } from '../graphql/shape-fields.ts'
import { POLICY_RULES } from '../model/organization-policy.ts'
import { defineResource } from '../operations/resource.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { findDescription } from '../schema/schema-descriptions.ts'
import { OrganizationShape, SlugLookup } from './organizations.fields.ts'
import { getOrganizationBySlug, toOrganizationListName } from './organizations.ts'

/** The fields that a member may not read of the own organization. */
const MANAGED: readonly string[] = ['metadata', 'externalId', ...POLICY_RULES]

const toManagedRule = (name: string) => {
  const rule = withScope('organizations:read', findDescription('Organization', name) ?? '')
  return (POLICY_RULES as readonly string[]).includes(name)
    ? orAdministrator(rule, ({ id }: FoundOrganization) => id)
    : rule
}

/** An organization, and the user and the membership that led to it. */
export type FoundOrganization = Organization & { memberId?: string; membershipId?: string }

export const OrganizationRef = builder.prismaObject('Organization', {
  ...orAdministrator(
    withScopeOrOwner(
      'organizations:read',
      findDescription('Organization') ?? '',
      ({ memberId }: FoundOrganization) => memberId,
    ),
    ({ id }: FoundOrganization) => id,
  ),
  interfaces: [Node],
  fields: (t) =>
    buildObjectFields(t as never, OrganizationShape.shape, 'Organization', (name) =>
      MANAGED.includes(name) ? { ...toManagedRule(name), nullable: true } : {},
    ),
})

registerNode('organization', {
  ref: OrganizationRef,
  scope: 'organizations:read',
  isOwn: (id, { ctx }) => isAdministered(ctx, id),
  load: (id, { loaders }) => loaders.organization.load(id),
})

export const ORGANIZATION = defineResource<Organization>({
  member: 'organization',
  ref: OrganizationRef as never,
  scope: 'organizations:read',
  shape: OrganizationShape,
  load: ({ organization }, id) => organization.load(id),
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toOrganizationListName(tenant), id),
})

builder.queryField('organizationBySlug', (t) =>
  t.field({
    ...withScope('organizations:read', 'The organization with a slug; null when there is none.'),
    type: OrganizationRef,
    nullable: true,
    args: {
      slug: t.arg.string({ required: true, description: SlugLookup.shape.slug.description ?? '' }),
    },
    resolve: (_root, { slug }, { ctx }) => nullIfNotFound(getOrganizationBySlug(ctx, slug)),
  }),
)
